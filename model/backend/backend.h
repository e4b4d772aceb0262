/* The operations a device must offer. Everything above is written once, over this table.
 *
 *   layers, optimizer, replica ──► struct backend ──► backend_cpu (OpenBLAS) | backend_cuda
 *
 * Every pointer is memory of the backend (from take) unless its name begins with host_. Matrices
 * are row major. All `struct numbers` of an operation have the same type, FLOAT32 or what the
 * backend's `activations` says, where the operation allows no other. Operations run in the order
 * they are called. Those that return a value or write host memory are finished when they return,
 * others perhaps later. Host memory that one reads may be written to again as soon as it returns.
 * The caller checks sizes. A backend that breaks (device lost) prints why and ends the process. No
 * operation depends on what another left in the backend: all that runs in its thread may share it.
 * Held by tests/unit/model/test_backend.c: every operation against a naive reference, on every
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
    int stride; /* from 1; what is left at the end meets no filter */
    int groups; /* from 1; divides channels and filters */
};

/* Weights of one filter. */
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
    int window; /* 1 .. POOL_WINDOW_MAX, so that a place in it fits a byte */
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
    int length;   /* positions */
    int heads;    /* of queries */
    int kv_heads; /* of keys and values; divides heads */
    int size;     /* numbers of a head */
    int from;     /* the first position to be computed: those before it are keys and values alone */
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
    int groups;    /* of channels; divides them; 0: a set is a channel of the whole batch */
    size_t places; /* of a channel: height · width */
};

static inline size_t channel_norm_sets(const struct channel_norm *norm, int batch)
{
    return norm->groups == 0 ? (size_t)norm->channels : (size_t)batch * (size_t)norm->groups;
}

#define NORM_EPSILON 1e-5f /* added to a variance, or to a mean square */
#define ROPE_BASE    10000 /* of the angles' periods (Su et al. 2021) */

/* A label that is not to be learned. */
#define LABEL_IGNORED (-1)

/* Softmax cross-entropy of some rows of logits. */
struct cross_entropy {
    int rows;
    int classes;
    int of;          /* rows whose mean loss the gradients belong to: these, or more */
    float smoothing; /* part of each label spread over all classes (Szegedy et al. 2016) */
};

/* The last layer of a language model with its loss: logits = x[rows, in] · w[classes, in]ᵀ. There
 * are often too many logits to be held at once. */
struct logits {
    struct cross_entropy loss; /* of all rows */
    int in;                    /* numbers of a row of x */
    int at_once;               /* rows whose logits fit scratch */
    float *scratch;            /* [at_once, logits_stride(classes)] */
};

/* Numbers from one row of logits to the next in scratch: a multiple of 16 bytes of bfloat16. */
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
    uint64_t step;    /* the first is 1 */
};

#define MUON_SCALE 0.2f /* of the root of the larger side: the usual length of Adam's steps */
#define MUON_TURNS 5 /* of the iteration x = a·x + b·xxᵀ·x + c·xxᵀ·xxᵀ·x (Newton, Schulz) */
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
    float floor;             /* smaller residuals are passed over; 0: none are */
    uint32_t *candidates;    /* [candidates_max] indices */
    uint32_t candidates_max; /* further ones are counted, not listed */
};

/* The result of passes over samples; it adds up until it is overwritten. */
struct score {
    double loss;      /* summed over the labels */
    uint32_t labels;  /* so far, without ignored ones */
    uint32_t correct; /* labels that were the first largest logit */
};

/* Operations that are called again and again with the same arguments, on memory that may change (a
 * CUDA graph). Zeroed at first, and for one backend only. */
struct step_graph {
    void *recorded; /* the backend's; NULL: nothing is recorded */
    uint32_t times; /* that it was begun */
};

struct backend;

struct device_memory {
    size_t free;  /* bytes */
    size_t total; /* bytes; 0 = memory of the host, which the system grows */
};

