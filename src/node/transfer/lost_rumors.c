/* Lost rumors: a base may contain rumors that are in no log. The last rumors of a node whose power
 * failed may have reached one neighbour only. A liar may serve a false base with rumors that it has
 * never published. Other nodes cannot get such rumors, so nodes with and without them would never
 * have one version again.
 *
 * The majority decides. A node gives up its base if more than half of its neighbours have lacked a
 * lost rumor of this base for LOST_NS. The node's own progress becomes residual again (takeover.c).
 * A neighbour that lacks rumors of most members lags, and does not count as lacking that rumor.
 * Tests: tests/world/test_lost_rumors.c, test_claimed_base.c, test_restore.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node/transfer/transfer_private.h"

/* A rumor that both a neighbour and our log have lacked for this long counts as lost. */
#define LOST_NS (30 * SECOND_NS)
/* Shortest time between two comparisons with one neighbour. */
#define COMPARE_EACH_NS SECOND_NS

void lost_rumors_forget(struct node *node)
{
    node->transfer->are_lost_refuted = false;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        node->transfer->neighbours[i].lost = (struct lost_rumor){0};
}

/* Counts the rumors of an origin, from `next` on, that a neighbour's version lacks. If the log also
 * lacks rumor `next`, sets *lost: to `before` if that is the same rumor, otherwise to rumor `next`,
 * unless *lost is set already. */
static void count_lead(const struct node *node, uint32_t origin_index, uint32_t next,
                       const struct lost_rumor *before, struct lost_rumor *lost)
{
    uint32_t bytes;
    const struct origin *origin = &broadcast_versions(node)->origins[origin_index];
    if (origin->next <= next)
        return;
    supporters_add(&node->transfer->sides[0], node, origin->id, origin->next - next);
    if (rumor_log_find(broadcast_log(node), origin_index, next, &bytes))
        return;
    if (before->since_ns > 0 && before->tag == origin->tag && before->seq == next)
        *lost = *before;
    else if (lost->since_ns == 0)
        *lost = (struct lost_rumor){.tag = origin->tag, .seq = next, .since_ns = node->now_ns};
}

/* Returns a lost rumor that the version lacks: `before`, if the version still lacks that rumor.
 * since_ns is 0 if there is none, or if the version lacks rumors of most members. Only a whole
 * version shows which origins the neighbour does not know. */
static struct lost_rumor find_lost(const struct node *node, const struct message *version,
                                   const struct lost_rumor *before)
{
    const struct versions *versions = broadcast_versions(node);
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    struct lost_rumor lost = {0};
    supporters_clear(&node->transfer->sides[0], node);
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        const struct origin *origin = versions_find(versions, entry.tag);
        if (origin)
            count_lead(node, versions_index(versions, origin), entry.next, before, &lost);
    }
    if (version->whole)
        (void)versions_known(versions, version->bulk.at, entries, version->hash,
                             node->transfer->seen);
    for (uint32_t i = 0; version->whole && i < versions->count; i++)
        if (!bit_get(node->transfer->seen, i))
            count_lead(node, i, 0, before, &lost);
    if (supporters_are_most(&node->transfer->sides[0], node, 1))
        lost.since_ns = 0;
    return lost;
}

static bool has_entry(const struct message *version, uint64_t tag)
{
    for (size_t i = 0; i < version->bulk.count / VERSION_ENTRY_BYTES; i++)
        if (version_entry_at(version->bulk.at, i).tag == tag)
            return true;
    return false;
}

void lost_rumors_on_version(struct node *node, const struct peer *from,
                            const struct message *version)
{
    struct lost_rumor *lost = &transfer_neighbour(node, from)->lost;
    CHECK(version->kind == VERSION);
    if (!version->base || !base_is_whole(node))
        return;
    if (version->hash == broadcast_versions(node)->hash) {
        lost->since_ns = 0;
        return;
    }
    if (lost->heard_ns > 0 && node->now_ns - lost->heard_ns < COMPARE_EACH_NS)
        return;
    /* A slice without the rumor's origin shows nothing about the rumor. */
    if (lost->since_ns == 0 || version->whole || has_entry(version, lost->tag))
        *lost = find_lost(node, version, lost);
    lost->heard_ns = node->now_ns;
}

static bool lacks(const struct node *node, const struct lost_rumor *lost)
{
    return lost->since_ns > 0 && node->now_ns - lost->since_ns >= LOST_NS;
}

static void refute(struct node *node, const struct lost_rumor *lost, uint32_t lack)
{
    const struct blame *blame = &node->transfer->blame;
    const struct origin *author = versions_find(broadcast_versions(node), lost->tag);
    CHECK(lack > 0 && base_is_whole(node));
    const uint64_t rumors = author && author->next > lost->seq ? author->next - lost->seq : 0;
    if (rumors == 0)
        return;
    const bool lies =
        rumors >= CLAIMS_MANY && memcmp(author->id, node->options.identity->id, ID_BYTES) != 0;
    struct note *note = notes_add(
        &node->notes, node->now_ns, lies ? NOTE_FALSE_BASE : NOTE_CATCHING_UP,
        lies ? LEVEL_WARNING : LEVEL_INFO,
        "%" PRIu64 " of its rumors are only in this node's base, and %u neighbours lack them; this "
        "node takes over the base of one of them%s",
        rumors, (unsigned)lack, lies ? "; expel the member if it lies (hearsay expel)" : "");
    identity_text(note->who, author->id);
    node->transfer->are_lost_refuted = true;
    if (lies && memcmp(author->id, blame->donor_id, ID_BYTES) == 0)
        blame_put(node, blame->donor_id);
}

/* Of two members, neither is the majority: then the node that lacks rumors yields (takeover.c). */
void lost_rumors_consider(struct node *node)
{
    const struct peer *peer;
    const struct lost_rumor *lost = NULL;
    uint32_t lack = 0, compared = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct transfer_neighbour *neighbour = &node->transfer->neighbours[i];
        if (!transfer_counts(node, peer))
            continue;
        compared++;
        if (!lacks(node, &neighbour->lost))
            continue;
        lack++;
        lost = &neighbour->lost;
    }
    CHECK(lack <= compared && (lost != NULL) == (lack > 0));
    const bool is_minority =
        2 * lack > compared && membership_live(node) > 2 && base_is_whole(node);
    if (!is_minority)
        node->transfer->are_lost_refuted = false;
    else if (!node->transfer->are_lost_refuted)
        refute(node, lost, lack);
}

bool lost_rumors_refute(const struct node *node)
{
    return node->transfer->are_lost_refuted;
}

bool lost_rumors_prefer(const struct node *node, const struct peer *peer)
{
    return lacks(node, &transfer_neighbour(node, peer)->lost);
}
