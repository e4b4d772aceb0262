/* The system's clocks. Only the rooms in HAS_CLOCK of tests/house/rooms.py may read them. All other
 * rooms, such as src/node and model, are given the time. tests/house checks this. */
#ifndef HEARSAY_BASE_SYSTEM_CLOCK_H
#define HEARSAY_BASE_SYSTEM_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t system_clock_ns(clockid_t clock);
double system_clock_s(clockid_t clock);

static inline uint64_t monotonic_ns(void)
{
    return system_clock_ns(CLOCK_MONOTONIC);
}

static inline double monotonic_s(void)
{
    return system_clock_s(CLOCK_MONOTONIC);
}

#endif
