/* An attacker that gives bases. It has the history of a node of the world as it is at that moment:
 * what any member can have that takes over a base itself. */
#include "faults/hostile_private.h"

#define AHEAD                                                                                      \
    1000 /* rumors of each origin that it claims to know beyond: only a base brings them */

static void say(struct hostile *hostile, const struct message *message)
{
    (void)peer_say(&hostile->peer, message); /* a full queue drops it */
}

/* Of any node but the victim. A lie that fits its digest is not told: among few nodes nobody could
 * say who is right. */
static bool take(struct hostile *hostile)
{
    const struct world *world = hostile->world;
    const uint32_t first = rng_below(&hostile->rng, world->nodes_count);
    const enum lie lie = rng_below(&hostile->rng, 2) ? LIE_ZEROS : LIE_OFF;
    for (uint32_t i = 0; i < world->nodes_count; i++) {
        const uint32_t twin = (first + i) % world->nodes_count;
        if (twin != hostile->victim && false_base_take(&hostile->base, world, twin, lie))
            return true;
    }
    return false;
}

/* As it is: those who lack much ask for it. Or far ahead of it: everybody does. */
void hostile_show_base(struct hostile *hostile)
{
    struct false_base *base = &hostile->base;
    if (!take(hostile))
        return;
    struct message version = false_base_version(base);
    const bool is_ahead = rng_below(&hostile->rng, 2);
    for (uint32_t i = 0; is_ahead && i < base->origins; i++) {
        const struct version_entry entry = version_entry_at(base->entries, i);
        version_entry_put(base->entries + i * VERSION_ENTRY_BYTES, entry.tag, entry.next + AHEAD,
                          entry.hash);
        version.rumors += AHEAD;
    }
    if (is_ahead)
        version.hash = entries_hash(base->entries, base->origins);
    say(hostile, &version);
}

void hostile_give_base(struct hostile *hostile, const struct message *message)
{
    if (message->kind == TAKE && take(hostile)) {
        const struct message history = false_base_history(&hostile->base);
        say(hostile, &history);
        return;
    }
    for (uint64_t i = 0; message->kind == FETCH && i < message->count; i++) {
        const struct message block = false_base_block(&hostile->base, message->block + i);
        say(hostile, &block);
    }
}