/* The exchange: gradient compression with error feedback (exchange/replica.h). The residual r of an
 * entry (exchange/error_feedback.h) is derived here and stored nowhere. Where the weights are companded,
 * `w` below stands for their values (base/companding.h). */
struct exchange_operations {
    /* Takes the scratch buffers of the operations below at once, for a survey of `count` entries
     * and a cut of `published`: none of them runs out of memory later. */
    void (*reserve)(struct backend *, size_t count, uint32_t published);
    /* The one pass over all entries before a publication. Counts every entry whose |r| is at least
     * the floor, or is NaN, or that is saturated: host_bins[residual_bits >> BIN_BITS]++, from
     * cleared bins. Lists its index in candidates, in order, as long as there is room, unless it is
     * saturated. Returns how many such entries there are, without those that are saturated. */
    uint32_t (*survey)(struct backend *, const struct survey *survey, size_t count,
                       struct weights w, const int32_t *base, uint32_t host_bins[HISTOGRAM_BINS]);
    /* A histogram within one bin, of candidates[found]: host_parts[part of the bin]++ for those
     * whose |r| lies in it, from cleared parts. */
    void (*refine)(struct backend *, uint32_t found, const uint32_t *candidates, struct weights w,
                   const int32_t *base, uint32_t bin, uint32_t host_parts[BIN_PARTS]);
    /* Cuts from candidates[found] each entry with level k = trunc(r / tau) != 0, clamped to
     * ±update_level_max(amount), into host_update (at most capacity): base += amount·k,
     * w += ((1 + beta)·QUANTUM·amount - tau)·k. A residual that is not finite, or whose entry is
     * saturated, stays here. host_update->tau and ->amount are given; ->count is set. */
    void (*cut)(struct backend *, uint32_t found, const uint32_t *candidates, float beta,
                struct weights w, int32_t *base, uint32_t capacity, struct update *host_update);
    /* base += amount·k, w += (1 + beta)·QUANTUM·amount·k. */
    void (*apply)(struct backend *, const struct update *host_update, float beta, struct weights w,
                  int32_t *base);
    /* The same for an update that an earlier incarnation of this node cut: the residual pays for it
     * as far as it goes. base += amount·k, w += (1 + beta)·QUANTUM·amount·k - taken; taken = 0
     * where r and k differ in sign, else the smaller of |r| and tau·|k|, with that sign. Where r
     * holds all of it, w becomes what cut would have made of it, bit for bit. */
    void (*apply_own)(struct backend *, const struct update *host_update, float beta,
                      struct weights w, int32_t *base);
    /* base = host_base[count], w = QUANTUM·base + r, for the entries from `first` on: the base
     * moves and the residual stays. w stays as it is, bit for bit, where base does; and w ==
     * QUANTUM·base stays so, bit for bit. */
    void (*rebase)(struct backend *, size_t first, size_t count, const int32_t *host_base,
                   struct weights w, int32_t *base);
    /* held = part·r, rounded to bfloat16, and w -= held: this part of each residual leaves the
     * weights, and the rounding error stays there. All stays of a saturated entry. */
    void (*hold)(struct backend *, size_t count, float part, struct weights w, const int32_t *base,
                 uint16_t *held);
    /* w += held. */
    void (*release)(struct backend *, size_t count, const uint16_t *held, struct weights w);
    /* held -= part·tau·k, rounded to bfloat16, so that less than half a unit in the last place
     * stays. It never passes 0, and stays if held and k differ in sign. */
    void (*let_go)(struct backend *, const struct update *host_update, float part, uint16_t *held);
    /* The cosine of the angle between an update and the residual, over the entries of the update:
     * Σ k·r / sqrt(Σ k² · Σ r²); 0 where r is. It waits for what was asked for before. */
    double (*agreement)(struct backend *, const struct update *host_update, struct weights w,
                        const int32_t *base);
    /* digest.h, over all entries. */
    uint64_t (*digest)(struct backend *, size_t count, const int32_t *base);
    /* Weights that somebody trains rounded to sixteen bits, half[count]. follow: w takes up what
     * was done to them since they were w rounded (half_follow in base/half.h). round: they are w,
     * rounded. */
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

/* Images by their channels. */
struct channel_operations {
    /* stats[channel_norm_sets, 2] of x[batch, channels, places]: mean and 1 / deviation. */
    void (*measure)(struct backend *, const struct channel_norm *, int batch, const float *x,
                    float *stats);
    /* The same from running statistics of a batch norm, mean[channels] and variance[channels]. */
    void (*recall)(struct backend *, const struct channel_norm *, const float *mean,
                   const float *variance, float *stats);
    /* y = activation((x - mean) / deviation · w[channel] + b[channel]); the derivative of this
     * activation is computed from its output. */
    void (*apply)(struct backend *, const struct channel_norm *, int batch, const float *x,
                  const float *stats, const float *w, const float *b, enum activation, float *y);
    /* Backward pass, given y and its gradient dy, which becomes the gradient before the activation
     * if the statistics were measured. dx may not be dy. */
    void (*backward)(struct backend *, const struct channel_norm *, int batch, const float *x,
                     const float *stats, const float *w, const float *y, enum activation, float *dy,
                     float *dx, float *dw, float *db);
    /* How far the running statistics of a batch norm are from those that were measured: dmean =
     * mean - theirs, dvariance = variance - theirs, without bias (n - 1). */
    void (*drift)(struct backend *, const struct channel_norm *, int batch, const float *stats,
                  const float *mean, const float *variance, float *dmean, float *dvariance);
    /* y[planes] = the mean of x[planes, places]; dx[planes, places] = dy / places. */
    void (*average)(struct backend *, size_t planes, size_t places, const float *x, float *y);
    void (*average_backward)(struct backend *, size_t planes, size_t places, const float *dy,
                             float *dx);
};

/* How the images of a batch are changed before they are learned (data/augment.h). */
struct augment {
    struct shape shape; /* of an image */
    int hole;           /* side of the square that is cut out; 0: none is */
    float outside;      /* what lies around an image */
};

/* The same of one image. */
struct augmentation {
    int32_t mirrored;            /* 1 = mirror left to right, before the other changes */
    int32_t down, right;         /* then [row, column] is taken from [row + down, column + right] */
    int32_t hole_top, hole_left; /* then the square is cut out, as far as it lies in the image */
};

/* A batch from a data set: the samples at the places pick[batch]. */
struct gather_operations {
    /* x[i] = (pixels[pick[i]] - mean) · scale, for samples of sample_size bytes. */
    void (*pixels)(struct backend *, int batch, size_t sample_size, const uint8_t *pixels,
                   const uint32_t *pick, float mean, float scale, float *x);
    /* to[i] = from[pick[i]], as they are, for rows of `size` numbers of four bytes. */
    void (*rows)(struct backend *, int batch, size_t size, const void *from, const uint32_t *pick,
                 void *to);
    /* x[i, j] = tokens[pick[i] + j], for samples of `length` tokens of token_bytes (1, 2 or 4)
     * each; y[i, j] is the token after it. */
    void (*tokens)(struct backend *, int batch, int length, int token_bytes, const void *tokens,
                   const uint32_t *pick, int32_t *x, int32_t *y);
    /* to[i] is from[i] changed by each[i]; holes are 0. to may not be from. */
    void (*augment)(struct backend *, const struct augment *, int batch,
                    const struct augmentation *each, const float *from, float *to);
};

/* Optimizers: gradients g[count] move weights w[count]. */
struct optimizer_operations {
    /* Writes the factor that makes the length of g[count] at most `most`: 1 if it is shorter. Both
     * lie in memory of the backend. The rules below multiply gradients by *factor, unless it is
     * NULL. */
    void (*clip)(struct backend *, const float *most, size_t count, const float *g, float *factor);

