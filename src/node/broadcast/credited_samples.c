#include "node/broadcast/credited_samples.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/min_max.h"
#include "base/sort.h"

/* The largest reports of 1/4 of the learners, at least of one learner, are capped. */
#define PART 4
/* A count is clearly larger than another if it exceeds it by more than this part of the other. */
#define NEAR (1.0 / 8)

static int descending(const void *a, const void *b)
{
    const double x = ((const struct reported_samples *)a)->samples,
                 y = ((const struct reported_samples *)b)->samples;
    return (x < y) - (x > y);
}

double credited_samples_sum(struct reported_samples *reported, uint32_t count, uint32_t learners)
{
    CHECK(count > 0 && learners > 0);
    const uint32_t most = u32_max(learners / PART, 1); /* learners whose reports are capped */
    double rest = reported[0].samples;
    qsort(reported + 1, count - 1, sizeof *reported, descending);
    for (uint32_t i = 1 + most; i < count; i++)
        rest += reported[i].samples;
    double sum = rest;
    for (uint32_t i = 1; i < count && i <= most; i++)
        sum += fmin(reported[i].samples, fmax(rest / most, reported[i].borne_out));
    CHECK(sum >= reported[0].samples && isfinite(sum));
    return sum;
}

double credited_samples_begin(double all, double counted, uint64_t *said, uint32_t count)
{
    CHECK(counted >= 0 && all >= 0);
    if (count == 0)
        return all;
    const double usual = (double)u64_median_low(said, count);
    return all <= usual + usual * NEAR ? all : fmax(counted, usual);
}

double credited_samples_continue(double all, double counted, uint64_t *said, uint32_t count)
{
    CHECK(counted >= 0 && all >= 0);
    const double usual = count > 0 ? fmin((double)u64_median_low(said, count), all) : 0;
    return usual > counted + counted * NEAR ? usual : counted;
}
