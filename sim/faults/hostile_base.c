/* Attacks with false bases: the attacker offers a node's current history as its own. */
#include <string.h>

#include "faults/hostile_private.h"

/* Nonexistent rumors and samples that a false version claims for each origin. A node that lacks
 * this many rumors asks for a base. */
#define AHEAD         1000
#define AHEAD_SAMPLES (1u << 24)
#define PART          250 /* maximum history entries in a HISTORY message */
/* Number of equally likely answers to TAKE. One of them is a false base with a true history; in the
 * others the history is false. */
#define LIE_ODDS 4

static void send_message(struct hostile *hostile, const struct message *message)
{
    (void)peer_say(&hostile->peer, message); /* a full queue drops the message */
}

/* Copies the base of a random node except the victim, with false parameters unless is_true. Returns
 * false if no such node has a base to copy. Never draws LIE_FITS, because no majority of a small
 * swarm could refute it. */
static bool take_base(struct hostile *hostile, bool is_true)
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

/* Sends the VERSION of a false base. Half of these versions are true, and attract only nodes that
 * lack many rumors. The others claim nonexistent rumors, which attracts every node. */
void hostile_show_base(struct hostile *hostile)
{
    struct false_base *base = &hostile->base;
    if (!take_base(hostile, false))
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
    send_message(hostile, &version);
}

static void add_head(struct hostile *hostile, const struct identity *origin, uint64_t incarnation,
                     uint32_t seq)
{
    struct false_base *base = &hostile->base;
    uint8_t rumor[RUMOR_MAX];
    struct signed_head head;
    CHECK(base->origins < FALSE_ORIGINS_MAX);
    const size_t bytes = hostile_rumor_of(hostile, origin, incarnation, seq, rumor);
    rumor_signed_head(rumor, bytes, hostile->context, &head);
    memcpy(base->history + base->origins++ * HISTORY_ENTRY_BYTES, head.bytes, HISTORY_ENTRY_BYTES);
}

/* Replaces the victim's history entry by an entry for a rumor that the victim has not published
 * yet, in its current or next incarnation. The victim's own key signs the entry; half of the
 * signatures get a flipped bit. */
static void add_victims_future(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    struct false_base *base = &hostile->base;
    const struct world_node *victim = &hostile->world->nodes[hostile->victim];
    struct node_origin own;
    if (base->origins == FALSE_ORIGINS_MAX || !victim->node)
        return;
    node_own(victim->node, &own);
    const bool is_next = rng_below(rng, 2);
    const uint32_t seq = (is_next ? 0 : own.next) + 1 + rng_below(rng, AHEAD);
    false_base_leave_out(base, victim->identity.id, own.incarnation);
    add_head(hostile, &victim->identity, own.incarnation + is_next, seq);
    base->history[base->origins * HISTORY_ENTRY_BYTES - 1] ^= (uint8_t)rng_below(rng, 2);
}

/* Raises the number of rumors in a random history entry, and sometimes also its number of samples.
 * Either change invalidates the entry's signature. */
static void forge_entry(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    uint8_t *entry =
        hostile->base.history + rng_below(rng, hostile->base.origins) * HISTORY_ENTRY_BYTES;
    bytes_put(entry + HEAD_SEQ_AT, bytes_get(entry + HEAD_SEQ_AT, 4) + 1 + rng_below(rng, AHEAD),
              4);
    if (rng_below(rng, 2))
        bytes_put(entry + HEAD_SAMPLES_AT,
                  bytes_get(entry + HEAD_SAMPLES_AT, 4) + rng_below(rng, AHEAD), 4);
}

/* Appends entries of unknown incarnations of the attacker, validly signed, until the victim's table
 * is full. */
static void add_flood(struct hostile *hostile)
{
    const struct world_node *victim = &hostile->world->nodes[hostile->victim];
    const uint64_t first = rng_next(&hostile->rng) >> 8;
    if (!victim->node)
        return;
    const uint32_t room = victim->options.limits.incarnations_max - node_origins(victim->node);
    for (uint32_t i = 0; i < room && hostile->base.origins < FALSE_ORIGINS_MAX; i++)
        add_head(hostile, &hostile->identity, first + i, 0);
}

static void send_parts(struct hostile *hostile)
{
    const struct false_base *base = &hostile->base;
    const uint32_t parts = (base->origins + PART - 1) / PART;
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t left = base->origins - part * PART;
        const struct message history = {
            .kind = HISTORY,
            .digest = base->digest,
            .part = part,
            .parts = parts,
            .bulk = {base->history + part * PART * HISTORY_ENTRY_BYTES,
                     u32_min(left, PART) * (size_t)HISTORY_ENTRY_BYTES}};
        send_message(hostile, &history);
    }
}

/* A false history comes with a true base and a matching version, so that only the history reveals
 * the lie. A true history comes with a false base. */
static void send_history(struct hostile *hostile)
{
    const uint32_t lie = rng_below(&hostile->rng, LIE_ODDS);
    if (!take_base(hostile, lie < LIE_ODDS - 1))
        return;
    switch (lie) {
    case 0:
        add_flood(hostile);
        break;
    case 1:
        add_victims_future(hostile);
        break;
    case 2:
        forge_entry(hostile);
        break;
    default:
        break;
    }
    false_base_make_version(&hostile->base, hostile->context);
    send_parts(hostile);
}

void hostile_give_base(struct hostile *hostile, const struct message *message)
{
    if (message->kind == TAKE)
        send_history(hostile);
    for (uint64_t i = 0; message->kind == FETCH && i < message->count; i++) {
        const struct message block = false_base_block(&hostile->base, message->block + i);
        send_message(hostile, &block);
    }
}