    /* g' = g + decay·w; m = momentum·m + g'; w -= rate·(nesterov ? g' + momentum·m : m)
     * The settings, here and below, lie in memory of the backend like everything else. */
    void (*sgd)(struct backend *, const struct sgd *, const float *factor, size_t count, float *w,
                const float *g, float *m);

    /* AdamW: m = beta1·m + (1 - beta1)·g; v = beta2·v + (1 - beta2)·g²; each corrected for its zero
     * start by / (1 - beta^step); w -= rate·(m / (sqrt(v) + epsilon) + weight_decay·w)
     * (Kingma, Ba 2015; decoupled weight decay: Loshchilov, Hutter 2019) */
    void (*adam)(struct backend *, const struct adam *, const float *factor, size_t count, float *w,
                 const float *g, float *m, float *v);
    /* LAMB (You et al. 2020), for one tensor: u = m / (sqrt(v) + epsilon), corrected as above, and
     * + weight_decay·w if it decays; w -= rate · |w| / |u| · u; the ratio is 1 where one of the
     * lengths is 0. g is overwritten. */
    void (*lamb)(struct backend *, const struct adam *, const float *factor, size_t count,
                 bool decays, float *w, float *g, float *m, float *v);
    /* Muon (Jordan et al. 2024), for one matrix w[rows, columns]: m = momentum·m + g; n = nesterov
     * ? g + momentum·m : m; o = n with all its singular values made about 1; w -= rate ·
     * (MUON_SCALE·sqrt(max(rows, columns))·o + weight_decay·w), which moves w as far as Adam does
     * (Liu et al. 2025). g is overwritten. */
    void (*muon)(struct backend *, const struct sgd *, const float *factor, int rows, int columns,
                 float *w, float *g, float *m);
};

/* Losses, and their gradients. */
struct loss_operations {
    /* Softmax cross-entropy of logits[rows,classes] against labels[rows], each LABEL_IGNORED or
     * from 0 to below `classes` (or the loss is NaN, or the process ends), added to the score.
     * Writes dlogits = (softmax - onehot) / of, 0 where the label is ignored, unless it is NULL;
     * it may be logits. Smoothed, a label is 1 - smoothing of its own class and smoothing / classes
     * of each. */
    void (*cross_entropy)(struct backend *, const struct cross_entropy *, const float *logits,
                          const int32_t *labels, float *dlogits, struct score *score);

