#include "strategies/consensus.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

struct consensus {
    double *sum; /* [P] sum of the added replicas' weights w_i */
    size_t parameters;
    uint32_t count;
    double squares; /* sum of the squared norms |w_i|² of the added replicas */
};

struct consensus *consensus_new(size_t parameters)
{
    struct consensus *consensus = memory_new(1, sizeof *consensus);
    consensus->sum = memory_new(parameters, sizeof *consensus->sum);
    consensus->parameters = parameters;
    return consensus;
}

void consensus_add(struct consensus *consensus, const float *weights)
{
    for (size_t c = 0; c < consensus->parameters; c++) {
        consensus->sum[c] += (double)weights[c];
        consensus->squares += (double)weights[c] * (double)weights[c];
    }
    consensus->count++;
}

double consensus_distance(struct consensus *consensus)
{
    double length = 0;
    for (size_t c = 0; c < consensus->parameters; c++)
        length += consensus->sum[c] * consensus->sum[c];
    const double mean = length / ((double)consensus->count * (double)consensus->count);
    const double apart = fmax(consensus->squares / (double)consensus->count - mean, 0);
    free(consensus->sum);
    free(consensus);
    return sqrt(apart / mean);
}
