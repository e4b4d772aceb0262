#include "exchange/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "backend/error_feedback.h"
#include "base/companding.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/min_max.h"

void statistics_init(struct statistics *statistics, struct arena *arena, struct backend *backend,
                     const struct entry_range *range, uint32_t ranges)
{
    *statistics = (struct statistics){.backend = backend, .ranges = ranges};
    if (ranges == 0)
        return;
    statistics->range = arena_alloc(arena, ranges, sizeof *statistics->range);
    for (uint32_t r = 0; r < ranges; r++) {
        CHECK(range[r].count > 0);
        CHECK(r == 0 || range[r - 1].first + range[r - 1].count <= range[r].first);
        statistics->range[r] =
            (struct weights_part){.first = range[r].first, .count = range[r].count};
        statistics->count += range[r].count;
    }
    statistics->held = backend->alloc(backend, statistics->count * sizeof(float));
    statistics->before = backend->alloc(backend, statistics->count * sizeof(float));
    statistics->reset = backend->alloc(backend, statistics->count * sizeof(float));
}

struct weights statistics_view(struct statistics *statistics, struct weights trained,
                               size_t parameters)
{
    uint32_t range = 0, parts = 0;
    float *held = statistics->held;
    if (statistics->ranges == 0)
        return trained;
    free(statistics->part);
    statistics->part = memory_new((size_t)trained.parts + 2 * (size_t)statistics->ranges + 1,
                                  sizeof *statistics->part);
    for (size_t c = 0; c < parameters; c += statistics->part[parts++].count) {
        struct weights_part *next = range < statistics->ranges ? &statistics->range[range] : NULL;
        if (!next || c < next->first) {
            statistics->part[parts] = weights_part(trained, c, next ? next->first : parameters);
            continue;
        }
        const struct weights_part here = weights_part(trained, c, c + next->count);
        CHECK(here.count == next->count);
        next->at = here.at;
        statistics->part[parts] = (struct weights_part){
            .at = held, .first = c, .count = next->count, .are_statistics = true};
        held += next->count;
        range++;
    }
    CHECK(range == statistics->ranges);
    return (struct weights){
        .part = statistics->part, .parts = parts, .are_companded = trained.are_companded};
}

/* The entries among first .. first+count-1 that are in one range: pointers for the first of them,
 * and their number, which may be 0. */
struct overlap_part {
    struct statistic at;
    size_t count;
};

/* before: number of statistics in earlier ranges. */
static struct overlap_part part_in(const struct statistics *statistics, uint32_t r, size_t before,
                                   size_t first, size_t count)
{
    const struct weights_part *range = &statistics->range[r];
    const size_t from = size_max(first, range->first),
                 to = size_min(first + count, range->first + range->count);
    if (from >= to)
        return (struct overlap_part){.count = 0};
    const size_t skipped = from - range->first, at = before + skipped;
    return (struct overlap_part){.at = {.trained = range->at + skipped,
                                        .before = statistics->before + at,
                                        .reset = statistics->reset + at,
                                        .w = statistics->held + at},
                                 .count = to - from};
}

void statistics_track(struct statistics *statistics, size_t first, size_t count, bool companded,
                      bool counts, float pull)
{
    size_t before = 0;
    statistics->has_counted = statistics->has_counted || counts;
    for (uint32_t r = 0; r < statistics->ranges; before += statistics->range[r++].count) {
        const struct overlap_part part = part_in(statistics, r, before, first, count);
        if (part.count > 0)
            statistics->backend->exchange->track(statistics->backend, part.count, companded, counts,
                                                 pull, part.at);
    }
}

float statistics_farthest(const struct statistics *statistics, const int32_t *base, bool companded)
{
    struct backend *backend = statistics->backend;
    float *held = memory_new(statistics->count, sizeof *held), farthest = 0;
    int32_t *units = memory_new(statistics->count, sizeof *units), *at = units;
    backend->download(backend, held, statistics->held, statistics->count * sizeof *held);
    for (uint32_t i = 0; i < statistics->ranges; at += statistics->range[i++].count)
        backend->download(backend, at, base + statistics->range[i].first,
                          statistics->range[i].count * sizeof *at);
    for (size_t c = 0; c < statistics->count; c++) {
        const float r = residual(held[c], units[c], companded);
        if (isfinite(r) && !is_saturated(r, units[c]))
            farthest = fmaxf(farthest, fabsf(r));
    }
    free(units);
    free(held);
    return farthest;
}

void statistics_reset(struct statistics *statistics, size_t first, size_t count, bool forgets)
{
    struct backend *backend = statistics->backend;
    size_t before = 0;
    statistics->has_counted = false;
    for (uint32_t r = 0; r < statistics->ranges; before += statistics->range[r++].count) {
        const struct overlap_part part = part_in(statistics, r, before, first, count);
        float *const copies[] = {part.at.trained, part.at.reset, part.at.before};
        for (int i = 0; i < (forgets ? 3 : 2) && part.count > 0; i++)
            backend->elements->copy(backend, part.count, floats(part.at.w), floats(copies[i]));
    }
}

void statistics_restore(struct statistics *statistics, size_t first, size_t count,
                        const float *trained, const int32_t *units, bool companded)
{
    struct backend *backend = statistics->backend;
    size_t before = 0;
    statistics->has_counted = false;
    for (uint32_t r = 0; r < statistics->ranges; before += statistics->range[r++].count) {
        const struct overlap_part part = part_in(statistics, r, before, first, count);
        if (part.count == 0)
            continue;
        const size_t from = size_max(first, statistics->range[r].first) - first;
        float *base = memory_new(part.count, sizeof *base),
              *before_it = memory_new(part.count, sizeof *before_it),
              *reset = memory_new(part.count, sizeof *reset);
        for (size_t c = 0; c < part.count; c++) {
            const float own = trained[from + c];
            base[c] = weight_of_units(units[from + c], companded);
            const bool is_far = fabsf(value_moved(base[c], own, companded)) > STATISTIC_FAR;
            before_it[c] = is_far ? base[c] : own;
            reset[c] = is_near(own, base[c], companded) ? own : NAN;
        }
        const size_t bytes = part.count * sizeof(float);
        backend->upload(backend, part.at.w, base, bytes);
        backend->upload(backend, part.at.trained, trained + from, bytes);
        backend->upload(backend, part.at.reset, reset, bytes);
        backend->upload(backend, part.at.before, before_it, bytes);
        free(reset);
        free(before_it);
        free(base);
    }
}

void statistics_free(struct statistics *statistics)
{
    free(statistics->part);
    if (statistics->ranges > 0) {
        statistics->backend->free(statistics->backend, statistics->held);
        statistics->backend->free(statistics->backend, statistics->before);
        statistics->backend->free(statistics->backend, statistics->reset);
    }
    *statistics = (struct statistics){.ranges = 0};
}