    /* Adds the loss of all logits to the score, some rows at a time. Unless dw is NULL, writes the
     * gradients of the mean loss of `of` rows, dw[classes, in] and dx[rows, in]; dx may be NULL. On
     * a GPU in bf16 the gradients of logits are also rounded before they are multiplied. */
    void (*logits)(struct backend *, const struct logits *, struct numbers x, struct numbers w,
                   const int32_t *labels, struct numbers dx, float *dw, struct score *score);
    /* Logits that should be held at once: 64 MB of them, or on a GPU what a sixteenth of its free
     * memory holds with their gradients. */
    size_t (*logits_budget)(struct backend *);

    /* Adds the mean squared error of each row of y[rows, width] against want[rows, width] to the
     * score, in which each row is a label. Writes dy, the gradient of the mean over `of` rows,
     * 2 (y - want) / (of · width), unless it is NULL; it may be y. */
    void (*squared_error)(struct backend *, int rows, int width, int of, const float *y,
                          const float *want, float *dy, struct score *score);
};

struct backend {
    const char *name;
    enum number activations; /* type in which models of sequences keep activations */

    /* Zeroed memory, 64-byte aligned; give it back with give. Aborts when there is none. */
    void *(*take)(struct backend *, size_t bytes);
    void (*give)(struct backend *, void *memory);
    void (*upload)(struct backend *, void *to, const void *host_from, size_t bytes);
    void (*download)(struct backend *, void *host_to, const void *from, size_t bytes);
    /* As download, but from any thread, of what the exchange has written and nothing that is under
     * way writes: it waits for neither steps nor uploads. */
    void (*peek)(struct backend *, void *host_to, const void *from, size_t bytes);
    /* A copy that operations only read, given back like everything else. A copy that would take
     * more than half of the free memory stays in host memory (*far), from where each operation
     * fetches what it reads. */
    void *(*keep)(struct backend *, const void *host_from, size_t bytes, bool *far);
    /* Free and total memory of the device, which other programs may use also; 0 and 0 of the CPU.
     */
    struct device_memory (*memory)(struct backend *);
    /* Ends the backend; everything taken must have been given back. */
    void (*close)(struct backend *);

