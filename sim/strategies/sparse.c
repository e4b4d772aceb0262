#include "strategies/sparse.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/largest.h"

#define BUCKETS      4
#define BUCKET_SIGMA 1.5

struct sparse {
    size_t parameters;
    double part;   /* fraction of entries kept in each chunk */
    float decay;   /* factor on the errors in each round */
    float *errors; /* [count][parameters] error feedback e of each node */
};

uint32_t sparse_kept(uint32_t count, double part)
{
    const double kept = round(part * count);
    CHECK(kept <= count);
    return kept < 1 ? 1 : (uint32_t)kept;
}

void sparse_keep_largest(float *values, uint32_t count, uint32_t kept)
{
    uint64_t keys[SPARSE_CHUNK];
    CHECK(count <= SPARSE_CHUNK);
    largest_keep(values, count, kept, keys);
}

/* Returns the standard deviation of the nonzero entries and sets *mean; both 0 if there is none. */
static double deviation(const float *values, uint32_t count, double *mean)
{
    double sum = 0, squares = 0;
    uint32_t entries = 0;
    for (uint32_t c = 0; c < count; c++) {
        sum += values[c];
        entries += values[c] != 0;
    }
    *mean = entries > 0 ? sum / entries : 0;
    for (uint32_t c = 0; c < count; c++)
        if (values[c] != 0)
            squares += (values[c] - *mean) * (values[c] - *mean);
    return entries > 1 ? sqrt(squares / (entries - 1)) : 0;
}

static int bucket_of(double distance, double width)
{
    const double bucket = width > 0 ? nearbyint(distance / width) + BUCKETS / 2 : 0;
    return bucket < 0 ? 0 : bucket > BUCKETS - 1 ? BUCKETS - 1 : (int)bucket;
}

void sparse_two_bits(float *values, uint32_t count)
{
    double mean, sums[BUCKETS] = {0};
    uint32_t entries[BUCKETS] = {0};
    const double width = BUCKET_SIGMA * deviation(values, count, &mean);
    for (uint32_t c = 0; c < count; c++) {
        if (values[c] == 0)
            continue;
        const int bucket = bucket_of(values[c] - mean, width);
        sums[bucket] += values[c];
        entries[bucket]++;
    }
    for (uint32_t c = 0; c < count; c++) {
        if (values[c] == 0)
            continue;
        const int bucket = bucket_of(values[c] - mean, width);
        values[c] = (float)(sums[bucket] / entries[bucket]);
    }
}

static uint32_t chunk_at(const struct sparse *sparse, size_t from)
{
    const size_t left = sparse->parameters - from;
    return left < SPARSE_CHUNK ? (uint32_t)left : SPARSE_CHUNK;
}

static void *begin(const struct experiment *experiment, uint32_t count)
{
    const struct scenario *scenario = experiment->scenario;
    const size_t parameters = experiment_parameters(experiment);
    struct sparse *sparse = memory_new(1, sizeof *sparse);
    *sparse =
        (struct sparse){.parameters = parameters,
                        .part = (double)rounds_or_published(scenario->settings.top_part, 1. / 32),
                        .decay = rounds_or_published(scenario->settings.error_decay, 0.95),
                        .errors = memory_new(count * parameters, sizeof *sparse->errors)};
    return sparse;
}

static void compress(void *self, uint32_t i, float *progress, size_t parameters)
{
    const struct sparse *sparse = self;
    CHECK(parameters == sparse->parameters);
    float *error = sparse->errors + i * sparse->parameters;
    for (size_t c = 0; c < sparse->parameters; c++)
        progress[c] = error[c] = sparse->decay * error[c] + progress[c];
    for (size_t from = 0; from < sparse->parameters; from += SPARSE_CHUNK) {
        const uint32_t count = chunk_at(sparse, from);
        sparse_keep_largest(progress + from, count, sparse_kept(count, sparse->part));
        sparse_two_bits(progress + from, count);
    }
    for (size_t c = 0; c < sparse->parameters; c++)
        error[c] -= progress[c];
}

static uint64_t message_bytes(const void *self, size_t parameters)
{
    const struct sparse *sparse = self;
    CHECK(parameters == sparse->parameters);
    uint64_t kept = 0;
    for (size_t from = 0; from < sparse->parameters; from += SPARSE_CHUNK)
        kept += sparse_kept(chunk_at(sparse, from), sparse->part);
    return (kept * SPARSE_ENTRY_BITS + 7) / 8;
}

static void end(void *self)
{
    struct sparse *sparse = self;
    free(sparse->errors);
    free(sparse);
}

const struct compressor sparse_compressor = {
    .begin = begin, .compress = compress, .message_bytes = message_bytes, .end = end};
