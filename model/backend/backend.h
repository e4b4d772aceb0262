/* The operations of a computing device. All code above is written once, over this table.
 *
 *   layers, optimizer, replica ──► struct backend ──► backend_cpu (OpenBLAS) | backend_cuda
 *
 * Every pointer is memory of the backend (from take) unless its name begins with host_. Matrices
 * are row major. All `struct numbers` of an operation have the same type, FLOAT32 or what the
 * backend's `activations` says, where the operation allows no other. Operations run in the order of
 * the calls. Those that return a value or write host memory are complete when they return, others
 * perhaps later. Host memory that an operation reads may be changed as soon as the call returns.
 * The caller checks sizes. A backend that breaks (device lost) prints why and ends the process. No
 * operation depends on state that another left in the backend, so all code in its thread may share
 * it. Held by tests/unit/model/test_backend.c: every operation against a naive reference, on every
 * backend.
 */
#ifndef HEARSAY_MODEL_BACKEND_BACKEND_H
#define HEARSAY_MODEL_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/dropout.h"
#include "backend/numbers.h"
#include "backend/watch.h"
#include "base/half.h"
#include "base/shape.h"
#include "base/update.h"
#include "base/weights.h"

/* Square kernel, zero padding: out = (in + 2 pad - kernel) / stride + 1 in both directions, rounded
 * down. Channels and filters are split into `groups` groups, and a filter sees only the channels of
 * its own group. With a group per channel the convolution is depthwise. */