    /* True: the operations are done, from the recording of an earlier call. False: call them, then
     * graph_end; nothing else is called in between, and none of them may return a value or touch
     * host memory. */
    bool (*graph_begin)(struct backend *, struct step_graph *);
    void (*graph_end)(struct backend *, struct step_graph *);
    /* Forgets the recording: the operations change, or are needed no more. */
    void (*graph_drop)(struct backend *, struct step_graph *);

    /* y[batch,out] = activation(x[batch,in] · w[out,in]ᵀ + b[out]); b and db may be NULL: there are
     * no biases then. The types of b and dy are y's, those of w and dx are x's; y may be FLOAT32
     * where x is not. The activation is one whose slope follows from its output. */
    void (*dense_forward)(struct backend *, int batch, int in, int out, struct numbers x,
                          struct numbers w, struct numbers b, enum activation, struct numbers y);
    /* Backward pass, given y and its gradient dy, which becomes the gradient before the activation:
     * dw = dyᵀ·x, db = Σ dy, dx = dy·w; dx may be NULL (first layer). Overwrites; if it adds, dw +=
     * dyᵀ·x, and db is NULL. */
    void (*dense_backward)(struct backend *, int batch, int in, int out, struct numbers x,
                           struct numbers w, struct numbers y, enum activation, struct numbers dy,
                           struct numbers dx, float *dw, float *db, bool adds);
    /* With an activation whose gradient follows from its input: before[batch, out] = x · wᵀ + b, y
     * = activation(before). */
    void (*dense_activate_forward)(struct backend *, int batch, int in, int out, struct numbers x,
                                   struct numbers w, struct numbers b, enum activation,
                                   struct numbers before, struct numbers y);
    /* dense_backward of a linear layer whose x is such an activation's output: dx becomes the
     * gradient of the activation's input before[batch, in]. */
    void (*dense_activate_backward)(struct backend *, int batch, int in, int out, struct numbers x,
                                    struct numbers w, struct numbers dy, enum activation,
                                    struct numbers before, struct numbers dx, float *dw, float *db);

    /* y[row] = table[token[row]], rows of `size` numbers; a token is at least 0 and below the
     * table's rows. dtable[token[row]] += dy[row], row by row: it adds. */
    void (*embed_forward)(struct backend *, size_t rows, int size, const int32_t *token,
                          struct numbers table, struct numbers y);
    void (*embed_backward)(struct backend *, size_t rows, int size, const int32_t *token,
                           struct numbers dy, float *dtable);

    /* y[batch, count] = x[batch, count] + shared[count]; dshared = Σ dy over the batch. */
    void (*add_shared)(struct backend *, int batch, size_t count, struct numbers x,
                       const float *shared, struct numbers y);
    void (*sum_shared)(struct backend *, int batch, size_t count, struct numbers dy,
                       float *dshared);

    /* y = a + b; y may be a or b. A copy may have another type. */
    void (*add)(struct backend *, size_t count, struct numbers a, struct numbers b,
                struct numbers y);
    void (*copy)(struct backend *, size_t count, struct numbers from, struct numbers to);
    /* y = 0 where dropout.h drops, x / (1 - rate) elsewhere. draws[batch] */
    void (*drop)(struct backend *, const struct dropout *, const uint32_t *draws, struct numbers x,
                 struct numbers y);
    void (*clear)(struct backend *, size_t count, float *to);

