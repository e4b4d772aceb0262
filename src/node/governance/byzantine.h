/* Byzantine detection: measures what the rumors of each origin do to what this node learns.
 *
 *   a rumor arrives ──► length of its publication per credited sample
 *     allowed    a multiple of the median, larger for a faster member
 *     beyond     Σ min(moving average / allowed - 1, BEYOND_MOST), never below 0    > BEYOND_MOST
 *                once per publication, when the next one starts; if a trial decides, the bound
 *                is BEYOND_TRIED
 *   the learner has applied it ──► agreement with the residual, the cosine (exchange/replica.h)
 *     usual      its moving average; typical: the median over members
 *     against    Σ min(-agreement, typical - agreement - AGREEMENT_GAP), never below 0
 *                                                                                   > AGAINST_MOST
 *
 * The residual accumulates this node's last training steps. So the sign of the agreement shows, to
 * first order, whether the rumor lowers this node's loss. It costs about as much as applying the
 * rumor, and no sample; broadcast/apply.c bounds how often it is computed. Both sums are sequential
 * tests (CUSUM: Page 1954). Occasional evidence fades to 0. Steady evidence passes the bound
 * within a few rumors, and the attack began when the sum last left 0. With unlike data an honest
 * member may act against this node, and late in training few members agree. So a rumor must
 * disagree, and clearly more than the median, to count. At an equilibrium, where the updates of n
 * like nodes add up to 0, any two of them have an agreement of -1 / (n - 1): -1 of two nodes, -0.5
 * of three. So no agreement counts as evidence while no two members can be compared. Of two, the
 * higher agreement is the median.
 *
 * A publication that is too long moves the base too far in any direction. Lengths change during
 * training, most of all in the beginning. So a publication is judged when the next one starts and
 * the others' publications of that time have arrived, and one alone is never enough. A member that
 * learns r times as fast as the median has a larger share and may publish sqrt(r) times the length,
 * up to a limit. Lengths are per sample, so the time of arrival does not matter; with equal shares
 * they are per second. Credited samples are at most what the member can have learned since its last
 * rumor at twice its reported speed, or twice the median speed if that is higher, plus ten seconds
 * that it has not claimed. A member with several times smaller batches makes more steps per sample.
 * So where votes count, an honest node that finds its own publications too long takes a smaller
 * share.
 *
 * Publications from a partition, or from before the member met any other, are longer because its
 * share of a smaller swarm is larger. They do not count. An account covers all incarnations of a
 * member. A new incarnation may have trained alone and publish everything at once. That counts only
 * if its excess exceeds the bound of `beyond`, and separately from later publications.
 *
 * A vote takes out the latest publications only. Other members have since learned to compensate for
 * older ones, and taking those out would harm more than it repairs.
 *
 * This is one node's view: with very unlike data an honest node sometimes suspects another. The
 * consequences are in quarantine.h, where a trial decides. Tests: tests/world/test_byzantine.c and
 * test_member_account.c; measured by tests/bench/bench_attacks.py.
 */
#ifndef HEARSAY_NODE_GOVERNANCE_BYZANTINE_H
#define HEARSAY_NODE_GOVERNANCE_BYZANTINE_H

#include "node/broadcast/rumor_step.h"
#include "node/broadcast/version.h"
#include "node/core.h"

#define BYZANTINE_ENOUGH 3 /* minimum number of other members for a median length or rate */

struct byzantine *byzantine_new(struct arena *arena, const struct node_options *options);
size_t byzantine_arena_bytes(const struct node_options *options);

/* Counts the length and samples of this node's own publication, made with byzantine_own_part. */
void byzantine_on_published(struct node *node, const struct rumor_step *sum);
/* Call it when an order has expelled a member, whose rumors then leave the base. */
void byzantine_on_order(struct node *node);
/* Returns the part of its share with which this node's publications stay within the length that
 * the other members allow; in (0, 1]. */
double byzantine_own_part(const struct node *node);

/* Counts a rumor of another node in the account of its member. */
void byzantine_on_rumor(struct node *node, const struct rumor_step *step);
/* Counts the agreement of a rumor with the residual, after the learner has applied the rumor. */
void byzantine_on_compared(struct node *node, uint32_t origin_index, uint32_t seq,
                           double agreement);
/* Returns the length of the origin's present publication so far, per credited sample; per second if
 * shares are equal. Returns 0 if this node has missed the beginning of the publication. */
double byzantine_length(const struct node *node, uint32_t origin_index);
/* Returns true if a publication of this origin may have this length (byzantine_length), or if no
 * median is known. */
bool byzantine_allows(const struct node *node, uint32_t origin_index, double length);
/* Returns true if BYZANTINE_ENOUGH origins have published 32 rumors each. Until then the lengths of
 * publications fall fast, and byzantine_allows permits any length. */
bool byzantine_is_calm(const struct node *node);
/* Returns true if the median length that byzantine_allows uses is known. */
bool byzantine_has_median(const struct node *node);
/* Returns the time until which this origin's publications do not count, because they may be from a
 * partition. */
uint64_t byzantine_apart_ns(const struct node *node, uint32_t origin_index);

/* Updates the medians over members. Call it every round of gossip. */
void byzantine_review(struct node *node);

/* Returns the next origin whose rumors are found harmful; NULL if there is none. Returns a member
 * again only after the evidence against it has faded, or in a new incarnation. */
const struct origin *byzantine_next(struct node *node);
/* Records what a trial of this origin's member has shown, and forgets the evidence that led to the
 * trial. */
void byzantine_on_tried(struct node *node, uint32_t origin_index, bool is_harmful);
/* The finding about one origin; NAN = unknown. harms: its rumors are harmful. agreement: moving
 * average of their agreement with the residual. typical: median of `agreement` over members.
 * length: average length of the origin's publications divided by the median. */
struct byzantine_finding {
    bool harms;
    double agreement;
    double typical;
    double length;
};
struct byzantine_finding byzantine_finding_of(const struct node *node, uint32_t origin_index);
/* A rumor in a member's stream of publications. */
struct stream_point {
    uint32_t origin_index;
    uint32_t seq;
    /* number of the publication with the rumor, by arrival over all the member's incarnations */
    uint32_t nth;
};
/* Returns true if the last trial of the origin's member has shown harm, or if the evidence against
 * it is half of a bound; false for an earlier incarnation. */
bool byzantine_is_suspect(const struct node *node, uint32_t origin_index);
/* Returns the rumor with which the harm of this origin's member began, at most RECALLED publications ago. It
 * may be of an earlier incarnation. */
struct stream_point byzantine_from(const struct node *node, const struct origin *origin);
/* Writes the finding as the end of a sentence that begins with "its rumor stream". */
void byzantine_describe(const struct node *node, const struct origin *origin, char *out,
                        size_t room);

#endif
