#include "node/suspension.h"

#include "base/bits.h"
#include "node/broadcast/broadcast.h"
#include "node/lifecycle/lifecycle.h"
#include "node/orders/proofs.h"

#define LONG_NS   (30 * SECOND_NS) /* a proof that has just come reaches all in less */
#define JOINER_NS (2 * SECOND_NS)  /* who has no base has nothing to lose */
#define AGAIN_NS  (5 * SECOND_NS)  /* a suspended one is obeyed again */

/* What is known of the rumors that one proof is about. */
struct doubt {
    uint64_t shown[NODE_PEERS_MAX / 64]; /* neighbours that have shown a version, by slot */
    uint64_t has[NODE_PEERS_MAX / 64];   /* those of them that have rumors in doubt */
    uint64_t since_ns; /* since when most have done what we do not; 0: they do as we do */
};

struct suspension {
    struct doubt doubts[NODE_PROOFS]; /* by number of the proof */
};

size_t suspension_arena_bytes(void)
{
    return sizeof(struct suspension) + 64;
}

struct suspension *suspension_new(struct arena *arena)
{
    return arena_take(arena, 1, sizeof(struct suspension));
}

void suspension_on_open(struct node *node, const struct peer *peer)
{
    const uint32_t slot = connection_slot(node, peer);
    for (uint32_t i = 0; i < NODE_PROOFS; i++)
        bit_set(node->suspension->doubts[i].shown, slot, false);
}

static bool have_rumors_in_doubt(const struct node *node, const struct proof *proof)
{
    const struct origin *origin =
        versions_find(broadcast_versions(node), origin_tag(proof->author, proof->incarnation));
    return origin && origin->next > proof->keep;
}

/* The number of the next rumor of this origin; 0: it is not listed. */
static uint32_t listed_next(const struct message *version, uint64_t tag)
{
    for (size_t i = 0; i < version->bulk.count / VERSION_ENTRY_BYTES; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        if (entry.tag == tag)
            return entry.next;
    }
    return 0;
}

void suspension_on_version(struct node *node, const struct peer *from,
                           const struct message *version)
{
    const uint32_t slot = connection_slot(node, from);
    const bool is_ours = version->hash == broadcast_versions(node)->hash;
    if (version->rumors == 0)
        return;
    for (uint32_t i = 0; i < proofs_count(node); i++) {
        const struct proof *proof = proofs_at(node, i);
        struct doubt *doubt = &node->suspension->doubts[i];
        const uint32_t next = listed_next(version, origin_tag(proof->author, proof->incarnation));
        if (next == 0 && !is_ours && !version->whole)
            continue; /* it says nothing of it */
        bit_set(doubt->shown, slot, true);
        bit_set(doubt->has, slot, is_ours ? have_rumors_in_doubt(node, proof) : next > proof->keep);
    }
}

/* How many more have none of the rumors in doubt than have some? Who has shown nothing yet counts
 * so much. */
static int lead(const struct node *node, uint32_t i, int unknown)
{
    CHECK(unknown == 0 || unknown == -1);
    const struct proof *proof = proofs_at(node, i);
    const struct doubt *doubt = &node->suspension->doubts[i];
    int without = 0;
    if (joining_has_joined(node))
        without += have_rumors_in_doubt(node, proof) ? -1 : 1;
    for (uint32_t slot = 0; connection_neighbour(node, &slot); slot++)
        without += !bit_get(doubt->shown, slot) ? unknown : bit_get(doubt->has, slot) ? -1 : 1;
    return without;
}

static uint64_t patience_ns(const struct node *node, bool is_suspended)
{
    if (is_suspended)
        return AGAIN_NS;
    return joining_has_joined(node) ? LONG_NS : JOINER_NS;
}

/* Has it lasted that most do what we do not? */
static bool is_outvoted(struct node *node, uint32_t i, bool is_suspended, bool most_obey)
{
    struct doubt *doubt = &node->suspension->doubts[i];
    CHECK(doubt->since_ns <= node->now_ns);
    if (most_obey != is_suspended) {
        doubt->since_ns = 0;
        return false;
    }
    if (doubt->since_ns == 0)
        doubt->since_ns = node->now_ns;
    if (node->now_ns - doubt->since_ns < patience_ns(node, is_suspended))
        return false;
    doubt->since_ns = 0;
    return true;
}

const struct proof *suspension_next(struct node *node)
{
    bool is_contested = false;
    for (uint32_t i = 0; i < proofs_count(node); i++) {
        const bool is_suspended = proofs_is_suspended(node, i);
        is_contested |= !is_suspended && lead(node, i, -1) < 0;
        if (is_outvoted(node, i, is_suspended, lead(node, i, 0) > 0)) {
            proofs_suspend(node, i, !is_suspended);
            return proofs_at(node, i);
        }
    }
    proofs_contest(node, is_contested);
    return NULL;
}
