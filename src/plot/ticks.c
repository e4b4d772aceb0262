#include "plot/ticks.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

/* tolerance for rounding errors, as a fraction of the distance between two ticks */
#define ALMOST 1e-9

/* Returns the smallest number >= `least` that is 1, 2 or 5 times a power of ten. */
static double round_step(double least)
{
    static const double ROUND[] = {1, 2, 5};
    const double power = pow(10, floor(log10(least)));
    for (int i = 0; i < 3; i++)
        if (ROUND[i] * power >= least * (1 - ALMOST))
            return ROUND[i] * power;
    return 10 * power;
}

/* Returns high - low, or more if ticks in that range would have equal labels. */
static double width_of(double low, double high)
{
    const double least = fmax(fabs(low), fabs(high)) * 1e-6;
    const double width = high - low;
    if (width > least)
        return width;
    return least > 0 ? fmax(least, fabs(high) * 0.1) : 1;
}

struct ticks ticks_around(double low, double high, int about)
{
    CHECK(isfinite(low) && isfinite(high) && low <= high && about >= 2);
    const double step = round_step(width_of(low, high) / (about - 1));
    const double first = floor(low / step + ALMOST), last = ceil(high / step - ALMOST);
    return (struct ticks){
        .first = first * step, .step = step, .count = last > first ? (int)(last - first) + 1 : 2};
}

struct ticks ticks_within(double low, double high, int about)
{
    CHECK(isfinite(low) && isfinite(high) && low < high && about >= 2);
    const double step = round_step((high - low) / about);
    const double first = ceil(low / step - ALMOST), last = floor(high / step + ALMOST);
    return (struct ticks){.first = first * step, .step = step, .count = (int)(last - first) + 1};
}

double ticks_at(const struct ticks *ticks, int i)
{
    const double value = ticks->first + i * ticks->step;
    CHECK(i >= 0 && i < ticks->count);
    return fabs(value) < ticks->step * ALMOST ? 0 : value;
}

double ticks_last(const struct ticks *ticks)
{
    return ticks_at(ticks, ticks->count - 1);
}

/* Returns "k" .. "T" if `largest` is 10,000 or more, otherwise "". *scale: the factor of the
 * prefix. */
static const char *prefix_of(double largest, double *scale)
{
    static const char *const PREFIX[] = {"k", "M", "G", "T"};
    *scale = 1;
    if (largest < 1e4)
        return "";
    int i = 0;
    for (*scale = 1e3; i < 3 && largest >= *scale * 1e3; i++)
        *scale *= 1e3;
    return PREFIX[i];
}

const char *ticks_text(const struct ticks *ticks, int i, char out[static TICKS_TEXT_BYTES])
{
    double scale;
    const double largest = fmax(fabs(ticks->first), fabs(ticks_last(ticks)));
    const char *prefix = prefix_of(largest, &scale);
    const int digits = (int)ceil(-log10(ticks->step / scale) - ALMOST);
    if (ticks_at(ticks, i) == 0 && prefix[0])
        (void)snprintf(out, TICKS_TEXT_BYTES, "0");
    else if (digits > 6 || largest >= 1e15)
        (void)snprintf(out, TICKS_TEXT_BYTES, "%.6g", ticks_at(ticks, i));
    else
        (void)snprintf(out, TICKS_TEXT_BYTES, "%.*f%s", digits > 0 ? digits : 0,
                       ticks_at(ticks, i) / scale, prefix);
    return out;
}
