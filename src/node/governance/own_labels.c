#include "node/governance/own_labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "node/connection/settings.h"
#include "node/labels_api.h"
#include "node/membership/membership.h"
#include "node/rate/rate.h"
#include "wire/message.h"

/* Excess of confidence over agreement that is no evidence, among all classes and among those that
 * this node has. */
#define EXCESS_ALL   0.2
#define EXCESS_KNOWN 0.1
/* With more agreement, or less variety among the classes that this node has, or uneven others, a
 * comparison lowers the sum. */
#define AGREEMENT_MOST 0.45
#define VARIETY_LEAST  0.45
#define STEP_MOST      0.3    /* maximum change of the sum by one comparison */
#define STEP_AGREE     (-0.1) /* the same, in these cases */
/* Bench: bench_mixed_labels.py. In 98 honest runs with Dirichlet 0.3, 0.1 and 0.05 the sum stays
 * below 0.31. With mixed up labels it passes CONTRADICTED_MOST within 20 s of training, except for
 * one of 45 runs. */
#define CONTRADICTED_MOST 0.75
#define CONTRADICTED_MAX  1.25
/* Comparisons with more agreement than AGREEMENT_MOST, beside even others, after which the labels
 * are known to be right. A later contradiction can only come from the base. */
#define AGREED_MOST 5
/* Of two members, neither is the majority. A fast member teaches the base its own mixture of
 * classes: with unlike data, honest nodes beside one that is three times as fast would be accused.
 * So at least OTHERS_LEAST others must train, about equally fast: the ratio of their effective
 * number (shares.h) to their number must be EVEN_LEAST. */
#define OTHERS_LEAST 2
#define EVEN_LEAST   0.8
/* Time between two comparisons: at least COMPARE_NS, and this many times as long as one takes. */
#define COMPARE_NS    SECOND_NS
#define COMPARE_CALM  50 /* while the sum is 0 */
#define COMPARE_ALERT 10

struct own_labels {
    double sum;           /* evidence, 0 .. CONTRADICTED_MAX */
    uint32_t agreed;      /* comparisons with agreement; AGREED_MOST = comparisons have ended */
    bool contradict;      /* the sum has passed CONTRADICTED_MOST, and was not 0 since */
    bool is_comparing;    /* the PUBLISH under way requests a comparison */
    bool has_compared;    /* it began with one */
    uint64_t compared_ns; /* time when the last comparison was requested; 0 = never */
    uint64_t due_ns;      /* earliest time of the next comparison */
    char text[NODE_LABELS_TEXT];
    /* [NODE_PEERS_MAX] conversations that were told of the contradiction, by slot */
    uint64_t told[NODE_PEERS_MAX];
};

size_t own_labels_arena_bytes(void)
{
    return sizeof(struct own_labels) + 64;
}

struct own_labels *own_labels_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct own_labels));
}

void own_labels_on_publish(struct node *node, struct publish_terms *terms)
{
    struct own_labels *own = node->own_labels;
    own->is_comparing = node->options.checks_labels && own->agreed < AGREED_MOST &&
                        node->now_ns >= own->due_ns;
    own->has_compared = false;
    terms->compares_labels = own->is_comparing;
    if (own->is_comparing)
        own->compared_ns = node->now_ns;
}

uint64_t own_labels_on_published(struct node *node, uint64_t took_ns)
{
    struct own_labels *own = node->own_labels;
    const uint64_t times = own->sum > 0 ? COMPARE_ALERT : COMPARE_CALM;
    if (!own->is_comparing)
        return took_ns;
    CHECK(own->compared_ns <= node->now_ns);
    own->is_comparing = false;
    own->due_ns = own->compared_ns + u64_max(COMPARE_NS, times * took_ns);
    return own->has_compared ? 0 : took_ns;
}

/* Appends the classes to a list, as the labels here or as the shared model calls them. */
static void list_classes(const struct label_fit *fit, bool as_here, char text[static 40])
{
    size_t used = 0;
    CHECK(fit->moved_count > 0 && fit->moved_count <= LABEL_FIT_MOVED);
    for (uint32_t i = 0; i < fit->moved_count; i++)
        used +=
            (size_t)snprintf(text + used, 40 - used, "%s%u", i > 0 ? ", " : "",
                             (unsigned)(as_here ? fit->moved[i].label : fit->moved[i].prediction));
}

