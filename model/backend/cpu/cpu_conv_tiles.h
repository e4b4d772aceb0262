/* The two sums that convolutions are made of, over sheets (cpu_conv.c): for each width of vectors
 * there is, compiled from cpu_conv_tiles.inc. Sums lie in registers, a tile of them at a time: rows
 * x places of an output, or filters x weights.
 *
 * All are one after the other in a fixed order: the same call gives the same bits.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_TILES_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_TILES_H

#include <stdbool.h>
#include <stddef.h>

#define CONV_LANES 16 /* positions per vector: sheets are padded to a multiple of it */
#define CONV_EXTRA 9  /* offsets that are read behind the last at most */

/* Places of a sheet: the first `count` of each image. */
struct conv_places {
    int images;
    int area; /* from the first place of an image to that of the next */
    int count;
};

/* Sheets that are met at fixed distances: weight t of a filter meets in[offset[t] + place]. */
struct conv_taps {
    int count;
    const ptrdiff_t *offset; /* [count + CONV_EXTRA]; those behind the last repeat it */
};

struct conv_tiles {
    const char *name;
    int rows_max; /* rows of a tile: a power of two */

    /* out[row][place] (+)= Σ w[t][row] · in[offset[t] + place], of `rows` sheets `pitch` apart:
     * rows_max, or half of it, down to 1. The padding after an image, up to the next multiple of
     * CONV_LANES, is written before the next image. */
    void (*sum)(int rows, struct conv_places places, struct conv_taps taps, const float *w,
                const float *in, float *out, size_t pitch, bool adds);
    /* dw[filter][t] += Σ dy[filter][place] · in[offset[t] + place], of filters whose sheets are
     * `pitch` apart. dy is 0 behind the places of an image up to the next multiple of CONV_LANES.
     */
    void (*dot)(int filters, struct conv_places places, struct conv_taps taps, const float *dy,
                size_t pitch, const float *in, float *dw);
};

/* Those for this processor. */
const struct conv_tiles *conv_tiles(void);

/* All that this processor can run, for tests; NULL behind the last. */
const struct conv_tiles *conv_tiles_nth(int i);

#endif
