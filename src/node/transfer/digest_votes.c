/* Digest votes: do other members have the taken-over base? A donor may send a false history and
 * false blocks that match each other. The versions of neighbours reveal it:
 *
 *   their version equals ours ──────────► does their digest equal ours?
 *   their version is part of ours, and ─► does their digest equal ours minus that of the
 *   the log has the other rumors          other rumors?
 *
 * The difference of two digests over the same rumors is constant, so a neighbour's last vote counts
 * until its conversation ends. The donor counts as one vote for our base. For a base restored from
 * a checkpoint, our own past is the donor.
 *
 *   confirmed  at least two neighbours agree besides the donor, and more agree than differ; or no
 *              vote differs a minute after the base became complete: voting ends
 *   refuted    more neighbours share one other digest than agree (the donor included): the donor is
 *              blamed, and the base of one of these neighbours is taken over (fetch.c)
 *   tied       equally many agree and differ: noted, no action
 *
 * Tests: tests/world/test_false_base.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "node/broadcast/equivocation.h"
#include "node/transfer/transfer_private.h"

/* Least number of votes for our base, the donor's included, that confirm the base. */
#define AGREE_MIN  3
#define WAIT_NS    (5 * SECOND_NS)  /* time to wait for more votes after the first differing vote */
#define CONFIRM_NS (60 * SECOND_NS) /* confirmation time of a complete base if no vote differs */
#define RUMORS_MAX 64               /* maximum rumors in the log that are read for one vote */
/* Shortest time between two votes of one neighbour that make this node read rumors in the log. */
#define COUNT_EACH SECOND_NS

static uint64_t less(uint64_t digest, uint64_t other)
{
    const uint32_t high = (uint32_t)(digest >> 32) - (uint32_t)(other >> 32);
    return (uint64_t)high << 32 | (uint32_t)((uint32_t)digest - (uint32_t)other);
}

void digest_votes_begin(struct node *node)
{
    struct transfer *transfer = node->transfer;
    transfer->digest_votes = (struct digest_votes){.are_open = true, .whole_ns = node->now_ns};
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        transfer->neighbours[i].digest_vote = (struct digest_vote){0};
}

/* A neighbour's version that is part of ours, computed from ours by subtracting rumors. */
struct within {
    uint64_t hash;   /* hash of that version */
    uint64_t digest; /* digest of a base with that version */
    uint32_t left;   /* rumors that may still be subtracted */
};

/* Subtracts our rumors of the origin from number `next` on. Returns false if the log lacks one of
 * them, the head before them is unknown, they are more than within->left, or we know fewer than
 * `next`. */
static bool take_out(struct node *node, struct within *within, const struct origin *origin,
                     uint32_t next)
{
    const uint32_t origin_index = versions_index(broadcast_versions(node), origin);
    uint8_t before[HEAD_HASH_BYTES];
    CHECK(within->left <= RUMORS_MAX);
    if (next == origin->next)
        return true;
    if (next > origin->next || origin->next - next > within->left ||
        !equivocation_hash_before(node, origin_index, next, before))
        return false;
    within->left -= origin->next - next;
    for (uint32_t seq = next; seq < origin->next; seq++) {
        uint32_t bytes;
        const uint8_t *rumor = rumor_log_find(broadcast_log(node), origin_index, seq, &bytes);
        if (!rumor)
            return false;
        within->digest =
            less(within->digest, digest_of_update(broadcast_logged(node, rumor, bytes)));
    }
    within->hash -= version_entry_hash(origin->tag, origin->next, origin->last.hash);
    within->hash += version_entry_hash(origin->tag, next, before);
    return true;
}

/* Computes the digest that our base would have with only the rumors of the neighbour's version.
 * Returns false if that version is not part of ours, or if take_out fails. */
static bool digest_within(struct node *node, const struct message *version, uint64_t *digest)
{
    const struct versions *versions = broadcast_versions(node);
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    CHECK(version->bulk.count % VERSION_ENTRY_BYTES == 0);
    struct within within = {versions->hash, versions->digest, RUMORS_MAX};
    if (!versions_known(versions, version->bulk.at, entries, version->hash, node->transfer->seen))
        return false;
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        const struct origin *origin = versions_find(versions, entry.tag);
        if (!origin || !take_out(node, &within, origin, entry.next))
            return false;
    }
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (!bit_get(node->transfer->seen, origin_index) &&
            !take_out(node, &within, &versions->origins[origin_index], 0))
            return false;
    *digest = within.digest;
    return within.hash == version->hash;
}

static bool is_donor(const struct node *node, const struct peer *peer)
{
    return !node->transfer->digest_votes.is_restored && blame_is_donor(node, peer);
}

/* Returns true if for COUNT_EACH no vote of this neighbour has made this node read the log. This
 * limits the work that a neighbour can cause. */
static bool may_count(const struct node *node, const struct digest_vote *digest_vote)
{
    return digest_vote->heard_ns == 0 || node->now_ns - digest_vote->heard_ns >= COUNT_EACH;
}

bool digest_votes_on_version(struct node *node, const struct peer *from,
                             const struct message *version)
{
    struct digest_votes *digest_votes = &node->transfer->digest_votes;
    struct digest_vote *digest_vote = &transfer_neighbour(node, from)->digest_vote;
    CHECK(version->kind == VERSION);
    const struct versions *ours = broadcast_versions(node);
    uint64_t digest = ours->digest;
    if (!digest_votes->are_open || base_state(node) == BASE_ROLLING || !version->base ||
        is_donor(node, from) || blame_is_on(node, from))
        return false;
    if (version->hash != ours->hash) {
        if (!version->whole || !may_count(node, digest_vote))
            return false;
        digest_vote->heard_ns = node->now_ns;
        if (!digest_within(node, version, &digest))
            return false;
    }
    digest_vote->is_known = true;
    digest_vote->apart = less(version->digest, digest);
    if (digest_vote->apart != 0 && digest_votes->differ_ns == 0)
        digest_votes->differ_ns = node->now_ns;
    return true;
}

