#include "base/error.h"
#include "faults/fault.h"

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
    };
    CHECK((unsigned int)kind < FAULT_KINDS);
    return names[kind];
}
