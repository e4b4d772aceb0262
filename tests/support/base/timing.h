/* A clock and the median of several measurements, for benchmarks. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_TIMING_H
#define HEARSAY_TESTS_SUPPORT_BASE_TIMING_H

#include <stdlib.h>
#include <time.h>

double now_seconds(void);

/* Returns the median. Sorts the values. */
double median(double *values, size_t count);

#endif
