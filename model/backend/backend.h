/* The operations of a computing device. Layers, optimizers and the exchange call only this table.
 *
 *   layers, optimizer, replica ──► struct backend ──► backend_cpu (OpenBLAS) | backend_cuda
 *
 * Pointers to numbers are memory of the backend (from `alloc`) unless their names begin with host_.
 * Structs that describe an operation are host memory, except an optimizer's settings and the
 * augmentations of a batch. Matrices are row major. All `struct numbers` of an operation have the
 * same type, either FLOAT32 or the backend's `activations`, unless the operation allows another.
 * Operations run in the order of the calls. An operation that returns a value or writes host memory
 * is complete when it returns; any other may complete later. Host memory that an operation reads
 * may be changed as soon as the call returns. The caller checks sizes. A backend that breaks
 * (device lost) prints why and ends the process. Except between the begin and end of a recording or
 * timing, no operation depends on state that another left in the backend. So all code of a thread
 * may share one backend. Tests on every backend: tests/unit/model/test_backend.c, which names more.
 */
#ifndef HEARSAY_MODEL_BACKEND_BACKEND_H
#define HEARSAY_MODEL_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/dropout.h"
#include "backend/numbers.h"
#include "backend/optimizers.h"
#include "backend/watch.h"
#include "base/half.h"
#include "base/min_max.h"
#include "base/shape.h"
#include "base/update.h"
#include "base/weights.h"

/* Convolution with square kernels and zero padding: out = (in + 2 pad - kernel) / stride + 1 in
 * both directions, rounded down. Channels and filters are split into `groups` groups, and a filter
 * sees only the channels of its own group. With a group per channel the convolution is
 * depthwise. */
struct conv {
    struct shape in;
    int filters;
    int kernel;
    int pad;
    int stride; /* at least 1; rows and columns left over at the end are ignored */
    int groups; /* at least 1; divides channels and filters */
};

/* Returns the number of weights of one filter. */
static inline int conv_patch(const struct conv *conv)
{
    return conv->in.channels / conv->groups * conv->kernel * conv->kernel;
}

static inline struct shape conv_output(const struct conv *conv)
{
    return (struct shape){
        .channels = conv->filters,
        .height = (conv->in.height + 2 * conv->pad - conv->kernel) / conv->stride + 1,
        .width = (conv->in.width + 2 * conv->pad - conv->kernel) / conv->stride + 1,
        .length = 0};
}

/* Max pooling over square windows that do not overlap. Rows and columns at the end that fill no
 * window are ignored. */
struct pool {
    struct shape in;
    int window; /* side of a window, 1 .. POOL_WINDOW_MAX: an index in the window fits a byte */
};

#define POOL_WINDOW_MAX 16

static inline struct shape pool_output(const struct pool *pool)
{
    return (struct shape){.channels = pool->in.channels,
                          .height = pool->in.height / pool->window,
                          .width = pool->in.width / pool->window,
                          .length = 0};
}

/* GELU: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) (Hendrycks, Gimpel 2016); SILU: x / (1 +
 * exp(-x)). The backward pass of GELU and SILU needs the input x; the backward pass of the other
 * activations needs only the output. */
enum activation { LINEAR, RELU, SIGMOID, TANH, GELU, SILU };

static inline bool activation_keeps_input(enum activation activation)
{
    return activation == GELU || activation == SILU;
}

/* Causal attention over sequences (Vaswani et al. 2017). Each head compares its query at a position
 * with the keys at that and all earlier positions. It mixes the values at these positions by the
 * softmax of query · key / √size. Each position has heads + 2 kv_heads vectors of `size` numbers:
 * first the queries, then the keys, then the values. heads / kv_heads query heads share a key and a
 * value (Ainslie et al. 2023). */
struct attention {
    int length;   /* number of positions */
    int heads;    /* number of query heads */
    int kv_heads; /* number of key and value heads; divides heads */
    int size;     /* numbers per query, key or value */
    /* First position to compute; of earlier positions only keys and values are read. */
    int from;
};

static inline size_t attention_input(const struct attention *attention)
{
    return (size_t)(attention->heads + 2 * attention->kv_heads) * (size_t)attention->size;
}

static inline size_t attention_output(const struct attention *attention)
{
    return (size_t)attention->heads * (size_t)attention->size;
}