struct conv {
    struct shape in;
    int filters;
    int kernel;
    int pad;
    int stride; /* at least 1; pixels left over at the end meet no filter */
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

/* Square window that moves by its own size; rows and columns that fill no window are left out. */
struct pool {
    struct shape in;
    int window; /* 1 .. POOL_WINDOW_MAX, so that an index in it fits a byte */
};

#define POOL_WINDOW_MAX 16

static inline struct shape pool_output(const struct pool *pool)
{
    return (struct shape){.channels = pool->in.channels,
                          .height = pool->in.height / pool->window,
                          .width = pool->in.width / pool->window,
                          .length = 0};
}

/* gelu: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))) (Hendrycks, Gimpel 2016); silu: x / (1 +
 * exp(-x)). The derivative of these two is computed from the input, that of the others from the
 * output.
 */
enum activation { LINEAR, RELU, SIGMOID, TANH, GELU, SILU };

static inline bool activation_keeps_input(enum activation activation)
{
    return activation == GELU || activation == SILU;
}

/* Causal attention over sequences (Vaswani et al. 2017): each head h of `heads` compares its
 * query at a position with the keys at that position and before, and mixes their values by the
 * softmax of query · key / √size. Of a position's numbers [heads + 2 kv_heads, size] the first are
 * the queries, then the keys, then the values; heads / kv_heads heads share a key and a value
 * (Ainslie et al. 2023). */
struct attention {
    int length;   /* number of positions */
    int heads;    /* number of query heads */
    int kv_heads; /* number of key and value heads; divides heads */
    int size;     /* numbers per head */
    int from;     /* first position to compute; earlier ones are only keys and values */
};

static inline size_t attention_input(const struct attention *attention)
{
    return (size_t)(attention->heads + 2 * attention->kv_heads) * (size_t)attention->size;
}

static inline size_t attention_output(const struct attention *attention)
{
    return (size_t)attention->heads * (size_t)attention->size;
}

/* Images normalised by channels: each channel over the whole batch (batch norm; Ioffe, Szegedy
 * 2015), or in each sample each group of channels by itself (group norm; Wu, He 2018). A set is
 * normalised together. */
struct channel_norm {
    int channels;
    int groups;    /* groups of channels; divides them; 0 = a set is a channel of the whole batch */
    size_t places; /* height · width of a channel */
};

static inline size_t channel_norm_sets(const struct channel_norm *norm, int batch)
{
    return norm->groups == 0 ? (size_t)norm->channels : (size_t)batch * (size_t)norm->groups;
}

#define NORM_EPSILON 1e-5f /* small number that is added to a variance, or to a mean square */
#define ROPE_BASE    10000 /* base of the angles' periods (Su et al. 2021) */

/* Label of a row that is not learned and not counted. */
#define LABEL_IGNORED (-1)

/* Softmax cross-entropy of some rows of logits. */
struct cross_entropy {
    int rows;
    int classes;
    int of;          /* rows in the mean loss of the gradients: these rows, or more */
    float smoothing; /* part of each label spread over all classes (Szegedy et al. 2016) */
};

/* The last layer of a language model with its loss: logits = x[rows, in] · w[classes, in]ᵀ. Often
 * there are too many logits to fit memory at once. */
struct logits {
    struct cross_entropy loss; /* loss over all rows */
    int in;                    /* numbers per row of x */
    int at_once;               /* rows whose logits fit scratch */
    float *scratch;            /* [at_once, logits_stride(classes)] */
};

/* Returns the numbers from one row of logits to the next in scratch: a multiple of 16 bytes of
 * bfloat16. */
static inline size_t logits_stride(int classes)
{
    return ((size_t)classes + 7) / 8 * 8;
}

struct sgd {
    float rate;
    float momentum;
    float weight_decay;
    bool nesterov;
    uint64_t decayed; /* only the first `decayed` entries have weight decay */
};

struct adam {
    float rate;
    float beta1; /* decay of the mean of the gradients */
    float beta2; /* decay of the mean of their squares */
    float epsilon;
    float weight_decay;
    uint64_t decayed; /* only the first `decayed` entries have weight decay */
    uint64_t step;    /* number of the step, from 1 */
};

#define MUON_SCALE 0.2f /* factor on the root of the larger side, for steps of Adam's length */
#define MUON_TURNS 5 /* iterations of x = a·x + b·xxᵀ·x + c·xxᵀ·xxᵀ·x (Newton, Schulz) */
#define MUON_A     3.4445f
#define MUON_B     (-4.7750f)
#define MUON_C     2.0315f

/* Bins of |residual|: its float bits >> BIN_BITS, so 32 per power of two, 3 % wide (threshold.c).
 * Parts of one bin: the next bits, down to PART_BITS. */
#define BIN_BITS       18
#define PART_BITS      10
#define HISTOGRAM_BINS 8192
#define BIN_PARTS      256

struct survey {
    float floor;             /* smaller residuals are skipped; 0 = none */
    uint32_t *candidates;    /* [candidates_max] indices */
    uint32_t candidates_max; /* capacity; further candidates are counted, not listed */
};

/* Sums over samples; further passes add to them until they are overwritten. */
struct score {
    double loss;      /* summed over the labels */
    uint32_t labels;  /* labels so far, ignored ones excluded */
    uint32_t correct; /* labels with the largest logit; the first one wins a tie */
};

/* Operations that are called repeatedly with the same arguments, on memory that may change (a CUDA
 * graph). Starts as zeros, and belongs to one backend. */
struct step_graph {
    void *recorded; /* the backend's recording; NULL = nothing is recorded */
    uint32_t times; /* number of begins */
};

struct backend;

struct device_memory {
    size_t free;  /* bytes */
    size_t total; /* total memory in bytes; 0 = host memory, which the system provides as needed */
};

/* The exchange: gradient compression with error feedback (exchange/replica.h). The residual r of an
 * entry (exchange/error_feedback.h) is derived here and stored nowhere. Where the weights are
 * companded, `w` below stands for their values (base/companding.h). */
struct exchange_operations {
    /* Allocates the scratch buffers of the operations below at once, for a survey of `count`
     * entries and a cut of `published` entries, so that none of them runs out of memory later. */
    void (*reserve)(struct backend *, size_t count, uint32_t published);
    /* The one pass over all entries before a publication. Counts every entry whose |r| is at least
     * the floor, or is NaN, or that is saturated: host_bins[residual_bits >> BIN_BITS]++, from
     * cleared bins. Lists its index in candidates, in order, while there is space, unless it is
     * saturated. Returns the number of counted entries that are not saturated. */
    uint32_t (*survey)(struct backend *, const struct survey *survey, size_t count,
                       struct weights w, const int32_t *base, uint32_t host_bins[HISTOGRAM_BINS]);
    /* Makes a histogram within one bin, of candidates[found]: host_parts[part of the bin]++ for
     * each candidate whose |r| is in that bin, from cleared parts. */
    void (*refine)(struct backend *, uint32_t found, const uint32_t *candidates, struct weights w,
                   const int32_t *base, uint32_t bin, uint32_t host_parts[BIN_PARTS]);
    /* Cuts from candidates[found] each entry with level k = trunc(r / tau) != 0, clamped to
     * ±update_level_max(amount), into host_update (at most capacity): base += amount·k, w += ((1 +
     * beta)·QUANTUM·amount - tau)·k. A residual that is not finite, or whose entry is saturated, is
     * not cut. The caller sets host_update->tau and ->amount; the operation sets ->count. */
    void (*cut)(struct backend *, uint32_t found, const uint32_t *candidates, float beta,
                struct weights w, int32_t *base, uint32_t capacity, struct update *host_update);
    /* Applies an update: base += amount·k, w += (1 + beta)·QUANTUM·amount·k. */
    void (*apply)(struct backend *, const struct update *host_update, float beta, struct weights w,
                  int32_t *base);
    /* Applies an update that an earlier incarnation of this node cut, and reduces the residual by
     * it where possible. base += amount·k, w += (1 + beta)·QUANTUM·amount·k - taken; taken = 0
     * where r and k differ in sign, otherwise the smaller of |r| and tau·|k|, with that sign. If r
     * is at least tau·k, w is the same, bit for bit, as after cut. */
    void (*apply_own)(struct backend *, const struct update *host_update, float beta,
                      struct weights w, int32_t *base);
    /* Replaces the base and keeps the residual: base = host_base[count], w = QUANTUM·base + r, for
     * the entries from `first` on. Where the base does not change, w stays the same bit for bit;
     * and where w == QUANTUM·base, that stays true bit for bit. */
    void (*rebase)(struct backend *, size_t first, size_t count, const int32_t *host_base,
                   struct weights w, int32_t *base);
    /* Withholds a part of the residual: withheld = part·r, rounded to bfloat16, and w -= withheld.
     * The rounding error stays in the weights; nothing of a saturated entry is withheld. */
    void (*withhold)(struct backend *, size_t count, float part, struct weights w,
                     const int32_t *base, uint16_t *withheld);
    /* Adds the withheld residual back: w += withheld. */
    void (*release)(struct backend *, size_t count, const uint16_t *withheld, struct weights w);
    /* Releases withheld progress that an update covers: withheld -= part·tau·k, rounded to
     * bfloat16, so that less than half a unit in the last place stays. It never passes 0, and stays
     * if withheld and k differ in sign. */
    void (*let_go)(struct backend *, const struct update *host_update, float part,
                   uint16_t *withheld);
    /* Returns the cosine of the angle between an update and the residual, over the entries of the
     * update: Σ k·r / sqrt(Σ k² · Σ r²); 0 if r is 0. Waits for all earlier operations. */
    double (*agreement)(struct backend *, const struct update *host_update, struct weights w,
                        const int32_t *base);
    /* Returns the digest (base/digest.h) over all entries. */
    uint64_t (*digest)(struct backend *, size_t count, const int32_t *base);
    /* Operations for weights that a caller trains rounded to 16 bits, half[count]. follow: adds to
     * w the caller's changes since half was w rounded (half_follow in base/half.h). round: sets
     * half to w, rounded. */
    void (*follow)(struct backend *, enum half_type type, size_t count, const uint16_t *half,
                   float *w);
    void (*round)(struct backend *, enum half_type type, size_t count, const float *w,
                  uint16_t *half);
    /* The same for the entries of an update only. copies[count], entry after entry from 0 on, is
     * memory of the backend. */
    void (*follow_moved)(struct backend *, const struct update *host_update,
                         const struct weights_copy *copies, uint32_t count, float *w);
    void (*round_moved)(struct backend *, const struct update *host_update,
                        const struct weights_copy *copies, uint32_t count, const float *w);
};

/* Order between operations and a stream of the program that the library is in (a cudaStream_t;
 * NULL: the default stream). The host waits for neither. On the CPU there is no such stream. */
struct stream_operations {
    /* Returns whether it is a stream of this device. */
    bool (*is_known)(struct backend *, void *stream);
    /* The operations that follow begin when all that the stream was asked for is done. */
    void (*wait_for)(struct backend *, void *stream);
    /* Later work of the stream begins when all operations that were called are done. */
    void (*hold_back)(struct backend *, void *stream);
};

/* Operations on images by channels. */
struct channel_operations {
    /* stats[channel_norm_sets, 2] of x[batch, channels, places]: mean and 1 / deviation. */
    void (*measure)(struct backend *, const struct channel_norm *, int batch, const float *x,
                    float *stats);
    /* The same from running statistics of a batch norm: mean[channels] and variance[channels]. */
    void (*recall)(struct backend *, const struct channel_norm *, const float *mean,
                   const float *variance, float *stats);
    /* Normalises: y = activation((x - mean) / deviation · w[channel] + b[channel]). The derivative
     * of the activation is computed from its output. */
    void (*apply)(struct backend *, const struct channel_norm *, int batch, const float *x,
                  const float *stats, const float *w, const float *b, enum activation, float *y);
    /* Backward pass, given y and its gradient dy. If the statistics were measured, dy is
     * overwritten with the gradient before the activation. dx may not be dy. */
    void (*backward)(struct backend *, const struct channel_norm *, int batch, const float *x,
                     const float *stats, const float *w, const float *y, enum activation, float *dy,
                     float *dx, float *dw, float *db);
    /* Computes the differences of the running statistics of a batch norm to the measured ones:
     * dmean = mean - measured mean, dvariance = variance - measured variance, with divisor n -
     * 1. */
    void (*drift)(struct backend *, const struct channel_norm *, int batch, const float *stats,
                  const float *mean, const float *variance, float *dmean, float *dvariance);
    /* Averages planes: y[planes] = mean of x[planes, places]. Its backward pass: dx[planes, places]
     * = dy / places. */
    void (*average)(struct backend *, size_t planes, size_t places, const float *x, float *y);
    void (*average_backward)(struct backend *, size_t planes, size_t places, const float *dy,
                             float *dx);
};

/* Settings for changing the images of a batch before they are learned (data/augment.h). */
struct augment {
    struct shape shape; /* shape of an image */
    int hole;           /* side of the square that is cut out; 0 = none */
    float outside;      /* value of pixels outside an image */
};

/* Changes of one image. */
struct augmentation {
    int32_t mirrored;    /* 1 = mirror left to right, before the other changes */
    int32_t down, right; /* then pixel [row, column] comes from [row + down, column + right] */
    int32_t hole_top, hole_left; /* corner of the square that is cut out last */
};

/* Operations that read a batch from a data set: the samples with numbers pick[batch]. */
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
    /* Changes images: to[i] is from[i] changed by each[i]; holes are 0. to may not be from. */
    void (*augment)(struct backend *, const struct augment *, int batch,
                    const struct augmentation *each, const float *from, float *to);
};

