#include "node/governance/quarantine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/retract.h"
#include "node/broadcast/trial.h"
#include "node/broadcast/withheld.h"
#include "node/governance/byzantine.h"
#include "node/governance/expulsion.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/admitted.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/orders/verdict.h"
#include "node/quarantine_api.h"
#include "wire/message.h"

#define HELD_NS (10 * SECOND_NS) /* time in which members may vote about a withheld publication */
/* Least time from the start of withholding to the trial, in which the publication arrives, and most
 * time from a passed trial to the release, in which other members may vote. */
#define TRIAL_NS (3 * SECOND_NS)
/* A node votes against the author of withheld rumors if they leave less than this part of its
 * accuracy. */
#define LEFT_LEAST 0.5
/* The loss of accuracy must also exceed this many standard errors, of which each is at most
 * 0.5 / sqrt(samples). */
#define ERRORS 6
/* Most suspects whose rumors one trial takes out. */
#define SUSPECTS 16
/* A node votes against a suspect if the loss is higher with its last rumors by more than this part
 * of the loss (or of 1 if that is more), divided by the number of live members. */
#define HARM_LEAST 0.1
/* After a trial of a suspect that causes no vote, the next one waits this many times as long as
 * that trial took. */
#define TRIAL_REST 20
/* A publication that this node has voted against is withheld for this time, so that absent members
 * or the operator can decide. */
#define CONDEMNED_NS (300 * SECOND_NS)
/* While an origin may be from a partition, its rumors are withheld for at most this time longer
 * than HELD_NS. */
#define APART_NS (60 * SECOND_NS)
/* After a release because the time to vote was over, or because the log needed the space,
 * publications of up to twice the length are not withheld for this time. */
#define FREE_NS (60 * SECOND_NS)

/* State of withholding the rumors of one origin. */
struct withholding {
    double length;     /* length of the origin's longest withheld publication (byzantine_length) */
    bool is_tried;     /* a trial was requested since trial_ns was set */
    bool is_judged;    /* that trial has ended */
    uint64_t trial_ns; /* earliest time to try the withheld rumors */
    /* Latest time of the release, unless the origin's member is expelled or the trial is late. */
    uint64_t until_ns;
    /* Time before which publications of up to twice `length` are not withheld again. */
    uint64_t free_ns;
};

struct quarantine {
    /* Hash of the members whose vote counts, at the last call of look_at_members. */
    uint64_t members;
    uint64_t joined_ns;  /* time of the first review after the node joined; 0 = not joined */
    uint32_t trial;      /* origin index + 1 of the trial that is due or under way; 0 = none */
    bool is_trial_given; /* the learner was given this trial */
    bool is_of_suspect; /* the trial is of a member that seems harmful, not of a long publication */
    uint64_t incarnation; /* with is_of_suspect: incarnation of the first rumor that a vote names */
    uint32_t keep;        /* with is_of_suspect: number of that rumor */
    bool is_without;   /* with is_of_suspect: the trial's base lacks the rumors of other suspects */
    uint64_t given_ns; /* time when the learner was given this trial */
    uint64_t rest_ns;  /* earliest time of the next trial with is_of_suspect */
    bool is_inactive_noted;           /* a note has said that votes do not count */
    struct withholding *withholdings; /* [incarnations_max] by origin index */
};

size_t quarantine_arena_bytes(const struct node_options *options)
{
    return sizeof(struct quarantine) +
           options->limits.incarnations_max * sizeof(struct withholding) + (size_t)2 * 64;
}

struct quarantine *quarantine_new(struct arena *arena, const struct node_options *options)
{
    struct quarantine *quarantine = arena_alloc(arena, 1, sizeof *quarantine);
    quarantine->withholdings =
        arena_alloc(arena, options->limits.incarnations_max, sizeof *quarantine->withholdings);
    return quarantine;
}

static void pass_on(struct node *node, const struct peer *from, const uint8_t *vote)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (peer != from)
            votes_say_one(node, peer, vote);
}

/* Returns the number of votes against a member that cause a warning: two thirds of those that expel
 * it, rounded up. A single voter may just have unlike data. */
static uint32_t votes_to_warn(const struct node *node)
{
    return (2 * votes_needed(node) + 2) / 3;
}

