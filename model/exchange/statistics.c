#include "exchange/statistics.h"

#include <stdlib.h>

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
    statistics->slow = backend->alloc(backend, statistics->count * sizeof(float));
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

void statistics_track(struct statistics *statistics, bool companded, bool counts)
{
    size_t at = 0;
    statistics->has_counted = statistics->has_counted || counts;
    for (uint32_t r = 0; r < statistics->ranges; r++) {
        const struct weights_part *range = &statistics->range[r];
        statistics->backend->exchange->track(statistics->backend, range->count, companded, counts,
                                             range->at, statistics->before + at,
                                             statistics->slow + at, statistics->held + at);
        at += range->count;
    }
}

bool statistics_are_in(const struct statistics *statistics, size_t first, size_t count)
{
    for (uint32_t r = 0; r < statistics->ranges; r++) {
        const struct weights_part *range = &statistics->range[r];
        if (range->first < first + count && first < range->first + range->count)
            return true;
    }
    return false;
}

void statistics_reset(struct statistics *statistics, size_t first, size_t count)
{
    struct backend *backend = statistics->backend;
    const size_t end = first + count;
    size_t at = 0;
    statistics->has_counted = false;
    for (uint32_t r = 0; r < statistics->ranges; r++) {
        const struct weights_part *range = &statistics->range[r];
        const size_t from = size_max(first, range->first),
                     to = size_min(end, range->first + range->count);
        if (from < to) {
            const size_t skipped = from - range->first;
            const struct numbers held = floats(statistics->held + at + skipped);
            float *const copies[] = {range->at + skipped, statistics->before + at + skipped,
                                     statistics->slow + at + skipped};
            for (int i = 0; i < 3; i++)
                backend->elements->copy(backend, to - from, held, floats(copies[i]));
        }
        at += range->count;
    }
}

void statistics_free(struct statistics *statistics)
{
    free(statistics->part);
    if (statistics->ranges > 0) {
        statistics->backend->free(statistics->backend, statistics->held);
        statistics->backend->free(statistics->backend, statistics->before);
        statistics->backend->free(statistics->backend, statistics->slow);
    }
    *statistics = (struct statistics){.ranges = 0};
}