    /* Each row of x[rows, size] normalised: y = (x - mean) / deviation · w + b; where b is NULL: y
     * = x / root mean square · w (Ba, Kiros, Hinton 2016; Zhang, Sennrich 2019). w[size], b[size].
     * stats[rows, 2]: mean (0 without b) and 1 / deviation, for the backward pass. db is NULL as b.
     * dx may not be dy. On the backward pass the gradient that passed the norm by is added to dx,
     * unless it is none; it may be dx. */
    void (*norm_forward)(struct backend *, size_t rows, int size, struct numbers x, const float *w,
                         const float *b, struct numbers y, float *stats);
    void (*norm_backward)(struct backend *, size_t rows, int size, struct numbers x, const float *w,
                          const float *stats, struct numbers dy, struct numbers passed,
                          struct numbers dx, float *dw, float *db);
    /* Both at a residual: sum = a + b, and norm_forward of the sum. The sum may not be a or b. */
    void (*add_norm_forward)(struct backend *, size_t rows, int size, struct numbers a,
                             struct numbers b, struct numbers sum, const float *w,
                             const float *norm_b, struct numbers y, float *stats);

    /* y[batch, length, attention_output] from x[batch, length, attention_input]. log_sums[batch,
     * heads, length]: of the softmaxes' sums, for the backward pass, which recomputes the softmax
     * (Dao et al. 2022). Positions before `from` stay unchanged in both; in the backward pass
     * `from` is 0. */
    void (*attention_forward)(struct backend *, const struct attention *, int batch,
                              struct numbers x, struct numbers y, float *log_sums);
    void (*attention_backward)(struct backend *, const struct attention *, int batch,
                               struct numbers x, struct numbers y, const float *log_sums,
                               struct numbers dy, struct numbers dx);
    /* Turns queries and keys of x, in place, by an angle that grows with the position (rotary
     * embedding; Su et al. 2021): numbers i and i + size/2 of a head are a point in the
     * plane, turned by position · ROPE_BASE^(-2i/size). turn: 1, or -1 back. Positions before
     * `from` stay as they are. */
    void (*rotate)(struct backend *, const struct attention *, int batch, int turn,
                   struct numbers x);

    /* y[rows, size] = silu(x[rows, :size]) · x[rows, size:] (Shazeer 2020), x of 2 size numbers. */
    void (*swiglu_forward)(struct backend *, size_t rows, int size, struct numbers x,
                           struct numbers y);
    void (*swiglu_backward)(struct backend *, size_t rows, int size, struct numbers x,
                            struct numbers dy, struct numbers dx);

    /* Likewise, b and db too. w[filters, channels/groups·kernel·kernel], b[filters];
     * cross-correlation, as all frameworks do. */
    void (*conv_forward)(struct backend *, const struct conv *, int batch, const float *x,
                         const float *w, const float *b, enum activation, float *y);
    void (*conv_backward)(struct backend *, const struct conv *, int batch, const float *x,
                          const float *w, const float *y, enum activation, float *dy, float *dx,
                          float *dw, float *db);

    /* winner[i]: the place inside its window (row · window + column) that output i came from. */
    void (*pool_forward)(struct backend *, const struct pool *, int batch, const float *x, float *y,
                         uint8_t *winner);
    void (*pool_backward)(struct backend *, const struct pool *, int batch, const float *dy,
                          const uint8_t *winner, float *dx);

    /* y may be x. */
    void (*activate)(struct backend *, enum activation, size_t count, struct numbers x,
                     struct numbers y);
    /* dx from `kept`: the output y of activate, or the input x where activation_keeps_input. dx may
     * be dy. */
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
 * thread, and OpenBLAS keeps its present setting; the exchange does not use it. */
struct backend *backend_cpu(int threads);

#endif