/* Optimizers, which move weights w[count] by gradients g[count]. */
struct optimizer_operations {
    /* Writes the factor that makes the norm of g[count] at most `most`: 1 if it is smaller. Both
     * are in memory of the backend. The rules below multiply gradients by *factor, unless it is
     * NULL. */
    void (*clip)(struct backend *, const float *most, size_t count, const float *g, float *factor);

    /* SGD: g' = g + decay·w; m = momentum·m + g'; w -= rate·(nesterov ? g' + momentum·m : m). The
     * settings, here and below, are in memory of the backend. */
    void (*sgd)(struct backend *, const struct sgd *, const float *factor, size_t count, float *w,
                const float *g, float *m);

    /* AdamW: m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; each corrected for its zero
     * start by / (1 - beta^step); w -= rate·(m / (sqrt(v) + epsilon) + weight_decay·w)
     * (Kingma, Ba 2015; decoupled weight decay: Loshchilov, Hutter 2019) */
    void (*adam)(struct backend *, const struct adam *, const float *factor, size_t count, float *w,
                 const float *g, float *m, float *v);
    /* LAMB (You et al. 2020), for one tensor: u = m / (sqrt(v) + epsilon), corrected as above, plus
     * weight_decay·w if it decays; w -= rate · |w| / |u| · u. The ratio is 1 if one of the norms is
     * 0. g is overwritten. */
    void (*lamb)(struct backend *, const struct adam *, const float *factor, size_t count,
                 bool decays, float *w, float *g, float *m, float *v);
    /* Muon (Jordan et al. 2024), for one matrix w[rows, columns]: m = momentum·m + g; n = nesterov
     * ? g + momentum·m : m; o = n with all its singular values made about 1; w -= rate ·
     * (MUON_SCALE·sqrt(max(rows, columns))·o + weight_decay·w), which moves w as far as Adam does
     * (Liu et al. 2025). g is overwritten. */
    void (*muon)(struct backend *, const struct sgd *, const float *factor, int rows, int columns,
                 float *w, float *g, float *m);
};

