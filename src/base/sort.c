#include "base/sort.h"

#include <stdlib.h>

#include "base/error.h"

static int compare_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void double_sort(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_double);
}

void u64_sort(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_u64);
}

double double_median_low(double *values, size_t count)
{
    CHECK(count > 0);
    double_sort(values, count);
    return values[(count - 1) / 2];
}

double double_median_high(double *values, size_t count)
{
    CHECK(count > 0);
    double_sort(values, count);
    return values[count / 2];
}

uint64_t u64_median_low(uint64_t *values, size_t count)
{
    CHECK(count > 0);
    u64_sort(values, count);
    return values[(count - 1) / 2];
}

uint64_t u64_median_high(uint64_t *values, size_t count)
{
    CHECK(count > 0);
    u64_sort(values, count);
    return values[count / 2];
}
