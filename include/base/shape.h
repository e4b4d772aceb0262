/* The shape of one sample: of a model's input, or of a layer's output.
 *
 *   length 0   an image: channels x height x width numbers, row major
 *   length n   a sequence: n positions, one after the other, each of channels x height x width
 *              numbers (height and width are 1). Before the embedding layer a position is one
 *              token, an int32, and channels is 1.
 */
#ifndef HEARSAY_BASE_SHAPE_H
#define HEARSAY_BASE_SHAPE_H

#include <stddef.h>

struct shape {
    int channels;
    int height;
    int width;
    int length; /* positions of a sequence; 0 = an image */
};

static inline size_t shape_positions(struct shape shape)
{
    return shape.length > 0 ? (size_t)shape.length : 1;
}

static inline size_t shape_size(struct shape shape)
{
    return shape_positions(shape) * (size_t)shape.channels * (size_t)shape.height *
           (size_t)shape.width;
}

#endif
