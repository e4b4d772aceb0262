/* Shares: what part of all that is learned each member learns.
 *
 * A member says how many samples it learns a second, and all that it says may be untrue: one that
 * claimed 1e30 would leave nothing to the others. So a claim counts as far as the member's rumors
 * bear it out:
 *
 *   moved   what its rumors moved the base by lately: the sum of all entries, halved every ten
 *           minutes
 *   usual   claimed in its rumors, a second / moved, of the member in the middle, of those that
 *           published, each as of its last rumor: who has stopped learning claims nothing any more,
 *           and half of all may have
 *   weight  its claim, but at most 16 · moved · usual, and, where weight_max is set, at most so many
 *           times the claim of the member in the middle, which holds for this node, too. One whose first rumor has not come counts
 *           like the mean of those that published, for a minute; and then not at all.
 *
 * Who learns faster moves the base by more, and with a larger share at that, so an honest claim is
 * far below its bound; a node that can publish a hundredth of what it learned still moves a tenth
 * of it. Held by tests/unit/node/test_shares.c.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_SHARES_H
#define HEARSAY_NODE_MEMBERSHIP_SHARES_H

#include "node/membership/members.h"

/* What one rumor says and does. */
struct rumor_facts {
    double moved;       /* the base, over all entries, in units; > 0 */
    uint64_t samples;   /* it claims that so many more were learned */
    bool by_throughput; /* shares are */
    uint64_t now_ns;    /* when it came */
};
void shares_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation, const struct rumor_facts *facts);

/* Once a second: how much is usually claimed for what was moved, which says what is borne out of
 * the samples that rumors claim (member.borne_out). Who learns r times as fast as others moves the
 * base by r times as much, r² times where shares are by throughput, and who claims twice that is
 * believed: thin lines carry less of what was learned. */
void shares_review(struct members *members, bool by_throughput, uint64_t now_ns);

/* The share of this node: its weight over the sum of all live members that train. Without
 * by_throughput all claims are equal. A member whose speed is not known yet counts like this node.
 * 0 < share <= 1. */
double shares_own(const struct members *members, bool by_throughput, uint64_t now_ns);

/* The number of equal learners that comes to the same: (Σ shares)² / Σ shares² (Kish 1965), at
 * least 1. */
double shares_learners(const struct members *members, bool by_throughput, uint64_t now_ns);

/* How many live members train; this one counts in any case. */
uint32_t shares_training(const struct members *members, uint64_t now_ns);

/* The first member that claims more than all others together are counted for, and of whose claim
 * less than half is counted; NULL: there is none. */
const struct member *shares_doubtful(const struct members *members, bool by_throughput,
                                     uint64_t now_ns);

#endif