static void describe(struct own_labels *own, const struct label_fit *fit)
{
    char there[40], here[40];
    const int used =
        snprintf(own->text, sizeof own->text, "%.0f of 100 agree", 100 * fit->all.agreement);
    if (fit->moved_count == 0)
        return;
    list_classes(fit, false, there);
    list_classes(fit, true, here);
    (void)snprintf(own->text + used, sizeof own->text - (size_t)used,
                   "; what the shared model calls %s is labelled %s", there, here);
}

static void begin(struct node *node, const struct label_fit *fit)
{
    struct own_labels *own = node->own_labels;
    describe(own, fit);
    own->contradict = true;
    (void)notes_add(&node->notes, node->now_ns, NOTE_TRAINING, LEVEL_WARNING,
                    "the labels of this node contradict the shared model (%s), so it publishes "
                    "nothing: correct its labels or samples and start it again; if they are meant "
                    "so, set data.check_labels = no",
                    own->text);
}

static void end(struct node *node)
{
    node->own_labels->contradict = false;
    (void)notes_add(&node->notes, node->now_ns, NOTE_TRAINING, LEVEL_INFO,
                    "the labels of this node agree with the shared model again");
}

/* Returns true if several other members train, about equally fast. */
static bool are_others_even(const struct node *node)
{
    const struct members *members = membership_members(node);
    double count = 0, sum = 0, squares = 0;
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        const double rate = (double)member->record.samples_per_second;
        if (!member->record.trains || !member_is_live(members, member, node->now_ns))
            continue;
        count++;
        sum += rate;
        squares += rate * rate;
    }
    return count >= OTHERS_LEAST && sum > 0 && sum * sum >= EVEN_LEAST * count * squares;
}

/* Returns by how much a comparison changes the sum. Uneven others end no contradiction. */
static double evidence(const struct node *node, const struct label_fit *fit)
{
    const double all = fit->all.confidence - fit->all.agreement - EXCESS_ALL;
    const double known = fit->known.confidence - fit->known.agreement - EXCESS_KNOWN;
    const bool agree = fit->all.agreement > AGREEMENT_MOST || fit->known.variety < VARIETY_LEAST;
    if (!are_others_even(node))
        return node->own_labels->contradict ? 0 : STEP_AGREE;
    return fmin(fmin(all, known), agree ? STEP_AGREE : STEP_MOST);
}

void own_labels_on_fit(struct node *node, const struct label_fit *fit)
{
    struct own_labels *own = node->own_labels;
    CHECK(own->is_comparing && fit->samples > 0);
    own->has_compared = true;
    own->sum = fmin(fmax(own->sum + evidence(node, fit), 0), CONTRADICTED_MAX);
    if (!own->contradict && own->sum > CONTRADICTED_MOST)
        begin(node, fit);
    else if (own->contradict && own->sum == 0)
        end(node);
    if (!own->contradict && fit->all.agreement > AGREEMENT_MOST && are_others_even(node))
        own->agreed++;
    publish_schedule_hold(node, own->contradict);
}

/* Tells each neighbour once in a conversation. */
void own_labels_review(struct node *node)
{
    struct own_labels *own = node->own_labels;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const bool is_told = own->told[i] == peer->conn;
        if (is_told == own->contradict)
            continue;
        settings_show_labels(node, peer, own->contradict ? own->text : "");
        own->told[i] = own->contradict ? peer->conn : 0;
    }
}

const char *node_labels_text(const struct node *node)
{
    return node->own_labels->contradict ? node->own_labels->text : NULL;
}

void node_labels_whose(const struct node *node, char text[static NODE_LABELS_WHOSE])
{
    const struct peer *peer;
    (void)snprintf(text, NODE_LABELS_WHOSE, "%s", node->own_labels->contradict ? "this node" : "");
    for (uint32_t i = 0; !text[0] && (peer = connection_neighbour(node, &i)); i++)
        if (peer->mislabels)
            identity_text(text, peer->id);
}
