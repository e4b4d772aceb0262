/* Shares: the part of the swarm's learning that each member contributes.
 *
 * A member reports its samples per second, and the report may be false: a claim of 1e30 would leave
 * nothing to the others. So a claim counts as far as the member's rumors support it:
 *
 *   moved   movement of the base by the member's rumors: the sum over all entries, with a half-life
 *           of ten minutes
 *   usual   median, over the members that published, of the ratio of samples per second claimed in
 *           rumors to moved. Each ratio is as of the member's last rumor, because a member that
 *           stopped learning claims nothing, and half of the members may have stopped
 *   weight  the claim, but at most 16 · moved · usual. With weight_max also at most weight_max
 *           times the median claim, which includes this node. Before its first rumor a member
 *           counts as the mean of those that published, for a minute, and then as 0
 *
 * A faster member moves the base more, and with a larger share, so an honest claim is far below its
 * bound. A node that can publish a hundredth of what it learned still moves a tenth of it. Tests:
 * tests/unit/node/test_shares.c.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_SHARES_H
#define HEARSAY_NODE_MEMBERSHIP_SHARES_H

#include "node/membership/members.h"

/* Facts about one rumor. */
struct rumor_facts {
    double moved; /* movement of the base by the rumor, summed over its entries, in units; > 0 */
    /* Samples that the rumor claims as learned since the member's previous rumor. */
    uint64_t samples;
    bool by_throughput; /* shares depend on throughput; false = all shares are equal */
    uint64_t now_ns;    /* time when the rumor arrived */
};
void shares_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation, const struct rumor_facts *facts);

/* Updates members->claim_ratio, the median over members of claimed samples divided by movement
 * of the base. Call it once a second. Claimed samples count up to four times the median
 * (member.borne_out), because slow links carry less of a member's progress. A member r times as
 * fast moves the base r times as far, or r² times if shares are by throughput. */
void shares_review(struct members *members, bool by_throughput, uint64_t now_ns);

/* Returns this node's share in (0, 1]: its weight divided by the sum of the weights of all live
 * members that train. by_throughput: false = all members count as equally fast. A member with an
 * unknown speed counts as fast as this node. */
double shares_own(const struct members *members, bool by_throughput, uint64_t now_ns);

/* Returns the effective number of learners, (Σ shares)² / Σ shares² (Kish 1965); at least 1. */
double shares_learners(const struct members *members, bool by_throughput, uint64_t now_ns);

/* Returns the number of live members that train. This node counts even if it does not train. */
uint32_t shares_training(const struct members *members, uint64_t now_ns);

/* Returns the first member whose claimed throughput exceeds the weights of all other members
 * together and is more than twice the member's own weight. NULL if there is none. */
const struct member *shares_doubtful(const struct members *members, bool by_throughput,
                                     uint64_t now_ns);

#endif