static void note_votes(struct node *node, const uint8_t accused[static ID_BYTES], uint32_t votes)
{
    struct note *note =
        notes_add(&node->notes, node->now_ns, NOTE_HARM, LEVEL_WARNING,
                  "%u members signed that its updates are harmful; %u would expel it",
                  (unsigned)votes, (unsigned)votes_needed(node));
    identity_text(note->who, accused);
}

/* Adds a warning, or expels the member, if a new vote against it suffices. */
static void on_new_vote(struct node *node, const uint8_t accused[static ID_BYTES])
{
    const uint32_t votes = votes_against(node, accused);
    CHECK(votes > 0);
    if (votes == votes_to_warn(node) && !verdict_reason(node, accused))
        note_votes(node, accused, votes);
    expulsion_on_votes(node, accused);
}

/* Counts the votes again if the members whose vote counts have changed, which may end or cause an
 * expulsion. */
static void look_at_members(struct node *node)
{
    const uint8_t *accused = NULL;
    CHECK(node->options.limits.quarantines);
    if (node->quarantine->members == admitted_voters_hash(node))
        return;
    node->quarantine->members = admitted_voters_hash(node);
    votes_on_members(node);
    for (uint32_t i = 0; i < proofs_count(node); i++)
        if (proofs_is_decided(node, proofs_author(node, i)))
            expulsion_on_votes(node, proofs_author(node, i));
    while ((accused = votes_next_accused(node, accused)))
        expulsion_on_votes(node, accused);
}

/* Handles a vote. from: the neighbour that sent it; NULL = the owner gave it. Returns MALFORMED or
 * FORGED if the vote is invalid. A vote that does not count is ignored, with its signature
 * unchecked. */
static enum error take(struct node *node, const struct peer *from, const uint8_t *vote)
{
    bool is_new;
    const enum error error = votes_take(node, vote, &is_new);
    CHECK(error == OK || !is_new);
    if (is_new) {
        pass_on(node, from, vote);
        on_new_vote(node, vote); /* the bytes of a vote begin with the accused member's id */
    }
    return error;
}

enum error node_on_vote(struct node *node, uint64_t now_ns, const uint8_t vote[static VOTE_BYTES])
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    if (node->options.limits.quarantines)
        look_at_members(node);
    return take(node, NULL, vote);
}

void quarantine_on_votes(struct node *node, const struct peer *from, const struct message *message)
{
    CHECK(message->kind == VOTES);
    enum error error = message->bulk.count % VOTE_BYTES == 0 ? OK : MALFORMED;
    if (node->options.limits.quarantines)
        look_at_members(node);
    for (size_t at = 0; at < message->bulk.count && error == OK && from->state == PEER_OPEN;
         at += VOTE_BYTES)
        error = take(node, from, message->bulk.at + at);
    if (error != OK)
        connection_hang_up(node, from, BYE_BROKEN, "sent an invalid vote");
    else if (from->state == PEER_OPEN && message->bulk.count == 0)
        votes_on_shown(node, from, message->hash);
}

static void note_inactive(struct node *node)
{
    CHECK(!votes_count_here(node));
    if (node->quarantine->is_inactive_noted)
        return;
    node->quarantine->is_inactive_noted = true;
    (void)notes_add(
        &node->notes, node->now_ns, NOTE_HARM, LEVEL_WARNING,
        "votes expel no member although node.quarantine = yes: votes need listed or admitted "
        "members, at most %u; set node.members, or admit members (hearsay admit)",
        (unsigned)NODE_VOTERS);
}

/* Adds a note that this node finds the origin's rumors harmful. It only informs: this node's own
 * data may be the unusual ones. */
static void note_finding(struct node *node, const struct origin *origin)
{
    char how[128];
    byzantine_describe(node, origin, how, sizeof how);
    struct note *note =
        notes_add(&node->notes, node->now_ns, NOTE_HARM, LEVEL_INFO,
                  "its rumor stream %s; it is harmful, or its data differ from this node's", how);
    identity_text(note->who, origin->id);
}

static void note_own_vote(struct node *node, const struct origin *origin,
                          const struct base_trial *trial)
{
    char how[128];
    byzantine_describe(node, origin, how, sizeof how);
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_HARM, LEVEL_INFO,
                                  "its rumor stream %s, the loss is %.4f with its last rumors, "
                                  "%.4f without; this node votes to expel it",
                                  how, trial->loss_before, trial->loss_after);
    identity_text(note->who, origin->id);
}