struct votes {
    uint32_t agree;           /* votes for our base, the donor's included */
    uint32_t differ;          /* votes for the most frequent other base */
    uint64_t apart;           /* digest of that other base minus the digest of ours */
    const struct peer *other; /* a neighbour that voted for that other base */
};

/* Returns the number of neighbours, except blamed ones, whose digest minus ours is `apart`. */
static uint32_t count(const struct node *node, uint64_t apart)
{
    uint32_t have = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct digest_vote *digest_vote = &node->transfer->neighbours[i].digest_vote;
        have += digest_vote->is_known && digest_vote->apart == apart && !blame_is_on(node, peer);
    }
    return have;
}

static struct votes count_votes(const struct node *node)
{
    struct votes votes = {.agree = 1 + count(node, 0)};
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct digest_vote *digest_vote = &node->transfer->neighbours[i].digest_vote;
        if (!digest_vote->is_known || digest_vote->apart == 0)
            continue;
        const uint32_t differ = count(node, digest_vote->apart);
        if (differ > votes.differ)
            votes = (struct votes){votes.agree, differ, digest_vote->apart, peer};
    }
    return votes;
}

static void note(struct node *node, const char *is_what, const char *because)
{
    const struct transfer *transfer = node->transfer;
    const bool is_restored = transfer->digest_votes.is_restored;
    struct note *note = notes_add(
        &node->notes, node->now_ns, NOTE_FALSE_BASE, LEVEL_WARNING, "%s %s the swarm's base: %s",
        is_restored ? "the base restored from the checkpoint" : "sent a base that", is_what,
        because);
    if (!is_restored)
        identity_text(note->who, transfer->blame.donor_id);
}

static void refute(struct node *node, const struct votes *votes)
{
    struct digest_votes *digest_votes = &node->transfer->digest_votes;
    char because[128];
    CHECK(votes->apart != 0 && !digest_votes->is_refuted);
    (void)snprintf(because, sizeof because,
                   "%u neighbours have another digest of the same rumors; this node takes over the "
                   "base of one of them",
                   (unsigned)votes->differ);
    note(node, "is not", because);
    digest_votes->is_refuted = true;
    digest_votes->apart = votes->apart;
    if (!digest_votes->is_restored)
        blame_put(node, node->transfer->blame.donor_id);
}

static void note_tie(struct node *node, const struct votes *votes)
{
    char other[ID_TEXT_BYTES], because[128];
    CHECK(votes->other && votes->other->state == PEER_OPEN);
    identity_text(other, votes->other->id);
    (void)snprintf(because, sizeof because,
                   "%s has another digest of the same rumors, and the votes are tied; a member "
                   "lies or has broken memory",
                   other);
    note(node, "may not be", because);
    node->transfer->digest_votes.is_tie_noted = true;
}

static void judge(struct node *node)
{
    struct digest_votes *digest_votes = &node->transfer->digest_votes;
    const struct votes votes = count_votes(node);
    CHECK(digest_votes->are_open && votes.agree > 0);
    if (votes.agree >= AGREE_MIN && votes.agree > votes.differ)
        digest_votes->are_open = digest_votes->is_refuted = false;
    else if (votes.differ == 0 && !digest_votes->is_refuted)
        digest_votes->are_open = node->now_ns - digest_votes->whole_ns < CONFIRM_NS;
    if (!digest_votes->are_open || digest_votes->is_refuted || votes.differ < votes.agree ||
        node->now_ns - digest_votes->differ_ns < WAIT_NS)
        return;
    if (votes.differ > votes.agree)
        refute(node, &votes);
    else if (!digest_votes->is_tie_noted)
        note_tie(node, &votes);
}

/* Requests the whole version of a random neighbour that may vote and has not voted. */
static void ask(struct node *node)
{
    const struct peer *peer, *chosen = NULL;
    uint32_t silent = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (!node->transfer->neighbours[i].digest_vote.is_known && !is_donor(node, peer) &&
            broadcast_is_together(node, peer) && !blame_is_on(node, peer) &&
            rng_below(&node->rng, ++silent) == 0)
            chosen = peer;
    if (chosen)
        anti_entropy_ask_for_all(node, chosen);
}

void digest_votes_consider(struct node *node)
{
    struct digest_votes *digest_votes = &node->transfer->digest_votes;
    if (!digest_votes->are_open || base_state(node) == BASE_ROLLING)
        return;
    if (!base_is_whole(node))
        digest_votes->whole_ns = node->now_ns;
    judge(node);
    if (digest_votes->are_open)
        ask(node);
}

bool digest_votes_refute(const struct node *node)
{
    return node->transfer->digest_votes.is_refuted;
}

bool digest_votes_prefer(const struct node *node, const struct peer *peer)
{
    const struct digest_votes *digest_votes = &node->transfer->digest_votes;
    const struct digest_vote *digest_vote = &transfer_neighbour(node, peer)->digest_vote;
    CHECK(digest_votes->is_refuted);
    return digest_vote->is_known && digest_vote->apart == digest_votes->apart;
}
