#include "node/quarantine.h"

#include <math.h>
#include <string.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/retract.h"
#include "node/broadcast/withheld.h"
#include "node/byzantine.h"
#include "node/expulsion.h"
#include "node/lifecycle/lifecycle.h"
#include "node/orders/admitted.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/orders/verdict.h"
#include "node/quarantine_api.h"
#include "wire/message.h"

#define HELD_NS (10 * SECOND_NS) /* time in which members may vote about a withheld publication */
/* While an origin may be from a partition, its rumors are withheld for at most this time longer
 * than HELD_NS. */
#define APART_NS (60 * SECOND_NS)
/* After a release, an origin's rumors are not withheld again for this time. */
#define FREE_NS (60 * SECOND_NS)

/* State of withholding the rumors of one origin. */
struct withholding {
    double length;     /* length of the origin's longest withheld publication (byzantine_length) */
    uint64_t until_ns; /* time at which the origin's rumors are released at the latest */
    uint64_t free_ns;  /* time before which the origin's rumors are not withheld again */
};

struct quarantine {
    /* Hash of the members whose vote counts, at the last call of quarantine_review. */
    uint64_t members;
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

/* Returns the number of votes against a member that cause a warning: two thirds of those that
 * expel it. A single voter may just have unlike data. */
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
 * FORGED if the vote is invalid. */
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
static void note_finding(struct node *node, const struct origin *origin, bool have_voted)
{
    char how[128];
    byzantine_describe(node, origin, how, sizeof how);
    struct note *note =
        notes_add(&node->notes, node->now_ns, NOTE_HARM, LEVEL_INFO, "its rumor stream %s%s", how,
                  have_voted ? "; this node votes to expel it"
                             : "; it is harmful, or its data differ from this node's");
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

static void on_harmful(struct node *node, const struct origin *origin)
{
    if (verdict_reason(node, origin->id))
        return;
    const struct stream_point from =
        within_reach(node, with_held(node, byzantine_from(node, origin)));
    const bool have_voted =
        votes_cast(node, origin->id,
                   broadcast_versions(node)->origins[from.origin_index].incarnation, from.seq);
    note_finding(node, origin, have_voted);
    if (have_voted)
        on_new_vote(node, origin->id);
}

/* Returns true if rumors may be withheld now: not while this node fetches a base that contains
 * them, nor when the log needs the space. */
static bool may_withhold(const struct node *node)
{
    return votes_count_here(node) && base_is_whole(node) && leaving_stage(node) == STAGE_RUNNING &&
           !rumor_log_keeps(broadcast_log(node), 2);
}

void quarantine_on_rumor(struct node *node, const struct rumor_step *step)
{
    struct withholding *hold = &node->quarantine->withholdings[step->origin_index];
    const uint8_t *id = broadcast_versions(node)->origins[step->origin_index].id;
    if (memcmp(id, node->options.identity->id, ID_BYTES) == 0)
        return; /* the rumor is from an earlier incarnation of this node itself */
    byzantine_on_rumor(node, step);
    const double length = byzantine_length(node, step->origin_index);
    if (withheld_has(node, step->origin_index)) {
        hold->length = fmax(hold->length, length);
        return;
    }
    const bool is_free = node->now_ns < hold->free_ns && length <= 2 * hold->length;
    if (is_free || byzantine_allows(node, step->origin_index, length) || !may_withhold(node))
        return;
    const uint64_t apart_ns = byzantine_apart_ns(node, step->origin_index);
    const uint64_t wait_ns = apart_ns > node->now_ns ? apart_ns - node->now_ns : 0;
    *hold = (struct withholding){.length = length,
                                 .until_ns = node->now_ns + HELD_NS + u64_min(wait_ns, APART_NS)};
    withheld_begin(node, step->origin_index);
}

/* Returns true if the origin's rumors stay withheld. Rumors of an expelled member stay until they
 * have left the version. Otherwise the learner would apply them first. */
static bool is_to_wait(const struct node *node, const struct withholding *hold,
                       uint32_t origin_index)
{
    const struct origin *origin = &broadcast_versions(node)->origins[origin_index];
    if (origin->keep != KEEP_ALL)
        return origin->next > origin->keep && !retract_needs_base(node);
    return node->now_ns < hold->until_ns && !byzantine_allows(node, origin_index, hold->length);
}

static void note_release(struct node *node, const struct origin *origin)
{
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_HARM, LEVEL_INFO,
                                  "its unusually long publications were withheld; no vote expelled "
                                  "it, and they now enter the base");
    identity_text(note->who, origin->id);
}

static void release(struct node *node)
{
    const struct versions *versions = broadcast_versions(node);
    const bool may = may_withhold(node);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        struct withholding *hold = &node->quarantine->withholdings[origin_index];
        if (!withheld_has(node, origin_index) || (may && is_to_wait(node, hold, origin_index)))
            continue;
        withheld_end(node, origin_index);
        if (versions->origins[origin_index].keep != KEEP_ALL ||
            (may && node->now_ns < hold->until_ns))
            continue;
        hold->free_ns = node->now_ns + FREE_NS;
        if (!verdict_reason(node, versions->origins[origin_index].id))
            note_release(node, &versions->origins[origin_index]);
    }
}

void quarantine_review(struct node *node)
{
    const struct origin *origin;
    const bool quarantines = node->options.limits.quarantines;
    if (quarantines)
        look_at_members(node);
    byzantine_review(node);
    while ((origin = byzantine_next(node)))
        on_harmful(node, origin);
    release(node);
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