/* Returns the limit `from`, moved back to the member's first withheld rumor if that is earlier,
 * so that withheld rumors are also taken out. */
static struct stream_point with_held(const struct node *node, struct stream_point from)
{
    const struct origin *origins = broadcast_versions(node)->origins;
    for (uint32_t origin_index = 0; origin_index < broadcast_versions(node)->count;
         origin_index++) {
        const struct origin *withheld = &origins[origin_index];
        if (!withheld_has(node, origin_index) ||
            memcmp(withheld->id, origins[from.origin_index].id, ID_BYTES) != 0 ||
            withheld->incarnation > origins[from.origin_index].incarnation ||
            (origin_index == from.origin_index && withheld->applied >= from.seq))
            continue;
        from = (struct stream_point){.origin_index = origin_index, .seq = withheld->applied};
    }
    return from;
}

/* Returns the limit `from`, moved forward to the member's first rumor that the log can still
 * take out, if that is later. */
static struct stream_point within_reach(const struct node *node, struct stream_point from)
{
    const struct origin *origins = broadcast_versions(node)->origins;
    const uint8_t *id = origins[from.origin_index].id;
    for (uint32_t origin_index = 0; origin_index < broadcast_versions(node)->count;
         origin_index++) {
        if (memcmp(origins[origin_index].id, id, ID_BYTES) != 0)
            continue;
        const uint32_t reach = retract_reach(node, origin_index);
        if (origin_index == from.origin_index && reach > from.seq)
            from.seq = reach;
        if (origins[origin_index].incarnation > origins[from.origin_index].incarnation && reach > 0)
            from = (struct stream_point){.origin_index = origin_index, .seq = reach};
    }
    return from;
}

/* Returns the limit that a vote names if the member's rumors are to leave the base from `from` on,
 * or from its first withheld rumor on if that is earlier. It is later if the log cannot take these
 * rumors out any more. */
static struct stream_point limit_of(const struct node *node, struct stream_point from)
{
    return within_reach(node, with_held(node, from));
}

static uint64_t incarnation_at(const struct node *node, struct stream_point at)
{
    CHECK(at.origin_index < broadcast_versions(node)->count);
    return broadcast_versions(node)->origins[at.origin_index].incarnation;
}

/* Requests a trial of a member that seems harmful. Returns false if the member is expelled, or if
 * this node could not vote against it now (votes_may_cast). */
static bool request_of_suspect(struct node *node, const struct origin *origin)
{
    struct quarantine *quarantine = node->quarantine;
    const struct stream_point limit = limit_of(node, byzantine_from(node, origin));
    const uint64_t incarnation = incarnation_at(node, limit);
    CHECK(quarantine->trial == 0);
    if (verdict_reason(node, origin->id) ||
        !votes_may_cast(node, origin->id, incarnation, limit.seq))
        return false;
    quarantine->trial = versions_index(broadcast_versions(node), origin) + 1;
    quarantine->is_trial_given = false;
    quarantine->is_of_suspect = true;
    quarantine->is_without = false;
    quarantine->incarnation = incarnation;
    quarantine->keep = limit.seq;
    return true;
}

/* Requests a trial of the next member that seems harmful, unless a trial is due or under way. */
static void try_harmful(struct node *node)
{
    struct quarantine *quarantine = node->quarantine;
    const struct origin *origin;
    if (node->now_ns < quarantine->rest_ns || !joining_has_joined(node) || !base_is_whole(node))
        return;
    while (quarantine->trial == 0 && (origin = byzantine_next(node)))
        if (!request_of_suspect(node, origin))
            byzantine_on_tried(node, versions_index(broadcast_versions(node), origin), true);
}

/* Adds notes about members that seem harmful, if no trial can decide. */
static void note_harmful(struct node *node)
{
    const struct origin *origin;
    CHECK(!votes_count_here(node) || !node->options.has_tests);
    while ((origin = byzantine_next(node)))
        if (!verdict_reason(node, origin->id))
            note_finding(node, origin);
}

/* Returns true if the loss is enough higher with the suspect's rumors than without them. A base
 * without a finite loss is worse than any other. */
static bool is_harmful(const struct node *node, const struct base_trial *trial)
{
    const double with = trial->loss_before, without = trial->loss_after;
    const double least = HARM_LEAST * fmax(with, 1) / membership_live(node);
    return trial->samples > 0 && isfinite(without) && !(with - without <= least);
}

