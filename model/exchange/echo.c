#include "exchange/echo.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"

#define OLDER 0.8 /* weight of older publications in the moving average */

double echo_rareness(const struct echo *echo, double counts, double at_once)
{
    CHECK(counts > 0 && at_once >= 1 && echo->others >= 0);
    if (echo->publications == 0)
        return 1;
    const double in_full = 1 / ((1 + ECHO_OTHERS * echo->others) * at_once * counts);
    const double against = echo->all_heard > 0 ? echo->all_against / echo->all_heard : 0;
    const double alike = fmax(1 - 2 * against, 0);
    return 1 + (fmax(fmin(in_full, ECHO_DENSITY / echo->density), 1) - 1) * alike;
}

static void smooth(double *mean, double value, bool is_known)
{
    *mean = is_known ? OLDER * *mean + (1 - OLDER) * value : value;
}

void echo_on_published(struct echo *echo, const struct update *own, double share, size_t parameters)
{
    CHECK(share > 0 && share <= 1 && own->count <= parameters);
    if (own->count > (uint64_t)ECHO_GROWN * echo->count)
        *echo = (struct echo){0};
    if (echo->count > 0)
        smooth(&echo->others, (double)echo->heard / echo->count, echo->publications++ > 0);
    echo->all_heard = OLDER * echo->all_heard + (double)echo->heard;
    echo->all_against = OLDER * echo->all_against + (double)echo->against;
    if (own->count > 0)
        smooth(&echo->density, (double)own->count / (double)parameters, echo->density > 0);
    echo->share = share;
    echo->count = own->count;
    echo->heard = echo->against = 0;
}

/* Counts common entries; both lists of indices are ascending. */
void echo_on_applied(struct echo *echo, const struct update *own, const struct update *theirs)
{
    CHECK(own->count >= echo->count);
    for (uint32_t ours = 0, other = 0; ours < echo->count && other < theirs->count;) {
        const uint32_t a = own->index[ours], b = theirs->index[other];
        echo->heard += a == b;
        echo->against += a == b && (own->level[ours] > 0) != (theirs->level[other] > 0);
        ours += a <= b;
        other += b <= a;
    }
}

double echo_spoken_for(const struct echo *echo, const struct update *theirs)
{
    CHECK(theirs->tau > 0);
    if (echo->share == 0 || echo->share == 1)
        return 0;
    const double counts = (double)QUANTUM * theirs->amount / (double)theirs->tau;
    return fmin(fmax((counts - echo->share) / (1 - echo->share), 0), 1);
}
