#include "daemon/time_spent.h"

#include <math.h>

const double TIME_SPENT_BOUNDS_S[TIME_SPENT_BINS] = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, INFINITY};

void time_spent_step(struct time_spent *spent, uint64_t took_ns)
{
    int bin = 0;
    while ((double)took_ns * 1e-9 > TIME_SPENT_BOUNDS_S[bin])
        bin++;
    spent->steps[bin]++;
    spent->steps_ns += took_ns;
}

void time_spent_exchange(struct time_spent *spent, uint64_t took_ns)
{
    spent->exchange_ns += took_ns;
}

void time_spent_add(struct time_spent *total, const struct time_spent *more)
{
    total->steps_ns += more->steps_ns;
    total->exchange_ns += more->exchange_ns;
    for (int bin = 0; bin < TIME_SPENT_BINS; bin++)
        total->steps[bin] += more->steps[bin];
}
