#include "node/broadcast/progress.h"

#include <math.h>
#include <string.h>

#include "node/broadcast/broadcast_private.h"
#include "node/broadcast/credited_samples.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/shares.h"

#define SAMPLES_MAX 0x1p62 /* upper bound of any count of samples */
/* Time in which a node meets the other members after its start. */
#define MEET_NS  (60 * SECOND_NS)
#define COUNT_NS (3600 * SECOND_NS) /* length of one counting period */

struct progress {
    double start;        /* count of learned samples when this counting period started */
    uint64_t started_ns; /* time when this counting period started */
    uint64_t samples;    /* largest count of learned samples so far */
    bool has_begun;      /* this node has begun to count the swarm's samples (begin) */
    bool is_late;        /* a base was taken over, so rumors may never have arrived here */
    struct reported_samples *reported; /* [members_max + 1] scratch buffer, by member number */
    uint64_t *said; /* [members_max] scratch buffer for counts that other members report */
};

size_t progress_arena_bytes(const struct node_options *options)
{
    return sizeof(struct progress) +
           (options->limits.members_max + (size_t)1) *
               (sizeof(struct reported_samples) + sizeof(uint64_t)) +
           3 * 64;
}

/* From now on, an origin's report counts only as far as it exceeds its present report. */
static void restart_counts(struct versions *versions)
{
    CHECK(versions->count <= versions->max);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        struct origin *origin = &versions->origins[origin_index];
        origin->samples_before = versions_samples(versions, origin);
    }
}

struct progress *progress_new(struct arena *arena, const struct node *node,
                              struct versions *versions)
{
    const struct node_options *options = &node->options;
    CHECK(options->limits.members_max > 0);
    struct progress *progress = arena_alloc(arena, 1, sizeof *progress);
    *progress = (struct progress){
        .start = (double)options->kept.swarm_samples,
        .started_ns = node->now_ns,
        .samples = options->kept.swarm_samples,
        .has_begun = options->kept.swarm_samples > 0,
        .reported =
            arena_alloc(arena, options->limits.members_max + (size_t)1, sizeof *progress->reported),
        .said = arena_alloc(arena, options->limits.members_max, sizeof *progress->said),
    };
    if (progress->has_begun)
        restart_counts(versions);
    return progress;
}

double progress_claimed(const struct node *node)
{
    const struct versions *versions = &node->broadcast->versions;
    double samples = 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        samples += (double)versions_samples(versions, &versions->origins[origin_index]);
    CHECK(isfinite(samples));
    return samples;
}

/* Sets reported[], by member number, to the samples that each member reported in this period. The
 * last entry, at members->count, is the sum over former members. Returns the number of other
 * members with reports; all former members count as one. */
static uint32_t tally(const struct node *node, struct reported_samples *reported)
{
    const struct members *members = membership_members(node);
    const struct versions *versions = &node->broadcast->versions;
    uint32_t others = 0;
    memset(reported, 0, (members->count + (size_t)1) * sizeof *reported);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        const double since =
            (double)versions_samples(versions, origin) - (double)origin->samples_before;
        const struct member *member = since != 0 ? membership_find(node, origin->id) : NULL;
        reported[member ? membership_number(node, member) : members->count].samples += since;
    }
    for (uint32_t i = 0; i <= members->count; i++) {
        reported[i].samples =
            fmax(reported[i].samples, 0); /* negative after a retraction or a new incarnation */
        reported[i].borne_out = i < members->count ? members->members[i].borne_out : 0;
        others += i > 0 && reported[i].samples > 0;
    }
    CHECK(others <= members->count);
    return others;
}

static double counted(const struct node *node, uint32_t *others)
{
    const struct progress *progress = node->broadcast->progress;
    const struct members *members = membership_members(node);
    *others = tally(node, progress->reported);
    const double since = credited_samples_sum(progress->reported, members->count + 1,
                                              shares_training(members, node->now_ns));
    CHECK(since >= 0);
    return progress->start + since;
}

static uint64_t rounded(double samples)
{
    CHECK(samples >= 0);
    return (uint64_t)fmin(samples, SAMPLES_MAX);
}

/* Collects the counts of learned samples in the records of other members that are neither expelled
 * nor barred, or only of live ones. Leaves out a member that does not train and states no count.
 * Returns the number of collected counts. */
