/* The two sums of convolutions over sheets (cpu_conv.c), compiled from cpu_conv_tiles.inc for each
 * width of vectors. A tile is the sums that are in registers at a time: rows x positions of an
 * output, or filters x weights. Sums are added in a fixed order, so equal calls give equal bits.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_TILES_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_TILES_H

#include <stdbool.h>
#include <stddef.h>

/* Largest number of positions per vector; sheets are padded to a multiple of it. */
#define CONV_LANES 16
#define CONV_EXTRA 9 /* offsets that may be read behind the last offset in use */

/* Positions of a sheet to compute: the first `count` of each image. */
struct conv_places {
    int images;
    int area; /* positions from one image to the next */
    int count;
};

/* Inputs of the sums: for an output at `place`, weight t is multiplied with in[offset[t] +
 * place]. */
struct conv_taps {
    int count;
    const ptrdiff_t *offset; /* [count + CONV_EXTRA]; the extra offsets repeat the last one */
};

struct conv_tiles {
    const char *name;
    int rows_max; /* largest number of rows of a tile; a power of two */

    /* Computes out[row][place] = Σ w[t][row] · in[offset[t] + place] for `rows` sheets that are
     * `pitch` apart; if `adds`, adds the sum to out instead. rows: rows_max divided by a power of
     * two. Also writes to positions after an image, up to the next multiple of CONV_LANES, before
     * it writes the next image. */
    void (*sum)(int rows, struct conv_places places, struct conv_taps taps, const float *w,
                const float *in, float *out, size_t pitch, bool adds);
    /* Adds Σ dy[filter][place] · in[offset[t] + place] to dw[filter][t], for filters whose sheets
     * are `pitch` apart. dy must be 0 after the places of an image, up to the next multiple of
     * CONV_LANES. */
    void (*dot)(int filters, struct conv_places places, struct conv_taps taps, const float *dy,
                size_t pitch, const float *in, float *dw);
};

/* Returns the functions with the widest vectors of this processor. */
const struct conv_tiles *conv_tiles(void);

/* Returns variant i that this processor can run, narrowest first; NULL if there are no more. */
const struct conv_tiles *conv_tiles_nth(int i);

#endif
