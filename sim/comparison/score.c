#include "comparison/score.h"

#include <math.h>

double score_value(const struct record_point *point, enum measure measure)
{
    return measure == MEASURE_ACCURACY ? point->accuracy : point->loss;
}

bool score_is_better(enum measure measure, double a, double b)
{
    if (isnan(a) || isnan(b))
        return !isnan(a);
    return measure == MEASURE_ACCURACY ? a > b : a < b;
}

/* Returns `from` if part is 0, `to` if part is 1. */
static double interpolate(double from, double to, double part)
{
    return from + (to - from) * part;
}

struct reach score_reach(const struct record *record, enum measure measure, double target)
{
    for (uint32_t i = 0; i < record->count; i++) {
        const struct record_point *now = &record->points[i], *before = i > 0 ? now - 1 : NULL;
        const double value = score_value(now, measure);
        if (!(value == target || score_is_better(measure, value, target)))
            continue;
        const double then = before ? score_value(before, measure) : NAN;
        const double part = isfinite(then) ? (target - then) / (value - then) : 1;
        return (struct reach){interpolate(before ? before->at_s : 0, now->at_s, part),
                              interpolate(before ? before->sent_bytes : 0, now->sent_bytes, part)};
    }
    return (struct reach){NAN, NAN};
}

double score_curve(const struct record *record, enum measure measure)
{
    double sum = 0;
    for (uint32_t i = 0; i < record->count; i++)
        sum += score_value(&record->points[i], measure);
    return record->count > 0 ? sum / record->count : NAN;
}

struct band score_band(const double *values, uint32_t count)
{
    struct band band = {.mean = 0, .least = INFINITY, .most = -INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        band.count++;
        band.mean += values[i] / count;
        band.least = fmin(band.least, values[i]);
        band.most = fmax(band.most, values[i]);
    }
    if (band.count < count || count == 0)
        band.mean = NAN;
    return band;
}

bool score_is_idle(const struct plan *plan, uint32_t strategy)
{
    const enum strategy_kind kind = plan->kinds[strategy];
    uint32_t played = 0;
    if (kind == STRATEGY_IDEAL || kind == STRATEGY_SINGLE || plan->scenario->nodes_count == 1)
        return false;
    for (uint32_t k = 0; k < plan->seeds; k++) {
        const struct record *record = plan_record(plan, strategy, k);
        if (record && record->sent_bytes > 0)
            return false;
        played += record != NULL;
    }
    return played > 0;
}

enum what { END, TIME, BYTES };

static struct band over_seeds(const struct plan *plan, uint32_t strategy, enum what what,
                              double target)
{
    double values[PLAN_SEEDS_MAX];
    for (uint32_t k = 0; k < plan->seeds; k++) {
        const struct record *record = plan_record(plan, strategy, k);
        values[k] = NAN;
        if (!record || score_is_idle(plan, strategy))
            continue;
        const struct reach reach = score_reach(record, plan->measure, target);
        const double end = plan->measure == MEASURE_ACCURACY ? record->accuracy : record->loss;
        values[k] = what == END ? end : what == TIME ? reach.at_s : reach.bytes;
    }
    return score_band(values, plan->seeds);
}

struct band score_end(const struct plan *plan, uint32_t strategy)
{
    return over_seeds(plan, strategy, END, NAN);
}

struct band score_times(const struct plan *plan, uint32_t strategy, double target)
{
    return over_seeds(plan, strategy, TIME, target);
}

struct band score_bytes(const struct plan *plan, uint32_t strategy, double target)
{
    return over_seeds(plan, strategy, BYTES, target);
}

/* Returns the median over the strategies of the first evaluation with the first seed; NAN = no
 * strategy has an evaluation. */
static double first_value(const struct plan *plan)
{
    double firsts[STRATEGIES_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        const struct record *record = plan_record(plan, i, 0);
        if (!record || record->count == 0)
            continue;
        const double first = score_value(&record->points[0], plan->measure);
        uint32_t at = count++;
        for (; at > 0 && firsts[at - 1] > first; at--)
            firsts[at] = firsts[at - 1];
        firsts[at] = first;
    }
    return count > 0 ? firsts[count / 2] : NAN;
}

uint32_t score_targets(const struct plan *plan, double targets[static TARGETS_MAX])
{
    static const double parts[TARGETS_MAX] = {0.9, 0.95, 0.98};
    double best = NAN;
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        const double end = score_end(plan, i).mean;
        if (plan->kinds[i] != STRATEGY_IDEAL && score_is_better(plan->measure, end, best))
            best = end;
    }
    const double begin = plan->measure == MEASURE_ACCURACY ? 0 : first_value(plan);
    if (isnan(best) || isnan(begin))
        return 0;
    for (uint32_t i = 0; i < TARGETS_MAX; i++)
        targets[i] = round(interpolate(begin, best, parts[i]) * 1000) / 1000;
    return TARGETS_MAX;
}

struct winner score_winner(const struct plan *plan, double target)
{
    struct winner winner = {UINT32_MAX, UINT32_MAX, {NAN, NAN, NAN, 0}};
    double first_s = NAN, second_s = NAN, margins[PLAN_SEEDS_MAX];
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        const double mean_s = score_times(plan, i, target).mean;
        if (plan->kinds[i] == STRATEGY_IDEAL || isnan(mean_s))
            continue;
        if (isnan(first_s) || mean_s < first_s) {
            winner.second = winner.first;
            second_s = first_s;
            winner.first = i;
            first_s = mean_s;
        } else if (isnan(second_s) || mean_s < second_s) {
            winner.second = i;
            second_s = mean_s;
        }
    }
    if (winner.second == UINT32_MAX)
        return winner;
    for (uint32_t k = 0; k < plan->seeds; k++)
        margins[k] = score_reach(plan_record(plan, winner.second, k), plan->measure, target).at_s /
                     score_reach(plan_record(plan, winner.first, k), plan->measure, target).at_s;
    winner.margin = score_band(margins, plan->seeds);
    return winner;
}