/* Normalisation of images by channels. A set is the numbers that are normalised together: one
 * channel of the whole batch (batch norm; Ioffe, Szegedy 2015), or one group of channels of one
 * sample (group norm; Wu, He 2018). */
struct channel_norm {
    int channels;
    int groups;    /* groups of channels, for group norm; divides `channels`; 0 = batch norm */
    size_t places; /* pixels of a channel: height · width */
};

static inline size_t channel_norm_sets(const struct channel_norm *norm, int batch)
{
    return norm->groups == 0 ? (size_t)norm->channels : (size_t)batch * (size_t)norm->groups;
}

#define NORM_EPSILON 1e-5f /* added to a variance or mean square before its root: never 0 */
#define ROPE_BASE    10000 /* base of the frequencies of rotary embeddings (Su et al. 2021) */

/* Label of a row that adds nothing to loss, gradients and counts. */
#define LABEL_IGNORED (-1)

/* Softmax cross-entropy of some rows of logits. */
struct cross_entropy {
    int rows;
    int classes;
    int of;          /* divisor of the gradients: rows over which the loss is averaged, >= rows */
    float smoothing; /* part of each label spread over all classes (Szegedy et al. 2016) */
};

/* The last layer of a language model with its loss: logits = x[rows, in] · w[classes, in]ᵀ. Often
 * not all logits fit memory at once, so they are computed some rows at a time. */
struct logits {
    struct cross_entropy loss;
    int in;         /* numbers per row of x */
    int at_once;    /* number of rows whose logits fit in `scratch` */
    float *scratch; /* [at_once, logits_stride(classes)] buffer for logits */
};

/* Returns the distance between rows of logits in `scratch`, in numbers: a multiple of 8, so that
 * rows of bfloat16 begin at multiples of 16 bytes. */
static inline size_t logits_stride(int classes)
{
    return ((size_t)classes + 7) / 8 * 8;
}

/* Histogram of |residual|. The bin of a residual is its float bits >> BIN_BITS: 32 bins per
 * power of two, each 1.6 to 3.1 % wide (threshold.h). A bin has BIN_PARTS parts. The next 8 float
 * bits, which begin at bit PART_BITS, are the number of the part. */
#define BIN_BITS       18
#define PART_BITS      10
#define HISTOGRAM_BINS 8192
#define BIN_PARTS      256

struct survey {
    float floor;             /* smaller |r| are skipped, unless saturated; 0 = none is skipped */
    uint32_t *candidates;    /* [candidates_max] output: indices of the entries found */
    uint32_t candidates_max; /* capacity of `candidates`; further candidates are only counted */
};

/* Sums over samples, in memory of the backend. Each evaluation or step adds to them; the caller
 * sets them to 0 before the first. */
struct score {
    double loss;     /* sum of the losses of all labels */
    uint32_t labels; /* number of labels, ignored ones excluded */
    /* Number of labels whose logit is the largest; of equal logits the first counts. */
    uint32_t correct;
};

/* A sequence of operations that is called repeatedly with the same arguments (a CUDA graph). The
 * contents of the memory to which they point may change. Starts as zeros, and belongs to one
 * backend. */
struct step_graph {
    void *recorded; /* recording in the backend's form; NULL = nothing is recorded */
    uint32_t times; /* number of calls of `end` since the last `drop` */
};

struct backend;

struct device_memory {
    size_t free;
    size_t total; /* bytes in total; 0 = host memory, which the system provides as needed */
};

/* Terms of one cut (exchange_operations). */
struct cut_terms {
    float beta;             /* outer momentum */
    float statistics_share; /* part of a statistic's movement that moves the base, 0 .. 1 */
    uint32_t capacity;      /* largest number of entries to publish */
};

/* The exchange: gradient compression with error feedback (exchange/replica.h). The residual r of an
 * entry is not stored: each operation computes it from weight and base (backend/error_feedback.h).
 * If the weights are companded, `w` below stands for their values (base/companding.h). beta counts
 * as 0 for weights that are moved plainly (is_moved_plainly). */
