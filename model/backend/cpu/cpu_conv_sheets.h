/* Memory layout for convolutions. The images of a block are below each other on sheets, one for
 * each channel, with zeros between and around them. So the number that a weight is multiplied with
 * has the same distance from each place:
 *
 *   sheet      . . . . . .      y[place] = Σ w[t] · x[place + distance[t]]
 *              . a b c . .      dx[place] = Σ w[t] · dy[place - distance[t]]
 *              . d e f . .      dw[t] = Σ dy[place] · x[place + distance[t]]
 *              . . . . . .
 *
 * dy, y and dx are on sheets of the same geometry; results between images are dropped. With a
 * stride of s a channel has up to s·s sheets: its phases, each with every s-th row and column.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_SHEETS_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_SHEETS_H

#include "backend/backend.h"
#include "backend/cpu/cpu_conv_tiles.h"

struct sheets {
    struct conv conv;
    struct shape out; /* output of the convolution */
    int phases;       /* phases of the stride that meet a weight, by row or column */
    int width;        /* width of a row with its zeros */
    int area;         /* positions of an image with its zeros */
    ptrdiff_t origin; /* from the corner of the first padded image to its first output */
    size_t margin;    /* zeros before the first position */
    size_t pitch;     /* numbers from one sheet to the next */
    int images;       /* most images per block */
};

/* Computes the layout for blocks of at most images_max images. */
struct sheets sheets_of(const struct conv *conv, int images_max);

/* Returns the distance from a position to row i and column j of a filter, on the sheet of their
 * phase. */
ptrdiff_t sheets_distance(const struct sheets *sheets, int i, int j);

/* Returns the positions of a block's images with planes of this size. If there is not enough spare
 * space between the images, all positions are treated as those of one image. */
struct conv_places sheets_places(const struct sheets *sheets, int images, int height, int width);

/* The functions below take sheets from their first position on, behind the margin. The zeros of a
 * sheet must be there already. */

/* Copies x of a block to in[channels][phases][phases]. */
void sheets_spread_inputs(const struct sheets *sheets, int images, const float *x, float *in);
/* Copies dy of a block, filters first .. end-1, to gradient[end - first]; zeros also follow the
 * last image. */
void sheets_spread_gradients(const struct sheets *sheets, int images, int first, int end,
                             const float *dy, float *gradient);
/* Copies made[filters] to y of a block and adds the biases, which may be NULL. */
void sheets_collect_outputs(const struct sheets *sheets, int images, const float *made,
                            const float *b, float *y);
/* Copies made[channels] to one phase of dx of a block. */
void sheets_collect_inputs(const struct sheets *sheets, int images, int phase, const float *made,
                           float *dx);

#endif