/* Writes the removals of the other suspects, at most SUSPECTS - 1, and returns their number. */
static uint32_t others(const struct node *node, uint32_t tried, struct removal *removals)
{
    const struct versions *versions = broadcast_versions(node);
    uint32_t count = 0;
    CHECK(tried < versions->count);
    for (uint32_t i = 0; i < versions->count && count < SUSPECTS - 1; i++) {
        const struct origin *origin = &versions->origins[i];
        if (i == tried || !byzantine_is_suspect(node, i) || verdict_reason(node, origin->id))
            continue;
        const struct stream_point from = limit_of(node, byzantine_from(node, origin));
        removals[count++] = (struct removal){origin->id, incarnation_at(node, from), from.seq};
    }
    return count;
}

/* Returns true if the suspect must be tried again, without the rumors of other suspects. If several
 * members ruin the base, it may be as bad without the rumors of one. */
static bool is_to_try_again(const struct node *node, uint32_t origin_index)
{
    struct removal removals[SUSPECTS];
    return !node->quarantine->is_without && others(node, origin_index, removals) > 0;
}

/* Votes against a suspect if the base is better without its rumors. */
static void on_suspect_tried(struct node *node, uint32_t origin_index,
                             const struct base_trial *trial)
{
    struct quarantine *quarantine = node->quarantine;
    const struct origin *origin = &broadcast_versions(node)->origins[origin_index];
    CHECK(quarantine->given_ns <= node->now_ns);
    const bool harms = is_harmful(node, trial);
    if (!harms && is_to_try_again(node, origin_index)) {
        quarantine->is_without = true;
        quarantine->is_trial_given = false;
        quarantine->trial = origin_index + 1;
        return;
    }
    const bool have_voted = harms && !verdict_reason(node, origin->id) &&
                            votes_cast(node, origin->id, quarantine->incarnation, quarantine->keep);
    if (have_voted)
        note_own_vote(node, origin, trial);
    else
        quarantine->rest_ns = node->now_ns + TRIAL_REST * (node->now_ns - quarantine->given_ns);
    byzantine_on_tried(node, origin_index, harms);
    if (have_voted)
        on_new_vote(node, origin->id);
    try_harmful(node);
}

/* Votes against the author of withheld rumors that have failed their trial. */
static void condemn(struct node *node, uint32_t origin_index, const struct base_trial *trial)
{
    const struct origin *origin = &broadcast_versions(node)->origins[origin_index];
    const struct stream_point limit =
        limit_of(node, (struct stream_point){.origin_index = origin_index, .seq = origin->applied});
    if (verdict_reason(node, origin->id) ||
        !votes_cast(node, origin->id, incarnation_at(node, limit), limit.seq))
        return;
    struct note *note = notes_add(
        &node->notes, node->now_ns, NOTE_HARM, LEVEL_WARNING,
        "its withheld rumors would lower the accuracy from %.1f %% to %.1f %%; this node "
        "votes to expel it, and withholds them for %u minutes (an operator decides sooner)",
        100 * trial->before, 100 * trial->after, (unsigned)(CONDEMNED_NS / SECOND_NS / 60));
    node->quarantine->withholdings[origin_index].until_ns = node->now_ns + CONDEMNED_NS;
    identity_text(note->who, origin->id);
    on_new_vote(node, origin->id);
}

static bool harms(const struct base_trial *trial)
{
    CHECK(trial->before >= 0 && trial->before <= 1 && trial->after >= 0 && trial->after <= 1);
    return trial->after < LEFT_LEAST * trial->before &&
           (trial->before - trial->after) * sqrt(trial->samples) > ERRORS * 0.5;
}

void quarantine_on_trial(struct node *node, const struct base_trial *trial)
{
    struct quarantine *quarantine = node->quarantine;
    CHECK(quarantine->trial > 0 && quarantine->is_trial_given);
    const uint32_t origin_index = quarantine->trial - 1;
    struct withholding *hold = &quarantine->withholdings[origin_index];
    quarantine->trial = 0;
    if (quarantine->is_of_suspect) {
        on_suspect_tried(node, origin_index, trial);
        return;
    }
    hold->is_judged = hold->is_tried;
    if (!withheld_has(node, origin_index) || trial->samples == 0)
        return;
    if (harms(trial))
        condemn(node, origin_index, trial);
    else if (hold->is_tried)
        hold->until_ns = u64_min(hold->until_ns, node->now_ns + TRIAL_NS);
}