struct exchange_operations {
    /* Allocates the scratch buffers for a survey of `count` entries and for a cut of up to
     * `published` candidates. Afterwards operations of these sizes allocate nothing. */
    void (*reserve)(struct backend *, size_t count, uint32_t published);
    /* Surveys all entries before a publication. Clears host_bins, then counts every entry that is
     * saturated or whose |r| is NaN or at least the floor: host_bins[residual_bits >> BIN_BITS]++.
     * Lists the indices of counted entries that are not saturated, in order, in `candidates` while
     * there is space. Returns the number of counted entries that are not saturated. */
    uint32_t (*survey)(struct backend *, const struct survey *survey, size_t count,
                       struct weights w, const int32_t *base, uint32_t host_bins[HISTOGRAM_BINS]);
    /* Makes a histogram within one bin of the survey. Clears host_parts, then counts each of
     * candidates[found] whose |r| is in that bin: host_parts[part of the bin]++. */
    void (*refine)(struct backend *, uint32_t found, const uint32_t *candidates, struct weights w,
                   const int32_t *base, uint32_t bin, uint32_t host_parts[BIN_PARTS]);
    /* Cuts an update. Takes from candidates[found] at most terms->capacity entries whose level
     * k = trunc(r / taken), clamped to ±update_level_max(amount), is not 0. For each of these:
     * base += amount·k and w += ((1 + beta)·QUANTUM·amount - taken)·k, where beta is the outer
     * momentum. `taken` is tau, or QUANTUM·amount / statistics_share for a statistic. Skips entries
     * that are saturated or whose residual is below tau or not finite. The caller sets
     * host_update->tau and ->amount; the operation sets ->count, ->index and ->level. */
    void (*cut)(struct backend *, uint32_t found, const uint32_t *candidates,
                const struct cut_terms *terms, struct weights w, int32_t *base,
                struct update *host_update);
    /* Applies another node's update. For each entry with level k: base += amount·k and
     * w += (1 + beta)·QUANTUM·amount·k, where beta is the outer momentum. */
    void (*apply)(struct backend *, const struct update *host_update, float beta, struct weights w,
                  int32_t *base);
    /* Applies an update that an earlier incarnation of this node cut, and takes the update's
     * progress out of the residual. For each entry with level k: base += amount·k and w += (1 +
     * beta)·QUANTUM·amount·k - taken. `taken` is 0 if r and k differ in sign, otherwise the smaller
     * of |r| and tau·|k|, with their sign. For a statistic it is r. If r has the sign of k and
     * |r| is at least tau·|k|, any other w is the same as after `cut`, bit for bit. */
    void (*apply_own)(struct backend *, const struct update *host_update, float beta,
                      struct weights w, int32_t *base);
    /* Replaces base entries first .. first+count-1 and keeps their residuals: base =
     * host_base[count], w = QUANTUM·base + r. Where the base does not change, w stays the same, bit
     * for bit. Where w == QUANTUM·base before, it also is afterwards. */
    void (*rebase)(struct backend *, size_t first, size_t count, const int32_t *host_base,
                   struct weights w, int32_t *base);
    /* Withholds a part of the residual: withheld = part·r, rounded to bfloat16, and w -= withheld.
     * The rounding error stays in the weights. Sets withheld to 0 for saturated entries and for
     * weights that are moved plainly (withheld_part in backend/error_feedback.h). */
    void (*withhold)(struct backend *, size_t count, float part, struct weights w,
                     const int32_t *base, uint16_t *withheld);
    /* Adds the withheld residual back: w += withheld. */
    void (*release)(struct backend *, size_t count, const uint16_t *withheld, struct weights w);
    /* Brings statistics up to date (exchange/statistics.h). Statistics that training has not moved
     * since they were last set are set to w. All other statistics change only if `counts`: w +=
     * trained - before, then w += pull·(trained - w), and `before` is set to `trained`. at: the
     * start of each vector [count]. */
    void (*track)(struct backend *, size_t count, bool companded, bool counts, float pull,
                  struct statistic at);
    /* Drops withheld progress that an update covers. For each entry with level k:
     * withheld -= part·tau·k, rounded to bfloat16. Withheld progress never passes 0, and does not
     * change if it and k differ in sign. */
    void (*drop_covered)(struct backend *, const struct update *host_update, float part,
                         uint16_t *withheld);
    /* Returns the cosine of the angle between an update and the residual, over the entries of the
     * update: Σ k·r / sqrt(Σ k² · Σ r²) for levels k; 0 if r is 0. */
    double (*agreement)(struct backend *, const struct update *host_update, struct weights w,
                        const int32_t *base);
    /* Returns the digest (base/digest.h) of all base entries. */
    uint64_t (*digest)(struct backend *, size_t count, const int32_t *base);
    /* follow and round keep weights w in step with half[count], a copy in 16 bits that the
     * caller trains. follow adds to w the caller's changes of the copy since the last `round`
     * (half_follow in base/half.h). round sets half to w, rounded. */
    void (*follow)(struct backend *, enum half_type type, size_t count, const uint16_t *half,
                   float *w);
    void (*round)(struct backend *, enum half_type type, size_t count, const float *w,
                  uint16_t *half);
    /* follow_moved and round_moved do what follow and round do, but only for the entries of an
     * update. copies[count] is memory of the backend and covers all entries in order, from 0 on. */
    void (*follow_moved)(struct backend *, const struct update *host_update,
                         const struct weights_copy *copies, uint32_t count, float *w);
    void (*round_moved)(struct backend *, const struct update *host_update,
                        const struct weights_copy *copies, uint32_t count, const float *w);
};

