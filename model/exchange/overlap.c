#include "exchange/overlap.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"

#define OLDER 0.8 /* decay of the sums and moving averages per publication */

double overlap_novelty(const struct overlap *overlap, double counts, double at_once)
{
    CHECK(counts > 0 && at_once >= 1 && overlap->others >= 0);
    if (overlap->publications == 0)
        return 1;
    const double in_full = 1 / ((1 + OVERLAP_OTHERS * overlap->others) * at_once * counts);
    const double against =
        overlap->all_matched > 0 ? overlap->all_against / overlap->all_matched : 0;
    const double alike = fmax(1 - 2 * against, 0);
    return 1 + (fmax(fmin(in_full, OVERLAP_DENSITY / overlap->density), 1) - 1) * alike;
}

static void smooth(double *mean, double value, bool is_known)
{
    *mean = is_known ? OLDER * *mean + (1 - OLDER) * value : value;
}

void overlap_on_published(struct overlap *overlap, const struct update *own, double share,
                          size_t parameters)
{
    CHECK(share > 0 && share <= 1 && own->count <= parameters);
    if (own->count > (uint64_t)OVERLAP_GROWN * overlap->count)
        *overlap = (struct overlap){0};
    if (overlap->count > 0)
        smooth(&overlap->others, (double)overlap->matched / overlap->count,
               overlap->publications++ > 0);
    overlap->all_matched = OLDER * overlap->all_matched + (double)overlap->matched;
    overlap->all_against = OLDER * overlap->all_against + (double)overlap->against;
    if (own->count > 0)
        smooth(&overlap->density, (double)own->count / (double)parameters, overlap->density > 0);
    overlap->share = share;
    overlap->count = own->count;
    overlap->matched = overlap->against = 0;
}

void overlap_on_applied(struct overlap *overlap, const struct update *own,
                        const struct update *theirs)
{
    CHECK(own->count >= overlap->count);
    for (uint32_t ours = 0, other = 0; ours < overlap->count && other < theirs->count;) {
        const uint32_t a = own->index[ours], b = theirs->index[other];
        overlap->matched += a == b;
        overlap->against += a == b && (own->level[ours] > 0) != (theirs->level[other] > 0);
        ours += a <= b;
        other += b <= a;
    }
}

double overlap_spoken_for(const struct overlap *overlap, const struct update *theirs)
{
    CHECK(theirs->tau > 0);
    if (overlap->share == 0 || overlap->share == 1)
        return 0;
    const double counts = (double)QUANTUM * theirs->amount / (double)theirs->tau;
    return fmin(fmax((counts - overlap->share) / (1 - overlap->share), 0), 1);
}