/* Sets *action to the trial of a suspect that is due. Drops the trial if the log has none of the
 * rumors: a member that goes on causes another one. */
static bool next_of_suspect(struct node *node, struct action *action)
{
    struct quarantine *quarantine = node->quarantine;
    const uint32_t origin_index = quarantine->trial - 1;
    const uint8_t *id = broadcast_versions(node)->origins[origin_index].id;
    bool is_empty;
    struct removal removals[SUSPECTS] = {{id, quarantine->incarnation, quarantine->keep}};
    const uint32_t count =
        1 + (quarantine->is_without ? others(node, origin_index, removals + 1) : 0);
    quarantine->is_trial_given = trial_of_removal(node, removals, count, action, &is_empty);
    quarantine->given_ns = node->now_ns;
    if (is_empty) {
        quarantine->trial = 0;
        byzantine_on_tried(node, origin_index, false);
    }
    return quarantine->is_trial_given;
}

bool quarantine_next_trial(struct node *node, struct action *action)
{
    struct quarantine *quarantine = node->quarantine;
    if (quarantine->trial == 0 || quarantine->is_trial_given)
        return false;
    if (quarantine->is_of_suspect)
        return next_of_suspect(node, action);
    if (!withheld_has(node, quarantine->trial - 1)) {
        quarantine->trial = 0;
        return false;
    }
    quarantine->is_trial_given = trial_of_withheld(node, quarantine->trial - 1, action);
    return quarantine->is_trial_given;
}

/* Requests a trial of withheld rumors if one is due. The author need not publish again. */
static void consider_trial(struct node *node, uint32_t origin_index)
{
    struct quarantine *quarantine = node->quarantine;
    struct withholding *hold = &quarantine->withholdings[origin_index];
    CHECK(withheld_has(node, origin_index));
    if (hold->is_tried || node->now_ns < hold->trial_ns || quarantine->trial > 0 ||
        !joining_has_joined(node) || !base_is_whole(node))
        return;
    hold->is_tried = true;
    quarantine->trial = origin_index + 1;
    quarantine->is_trial_given = quarantine->is_of_suspect = false;
}

/* Returns true if rumors may be withheld now: votes count here, and the log does not need the
 * space. */
static bool may_withhold(const struct node *node)
{
    return votes_count_here(node) && !rumor_log_keeps(broadcast_log(node), 2);
}

/* Returns true if this node is joining, or has just joined, and does not know the median length
 * yet, although the swarm's first publications are over. Other members may withhold rumors that it
 * would apply at once. */
static bool is_without_median(const struct node *node)
{
    const uint64_t joined_ns = node->quarantine->joined_ns;
    CHECK(joined_ns <= node->now_ns);
    return !byzantine_has_median(node) && byzantine_is_calm(node) &&
           (joined_ns == 0 || node->now_ns - joined_ns < HELD_NS);
}

/* Withholds the origin's rumors. A publication more than twice as long as those withheld before
 * starts the time to vote again. The time is longer while the origin may be from a partition. */
static void withhold(struct node *node, uint32_t origin_index)
{
    struct withholding *hold = &node->quarantine->withholdings[origin_index];
    const double length = byzantine_length(node, origin_index);
    const uint64_t apart_ns = byzantine_apart_ns(node, origin_index);
    const uint64_t wait_ns = apart_ns > node->now_ns ? apart_ns - node->now_ns : 0;
    const bool is_new = !withheld_has(node, origin_index);
    if (is_new)
        *hold = (struct withholding){0};
    if (is_new || length > 2 * hold->length) {
        hold->until_ns =
            u64_max(hold->until_ns, node->now_ns + HELD_NS + u64_min(wait_ns, APART_NS));
        hold->trial_ns = node->now_ns + TRIAL_NS;
        hold->is_tried = hold->is_judged = false;
    }
    hold->length = fmax(hold->length, length);
    CHECK(hold->until_ns >= hold->trial_ns);
    if (is_new)
        withheld_begin(node, origin_index);
}

