#include "web/trail.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* Weighted mean; if a or b is NAN, the other one. */
static double mean_of(double a, double weight_a, double b, double weight_b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return (a * weight_a + b * weight_b) / (weight_a + weight_b);
}

void trail_init(struct trail *trail)
{
    memset(trail, 0, sizeof *trail);
    trail->each = 1;
}

static void halve(struct trail *trail)
{
    CHECK(trail->count == TRAIL_MAX && trail->partial == 0);
    for (uint32_t i = 0; i < TRAIL_MAX / 2; i++)
        for (int value = 0; value < TRAIL_VALUES; value++)
            trail->rows[i][value] =
                mean_of(trail->rows[2 * i][value], 1, trail->rows[2 * i + 1][value], 1);
    trail->count = TRAIL_MAX / 2;
    trail->each *= 2;
}

bool trail_add(struct trail *trail, const double second[static TRAIL_VALUES])
{
    double *row = trail->rows[trail->count];
    for (int value = 0; value < TRAIL_VALUES; value++)
        row[value] = trail->partial == 0 ? second[value]
                                         : mean_of(row[value], trail->partial, second[value], 1);
    if (++trail->partial < trail->each)
        return false;
    trail->partial = 0;
    if (++trail->count == TRAIL_MAX)
        halve(trail);
    return true;
}
