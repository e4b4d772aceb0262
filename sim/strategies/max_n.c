#include "strategies/max_n.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ENTRY_BYTES 8

struct max_n {
    size_t parameters;
    size_t *ends; /* [count] end of each tensor in the flat vector, in order */
    int count;
    uint16_t *least; /* [P] least n at which each entry is kept */
    uint32_t *kept;  /* [MAX_N_ALL + 1] number of entries that are kept at each n */
};

static size_t entries_of(const struct tensor *tensor)
{
    size_t entries = 1;
    for (int d = 0; d < tensor->rank; d++)
        entries *= tensor->dims[d];
    return entries;
}

static int compare_ends(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

struct max_n *max_n_new(const struct model *model, size_t parameters)
{
    struct max_n *max_n = memory_new(1, sizeof *max_n);
    const int tensors = model ? model_tensors(model) : 1;
    *max_n = (struct max_n){
        .parameters = parameters,
        .ends = memory_new((size_t)tensors, sizeof *max_n->ends),
        .count = tensors,
        .least = memory_new(parameters, sizeof *max_n->least),
        .kept = memory_new(MAX_N_ALL + 1, sizeof *max_n->kept),
    };
    max_n->ends[0] = parameters;
    for (int i = 0; model && i < tensors; i++) {
        const struct tensor tensor = model_tensor(model, i);
        max_n->ends[i] = tensor.offset + entries_of(&tensor);
    }
    qsort(max_n->ends, (size_t)tensors, sizeof *max_n->ends, compare_ends);
    CHECK(max_n->ends[tensors - 1] == parameters);
    return max_n;
}

void max_n_free(struct max_n *max_n)
{
    free(max_n->ends);
    free(max_n->least);
    free(max_n->kept);
    free(max_n);
}

void max_n_rank(struct max_n *max_n, const float *values)
{
    size_t first = 0;
    memset(max_n->kept, 0, (MAX_N_ALL + 1) * sizeof *max_n->kept);
    for (int i = 0; i < max_n->count; i++) {
        float largest = 0;
        for (size_t c = first; c < max_n->ends[i]; c++)
            largest = fmaxf(largest, fabsf(values[c]));
        for (size_t c = first; c < max_n->ends[i]; c++) {
            const double part = largest > 0 ? fabs((double)values[c]) / (double)largest : 0;
            max_n->least[c] = (uint16_t)ceil((1 - part) * MAX_N_ALL);
            max_n->kept[max_n->least[c]]++;
        }
        first = max_n->ends[i];
    }
    for (uint32_t n = 1; n <= MAX_N_ALL; n++)
        max_n->kept[n] += max_n->kept[n - 1];
}

uint64_t max_n_bytes(const struct max_n *max_n, uint32_t n)
{
    const uint64_t sparse = (uint64_t)max_n->kept[n] * ENTRY_BYTES;
    const uint64_t whole = max_n->parameters * sizeof(float);
    return u64_min(sparse, whole);
}

uint32_t max_n_fit(const struct max_n *max_n, double bytes)
{
    uint32_t n = MAX_N_ALL;
    while (n > MAX_N_LEAST && (double)max_n_bytes(max_n, n) > bytes)
        n--;
    return n;
}

struct content *max_n_content(const struct max_n *max_n, const float *values, uint32_t n)
{
    struct content *content = content_indexed(max_n->kept[n]);
    for (size_t c = 0, k = 0; c < max_n->parameters; c++) {
        if (max_n->least[c] > n)
            continue;
        content->indexes[k] = (uint32_t)c;
        content->values[k++] = values[c];
    }
    return content;
}