/* Order between the backend's operations and a stream of the program that uses the library (a
 * cudaStream_t; NULL: the default stream). The device waits, the host does not. The CPU has no such
 * streams. */
struct stream_operations {
    /* Returns whether `stream` is a stream of this device. */
    bool (*is_known)(struct backend *, void *stream);
    /* Makes the backend's later operations wait until the stream has done its work so far. */
    void (*wait_for)(struct backend *, void *stream);
    /* Makes later work of the stream wait until all operations called so far are done. */
    void (*hold_back)(struct backend *, void *stream);
};

/* Batch norm, group norm and averages of images. */
struct channel_operations {
    /* Computes stats[channel_norm_sets, 2] of x[batch, channels, places]: mean and 1 / deviation of
     * each set. */
    void (*measure)(struct backend *, const struct channel_norm *, int batch, const float *x,
                    float *stats);
    /* Computes stats from the running statistics of a batch norm: mean[channels] and
     * variance[channels]. */
    void (*recall)(struct backend *, const struct channel_norm *, const float *mean,
                   const float *variance, float *stats);
    /* Normalises: y = activation((x - mean) / deviation · w[channel] + b[channel]). The
     * activation must be one whose derivative follows from its output (not
     * activation_keeps_input). */
    void (*apply)(struct backend *, const struct channel_norm *, int batch, const float *x,
                  const float *stats, const float *w, const float *b, enum activation, float *y);
    /* Backward pass of `apply` with stats from `measure`: computes dx, dw and db from y and its
     * gradient dy. Overwrites dy with the gradient before the activation. dx may be NULL; it may
     * not be dy. */
    void (*backward)(struct backend *, const struct channel_norm *, int batch, const float *x,
                     const float *stats, const float *w, const float *y, enum activation, float *dy,
                     float *dx, float *dw, float *db);
    /* Computes how far the running statistics of a batch norm are from the measured ones: dmean
     * = mean - measured mean, dvariance = variance - measured variance. The measured variance has
     * divisor n - 1 here. */
    void (*drift)(struct backend *, const struct channel_norm *, int batch, const float *stats,
                  const float *mean, const float *variance, float *dmean, float *dvariance);
    /* Averages the pixels of each plane (a channel of a sample): y[planes] = mean of x[planes,
     * places]. Backward pass: dx[planes, places] = dy / places. */
    void (*average)(struct backend *, size_t planes, size_t places, const float *x, float *y);
    void (*average_backward)(struct backend *, size_t planes, size_t places, const float *dy,
                             float *dx);
};

/* Settings for augmenting the images of a batch (data/augment.h). */
struct augment {
    struct shape shape;
    int hole;      /* side of the square that is cut out; 0 = none */
    float outside; /* value of pixels outside an image */
};

/* Augmentation of one image. Its steps are applied in the order of the members. */
struct augmentation {
    int32_t mirrored;            /* 1 = mirror left to right */
    int32_t down, right;         /* pixel [row, column] comes from [row + down, column + right] */
    int32_t hole_top, hole_left; /* top left corner of the square that is set to 0 */
};

/* Operations that read a batch from a data set: sample i of the batch is sample pick[i] of the
 * set. */
struct gather_operations {
    /* Reads bytes: x[i] = (pixels[pick[i]] - mean) · scale, for samples of sample_size bytes. */
    void (*pixels)(struct backend *, int batch, size_t sample_size, const uint8_t *pixels,
                   const uint32_t *pick, float mean, float scale, float *x);
    /* Copies rows: to[i] = from[pick[i]], unchanged, for rows of `size` numbers of four bytes. */
    void (*rows)(struct backend *, int batch, size_t size, const void *from, const uint32_t *pick,
                 void *to);
    /* Reads tokens: x[i, j] = tokens[pick[i] + j], for samples of `length` tokens of token_bytes
     * (1, 2 or 4) each; y[i, j] is the next token. */
    void (*tokens)(struct backend *, int batch, int length, int token_bytes, const void *tokens,
                   const uint32_t *pick, int32_t *x, int32_t *y);
    /* Augments images: to[i] is from[i] changed by each[i]. `to` may not be `from`. */
    void (*augment)(struct backend *, const struct augment *, int batch,
                    const struct augmentation *each, const float *from, float *to);
};

/* Losses with their gradients. */
struct loss_operations {
    /* Adds the softmax cross-entropy of logits[rows, classes] against labels[rows] to the score.
     * Each label is LABEL_IGNORED or in 0 .. classes-1; with any other label the loss is NaN or the
     * process ends. Unless dlogits is NULL, sets it to (softmax - onehot) / of, and to 0 for
     * ignored labels. dlogits may be logits. With smoothing, onehot is smoothing / classes for
     * every class, plus 1 - smoothing for the label's class. */
    void (*cross_entropy)(struct backend *, const struct cross_entropy *, const float *logits,
                          const int32_t *labels, float *dlogits, struct score *score);

    /* Computes all logits, some rows at a time, and adds their cross-entropy to the score. Unless
     * dw is NULL, writes the gradients of the mean loss over `of` rows, dw[classes, in] and
     * dx[rows, in]; dx may be NULL. On a GPU in bf16 the gradients of logits are rounded before
     * they are multiplied. */
    void (*logits)(struct backend *, const struct logits *, struct numbers x, struct numbers w,
                   const int32_t *labels, struct numbers dx, float *dw, struct score *score);
    /* Returns the largest number of logits that `logits` should compute at once. On the CPU they
     * take 64 MiB. On a GPU, logits and their gradients take at most 1/16 of the free memory. */
    size_t (*logits_budget)(struct backend *);

    /* Adds the mean squared error of each row of y[rows, width], compared with want[rows,
     * width], to the score; each row counts as a label. Unless dy is NULL, sets it to the gradient
     * of the mean over `of` rows, 2 (y - want) / (of · width). dy may be y. */
    void (*squared_error)(struct backend *, int rows, int width, int of, const float *y,
                          const float *want, float *dy, struct score *score);
};

/* Recordings of sequences of operations. */
struct graph_operations {
    /* Begins a sequence of operations. Returns true if the sequence ran from its recording.
     * Otherwise the caller calls the operations and then `end`, with no other operation in
     * between. None of the operations may return a value or access host memory. */
    bool (*begin)(struct backend *, struct step_graph *);
    void (*end)(struct backend *, struct step_graph *);
    /* Drops the recording. Call it before the sequence changes, and when it is no longer
     * needed. */
    void (*drop)(struct backend *, struct step_graph *);
};

struct dense_operations {
    /* Dense layer: y[batch,out] = activation(x[batch,in] · w[out,in]ᵀ + b[out]). b and db are
     * NULL if the layer has no biases. b and dy have the type of y; w and dx have the type of x. y
     * may be FLOAT32 even if x is not. The activation must be one whose derivative follows from its
     * output (not activation_keeps_input). */
    void (*forward)(struct backend *, int batch, int in, int out, struct numbers x,
                    struct numbers w, struct numbers b, enum activation, struct numbers y);
    /* Backward pass, given y and its gradient dy. Overwrites dy with the gradient before the
     * activation, then dw = dyᵀ·x, db = Σ dy, dx = dy·w. dx may be NULL (first layer). If `adds`,
     * dw += dyᵀ·x instead, and db must be NULL. */
    void (*backward)(struct backend *, int batch, int in, int out, struct numbers x,
                     struct numbers w, struct numbers y, enum activation, struct numbers dy,
                     struct numbers dx, float *dw, float *db, bool adds);
    /* Dense layer with an activation that keeps its input (activation_keeps_input): before[batch,
     * out] = x · wᵀ + b, y = activation(before). */
    void (*activate_forward)(struct backend *, int batch, int in, int out, struct numbers x,
                             struct numbers w, struct numbers b, enum activation,
                             struct numbers before, struct numbers y);
    /* Backward pass of a linear dense layer whose x is the output of an activation that keeps its
     * input. Sets dx to the gradient of the activation's input before[batch, in]. */
    void (*activate_backward)(struct backend *, int batch, int in, int out, struct numbers x,
                              struct numbers w, struct numbers dy, enum activation,
                              struct numbers before, struct numbers dx, float *dw, float *db);
};

