#include "base/weights.h"

#include "base/error.h"

struct weights weights_flat(float *flat)
{
    CHECK(flat);
    return (struct weights){.flat = flat};
}

float *weights_all(struct weights weights)
{
    CHECK(weights.flat);
    return weights.flat;
}

static const struct weights_part *find(struct weights weights, size_t entry)
{
    uint32_t low = 0, high = weights.parts;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (weights.part[middle].first <= entry)
            low = middle;
        else
            high = middle;
    }
    CHECK(low < weights.parts);
    return &weights.part[low];
}

struct weights_part weights_part(struct weights weights, size_t first, size_t end)
{
    CHECK(first < end);
    if (weights.flat)
        return (struct weights_part){
            .at = weights.flat + first, .first = first, .count = end - first};
    const struct weights_part *part = find(weights, first);
    const size_t before = first - part->first;
    CHECK(before < part->count);
    const size_t left = part->count - before, wanted = end - first;
    return (struct weights_part){.at = part->at + before,
                                 .first = first,
                                 .count = wanted < left ? wanted : left,
                                 .are_statistics = part->are_statistics};
}
