/* The two sums of convolutions, over sheets (cpu_conv.c), compiled from cpu_conv_tiles.inc for each
 * width of vectors. A tile of sums is in registers at a time: rows x places of an output, or
 * filters x weights. The sums have a fixed order, so the same call gives the same bits.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_TILES_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_TILES_H

#include <stdbool.h>
#include <stddef.h>

#define CONV_LANES 16 /* positions per vector: sheets are padded to a multiple of it */
#define CONV_EXTRA 9  /* most offsets that are read after the last one */

/* Positions of a sheet: the first `count` of each image. */
struct conv_places {
    int images;
    int area; /* positions from one image to the next */
    int count;
};

/* Sheets that are read at fixed distances: weight t of a filter is multiplied with in[offset[t] +
 * place]. */
struct conv_taps {
    int count;
    const ptrdiff_t *offset; /* [count + CONV_EXTRA] offsets; those after the last one repeat it */
};

struct conv_tiles {
    const char *name;
    int rows_max; /* most rows of a tile: a power of two */

    /* Computes out[row][place] (+)= Σ w[t][row] · in[offset[t] + place] for `rows` sheets that are
     * `pitch` apart. rows: rows_max or half of it, and so on down to 1. The padding after an image,
     * up to the next multiple of CONV_LANES, is written before the next image. */
    void (*sum)(int rows, struct conv_places places, struct conv_taps taps, const float *w,
                const float *in, float *out, size_t pitch, bool adds);
    /* Computes dw[filter][t] += Σ dy[filter][place] · in[offset[t] + place] for filters whose
     * sheets are `pitch` apart. dy must be 0 after the places of an image, up to the next multiple
     * of CONV_LANES. */
    void (*dot)(int filters, struct conv_places places, struct conv_taps taps, const float *dy,
                size_t pitch, const float *in, float *dw);
};

/* Returns the functions for this processor. */
const struct conv_tiles *conv_tiles(void);

/* Returns number i of all that this processor can run, for tests; NULL after the last one. */
const struct conv_tiles *conv_tiles_nth(int i);

#endif