/* Losses with their gradients. */
struct loss_operations {
    /* Adds the softmax cross-entropy of logits[rows,classes] against labels[rows] to the score.
     * Each label is LABEL_IGNORED or from 0 to below `classes` (otherwise the loss is NaN, or the
     * process ends). Writes dlogits = (softmax - onehot) / of, 0 for ignored labels, unless it is
     * NULL; it may be logits. A smoothed label is 1 - smoothing of its own class and smoothing /
     * classes of each. */
    void (*cross_entropy)(struct backend *, const struct cross_entropy *, const float *logits,
                          const int32_t *labels, float *dlogits, struct score *score);

    /* Adds the loss of all logits to the score, some rows at a time. Unless dw is NULL, writes the
     * gradients of the mean loss of `of` rows, dw[classes, in] and dx[rows, in]; dx may be NULL. On
     * a GPU in bf16 the gradients of logits are also rounded before they are multiplied. */
    void (*logits)(struct backend *, const struct logits *, struct numbers x, struct numbers w,
                   const int32_t *labels, struct numbers dx, float *dw, struct score *score);
    /* Returns how many logits should be in memory at once: 64 MB of them, or on a GPU as many as
     * fit 1/16 of its free memory together with their gradients. */
    size_t (*logits_budget)(struct backend *);

