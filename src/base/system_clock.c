#include "base/system_clock.h"

#include "base/error.h"
#include "base/time_units.h"

uint64_t system_clock_ns(clockid_t clock)
{
    struct timespec now;
    CHECK(clock_gettime(clock, &now) == 0);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

double system_clock_s(clockid_t clock)
{
    return (double)system_clock_ns(clock) * 1e-9;
}
