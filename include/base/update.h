/* The content of a rumor: some base entries move by a whole number of equal steps.
 *
 *   base[index[i]] += amount * level[i]        for i in 0 .. count-1
 *
 * The learner makes updates (telling) and takes them (hearing); the node carries them as rumors.
 * Neither knows how the other does it: this struct is all that passes between them.
 */
#ifndef HEARSAY_BASE_UPDATE_H
#define HEARSAY_BASE_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

#define QUANTUM    0x1p-24f   /* q: the value of one unit of the base (companding.h) */
#define LEVEL_MAX  127        /* |level| <= 127, never 0 */
#define TAU_MAX    1.0f       /* no honest telling moves a value by more than this per level */
#define MOVE_MAX   (1u << 24) /* amount·|level| <= this: no telling moves a value by more than 1 */
#define AMOUNT_MAX MOVE_MAX

struct update {
    float tau;       /* the threshold it was cut at; 0 < tau <= TAU_MAX */
    uint32_t amount; /* a: quanta per level; 1 <= amount <= AMOUNT_MAX */
    uint32_t count;  /* entries */
    uint32_t *index; /* [count], strictly increasing */
    int8_t *level;   /* [count], -127..127, not 0 */
};

/* The greatest |level| that goes with this amount, which is 1 .. AMOUNT_MAX; >= 1. */
static inline int update_level_max(uint32_t amount)
{
    return MOVE_MAX / amount < LEVEL_MAX ? (int)(MOVE_MAX / amount) : LEVEL_MAX;
}

/* How to tell, this time (replica.h says what is done with it). */
struct publish_terms {
    uint32_t budget_bytes; /* what the rumors may take */
    uint32_t bytes_max;    /* what they never take, however wrong estimates are; 0: the budget */
    uint64_t last_bytes;   /* what those of the last publication took; 0: not known, or nothing */
    float tau;             /* the threshold; 0: the one that fits best */
    double share;          /* of this origin among all, 0 < share <= 1 */
    double gain;
    double at_once; /* own publications that others answer as one, >= 1 (echo.h); 0 = no novelty
                       weight */
    double beta;    /* base momentum */
    double held;    /* the part of what stays unpublished that leaves the weights, 0 .. 1 */
    uint64_t swarm_samples; /* that all have learned by now, as far as is known */
};

#endif