static uint32_t ask_others(const struct node *node, bool only_live, uint64_t *said)
{
    const struct members *members = membership_members(node);
    uint32_t count = 0;
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        const bool is_asked = only_live ? member_is_live(members, member, node->now_ns)
                                        : !member->is_expelled && !member->is_barred;
        if (is_asked && (member->record.trains || member->record.swarm_samples > 0))
            said[count++] = member->record.swarm_samples;
    }
    CHECK(count < members->count);
    return count;
}

static void begin_at(struct node *node, double samples)
{
    struct progress *progress = node->broadcast->progress;
    CHECK(samples >= 0);
    progress->start = samples;
    progress->started_ns = node->now_ns;
    restart_counts(&node->broadcast->versions);
    membership_recount(node);
}

void progress_on_takeover(struct node *node)
{
    struct progress *progress = node->broadcast->progress;
    CHECK(node->broadcast->versions.count > 0);
    progress->is_late = true;
    if (!joining_has_joined(node))
        /* the count in this node's checkpoint is too old to continue from */
        progress->has_begun = false;
}

/* Starts to count the swarm's learned samples. A node that received every rumor starts at 0, so
 * that the rule of credited_samples.h applies to all reports. */
static void begin(struct node *node)
{
    struct progress *progress = node->broadcast->progress;
    CHECK(!progress->has_begun);
    progress->has_begun = true;
    progress->started_ns = node->now_ns;
    if (!progress->is_late)
        return;
    uint32_t others, count = ask_others(node, true, progress->said);
    /* the donor of the base may be dead, but its record stated its count */
    if (count == 0)
        count = ask_others(node, false, progress->said);
    const double now = counted(node, &others);
    const double there = credited_samples_begin(progress_claimed(node), now, progress->said, count);
    begin_at(node, fmax(there, (double)progress->samples));
}

/* Starts a new counting period every COUNT_NS, so that a member's reports are compared only with
 * other reports of that hour. Otherwise a member with a week of honest reports could double the
 * count at once. */
static void count_on(struct node *node)
{
    const struct progress *progress = node->broadcast->progress;
    CHECK(node->now_ns >= progress->started_ns);
    if (node->now_ns - progress->started_ns >= COUNT_NS)
        begin_at(node, (double)progress->samples);
}

/* Returns true if the counts of `count` other members suffice to change this node's count. A single
 * count suffices only if no third member is live or has reported in this period. Otherwise an
 * attacker would wait until all other members are away. For a single count the node also waits
 * until it is MEET_NS old, unless the period began at 0. */
static bool is_word_enough(const struct node *node, uint32_t count, uint32_t others)
{
    const bool has_met =
        node->broadcast->progress->start == 0 || node->now_ns - node->born_ns >= MEET_NS;
    CHECK(node->now_ns >= node->born_ns);
    return count >= 2 || (has_met && others <= 1 && membership_live(node) <= 2);
}

/* Returns true if the origins with missing rumors are at least half as many as the live members.
 * Then this node must not adopt their counts: the samples of the missing rumors would count again
 * when the rumors arrive. */
static bool lacks_claims(const struct node *node)
{
    const uint32_t behind = node->broadcast->repair.behind;
    CHECK(behind <= node->broadcast->versions.count);
    return 2 * behind >= membership_live(node);
}

static void go_on(struct node *node)
{
    const struct progress *progress = node->broadcast->progress;
    uint32_t others;
    const double most = fmax(counted(node, &others), (double)progress->samples);
    const uint32_t count = ask_others(node, true, progress->said);
    CHECK(progress->has_begun);
    if (lacks_claims(node) || !is_word_enough(node, count, others))
        return;
    const double there =
        credited_samples_continue(progress_claimed(node), most, progress->said, count);
    if (there > most)
        begin_at(node, there);
}

static bool may_begin(const struct node *node)
{
    return joining_has_joined(node) && base_state(node) != BASE_FETCHING;
}

void progress_review(struct node *node)
{
    struct progress *progress = node->broadcast->progress;
    const uint64_t before = progress->samples;
    if (!progress->has_begun && may_begin(node))
        begin(node);
    if (progress->has_begun)
        go_on(node);
    progress->samples = progress_samples(node);
    CHECK(progress->samples >= before);
    if (progress->has_begun)
        count_on(node);
}

uint64_t progress_samples(const struct node *node)
{
    const struct progress *progress = node->broadcast->progress;
    uint32_t others;
    const uint64_t now = rounded(counted(node, &others));
    CHECK(progress->reported != NULL);
    return u64_max(now, progress->samples);
}

uint64_t progress_to_say(const struct node *node)
{
    return node->broadcast->progress->has_begun ? progress_samples(node) : 0;
}
