/* Detection by effect: what each origin's rumors do to what this node learns on its own data.
 *
 *   a rumor comes ──► length of its publication, over the samples that it is of
 *     allowed    so many times what is typical, and more for who learns faster
 *     beyond     Σ (its running mean / allowed - 1), never below 0               > BEYOND_MOST
 *                with each publication, once it is whole: the next has begun
 *   the learner has applied it ──► agreement with the residual, the cosine (exchange/replica.h)
 *     usual      its running mean; typical: that of the origin in the middle
 *     against    Σ min(-agreement, typical - agreement - GAP), likewise          > AGAINST_MOST
 *
 * The residual is what the last steps made of this node's own gradients. So the agreement is, to
 * the first order, by how much the rumor lowers this node's loss, and would raise it if it were
 * taken out. It costs about as much as to apply the rumor, and no sample; how often one is compared
 * is bounded (broadcast/apply.c). Both sums are sequential tests (CUSUM: Page 1954): what is
 * against now and then stays at 0, what is steadily so passes the bound within a few rumors, and
 * began when the sum last left 0. Where data are unlike, what one learns may go against what
 * another does, and late in training hardly anybody agrees: so what counts is to be against, and
 * far more so than others are.
 *
 * What is longer than others' moves the base too far, in whatever direction. What is learned at
 * once changes with time, above all at the beginning; so a publication is judged when the next one
 * comes, and most others' of the same time have come, and one alone is never enough. A node that
 * learns r times as fast as most has a larger share, and is allowed sqrt(r) times as much. Lengths
 * are per sample, so that it does not matter when rumors come; where all shares are equal, they are
 * per second. Of samples no more count than the member may have learned since its last rumor, at
 * twice the speed that it has said to all. A node that makes several times as many steps of as many
 * samples, with smaller batches, is found, too: all are to train alike (configs/README.md).
 *
 * What a node published while it was apart, as in a partition, or before it met anybody, is longer,
 * with a larger share of fewer, and does not count, long as it may be. An account is a member's, of
 * whichever incarnation. Who starts anew may be alone at first, and publish at once all that it
 * had: that counts only where it is many times too long, and apart from what comes after.
 *
 * What is to be taken out of a base is what came lately: what came long before has been answered by
 * what others learned since, and to take it out harms more than it mends.
 *
 * This is one node's opinion: in a swarm whose data are very unlike, one honest node in a few finds
 * another that is. What follows from it is quarantine.h's. Held by tests/world/test_effect.c and
 * test_member_account.c; measured by tests/bench/bench_attacks.py.
 */
#ifndef HEARSAY_NODE_EFFECT_H
#define HEARSAY_NODE_EFFECT_H

#include "node/broadcast/rumor_step.h"
#include "node/broadcast/version.h"
#include "node/core.h"

struct effect *effect_new(struct arena *arena, const struct node_options *options);
size_t effect_arena_bytes(const struct node_options *options);

/* A rumor of another node has come. */
void effect_on_rumor(struct node *node, const struct rumor_step *step);
/* The learner has applied one of the origin at this place, which agrees so far. */
void effect_on_compared(struct node *node, uint32_t place, uint32_t seq, double agreement);
/* How long is what the origin at this place publishes now, for each sample, as far as it has come?
 * And is it allowed to be so long, as far as that is known? */
double effect_length(const struct node *node, uint32_t place);
bool effect_allows(const struct node *node, uint32_t place, double length);
/* Until when its length does not count, since it was apart. */
uint64_t effect_apart_ns(const struct node *node, uint32_t place);

/* Once a second: what is typical now. */
void effect_review(struct node *node);

/* Of the origins whose rumors harm, the next that was not returned yet; NULL: there is none. */
const struct origin *effect_next(struct node *node);
/* Of the origin at this place: does it harm; and how much does it agree, as others do, and how many
 * times as long as theirs is what it publishes? NAN: not known. */
struct origin_effect {
    bool harms;
    double agreement;
    double typical;
    double length;
};
struct origin_effect effect_of(const struct node *node, uint32_t place);
/* The rumor with which it began, or, if that is long ago, one of its last few publications; it may
 * be of an earlier incarnation. */
struct stream_point {
    uint32_t place; /* of the origin */
    uint32_t seq;
    uint32_t nth; /* publication of the member, as they came */
};
struct stream_point effect_from(const struct node *node, const struct origin *origin);
/* How, in words that follow "what it publishes". */
void effect_describe(const struct node *node, const struct origin *origin, char *out, size_t room);

#endif
