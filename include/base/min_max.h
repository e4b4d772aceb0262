/* The smaller and the larger of two integers. */
#ifndef HEARSAY_BASE_MIN_MAX_H
#define HEARSAY_BASE_MIN_MAX_H

#include <stddef.h>
#include <stdint.h>

static inline int int_min(int a, int b)
{
    return a < b ? a : b;
}

static inline int int_max(int a, int b)
{
    return a > b ? a : b;
}

static inline uint32_t u32_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t u32_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif
