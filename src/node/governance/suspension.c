#include "node/governance/suspension.h"

#include "base/bits.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/history.h"
#include "node/lifecycle/lifecycle.h"
#include "node/orders/proofs.h"

/* Time for which most nodes must disobey a proof before this node suspends it; on a tie, if this
 * node has rumors beyond the limit. */
#define LONG_NS (30 * SECOND_NS)
/* Duration of a tie after which a node without rumors beyond the limit suspends the proof. */
#define LONGER_NS (300 * SECOND_NS)
/* Replaces LONG_NS and LONGER_NS at a node that has not joined. */
#define JOINER_NS (2 * SECOND_NS)
/* Time for which most nodes must obey a suspended proof before this node obeys it again. */
#define AGAIN_NS (5 * SECOND_NS)

#define WORDS (PROOFS_ACCUSED / 64)

_Static_assert(PROOFS_ACCUSED % 64 == 0, "one bit per entry fills whole words");

/* Evidence from neighbours' versions and histories of whether they obey one proof. */
struct doubt {
    uint64_t shown[NODE_PEERS_MAX / 64]; /* bit per slot: it is known whether the neighbour obeys */
    /* Bit per slot: the neighbour has rumors beyond the proof's limit. */
    uint64_t has[NODE_PEERS_MAX / 64];
    /* Time since which the votes have differed from what this node does with the proof; 0 = they
     * agree, or no vote is known. A tie differs from a proof in force, not from a suspended one. */
    uint64_t since_ns;
};

struct suspension {
    struct doubt doubts[PROOFS_ACCUSED]; /* doubt about each proof, by its index */
};

/* Evidence from one node's version about all proofs; one bit per proof. */
struct shown {
    uint64_t excess[WORDS]; /* the version has rumors beyond the proof's limit */
    /* The version has rumors of one of the accused's origins, none of them beyond the limit. */
    uint64_t rest[WORDS];
    bool is_known; /* this node knows every origin that the version lists */
};

/* Votes of this node and its neighbours on whether to obey one proof. */
struct votes {
    int lead;        /* nodes that obey the proof minus nodes that do not (votes_on) */
    uint32_t others; /* number of neighbours whose vote is known */
    bool we_have;    /* this node has rumors beyond the proof's limit */
};

size_t suspension_arena_bytes(void)
{
    return sizeof(struct suspension) + 64;
}

struct suspension *suspension_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct suspension));
}

void suspension_on_open(struct node *node, const struct peer *peer)
{
    const uint32_t slot = connection_slot(node, peer);
    for (uint32_t i = 0; i < PROOFS_ACCUSED; i++)
        bit_set(node->suspension->doubts[i].shown, slot, false);
}

void suspension_on_proof(struct node *node, const uint8_t author[static ID_BYTES])
{
    const uint32_t i = proofs_number(node, author);
    CHECK(i < PROOFS_ACCUSED);
    node->suspension->doubts[i] = (struct doubt){0};
}

static void count(const struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                  uint32_t next, struct shown *shown)
{
    const uint32_t i = proofs_number(node, id);
    if (i == UINT32_MAX || next == 0)
        return;
    const bool is_excess = next > proof_keeps(proofs_at(node, i), incarnation);
    bit_set(is_excess ? shown->excess : shown->rest, i, true);
}

static struct shown ours(const struct node *node)
{
    const struct versions *versions = broadcast_versions(node);
    struct shown shown = {.is_known = true};
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        if (origin->is_accused)
            count(node, origin->id, origin->incarnation, origin->next, &shown);
    }
    return shown;
}

static struct shown listed(const struct node *node, const struct message *version)
{
    struct shown shown = {.is_known = true};
    for (size_t i = 0; i < version->bulk.count / VERSION_ENTRY_BYTES; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        const struct origin *origin = versions_find(broadcast_versions(node), entry.tag);
        shown.is_known &= origin != NULL;
        if (origin && origin->is_accused)
            count(node, origin->id, origin->incarnation, entry.next, &shown);
    }
    return shown;
}

static void note_vote(struct node *node, uint32_t i, uint32_t slot, bool has)
{
    struct doubt *doubt = &node->suspension->doubts[i];
    CHECK(i < proofs_count(node));
    bit_set(doubt->shown, slot, true);
    bit_set(doubt->has, slot, has);
}

