/* Dropout masks (Srivastava et al. 2014). A mask depends only on a random number per sample, the
 * layer and the position. So the backward pass recomputes the same mask, and a run can be repeated
 * on any device. */
#ifndef HEARSAY_MODEL_BACKEND_DROPOUT_H
#define HEARSAY_MODEL_BACKEND_DROPOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/on_device.h"

struct dropout {
    int batch;
    size_t size;    /* numbers per sample */
    float rate;     /* fraction of the numbers that is dropped, below 1 */
    uint32_t layer; /* index of the layer: each layer drops different numbers */
};

/* Returns rate · 2^32. dropout_drops drops a number if its 32-bit hash is below this limit. */
static inline ON_DEVICE uint32_t dropout_below(float rate)
{
    return (uint32_t)((double)rate * 4294967296.0);
}

/* Returns the bits mixed by the finalizer of MurmurHash3 (Appleby): each bit of the input affects
 * each bit of the result. */
static inline ON_DEVICE uint32_t dropout_mix(uint32_t bits)
{
    bits = (bits ^ bits >> 16) * 0x85EBCA6Bu;
    bits = (bits ^ bits >> 13) * 0xC2B2AE35u;
    return bits ^ bits >> 16;
}

/* Returns the seed of a sample's mask in a layer. draw: random number of the sample. */
static inline ON_DEVICE uint32_t dropout_begin(uint32_t draw, uint32_t layer)
{
    return dropout_mix(draw ^ dropout_mix(layer + 1));
}

static inline ON_DEVICE bool dropout_drops(uint32_t begin, uint32_t place, uint32_t below)
{
    return dropout_mix(begin + place * 0x9E3779B9u) < below;
}

#endif
