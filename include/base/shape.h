/* The shape of one sample as it travels through a model: channels x height x width, row major. */
#ifndef HEARSAY_BASE_SHAPE_H
#define HEARSAY_BASE_SHAPE_H

#include <stddef.h>

struct shape {
    int channels;
    int height;
    int width;
};

static inline size_t shape_size(struct shape shape)
{
    return (size_t)shape.channels * (size_t)shape.height * (size_t)shape.width;
}

#endif