    /* Adds the mean squared error of each row of y[rows, width] against want[rows, width] to the
     * score, in which each row is a label. Writes dy, the gradient of the mean over `of` rows,
     * 2 (y - want) / (of · width), unless it is NULL; it may be y. */
    void (*squared_error)(struct backend *, int rows, int width, int of, const float *y,
                          const float *want, float *dy, struct score *score);
};

struct backend {
    const char *name;
    enum number activations; /* type of activations in models of sequences */

    /* Returns zeroed memory, 64-byte aligned, to be freed with `give`. Aborts if there is none. */
    void *(*alloc)(struct backend *, size_t bytes);
    void (*free)(struct backend *, void *memory);
    void (*upload)(struct backend *, void *to, const void *host_from, size_t bytes);
    void (*download)(struct backend *, void *host_to, const void *from, size_t bytes);
    /* As download, but callable from any thread. Reads data that the exchange has written and no
     * running operation writes; waits for neither steps nor uploads. */
    void (*peek)(struct backend *, void *host_to, const void *from, size_t bytes);
    /* Returns a copy that operations only read, to be freed like other memory. If the copy would
     * need more than half of the free memory, it stays in host memory (*far), from where each
     * operation reads it. */
    void *(*keep)(struct backend *, const void *host_from, size_t bytes, bool *far);
    /* Returns free and total memory of the device, which other programs may also use; 0 and 0 for
     * the CPU. */
    struct device_memory (*memory)(struct backend *);
    /* Closes the backend, after all its memory was freed. */
    void (*close)(struct backend *);