/* Operations on each entry of some vectors. */
struct element_operations {
    /* Adds shared[count] to each sample: y[batch, count] = x[batch, count] + shared[count].
     * Backward pass: dshared = Σ dy over the batch. */
    void (*add_shared)(struct backend *, int batch, size_t count, struct numbers x,
                       const float *shared, struct numbers y);
    void (*sum_shared)(struct backend *, int batch, size_t count, struct numbers dy,
                       float *dshared);

    /* add: y = a + b; y may be a or b. copy: to = from, converted if the types differ. */
    void (*add)(struct backend *, size_t count, struct numbers a, struct numbers b,
                struct numbers y);
    void (*copy)(struct backend *, size_t count, struct numbers from, struct numbers to);
    /* Dropout: y = 0 where dropout.h drops, x / (1 - rate) elsewhere. draws[batch] has a random
     * number for each sample. */
    void (*drop)(struct backend *, const struct dropout *, const uint32_t *draws, struct numbers x,
                 struct numbers y);
    void (*clear)(struct backend *, size_t count, float *to);
};

/* Layers of sequence models, except attention. */
struct sequence_operations {
    /* Embedding: y[row] = table[token[row]], for rows of `size` numbers. A token is an index of a
     * row of the table. Backward pass: dtable[token[row]] += dy[row], one row after the other. */
    void (*embed)(struct backend *, size_t rows, int size, const int32_t *token,
                  struct numbers table, struct numbers y);
    void (*embed_backward)(struct backend *, size_t rows, int size, const int32_t *token,
                           struct numbers dy, float *dtable);

    /* Normalises each row of x[rows, size]. With b, layer norm: y = (x - mean) / deviation · w + b
     * (Ba, Kiros, Hinton 2016). If b is NULL, RMS norm: y = x / root mean square · w (Zhang,
     * Sennrich 2019). Writes stats[rows, 2] for the backward pass: mean (0 in an RMS norm) and 1 /
     * deviation.
     *
     * The backward pass overwrites dw and db; db is NULL if b was. It adds `passed` to dx: the
     * gradient that bypasses the norm through a residual connection. passed.at may be NULL or dx,
     * but dx may not be dy. */
    void (*norm)(struct backend *, size_t rows, int size, struct numbers x, const float *w,
                 const float *b, struct numbers y, float *stats);
    void (*norm_backward)(struct backend *, size_t rows, int size, struct numbers x, const float *w,
                          const float *stats, struct numbers dy, struct numbers passed,
                          struct numbers dx, float *dw, float *db);
    /* Adds a residual connection and normalises: sum = a + b, then y = `norm` of the sum.
     * The sum may not be a or b. */
    void (*add_norm)(struct backend *, size_t rows, int size, struct numbers a, struct numbers b,
                     struct numbers sum, const float *w, const float *norm_b, struct numbers y,
                     float *stats);

    /* SwiGLU (Shazeer 2020): y[rows, size] = silu(first half of x) · (second half of x), where a
     * row of x has 2 · size numbers. */
    void (*swiglu)(struct backend *, size_t rows, int size, struct numbers x, struct numbers y);
    void (*swiglu_backward)(struct backend *, size_t rows, int size, struct numbers x,
                            struct numbers dy, struct numbers dx);
};

