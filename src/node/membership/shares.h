/* Shares: the part of the swarm's learning that each member contributes.
 *
 * A member reports its samples per second, and the report may be false: a claim of 1e30 would leave
 * no share to the others. So a claim counts as far as the member's rumors support it:
 *
 *   moved   movement of the base by the member's rumors: the sum over all entries, with a half-life
 *           of ten minutes
 *   usual   median, over the training members that published, of claim divided by `moved`. If
 *           shares depend on throughput, this claim is that of the member's rumors up to its last
 *           one: half of the members may have stopped learning, and a member that stopped claims
 *           no samples
 *   weight  the claim; of another member at most 16 · moved · usual. With weight_max also at most
 *           weight_max times the median claim, which includes this node. Before its first rumor
 *           another member has at most the mean weight of those that published, for a minute, and
 *           then 0
 *
 * A faster member moves the base more, and with a larger share, so an honest claim is far below its
 * bound. A node that can publish only a hundredth of the entries still publishes a tenth of its
 * movement. Tests: tests/unit/node/test_shares.c.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_SHARES_H
#define HEARSAY_NODE_MEMBERSHIP_SHARES_H

#include "node/membership/members.h"

struct rumor_facts {
    /* Movement of the base by the rumor, summed over its entries, in units of QUANTUM; > 0. */
    double moved;
    uint64_t samples;   /* samples claimed as learned since the member's previous rumor */
    bool by_throughput; /* shares depend on throughput; false = all shares are equal */
    uint64_t now_ns;    /* time when the rumor arrived */
};
void shares_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation, const struct rumor_facts *facts);

/* Sets members->claim_ratio to the median, over live members, of claimed samples divided by
 * movement of the base. By throughput, each ratio is multiplied by the member's speed: a member r
 * times as fast then moves the base r² times as far. A ratio counts up to four times the median
 * (member.borne_out), because slow links carry less of a member's progress. */
void shares_review(struct members *members, bool by_throughput, uint64_t now_ns);

/* Returns this node's share in (0, 1]: its weight divided by the sum of the weights of all live
 * members that train. A member with an unknown speed counts as fast as this node. */
double shares_own(const struct members *members, bool by_throughput, uint64_t now_ns);

/* The next two functions return this node's share, in (0, 1], of progress since since_ns. A member
 * whose training ended after since_ns publishes its part of that progress, so it counts. A member
 * whose last rumor is more than quiet_ns old may be dead, so it does not count. */

/* All shares are equal; newcomers (shares_await_newcomer) count. For the start of a swarm, when
 * records are late and the members' throughput is unknown. */
double shares_equal(const struct members *members, uint64_t since_ns, uint64_t quiet_ns,
                    uint64_t now_ns);
/* Like shares_own; a member whose training ended counts with the mean weight of those that train.
 */
double shares_with_finished(const struct members *members, bool by_throughput, uint64_t since_ns,
                            uint64_t quiet_ns, uint64_t now_ns);

/* Returns true if a member that arrived or began to train in the last minute may be about to make
 * its first step. Until that step its statistics follow the base. So a statistic that is published
 * now moves the newcomer too, and the newcomer will not add its share of that movement. */
bool shares_await_newcomer(const struct members *members, uint64_t now_ns);

/* Returns true if at most one in eight of the members that train began less than young_ns ago. A
 * member counts from when this node met it. */
bool shares_have_settled(const struct members *members, uint64_t young_ns, uint64_t now_ns);

/* Returns the effective number of learners, (Σ shares)² / Σ shares² (Kish 1965); at least 1. */
double shares_learners(const struct members *members, bool by_throughput, uint64_t now_ns);

/* Returns the number of live members that train. This node counts even if it does not train. */
uint32_t shares_training(const struct members *members, uint64_t now_ns);

/* Returns the first member whose claimed throughput exceeds twice its own weight, and also the sum
 * of the weights of all other members; NULL if there is none. weight_max does not limit these
 * weights. */
const struct member *shares_doubtful(const struct members *members, bool by_throughput,
                                     uint64_t now_ns);

#endif
