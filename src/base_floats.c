#include "base_floats.h"

#include <math.h>

#include "digest.h"

enum status base_floats_check(const char *path, const float *weights, size_t count, float max,
                              struct problem *problem)
{
    CHECK(max <= BASE_FLOATS_MAX);
    for (size_t c = 0; c < count; c++)
        if (!(fabsf(weights[c]) <= max))
            return problem_set(problem, MALFORMED,
                               "%.300s: a weight is %g, and a swarm's are numbers from -%g to %g; "
                               "name another file",
                               path, (double)weights[c], (double)max, (double)max);
    return OK;
}

uint64_t base_floats_digest(const float *weights, size_t count)
{
    uint64_t digest = 0;
    for (size_t c = 0; c < count; c++) {
        const uint32_t units = (uint32_t)llrintf(weights[c] / QUANTUM);
        digest = digest_add(digest, digest_of_entry((uint32_t)c, units));
    }
    return digest;
}

size_t base_floats_rounded(const float *weights, size_t count)
{
    size_t rounded = 0;
    for (size_t c = 0; c < count; c++)
        rounded += fabsf(weights[c]) >= 1;
    return rounded;
}

bool base_floats_are_whole(const float *weights, size_t count)
{
    for (size_t c = 0; c < count; c++)
        if (rintf(weights[c] / QUANTUM) != weights[c] / QUANTUM)
            return false;
    return true;
}
