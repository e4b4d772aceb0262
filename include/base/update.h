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

#define QUANTUM    0x1p-24f /* q: the value of one unit of the base (companding.h) */
#define LEVEL_MAX  127      /* largest |level|; a level is never 0 */
#define TAU_MAX    1.0f /* upper bound of an honest update's tau: the move of a value per level */
#define MOVE_MAX   (1u << 24) /* largest amount · |level|: no update moves a value by more than 1 */
#define AMOUNT_MAX MOVE_MAX

struct update {
    float tau; /* threshold of the update; 0 < tau <= TAU_MAX */
    /* Units of the base that an entry moves per level; 1 <= amount <= AMOUNT_MAX. */
    uint32_t amount;
    uint32_t count;  /* number of entries */
    uint32_t *index; /* [count] indices of the base entries, strictly increasing */
    int8_t *level;   /* [count] multiples of amount, -127..127, not 0 */
};

/* Returns the largest |level| that this amount (1 .. AMOUNT_MAX) permits; at least 1. */
static inline int update_level_max(uint32_t amount)
{
    return MOVE_MAX / amount < LEVEL_MAX ? (int)(MOVE_MAX / amount) : LEVEL_MAX;
}

/* Parameters of one publication (use: model/exchange/replica.h). */
struct publish_terms {
    uint32_t budget_bytes; /* target size of the rumors */
    uint32_t bytes_max;    /* hard limit on the size of the rumors; 0 = budget_bytes */
    uint64_t last_bytes;   /* size of the last publication's rumors; 0 = unknown or empty */
    float tau;             /* threshold; 0 = the threshold that fits the budget best */
    double share;          /* this node's part of the swarm's learning, 0 < share <= 1 */
    double gain;
    double at_once; /* own publications in 16 steps, >= 1 (overlap.h); 0 = no novelty weight */
    double beta;    /* outer momentum, 0 .. 1: part of a move of the base that the weights repeat */
    double withheld; /* part of the unpublished residual that is taken out of the weights, 0 .. 1 */
    uint64_t swarm_samples; /* samples that all members have learned so far, as far as known */
};

#endif
