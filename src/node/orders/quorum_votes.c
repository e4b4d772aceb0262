#include "node/orders/quorum_votes.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/gate.h"
#include "node/orders/admitted.h"
#include "wire/message.h"

#define AT_ONCE 256 /* maximum votes per message */
/* Votes count together if they name rumors of one incarnation that are at most this many rumors
 * apart, or rumors of two incarnations that started at most this many seconds apart. */
#define VOTES_APART (1u << 14)
/* Least time between two replacements of a vote. */
#define REPLACE_NS (60 * SECOND_NS)

_Static_assert(AT_ONCE *VOTE_BYTES + MESSAGE_ADDS <= MESSAGE_MAX, "they fit into one");

struct known_vote {
    struct vote vote;
    uint8_t bytes[VOTE_BYTES]; /* the vote with its signature */
    uint64_t replaced_ns;      /* time of its last replacement; 0 = never */
};

struct votes {
    /* [NODE_VOTES] sorted by accused and voter; NULL = votes are configured off. */
    struct known_vote *known;
    uint32_t count;
    uint32_t changes; /* votes added, replaced or removed since the start */
    uint64_t hash;    /* hash of all votes, whatever their order */
    /* Number of members that may vote, as of the last votes_on_members; 0 or above NODE_VOTERS = no
     * vote counts. */
    uint32_t members;
};

size_t votes_arena_bytes(const struct node_options *options)
{
    return sizeof(struct votes) +
           (options->limits.quarantines ? NODE_VOTES * sizeof(struct known_vote) : 0) +
           (size_t)2 * 64;
}

bool votes_count_here(const struct node *node)
{
    const struct votes *votes = node->votes;
    return votes->known && votes->members > 0 && votes->members <= NODE_VOTERS;
}

uint32_t votes_needed(const struct node *node)
{
    CHECK(votes_count_here(node));
    return node->votes->members / 2 + 1;
}

static uint64_t hash_of(const struct vote *vote)
{
    const uint64_t of_ids = bytes_get(vote->accused, 8) ^ rng_mix(bytes_get(vote->voter, 8));
    return rng_mix(of_ids ^ rng_mix(vote->incarnation ^ rng_mix(vote->keep)));
}

static int by_accused_and_voter(const struct vote *one, const struct vote *other)
{
    const int order = memcmp(one->accused, other->accused, ID_BYTES);
    return order != 0 ? order : memcmp(one->voter, other->voter, ID_BYTES);
}

