/* An update, the content of a rumor: moves some base entries, each by a multiple of one amount.
 *
 *   base[index[i]] += amount * level[i]        for i in 0 .. count-1
 *
 * The learner makes updates and applies them; the node sends them to other nodes as rumors.
 */
#ifndef HEARSAY_BASE_UPDATE_H
#define HEARSAY_BASE_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

/* Value of one unit of the base (companding.h). */
#define QUANTUM   0x1p-24f
#define LEVEL_MAX 127 /* largest |level|; a level is never 0 */
/* largest update.tau; decoders reject a larger tau */
#define TAU_MAX 1.0f
/* Largest amount · |level| in units: no update moves a value by more than 1. */
#define MOVE_MAX   (1u << 24)
#define AMOUNT_MAX MOVE_MAX

struct update {
    float tau; /* threshold of the update; 0 < tau <= TAU_MAX */
    /* Units of the base by which one level moves an entry; 1 .. AMOUNT_MAX. */
    uint32_t amount;
    uint32_t count;
    uint32_t *index; /* [count] base entries, strictly increasing */
    int8_t *level;   /* [count] move of each entry in multiples of `amount`: -127 .. 127, not 0 */
    /* true = a running statistic has to move farther than this update can carry, so the next
     * publication will move it again. Only set in a node's own publication. */
    bool needs_more;
};

/* Largest |level| of an update with this amount (1 .. AMOUNT_MAX); at least 1. */
static inline int update_level_max(uint32_t amount)
{
    return MOVE_MAX / amount < LEVEL_MAX ? (int)(MOVE_MAX / amount) : LEVEL_MAX;
}

#define TRIAL_UPDATES 64 /* maximum updates of one trial */

/* Result of a trial (learner_trial): how the tried updates change a base's accuracy on this node's
 * test samples. For regression, the accuracy is R² (coefficient of determination), at least 0. */
struct base_trial {
    uint32_t samples; /* number of test samples or positions; 0 = the learner evaluates nothing */
    double before;    /* accuracy without the tried updates, 0 .. 1 */
    double after;     /* accuracy with them, 0 .. 1 */
    /* Mean loss without and with the tried updates: in nats; for regression, divided by the targets'
     * variance. */
    double loss_before, loss_after;
};

/* Parameters of one publication (used by model/exchange/replica.h). */
struct publish_terms {
    uint32_t budget_bytes; /* wanted size of the publication's rumors */
    /* largest estimated size of the publication's rumors; 0 = budget_bytes */
    uint32_t bytes_max;
    /* size of the last publication's rumors; 0 = unknown or empty */
    uint64_t last_bytes;
    /* threshold of the update; 0 = replica_publish chooses the tau that fits the budget best */
    float tau;
    /* this node's part of the samples that the swarm learns per second, 0 < share <= 1 */
    double share;
    /* this node's part of the movement of running statistics (model/exchange/statistics.h), at most
     * 1; 0 = publish no statistic */
    double statistics_share;
    /* Part of the distance between a running statistic and the exchange's weight of it by which the
     * publication also moves that weight; 0 .. 1. */
    double statistics_pull;
    double gain; /* factor on the swarm's average progress; 1 = plain average */
    /* Publications that this node makes in 16 of its steps (overlap.h), >= 1; 0 = use no novelty
     * weight. */
    double at_once;
    /* Outer momentum, 0 .. 1: part of the base's move by which the weights move in addition. */
    double beta;
    double withheld; /* part of the unpublished residual that is taken out of the weights, 0 .. 1 */
    uint64_t swarm_samples; /* samples that all members have learned so far, as far as known */
    double learners;        /* effective number of members that train; below 1 = unknown */
    bool compares_labels;   /* first measure the label fit (label_fit.h) */
    /* Publish nothing. The caller then drops the progress, whose labels contradict the base. */
    bool is_held;
};

#endif
