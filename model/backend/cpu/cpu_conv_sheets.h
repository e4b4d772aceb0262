/* Where convolutions compute. The images of a block lie below each other on sheets, one for each
 * channel, with zeros between and around them, so that what a weight meets lies at the same
 * distance from each place:
 *
 *   sheet      . . . . . .      y[place] = Σ w[t] · x[place + distance[t]]
 *              . a b c . .      dx[place] = Σ w[t] · dy[place - distance[t]]
 *              . d e f . .      dw[t] = Σ dy[place] · x[place + distance[t]]
 *              . . . . . .
 *
 * dy, y and dx lie on sheets of the same geometry; what falls between images is left behind. With a
 * stride of s a channel has up to s·s sheets: its phases, each with every s-th row and column.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_SHEETS_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_SHEETS_H

#include "backend/backend.h"
#include "backend/cpu/cpu_conv_tiles.h"

struct sheets {
    struct conv conv;
    struct shape out; /* of the convolution */
    int phases;       /* of the rows, and columns, of a stride: those that meet a weight */
    int width;        /* of a row, with its zeros */
    int area;         /* of an image, with its zeros */
    ptrdiff_t origin; /* from the corner of the first padded image to the first place */
    size_t margin;    /* zeros before the first place */
    size_t pitch;     /* from one sheet to the next */
    int images;       /* of a block at most */
};

/* For blocks of images_max at most. */
struct sheets sheets_of(const struct conv *conv, int images_max);

/* How far from a place row i and column j of a filter lie, on the sheet of their phase. */
ptrdiff_t sheets_distance(const struct sheets *sheets, int i, int j);

/* The places of a block's images that hold planes of this size. Between the images there are some
 * to spare, or else all places are taken as if those of one image. */
struct conv_places sheets_places(const struct sheets *sheets, int images, int height, int width);

/* All sheets below begin at the first place, behind the margin, and their zeros are there already.
 */

/* x of a block to in[channels][phases][phases]. */
void sheets_spread_inputs(const struct sheets *sheets, int images, const float *x, float *in);
/* Copies dy of a block, filters first .. end-1, to slope[end - first]; zeros also follow the last
 * image. */
void sheets_spread_slopes(const struct sheets *sheets, int images, int first, int end,
                          const float *dy, float *slope);
/* y of a block from made[filters], plus biases, which may be NULL. */
void sheets_collect_outputs(const struct sheets *sheets, int images, const float *made,
                            const float *b, float *y);
/* One phase of dx of a block from made[channels]. */
void sheets_collect_inputs(const struct sheets *sheets, int images, int phase, const float *made,
                           float *dx);

#endif