/* Returns the index in `known` of this vote, or where to insert it. */
static uint32_t place_of(const struct votes *votes, const struct vote *vote)
{
    uint32_t first = 0, end = votes->count;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (by_accused_and_voter(&votes->known[middle].vote, vote) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    CHECK(first <= votes->count && votes->count <= NODE_VOTES);
    return first;
}

/* Returns the stored vote by the same voter against the same member; NULL if there is none. */
static struct known_vote *find(const struct votes *votes, const struct vote *vote)
{
    const uint32_t at = place_of(votes, vote);
    return at < votes->count && by_accused_and_voter(&votes->known[at].vote, vote) == 0
               ? &votes->known[at]
               : NULL;
}

/* Returns true if these votes against one member count together. `one` must not be later than
 * `other` (vote_compare). */
static bool are_near(const struct vote *one, const struct vote *other)
{
    CHECK(vote_compare(one, other) <= 0);
    return one->incarnation == other->incarnation
               ? other->keep - one->keep <= VOTES_APART
               : other->incarnation - one->incarnation <= VOTES_APART * 1000ull;
}

static void put(struct votes *votes, const struct vote *vote, const uint8_t *bytes, uint64_t now_ns)
{
    struct known_vote *known = find(votes, vote);
    CHECK(known || votes->count < NODE_VOTES);
    if (known) {
        votes->hash -= hash_of(&known->vote);
        known->replaced_ns = now_ns;
    } else {
        const uint32_t at = place_of(votes, vote);
        known = &votes->known[at];
        memmove(known + 1, known, (votes->count++ - at) * sizeof *known);
        known->replaced_ns = 0;
    }
    known->vote = *vote;
    memcpy(known->bytes, bytes, VOTE_BYTES);
    votes->hash += hash_of(vote);
    votes->changes++;
}

struct votes *votes_new(struct arena *arena, const struct node *node)
{
    const struct kept *kept = &node->options.kept.votes;
    struct votes *votes = arena_alloc(arena, 1, sizeof *votes);
    if (!node->options.limits.quarantines)
        return votes;
    votes->known = arena_alloc(arena, NODE_VOTES, sizeof *votes->known);
    for (size_t at = 0; at < kept->bytes; at += VOTE_BYTES) {
        struct vote vote;
        CHECK(vote_parse(kept->at + at, &vote) == OK);
        put(votes, &vote, kept->at + at, 0);
    }
    votes->changes = 0;
    return votes;
}

enum error node_votes_check(const struct node_options *options, struct problem *problem)
{
    uint8_t context[CONTEXT_BYTES];
    const struct introduction ours = connection_introduction_of(options);
    struct vote vote;
    const struct kept *kept = &options->kept.votes;
    introduction_context(context, &ours);
    if (kept->bytes % VOTE_BYTES != 0 || kept->bytes > NODE_VOTES_MAX)
        return problem_set(problem, MALFORMED, "they have an invalid size");
    for (size_t at = 0; at < kept->bytes; at += VOTE_BYTES)
        if (vote_parse(kept->at + at, &vote) != OK || vote_verify(kept->at + at, context) != OK)
            return problem_set(problem, MISMATCH,
                               "they are damaged, or belong to another swarm or model");
    return OK;
}

/* Returns true if the vote may be stored, as a new one or in place of an earlier one. A replacement
 * that comes too early will be sent again. */
static bool has_place(const struct node *node, const struct vote *vote)
{
    const struct known_vote *known = find(node->votes, vote);
    if (!known)
        return node->votes->count < NODE_VOTES;
    CHECK(known->replaced_ns <= node->now_ns);
    return vote_compare(vote, &known->vote) > 0 &&
           (known->replaced_ns == 0 || node->now_ns - known->replaced_ns >= REPLACE_NS);
}

enum error votes_take(struct node *node, const uint8_t in[static VOTE_BYTES], bool *is_new)
{
    struct vote vote;
    struct votes *votes = node->votes;
    *is_new = false;
    enum error error = vote_parse(in, &vote);
    if (error != OK)
        return error;
    if (!votes_count_here(node) || !admitted_may_vote(node, vote.voter) ||
        !admitted_may_vote(node, vote.accused) || !has_place(node, &vote))
        return OK;
    error = vote_verify(in, node->context);
    if (error != OK)
        return error;
    put(votes, &vote, in, node->now_ns);
    *is_new = true;
    return OK;
}

static struct vote own_vote(const struct node *node, const uint8_t accused[static ID_BYTES],
                            uint64_t incarnation, uint32_t keep)
{
    struct vote vote = {.incarnation = incarnation, .keep = keep};
    memcpy(vote.accused, accused, ID_BYTES);
    memcpy(vote.voter, node->options.identity->id, ID_BYTES);
    return vote;
}

bool votes_may_cast(const struct node *node, const uint8_t accused[static ID_BYTES],
                    uint64_t incarnation, uint32_t keep)
{
    const struct vote vote = own_vote(node, accused, incarnation, keep);
    const struct known_vote *before = find(node->votes, &vote);
    if (!votes_count_here(node) || !admitted_may_vote(node, vote.voter) ||
        !admitted_may_vote(node, vote.accused))
        return false;
    return before ? vote_compare(&vote, &before->vote) > 0 && !are_near(&before->vote, &vote)
                  : node->votes->count < NODE_VOTES;
}

bool votes_cast(struct node *node, const uint8_t accused[static ID_BYTES], uint64_t incarnation,
                uint32_t keep)
{
    uint8_t bytes[VOTE_BYTES];
    const struct vote vote = own_vote(node, accused, incarnation, keep);
    if (!votes_may_cast(node, accused, incarnation, keep))
        return false;
    vote_create(&vote, node->options.identity, node->context, bytes);
    put(node->votes, &vote, bytes, node->now_ns);
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        votes_say_one(node, connection_at(node, i), bytes);
    return true;
}

/* Returns the first of the votes against `accused`, which are adjacent in votes->known, and sets
 * *count to their number. Returns NULL if there are none. */
static const struct known_vote *against(const struct node *node,
                                        const uint8_t accused[static ID_BYTES], uint32_t *count)
{
    const struct votes *votes = node->votes;
    struct vote first = {0}; /* this vote sorts before every vote against the accused */
    memcpy(first.accused, accused, ID_BYTES);
    const uint32_t at = place_of(votes, &first);
    *count = 0;
    while (at + *count < votes->count &&
           memcmp(votes->known[at + *count].vote.accused, accused, ID_BYTES) == 0)
        ++*count;
    return *count > 0 ? &votes->known[at] : NULL;
}

static int by_what_is_left(const void *one, const void *other)
{
    return vote_compare(one, other);
}

/* Copies the votes against this member, strictest first, and returns their number. */
static uint32_t sort_against(const struct node *node, const uint8_t accused[static ID_BYTES],
                             struct vote sorted[static NODE_VOTERS])
{
    uint32_t count;
    const struct known_vote *known = against(node, accused, &count);
    CHECK(count <= NODE_VOTERS); /* each member has at most one vote against the accused */
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = known[i].vote;
    qsort(sorted, count, sizeof *sorted, by_what_is_left);
    return count;
}

/* Returns how many of these sorted votes count together with the first one. */
static uint32_t count_near(const struct vote *sorted, uint32_t count)
{
    uint32_t near = 0;
    CHECK(count > 0);
    while (near < count && are_near(&sorted[0], &sorted[near]))
        near++;
    return near;
}

uint32_t votes_against(const struct node *node, const uint8_t accused[static ID_BYTES])
{
    struct vote sorted[NODE_VOTERS];
    uint32_t most = 0;
    if (!votes_count_here(node))
        return 0;
    const uint32_t count = sort_against(node, accused, sorted);
    for (uint32_t i = 0; i < count; i++)
        most = u32_max(most, count_near(sorted + i, count - i));
    return most;
}

bool votes_decide(const struct node *node, const uint8_t accused[static ID_BYTES],
                  struct proof *decision)
{
    struct vote sorted[NODE_VOTERS];
    if (!votes_count_here(node))
        return false;
    const uint32_t count = sort_against(node, accused, sorted), needed = votes_needed(node);
    uint32_t first = 0;
    while (first < count && count_near(sorted + first, count - first) < needed)
        first++;
    if (first == count)
        return false;
    const struct vote *limit = &sorted[first + needed - 1];
    *decision =
        (struct proof){.kind = PROOF_VOTES, .incarnation = limit->incarnation, .keep = limit->keep};
    memcpy(decision->author, accused, ID_BYTES);
    return true;
}

const uint8_t *votes_next_accused(const struct node *node, const uint8_t *before)
{
    const struct votes *votes = node->votes;
    uint32_t i = 0;
    while (before && i < votes->count &&
           memcmp(votes->known[i].vote.accused, before, ID_BYTES) <= 0)
        i++;
    return i < votes->count ? votes->known[i].vote.accused : NULL;
}

void votes_on_members(struct node *node)
{
    struct votes *votes = node->votes;
    uint32_t kept = 0;
    CHECK(votes->known);
    votes->members = admitted_voters(node);
    if (votes->members == 0)
        return; /* without a member list, no vote can be checked */
    for (uint32_t i = 0; i < votes->count; i++) {
        const struct vote *vote = &votes->known[i].vote;
        if (admitted_may_vote(node, vote->voter) && admitted_may_vote(node, vote->accused))
            votes->known[kept++] = votes->known[i];
        else
            votes->hash -= hash_of(vote);
    }
    votes->changes += votes->count - kept;
    votes->count = kept;
}

static bool say(struct node *node, const struct peer *peer, const uint8_t *votes, size_t bytes)
{
    return connection_say(
        node, peer,
        &(struct message){.kind = VOTES, .hash = node->votes->hash, .bulk = {votes, bytes}});
}

void votes_say_one(struct node *node, const struct peer *peer,
                   const uint8_t vote[static VOTE_BYTES])
{
    (void)say(node, peer, vote, VOTE_BYTES);
}

static void say_these(struct node *node, const struct peer *peer, const struct known_vote *these,
                      uint32_t count)
{
    uint32_t in = 0;
    CHECK(count <= node->votes->count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(node->scratch + (size_t)in * VOTE_BYTES, these[i].bytes, VOTE_BYTES);
        if (++in < AT_ONCE && i + 1 < count)
            continue;
        if (!say(node, peer, node->scratch, (size_t)in * VOTE_BYTES))
            return; /* the queue is full; these votes are sent later */
        in = 0;
    }
}

void votes_say(struct node *node, const struct peer *peer)
{
    say_these(node, peer, node->votes->known, node->votes->count);
}

void votes_say_against(struct node *node, const struct peer *peer,
                       const uint8_t accused[static ID_BYTES])
{
    uint32_t count;
    const struct known_vote *these = against(node, accused, &count);
    say_these(node, peer, these, count);
}

void votes_on_shown(struct node *node, const struct peer *from, uint64_t hash)
{
    if (!votes_count_here(node) || hash == node->votes->hash)
        return;
    if (node->votes->count > 0)
        votes_say(node, from);
    else
        (void)say(node, from, NULL, 0); /* an empty VOTES asks the neighbour for all its votes */
}

void votes_show_one(struct node *node)
{
    CHECK(node->options.limits.quarantines);
    const struct peer *peer = node->votes->count > 0 ? connection_random(node) : NULL;
    if (peer)
        (void)say(node, peer, NULL, 0);
}

uint32_t node_votes_changes(const struct node *node)
{
    return node->votes->changes;
}

size_t node_votes(const struct node *node, uint8_t *out)
{
    for (uint32_t i = 0; i < node->votes->count; i++)
        memcpy(out + (size_t)i * VOTE_BYTES, node->votes->known[i].bytes, VOTE_BYTES);
    return (size_t)node->votes->count * VOTE_BYTES;
}
