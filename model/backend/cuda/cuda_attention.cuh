/* Memory layout of a head's queries, keys and values, for both implementations of attention
 * (cuda_attention.cu, cuda_attention_bf16.cu). */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_ATTENTION_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_ATTENTION_CUH

#include "backend/cuda/cuda_bf16.cuh"
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_transformer.h"

/* Queries, keys or values of a head, or its outputs: a row for each position. */
template <typename Number> struct rows {
    const Number *first;
    size_t stride; /* numbers from one row to the next */
};

/* A head of one sample. */
template <typename Number> struct head {
    rows<Number> query, key, value;
    size_t output; /* index in y of the head's first output */
    size_t line;   /* index in log_sums of the head's first query */
};

template <typename Number>
static __device__ head<Number> head_of(const struct attention &attention, const Number *x,
                                       size_t sample, unsigned number)
{
    const size_t length = (size_t)attention.length, size = (size_t)attention.size;
    const size_t heads = (size_t)attention.heads, shared = (size_t)attention.kv_heads;
    const size_t stride = (heads + 2 * shared) * size, own = number / (heads / shared);
    const Number *query = x + sample * length * stride;
    return {{query + number * size, stride},
            {query + (heads + own) * size, stride},
            {query + (heads + shared + own) * size, stride},
            sample * length * heads * size + number * size,
            (sample * heads + number) * length};
}

template <typename Number>
static __device__ rows<Number> output_rows(const struct attention &attention,
                                           const head<Number> &head, const Number *y)
{
    return {y + head.output, (size_t)attention.heads * (size_t)attention.size};
}

static __device__ float score_scale(const struct attention &attention)
{
    return 1 / sqrtf((float)attention.size);
}

/* Inputs of the backward pass. mixed[batch, heads, length]: scalar product of y and dy for each
 * query. */
template <typename Number> struct output {
    const float *log_sums;
    const float *mixed;
    const Number *dy;
};

#endif
