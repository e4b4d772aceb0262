/* Memory layout for convolutions. Each channel has a sheet, on which the images of a block are
 * below each other, with zeros between and around them. So a weight t of a filter multiplies the
 * number at the same distance from every output position (`place`):
 *
 *   sheet      . . . . . .      y[place] = Σ w[t] · x[place + distance[t]]
 *              . a b c . .      dx[place] = Σ w[t] · dy[place - distance[t]]
 *              . d e f . .      dw[t] = Σ dy[place] · x[place + distance[t]]
 *              . . . . . .
 *
 * x, y, dx and dy all have sheets of this geometry. Sums at the zeros between images are computed
 * but not used. With stride s a channel of x or dx has up to s·s sheets, called phases. Each has
 * every s-th row and column of the images.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_SHEETS_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_CONV_SHEETS_H

#include "backend/backend.h"
#include "backend/cpu/cpu_conv_tiles.h"

struct sheets {
    struct conv conv;
    struct shape out;
    int phases;       /* number of phases along rows, and also along columns, that weights read */
    int width;        /* positions of one row, zero padding included */
    int area;         /* positions of one image, zero padding included */
    ptrdiff_t origin; /* distance from the corner of the first padded image to its first output */
    size_t margin;    /* number of zeros before a sheet's first position */
    size_t pitch;     /* numbers from one sheet to the next */
    int images;       /* largest number of images per block */
};

/* Returns the layout for blocks of at most images_max images. */
struct sheets sheets_of(const struct conv *conv, int images_max);

/* Returns the distance from an output position to the input under row i and column j of a filter.
 * That input is on the sheet of phase (i % stride, j % stride). */
ptrdiff_t sheets_distance(const struct sheets *sheets, int i, int j);

/* Returns the positions to compute for a block's images, whose outputs are planes of this size. If
 * the zeros between images are too few for a vector, the block counts as one image. */
struct conv_places sheets_places(const struct sheets *sheets, int images, int height, int width);

/* The functions below take pointers to the first position of a sheet, behind its margin. The zeros
 * of sheets that they write must already be set. */

/* Copies x of a block to the sheets in[channels][phases][phases]. */
void sheets_spread_inputs(const struct sheets *sheets, int images, const float *x, float *in);
/* Copies dy of filters first .. end-1 of a block to the sheets gradient[end - first]. Sets
 * CONV_LANES zeros after the last image. */
void sheets_spread_gradients(const struct sheets *sheets, int images, int first, int end,
                             const float *dy, float *gradient);
/* Copies the sheets made[filters] to the outputs y of a block of images, and adds the biases b;
 * NULL = no biases. */
void sheets_collect_outputs(const struct sheets *sheets, int images, const float *made,
                            const float *b, float *y);
/* Copies the sheets made[channels] to one phase of a block's dx. */
void sheets_collect_inputs(const struct sheets *sheets, int images, int phase, const float *made,
                           float *dx);

#endif