struct attention_operations {
    /* Attention: y[batch, length, attention_output] from x[batch, length, attention_input].
     * log_sums[batch, heads, length] are the logarithms of the softmaxes' sums, from which the
     * backward pass recomputes the softmax (Dao et al. 2022). Positions before `from` stay
     * unchanged in y and log_sums. In the backward pass `from` must be 0. */
    void (*forward)(struct backend *, const struct attention *, int batch, struct numbers x,
                    struct numbers y, float *log_sums);
    void (*backward)(struct backend *, const struct attention *, int batch, struct numbers x,
                     struct numbers y, const float *log_sums, struct numbers dy, struct numbers dx);
    /* Rotates the queries and keys of x in place by an angle that grows with the position (rotary
     * embedding; Su et al. 2021). Numbers i and i + size/2 of a head are a point in the plane,
     * rotated by turn · position · ROPE_BASE^(-2i/size). turn: 1 = forward pass, -1 = backward
     * pass. Positions before `from` stay unchanged. */
    void (*rotate)(struct backend *, const struct attention *, int batch, int turn,
                   struct numbers x);
};

struct conv_operations {
    /* Convolution with w[filters, channels/groups·kernel·kernel] and b[filters]; b and db may be
     * NULL as in dense layers. Computes a cross-correlation, as all frameworks do. */
    void (*forward)(struct backend *, const struct conv *, int batch, const float *x,
                    const float *w, const float *b, enum activation, float *y);
    void (*backward)(struct backend *, const struct conv *, int batch, const float *x,
                     const float *w, const float *y, enum activation, float *dy, float *dx,
                     float *dw, float *db);
};

struct pool_operations {
    /* Max pooling. winner[i] is the index inside its window (row · window + column) of the input
     * that became output i. */
    void (*forward)(struct backend *, const struct pool *, int batch, const float *x, float *y,
                    uint8_t *winner);
    void (*backward)(struct backend *, const struct pool *, int batch, const float *dy,
                     const uint8_t *winner, float *dx);
};

struct activation_operations {
    /* Applies an activation; y may be x. */
    void (*forward)(struct backend *, enum activation, size_t count, struct numbers x,
                    struct numbers y);
    /* Computes dx from `kept`: the output y of `forward`, or its input x if
     * activation_keeps_input. dx may be dy. */
    void (*backward)(struct backend *, enum activation, size_t count, struct numbers kept,
                     struct numbers dy, struct numbers dx);
};

struct backend {
    const char *name;
    enum number activations; /* type of activations in sequence models */

    /* Returns zeroed memory, aligned to 64 bytes, to be freed with `free`. Ends the process if
     * there is not enough memory. */
    void *(*alloc)(struct backend *, size_t bytes);
    void (*free)(struct backend *, void *memory);
    void (*upload)(struct backend *, void *to, const void *host_from, size_t bytes);
    void (*download)(struct backend *, void *host_to, const void *from, size_t bytes);
    /* Does what `download` does, but any thread may call it. `from` must be data that only the
     * exchange writes, and no operation may be writing it now. Does not wait for running steps or
     * uploads. */
    void (*peek)(struct backend *, void *host_to, const void *from, size_t bytes);
    /* Returns a copy of host_from in memory of the backend, which operations only read; free it
     * with `free`. If the copy would need more than half of the device's free memory, it stays in
     * host memory, from which each operation reads it. *far: whether the copy is in host memory. */
    void *(*keep)(struct backend *, const void *host_from, size_t bytes, bool *far);
    /* Returns the free and total memory of the device, which other programs may also use. The CPU
     * returns 0 for both. */
    struct device_memory (*memory)(struct backend *);
    /* Closes the backend. All its memory must have been freed. */
    void (*close)(struct backend *);

    const struct graph_operations *graph;
    const struct dense_operations *dense;
    const struct element_operations *elements;
    const struct sequence_operations *sequence;
    const struct attention_operations *attention;
    const struct conv_operations *conv;
    const struct pool_operations *pool;
    const struct activation_operations *activation;
    const struct channel_operations *channels;
    const struct loss_operations *loss;
    const struct optimizer_operations *optimize;
    const struct gather_operations *gather;
    const struct exchange_operations *exchange;
    const struct stream_operations *stream;
    const struct watch_operations *watch;
};

/* Opens the CPU with this number of threads, which becomes OpenBLAS's setting for the whole
 * process. If threads is 0, the backend has one thread and does not change OpenBLAS's setting. That
 * suffices for the exchange, which does not use OpenBLAS. */
struct backend *backend_cpu(int threads);

#endif
