/* Sorts numbers in ascending order, and finds medians. The numbers must not be NAN. */
#ifndef HEARSAY_BASE_SORT_H
#define HEARSAY_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

void double_sort(double *values, size_t count);
void u64_sort(uint64_t *values, size_t count);

/* The following functions sort the values and return the median; count > 0. Of an even number of
 * values, the functions ending in _low return the smaller of the middle two, those ending in _high
 * the larger. */
double double_median_low(double *values, size_t count);
double double_median_high(double *values, size_t count);
uint64_t u64_median_low(uint64_t *values, size_t count);
uint64_t u64_median_high(uint64_t *values, size_t count);

#endif