void suspension_on_history(struct node *node, const struct peer *from,
                           const struct message *history)
{
    struct shown shown = {0};
    if (proofs_count(node) == 0 || from->state != PEER_OPEN)
        return;
    for (size_t at = 0; at + HISTORY_ENTRY_BYTES <= history->bulk.count;
         at += HISTORY_ENTRY_BYTES) {
        const struct history_entry entry = history_entry_at(history->bulk.at + at);
        count(node, entry.id, entry.incarnation, entry.next, &shown);
    }
    for (uint32_t i = 0; i < proofs_count(node); i++)
        if (bit_get(shown.excess, i))
            note_vote(node, i, connection_slot(node, from), true);
}

/* A version is complete if it equals ours, or if its entries add up to its hash and this node knows
 * every listed origin. */
void suspension_on_version(struct node *node, const struct peer *from,
                           const struct message *version)
{
    const uint32_t proofs = proofs_count(node), slot = connection_slot(node, from);
    if (version->rumors == 0 || proofs == 0)
        return;
    const bool is_ours = version->hash == broadcast_versions(node)->hash;
    const struct shown shown = is_ours ? ours(node) : listed(node, version);
    const bool is_complete =
        is_ours || (shown.is_known &&
                    entries_hash(version->bulk.at, version->bulk.count / VERSION_ENTRY_BYTES) ==
                        version->hash);
    for (uint32_t i = 0; i < proofs; i++) {
        const bool has = bit_get(shown.excess, i);
        /* An incomplete version that lists no rumor of the accused does not count as a vote. */
        if (has || is_complete || bit_get(shown.rest, i))
            note_vote(node, i, slot, has);
    }
}

/* Counts the votes on one proof. unknown: number, 0 or -1, that a neighbour whose vote is unknown
 * adds to `lead`. */
static struct votes votes_on(const struct node *node, uint32_t i, bool we_have, int unknown)
{
    const struct doubt *doubt = &node->suspension->doubts[i];
    struct votes votes = {.we_have = we_have};
    CHECK(unknown == 0 || unknown == -1);
    if (joining_has_joined(node))
        votes.lead += we_have ? -1 : 1;
    for (uint32_t slot = 0; connection_neighbour(node, &slot); slot++) {
        const bool is_shown = bit_get(doubt->shown, slot);
        votes.others += is_shown;
        votes.lead += !is_shown ? unknown : bit_get(doubt->has, slot) ? -1 : 1;
    }
    return votes;
}

static uint64_t patience_ns(const struct node *node, const struct votes *votes, bool is_suspended)
{
    if (is_suspended)
        return AGAIN_NS;
    if (!joining_has_joined(node))
        return JOINER_NS;
    return votes->lead == 0 && !votes->we_have ? LONGER_NS : LONG_NS;
}

/* Returns true if this node must follow the other nodes, because for patience_ns most nodes have
 * differed from what this node does with the proof. A tie is enough to suspend a proof in force. A
 * node that has not joined has no vote, and follows only while a neighbour's vote is known. */
static bool is_outvoted(struct node *node, uint32_t i, const struct votes *votes, bool is_suspended)
{
    struct doubt *doubt = &node->suspension->doubts[i];
    const bool have_voted = votes->others > 0 || joining_has_joined(node);
    CHECK(doubt->since_ns <= node->now_ns);
    if (!have_voted || (votes->lead > 0) != is_suspended) {
        doubt->since_ns = 0;
        return false;
    }
    if (doubt->since_ns == 0)
        doubt->since_ns = node->now_ns;
    if (node->now_ns - doubt->since_ns < patience_ns(node, votes, is_suspended))
        return false;
    doubt->since_ns = 0;
    return true;
}

const struct proof *suspension_next(struct node *node)
{
    const uint32_t proofs = proofs_count(node);
    const struct shown of_us = proofs > 0 ? ours(node) : (struct shown){0};
    bool is_contested = false;
    for (uint32_t i = 0; i < proofs; i++) {
        if (!proofs_against(node, proofs_author(node, i)))
            continue;
        const bool we_have = bit_get(of_us.excess, i), is_suspended = proofs_is_suspended(node, i);
        const struct votes votes = votes_on(node, i, we_have, 0);
        is_contested |= !is_suspended && we_have && votes_on(node, i, we_have, -1).lead < 0;
        if (is_outvoted(node, i, &votes, is_suspended)) {
            proofs_suspend(node, i, !is_suspended);
            return proofs_at(node, i);
        }
    }
    proofs_contest(node, is_contested);
    return NULL;
}
