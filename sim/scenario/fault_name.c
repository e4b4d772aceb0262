#include "base/error.h"
#include "scenario/fault.h"

const char *fault_name(enum fault_kind kind)
{
    static const char *const names[FAULT_KINDS] = {
        [FAULT_CRASH] = "crash",
        [FAULT_PAUSE] = "pause",
        [FAULT_PARTITION] = "partition",
        [FAULT_CLOG] = "clog",
        [FAULT_RESET] = "reset",
        [FAULT_HALF_OPEN] = "half open",
        [FAULT_SLOW_READER] = "slow reader",
        [FAULT_FRAGMENT] = "fragment",
        [FAULT_TAMPER] = "tamper",
        [FAULT_CLOCK] = "clock",
        [FAULT_DUPLICATE] = "duplicate",
        [FAULT_WRONG_KEY] = "wrong key",
        [FAULT_HOSTILE] = "hostile",
        [FAULT_MUTE] = "mute",
        [FAULT_CHURN] = "churn",
        [FAULT_POISON] = "poison",
        [FAULT_RUIN] = "ruin",
    };
    CHECK((unsigned int)kind < FAULT_KINDS);
    return names[kind];
}

static const struct {
    const char *name;
    double value;
} poisons[POISONS] = {
    [POISON_LABELS] = {"flipped labels", 0}, [POISON_SIGN] = {"sign flip", 1},
    [POISON_SCALE] = {"scaled", 10},         [POISON_NOISE] = {"noise", 1},
    [POISON_LITTLE] = {"a little", 1.5},     [POISON_MEAN] = {"mean shift", 1},
    [POISON_DRIFT] = {"drift", 0.3},         [POISON_COLLUSION] = {"collusion", 1},
    [POISON_RIDE] = {"free ride", 0},        [POISON_CLAIMS] = {"claims", 100},
};

const char *poison_name(enum poison poison)
{
    CHECK((unsigned int)poison < POISONS);
    return poisons[poison].name;
}

double poison_value(enum poison poison)
{
    CHECK((unsigned int)poison < POISONS);
    return poisons[poison].value;
}

bool poison_is_published(enum poison poison)
{
    CHECK((unsigned int)poison < POISONS);
    return poison != POISON_LABELS && poison != POISON_CLAIMS;
}

const char *ruin_name(enum ruin ruin)
{
    static const char *const names[RUINS] = {
        [RUIN_RATE] = "rate",
        [RUIN_LABELS] = "shuffled labels",
        [RUIN_SHIFT] = "shifted labels",
        [RUIN_LAYER] = "dead layer",
    };
    CHECK((unsigned int)ruin < RUINS);
    return names[ruin];
}

double ruin_value(enum ruin ruin)
{
    return ruin == RUIN_RATE ? 50 : 0;
}