    /* Returns true if the operations were run from the recording of an earlier call. Otherwise the
     * caller calls them, then graph_end, with no other operation in between. None of them may
     * return a value or access host memory. */
    bool (*graph_begin)(struct backend *, struct step_graph *);
    void (*graph_end)(struct backend *, struct step_graph *);
    /* Drops the recording, because the operations change or are no longer needed. */
    void (*graph_drop)(struct backend *, struct step_graph *);

    /* Dense layer: y[batch,out] = activation(x[batch,in] · w[out,in]ᵀ + b[out]). b and db may be
     * NULL: no biases. b and dy have y's type, w and dx have x's; y may be FLOAT32 if x is not. The
     * derivative of the activation must follow from its output. */
    void (*dense_forward)(struct backend *, int batch, int in, int out, struct numbers x,
                          struct numbers w, struct numbers b, enum activation, struct numbers y);
    /* Backward pass, given y and its gradient dy, which is overwritten with the gradient before the
     * activation: dw = dyᵀ·x, db = Σ dy, dx = dy·w. dx may be NULL (first layer). Overwrites dw and
     * db; if `adds`, dw += dyᵀ·x, and db is NULL. */
    void (*dense_backward)(struct backend *, int batch, int in, int out, struct numbers x,
                           struct numbers w, struct numbers y, enum activation, struct numbers dy,
                           struct numbers dx, float *dw, float *db, bool adds);
    /* Dense layer with an activation whose derivative follows from its input: before[batch, out] =
     * x · wᵀ + b, y = activation(before). */
    void (*dense_activate_forward)(struct backend *, int batch, int in, int out, struct numbers x,
                                   struct numbers w, struct numbers b, enum activation,
                                   struct numbers before, struct numbers y);
    /* dense_backward of a linear layer whose x is the output of such an activation: dx is set to
     * the gradient of the activation's input before[batch, in]. */
    void (*dense_activate_backward)(struct backend *, int batch, int in, int out, struct numbers x,
                                    struct numbers w, struct numbers dy, enum activation,
                                    struct numbers before, struct numbers dx, float *dw, float *db);

    /* Embedding: y[row] = table[token[row]], rows of `size` numbers; a token is at least 0 and
     * below the table's rows. Its backward pass adds, row by row: dtable[token[row]] += dy[row]. */
    void (*embed_forward)(struct backend *, size_t rows, int size, const int32_t *token,
                          struct numbers table, struct numbers y);
    void (*embed_backward)(struct backend *, size_t rows, int size, const int32_t *token,
                           struct numbers dy, float *dtable);

    /* Adds shared[count] to each sample: y[batch, count] = x[batch, count] + shared[count]; dshared
     * = Σ dy over the batch. */
    void (*add_shared)(struct backend *, int batch, size_t count, struct numbers x,
                       const float *shared, struct numbers y);
    void (*sum_shared)(struct backend *, int batch, size_t count, struct numbers dy,
                       float *dshared);

    /* Adds: y = a + b; y may be a or b. copy copies, perhaps to another type. */
    void (*add)(struct backend *, size_t count, struct numbers a, struct numbers b,
                struct numbers y);
    void (*copy)(struct backend *, size_t count, struct numbers from, struct numbers to);
    /* Dropout: y = 0 where dropout.h drops, x / (1 - rate) elsewhere. draws[batch]: random number
     * of each sample. */
    void (*drop)(struct backend *, const struct dropout *, const uint32_t *draws, struct numbers x,
                 struct numbers y);
    void (*clear)(struct backend *, size_t count, float *to);

