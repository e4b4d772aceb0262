/* An attacker that gives bases. It has the history of a node of the world as it is at that moment:
 * what any member can have that takes over a base itself. */
#include <string.h>

#include "faults/hostile_private.h"

/* What it claims to know of each origin beyond what there is: only a base brings so much. */
#define AHEAD         1000 /* rumors */
#define AHEAD_SAMPLES (1u << 24)
#define FLOOD         4   /* parts of a history of nothing but its own incarnations */
#define INCARNATIONS  250 /* in each: together they take all the room that a storm's nodes have */
#define LIE_ODDS      4   /* one history in so many lies in each way */

static void say(struct hostile *hostile, const struct message *message)
{
    (void)peer_say(&hostile->peer, message); /* a full queue drops it */
}

/* Of any node but the victim. A lie that fits its digest is not told: among few nodes nobody could
 * say who is right. */
static bool take(struct hostile *hostile, bool is_true)
{
    const struct world *world = hostile->world;
    const uint32_t first = rng_below(&hostile->rng, world->nodes_count);
    const enum lie lie = is_true ? LIE_NONE : rng_below(&hostile->rng, 2) ? LIE_ZEROS : LIE_OFF;
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
    if (!take(hostile, false))
        return;
    struct message version = false_base_version(base);
    const bool is_ahead = rng_below(&hostile->rng, 2);
    for (uint32_t i = 0; is_ahead && i < base->origins; i++) {
        const struct version_entry entry = version_entry_at(base->entries, i);
        version_entry_put(base->entries + i * VERSION_ENTRY_BYTES, entry.tag, entry.next + AHEAD,
                          entry.hash);
        struct learned learned = learned_at(base->learned, i);
        learned.samples += AHEAD_SAMPLES;
        learned_put(base->learned + i * LEARNED_BYTES, &learned);
        version.rumors += AHEAD;
    }
    if (is_ahead)
        version.hash = entries_hash(base->entries, base->origins);
    say(hostile, &version);
}

/* Behind the true entries, if there is room: the newest of the victim, of a life or rumors that are
 * to come. It has been signed with a copy of the victim's key, or by the attacker. */
static bool add_victims_future(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    struct false_base *base = &hostile->base;
    const struct world_node *victim = &hostile->world->nodes[hostile->victim];
    uint8_t rumor[RUMOR_MAX];
    struct signed_head head;
    struct node_origin own;
    if (base->origins == FALSE_ORIGINS_MAX || !victim->node)
        return false;
    node_own(victim->node, &own);
    const uint64_t incarnation = own.incarnation + NODE_INCARNATIONS + rng_below(rng, 1000);
    const size_t bytes =
        hostile_rumor_of(hostile, &victim->identity, incarnation, rng_below(rng, AHEAD), rumor);
    rumor_signed_head(rumor, bytes, hostile->context, &head);
    head.bytes[SIGNED_HEAD_BYTES - 1] ^= (uint8_t)rng_below(rng, 2);
    memcpy(base->history + base->origins++ * HISTORY_ENTRY_BYTES, head.bytes, HISTORY_ENTRY_BYTES);
    return true;
}

/* One of the true entries says what its origin has not signed: more rumors, or samples. */
static void forge_entry(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    uint8_t *entry =
        hostile->base.history + rng_below(rng, hostile->base.origins) * HISTORY_ENTRY_BYTES;
    const size_t at = rng_below(rng, 2) ? HEAD_SEQ_AT : HEAD_SAMPLES_AT;
    bytes_put(entry + at, bytes_get(entry + at, 4) + 1 + rng_below(rng, AHEAD), 4);
}

/* Incarnations of its own that nobody has heard of, all well signed. */
static void say_flood(struct hostile *hostile)
{
    uint8_t rumor[RUMOR_MAX], history[INCARNATIONS * HISTORY_ENTRY_BYTES];
    const uint64_t first = rng_next(&hostile->rng) >> 8;
    for (uint64_t part = 0; part < FLOOD; part++) {
        for (uint64_t i = 0; i < INCARNATIONS; i++) {
            struct signed_head head;
            const size_t bytes = hostile_rumor_of(hostile, &hostile->identity,
                                                  first + part * INCARNATIONS + i, 0, rumor);
            rumor_signed_head(rumor, bytes, hostile->context, &head);
            memcpy(history + i * HISTORY_ENTRY_BYTES, head.bytes, HISTORY_ENTRY_BYTES);
        }
        say(hostile, &(struct message){.kind = HISTORY,
                                       .digest = hostile->base.digest,
                                       .part = part,
                                       .parts = FLOOD,
                                       .bulk = {history, sizeof history}});
    }
}

/* A history that is not to be believed goes with a true base: the base alone gives nothing away. */
static void say_history(struct hostile *hostile)
{
    const uint32_t lie = rng_below(&hostile->rng, LIE_ODDS);
    if (!take(hostile, lie == 1 || lie == 2))
        return;
    if (lie == 0) {
        say_flood(hostile);
        return;
    }
    const bool is_longer = lie == 1 && add_victims_future(hostile);
    if (lie == 1 && !is_longer)
        return;
    if (lie == 2)
        forge_entry(hostile);
    const struct message history = false_base_history(&hostile->base);
    say(hostile, &history);
    hostile->base.origins -= is_longer;
}

void hostile_give_base(struct hostile *hostile, const struct message *message)
{
    if (message->kind == TAKE)
        say_history(hostile);
    for (uint64_t i = 0; message->kind == FETCH && i < message->count; i++) {
        const struct message block = false_base_block(&hostile->base, message->block + i);
        say(hostile, &block);
    }
}
