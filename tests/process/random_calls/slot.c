#include "process/random_calls/slot.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCE_MIN 10

const char *const CALL_NAMES[CALL_COUNT] = {"abi",    "open",   "join",  "step",  "settle",
                                            "revert", "base",   "save",  "extra", "info",
                                            "note",   "status", "close", "free",  "error_text"};

static atomic_uint_fast64_t seed_noted, number_noted;

void slot_note_where(uint64_t seed, uint64_t number)
{
    atomic_store(&seed_noted, seed);
    atomic_store(&number_noted, number);
}

void slot_say_where(void)
{
    (void)fprintf(stderr, "random_calls: seed %llu, call %llu\n",
                  (unsigned long long)atomic_load(&seed_noted),
                  (unsigned long long)atomic_load(&number_noted));
}

_Noreturn void slot_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("random_calls: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
    abort();
}

static void expect(struct player *player, struct hearsay *node, enum call call, int error,
                   uint32_t allowed)
{
    char text[512] = "";
    const bool is_error = error >= HEARSAY_OK && error <= HEARSAY_ENDED;
    const int told = hearsay_error_text(node, error, text, sizeof text);
    if (!is_error || !(allowed & ALLOW(error)))
        slot_complain("hearsay_%s returned %d (\"%s\"), and of the errors %x are allowed",
                      CALL_NAMES[call], error, text, (unsigned)allowed);
    if (told != HEARSAY_OK || strlen(text) < SENTENCE_MIN)
        slot_complain("hearsay_%s returned %d, and there is no sentence: \"%s\"", CALL_NAMES[call],
                      error, text);
    player->returned[call][error]++;
}

void slot_expect(struct player *player, const struct slot *slot, enum call call, int error,
                 uint32_t allowed)
{
    expect(player, slot->node, call, error, allowed);
}

void slot_expect_gone(struct player *player, enum call call, int error, uint32_t allowed)
{
    expect(player, NULL, call, error, allowed);
}

uint32_t slot_allowed_open(const struct player *player, const struct slot *slot, uint32_t inner)
{
    switch (slot->state) {
    case SLOT_EMPTY:
        return ALLOW(HEARSAY_ARGUMENT);
    case SLOT_REFUSED:
    case SLOT_CLOSED:
        return ALLOW(HEARSAY_CLOSED) | (player->is_crowd ? ALLOW(HEARSAY_BUSY) : 0);
    case SLOT_OPEN:
        break;
    }
    return player->is_crowd ? inner | ALLOW(HEARSAY_BUSY) | ALLOW(HEARSAY_CLOSED) : inner;
}

uint32_t slot_allowed_joined(const struct player *player, const struct slot *slot, uint32_t inner)
{
    uint32_t allowed = slot->joined == JOINED_NO ? 0 : inner;
    if (slot->joined != JOINED_YES)
        allowed |= ALLOW(HEARSAY_NOT_JOINED);
    if (slot->may_end)
        allowed |= ALLOW_END;
    return slot_allowed_open(player, slot, allowed);
}

uint32_t player_below(struct player *player, uint32_t bound)
{
    return rng_below(&player->rng, bound);
}

bool player_chance(struct player *player, uint32_t one_of)
{
    return player_below(player, one_of) == 0;
}