    /* Normalises each row of x[rows, size]: y = (x - mean) / deviation · w + b; if b is NULL: y = x
     * / root mean square · w (Ba, Kiros, Hinton 2016; Zhang, Sennrich 2019). w[size], b[size].
     * stats[rows, 2]: mean (0 without b) and 1 / deviation, for the backward pass. db is NULL if b
     * is. dx may not be dy. The backward pass adds the gradient that bypassed the norm to dx,
     * unless it is none; it may be dx. */
    void (*norm_forward)(struct backend *, size_t rows, int size, struct numbers x, const float *w,
                         const float *b, struct numbers y, float *stats);
    void (*norm_backward)(struct backend *, size_t rows, int size, struct numbers x, const float *w,
                          const float *stats, struct numbers dy, struct numbers passed,
                          struct numbers dx, float *dw, float *db);
    /* Adds and normalises, as after a residual: sum = a + b, and norm_forward of the sum. The sum
     * may not be a or b. */
    void (*add_norm_forward)(struct backend *, size_t rows, int size, struct numbers a,
                             struct numbers b, struct numbers sum, const float *w,
                             const float *norm_b, struct numbers y, float *stats);

    /* Attention: y[batch, length, attention_output] from x[batch, length, attention_input].
     * log_sums[batch, heads, length]: logarithms of the softmaxes' sums, for the backward pass,
     * which recomputes the softmax (Dao et al. 2022). Positions before `from` stay unchanged in
     * both arrays; in the backward pass `from` is 0. */
    void (*attention_forward)(struct backend *, const struct attention *, int batch,
                              struct numbers x, struct numbers y, float *log_sums);
    void (*attention_backward)(struct backend *, const struct attention *, int batch,
                               struct numbers x, struct numbers y, const float *log_sums,
                               struct numbers dy, struct numbers dx);
    /* Rotates queries and keys of x, in place, by an angle that grows with the position (rotary
     * embedding; Su et al. 2021). Numbers i and i + size/2 of a head are a point in the plane,
     * rotated by position · ROPE_BASE^(-2i/size). turn: 1 = forward, -1 = back. Positions before
     * `from` stay unchanged. */
    void (*rotate)(struct backend *, const struct attention *, int batch, int turn,
                   struct numbers x);

    /* SwiGLU: y[rows, size] = silu(x[rows, :size]) · x[rows, size:] (Shazeer 2020), x of 2 · size
     * numbers per row. */
    void (*swiglu_forward)(struct backend *, size_t rows, int size, struct numbers x,
                           struct numbers y);
    void (*swiglu_backward)(struct backend *, size_t rows, int size, struct numbers x,
                            struct numbers dy, struct numbers dx);

    /* Convolution with w[filters, channels/groups·kernel·kernel] and b[filters]; b and db may be
     * NULL as in dense layers. Computes a cross-correlation, as all frameworks do. */
    void (*conv_forward)(struct backend *, const struct conv *, int batch, const float *x,
                         const float *w, const float *b, enum activation, float *y);
    void (*conv_backward)(struct backend *, const struct conv *, int batch, const float *x,
                          const float *w, const float *y, enum activation, float *dy, float *dx,
                          float *dw, float *db);

    /* Max pooling. winner[i]: index inside its window (row · window + column) of the input that
     * became output i. */
    void (*pool_forward)(struct backend *, const struct pool *, int batch, const float *x, float *y,
                         uint8_t *winner);
    void (*pool_backward)(struct backend *, const struct pool *, int batch, const float *dy,
                          const uint8_t *winner, float *dx);

    /* Applies an activation; y may be x. */
    void (*activate)(struct backend *, enum activation, size_t count, struct numbers x,
                     struct numbers y);
    /* Computes dx from `kept`: the output y of activate, or the input x if activation_keeps_input.
     * dx may be dy. */
    void (*activate_backward)(struct backend *, enum activation, size_t count, struct numbers kept,
                              struct numbers dy, struct numbers dx);

    struct watch_operations watch;
    struct loss_operations loss;
    struct optimizer_operations optimize;
    struct channel_operations channels;
    struct gather_operations gather;
    struct exchange_operations exchange;
    struct stream_operations stream;
};

/* Opens the CPU with this many threads, which OpenBLAS shares over the whole process. 0: one
 * thread, and OpenBLAS keeps its present setting; for the exchange, which does not use OpenBLAS. */
struct backend *backend_cpu(int threads);

#endif
