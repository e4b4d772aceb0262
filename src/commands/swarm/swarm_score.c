#include "commands/swarm/swarm_score.h"

#include <math.h>
#include <stdio.h>

#define BITS_OF_A_BYTE 8

double swarm_score_of_bits(double bits_per_byte)
{
    return 1 - bits_per_byte / BITS_OF_A_BYTE;
}

double swarm_score_bits(double score)
{
    return BITS_OF_A_BYTE * (1 - score);
}

/* Text above 8 bits per byte and a negative R² have the score 0. */
double swarm_score(enum score_kind kind, double part, double loss)
{
    if (kind == SCORE_OF_TEXT)
        return fmax(swarm_score_of_bits(loss / log(2)), 0);
    return kind == SCORE_OF_NUMBERS ? fmax(part, 0) : part;
}

const char *swarm_score_name(enum score_kind kind)
{
    return kind == SCORE_OF_TEXT ? "text" : kind == SCORE_OF_NUMBERS ? "R2" : "accuracy";
}

const char *swarm_score_text(char out[static SCORE_TEXT], enum score_kind kind, double score)
{
    if (kind == SCORE_OF_TEXT)
        (void)snprintf(out, SCORE_TEXT, "%.3f bits/byte", swarm_score_bits(score));
    else
        (void)snprintf(out, SCORE_TEXT, "%.2f %%", 100 * score);
    return out;
}
