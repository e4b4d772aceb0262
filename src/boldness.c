#include "boldness.h"

#include <math.h>

#include "status.h"

#define INTERVAL_S_MAX 60.0
#define MOMENTUM_MAX   0.5
#define HEAD_BYTES     150.0 /* of a rumor, its signature, record and message (threshold.c) */
#define HEAD_PART      0.05  /* of what is told */

double boldness_hops(uint32_t live, uint32_t mesh, uint32_t degree)
{
    CHECK(mesh > 0 && degree > 1);
    return live <= mesh ? 1 : 1 + log((double)live / mesh) / log(degree);
}

static double news_s(const struct boldness_measured *measured)
{
    return measured->delay_s * measured->hops + BOLDNESS_STEPS * measured->step_s;
}

/* The fourth root of how many train. */
static double ease(const struct boldness_measured *measured)
{
    return sqrt(sqrt(measured->training));
}

static double interval_s(const struct boldness_measured *measured)
{
    const double heads_s = HEAD_BYTES / HEAD_PART / measured->bytes_per_s;
    const double least_s = fmax(ease(measured) * news_s(measured), heads_s);
    return fmin(fmax(least_s, BOLDNESS_S), INTERVAL_S_MAX);
}

/* Before anything is measured there is nothing to be bold about. */
static double gain(const struct boldness_measured *measured, double interval_s)
{
    if (measured->step_s == 0)
        return 1;
    return fmax(fmin(interval_s / news_s(measured), sqrt(measured->training)), 1);
}

static double beta(const struct boldness_measured *measured, const struct boldness *boldness)
{
    if (measured->step_s == 0 || measured->training == 1)
        return 0;
    const double usual_s = ease(measured) * news_s(measured);
    const double most = MOMENTUM_MAX * fmin(boldness->interval_s / usual_s, 1);
    const double missing = 1 - boldness->gain / (2 * ease(measured));
    return fmax(fmin(missing, most), 0) / boldness->gain;
}

struct boldness boldness_of(const struct boldness_measured *measured)
{
    CHECK(measured->training > 0 && measured->hops >= 1 && measured->bytes_per_s > 0);
    CHECK(measured->delay_s >= 0 && measured->step_s >= 0 && measured->interval_s >= 0);
    struct boldness boldness = {.interval_s = measured->interval_s};
    if (boldness.interval_s == 0)
        boldness.interval_s = interval_s(measured);
    boldness.gain = measured->gain;
    if (boldness.gain == 0)
        boldness.gain = gain(measured, boldness.interval_s);
    boldness.beta = beta(measured, &boldness);
    return boldness;
}