void quarantine_on_rumor(struct node *node, const struct rumor_step *step)
{
    const struct withholding *hold = &node->quarantine->withholdings[step->origin_index];
    const uint8_t *id = broadcast_versions(node)->origins[step->origin_index].id;
    if (memcmp(id, node->options.identity->id, ID_BYTES) == 0)
        return; /* the rumor is from an earlier incarnation of this node itself */
    if (node->options.limits.quarantines && node->quarantine->members == 0)
        look_at_members(node); /* a rumor may arrive before the first review */
    byzantine_on_rumor(node, step);
    const double length = byzantine_length(node, step->origin_index);
    const bool is_free = node->now_ns < hold->free_ns && length <= 2 * hold->length;
    const bool is_allowed =
        byzantine_allows(node, step->origin_index, length) && !is_without_median(node);
    if (withheld_has(node, step->origin_index) || !(is_free || is_allowed || !may_withhold(node)))
        withhold(node, step->origin_index);
}

/* Returns true while members may vote, and while the trial is not answered, since a busy learner
 * may answer it late. It waits at most CONDEMNED_NS for the answer. */
static bool is_undecided(const struct node *node, const struct withholding *hold)
{
    return node->now_ns < hold->until_ns ||
           (!hold->is_judged && node->now_ns < hold->trial_ns + CONDEMNED_NS);
}

/* Returns true if the origin's rumors stay withheld. Rumors of an expelled member stay until they
 * have left the version, unless another base must replace them. Otherwise the learner would apply
 * them first. */
static bool is_to_wait(const struct node *node, const struct withholding *hold,
                       uint32_t origin_index)
{
    const struct origin *origin = &broadcast_versions(node)->origins[origin_index];
    if (origin->keep != KEEP_ALL)
        return origin->next > origin->keep && !retract_needs_base(node);
    return is_undecided(node, hold) &&
           (!byzantine_allows(node, origin_index, hold->length) || is_without_median(node));
}

/* Adds no note about rumors that were withheld only because no median was known. */
static void note_release(struct node *node, const struct origin *origin, double length)
{
    if (byzantine_allows(node, versions_index(broadcast_versions(node), origin), length))
        return;
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_HARM, LEVEL_INFO,
                                  "its publications, longer than usual, were withheld for a while "
                                  "and now enter the base");
    identity_text(note->who, origin->id);
}

static void release(struct node *node)
{
    const struct versions *versions = broadcast_versions(node);
    const bool may = may_withhold(node);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        struct withholding *hold = &node->quarantine->withholdings[origin_index];
        if (!withheld_has(node, origin_index))
            continue;
        consider_trial(node, origin_index);
        if (may && is_to_wait(node, hold, origin_index))
            continue;
        withheld_end(node, origin_index);
        if (versions->origins[origin_index].keep != KEEP_ALL || (may && is_undecided(node, hold)))
            continue;
        hold->free_ns = node->now_ns + FREE_NS;
        if (!verdict_reason(node, versions->origins[origin_index].id))
            note_release(node, &versions->origins[origin_index], hold->length);
    }
}

void quarantine_review(struct node *node)
{
    const bool quarantines = node->options.limits.quarantines;
    if (quarantines)
        look_at_members(node);
    if (node->quarantine->joined_ns == 0 && joining_has_joined(node))
        node->quarantine->joined_ns = node->now_ns;
    byzantine_review(node);
    release(node);
    if (votes_count_here(node) && node->options.has_tests)
        try_harmful(node);
    else
        note_harmful(node);
    if (!quarantines)
        return;
    if (!votes_count_here(node))
        note_inactive(node);
    votes_show_one(node);
}

bool node_finding(const struct node *node, uint32_t i, struct node_finding *out)
{
    const struct versions *versions = broadcast_versions(node);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        const struct byzantine_finding finding = byzantine_finding_of(node, origin_index);
        const uint32_t votes = votes_against(node, origin->id);
        const bool is_held = withheld_has(node, origin_index);
        if ((!finding.harms && votes == 0 && !is_held) || i-- > 0)
            continue;
        *out = (struct node_finding){.incarnation = origin->incarnation,
                                     .harms = finding.harms,
                                     .is_held = is_held,
                                     .agreement = finding.agreement,
                                     .typical = finding.typical,
                                     .length = finding.length,
                                     .votes = votes,
                                     .needed = votes_count_here(node) ? votes_needed(node) : 0};
        memcpy(out->id, origin->id, ID_BYTES);
        return true;
    }
    return false;
}
