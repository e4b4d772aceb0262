/* The CPU's operations, as backend.h describes them.
 *
 *   backend_cpu.c       memory, and dense layers
 *   cpu_team.c          threads
 *   cpu_conv.c          convolutions, over cpu_conv_sheets.c and cpu_conv_tiles.c
 *   cpu_optimizers.c    optimizers
 *   cpu_layers.c        activations, pooling, losses
 *   cpu_logits.c        logits with their loss
 *   cpu_gather.c        reading batches from a data set
 *   cpu_sequence.c      embedding, norms, sums, dropout, SwiGLU
 *   cpu_channel_norm.c  batch norm, group norm, averages of images
 *   cpu_attention.c     attention
 *   cpu_exchange.c      the exchange, over exchange/survey_simd.c
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_H

#include <cblas.h>

#include "backend/backend.h"

struct team;

/* Functions of backend_cpu.c. */

/* Returns the backend's threads. */
struct team *cpu_team(struct backend *backend);

/* Returns a scratch buffer of `count` floats, valid until the next operation. */
float *cpu_scratch(struct backend *backend, size_t count);
/* Computes c[m,n] = a·b + beta·c, row major. a[m,k] and b[k,n] are stored transposed if turn_a and
 * turn_b say so. */
void cpu_gemm(CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b, int m, int n, int k, const float *a,
              const float *b, float beta, float *c);

/* Functions of cpu_logits.c. */
void cpu_logits_loss(struct backend *backend, const struct logits *logits, struct numbers x,
                     struct numbers w, const int32_t *labels, struct numbers dx, float *dw,
                     struct score *score);
size_t cpu_logits_budget(struct backend *backend);

/* Functions of cpu_conv.c. */
void cpu_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                      const float *w, const float *b, enum activation activation, float *y);
void cpu_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *y, enum activation activation, float *dy,
                       float *dx, float *dw, float *db);

/* Functions of cpu_sequence.c. */
void cpu_embed_forward(struct backend *backend, size_t rows, int size, const int32_t *token,
                       struct numbers table, struct numbers y);
void cpu_embed_backward(struct backend *backend, size_t rows, int size, const int32_t *token,
                        struct numbers dy, float *dtable);
void cpu_add_shared(struct backend *backend, int batch, size_t count, struct numbers x,
                    const float *shared, struct numbers y);
void cpu_sum_shared(struct backend *backend, int batch, size_t count, struct numbers dy,
                    float *dshared);
void cpu_add(struct backend *backend, size_t count, struct numbers a, struct numbers b,
             struct numbers y);
void cpu_copy_floats(struct backend *backend, size_t count, struct numbers from, struct numbers to);
void cpu_clear(struct backend *backend, size_t count, float *to);
void cpu_drop(struct backend *backend, const struct dropout *dropout, const uint32_t *draws,
              struct numbers x, struct numbers y);
void cpu_norm_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                      const float *w, const float *b, struct numbers y, float *stats);
void cpu_norm_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                       const float *w, const float *stats, struct numbers dy, struct numbers passed,
                       struct numbers dx, float *dw, float *db);
void cpu_add_norm_forward(struct backend *backend, size_t rows, int size, struct numbers a,
                          struct numbers b, struct numbers sum, const float *w, const float *norm_b,
                          struct numbers y, float *stats);
void cpu_swiglu_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                        struct numbers y);
void cpu_swiglu_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                         struct numbers dy, struct numbers dx);

/* Functions of cpu_channel_norm.c. */
void cpu_channel_norm_measure(struct backend *backend, const struct channel_norm *norm, int batch,
                              const float *x, float *stats);
void cpu_channel_norm_recall(struct backend *backend, const struct channel_norm *norm,
                             const float *mean, const float *variance, float *stats);
void cpu_channel_norm_apply(struct backend *backend, const struct channel_norm *norm, int batch,
                            const float *x, const float *stats, const float *w, const float *b,
                            enum activation activation, float *y);
void cpu_channel_norm_backward(struct backend *backend, const struct channel_norm *norm, int batch,
                               const float *x, const float *stats, const float *w, const float *y,
                               enum activation activation, float *dy, float *dx, float *dw,
                               float *db);
void cpu_channel_norm_drift(struct backend *backend, const struct channel_norm *norm, int batch,
                            const float *stats, const float *mean, const float *variance,
                            float *dmean, float *dvariance);
void cpu_average_forward(struct backend *backend, size_t planes, size_t places, const float *x,
                         float *y);
void cpu_average_backward(struct backend *backend, size_t planes, size_t places, const float *dy,
                          float *dx);

/* Functions of cpu_attention.c. */
void cpu_attention_forward(struct backend *backend, const struct attention *attention, int batch,
                           struct numbers x, struct numbers y, float *log_sums);
void cpu_attention_backward(struct backend *backend, const struct attention *attention, int batch,
                            struct numbers x, struct numbers y, const float *log_sums,
                            struct numbers dy, struct numbers dx);
void cpu_rotate(struct backend *backend, const struct attention *attention, int batch, int turn,
                struct numbers x);

/* Functions of cpu_layers.c. */
void cpu_pool_forward(struct backend *backend, const struct pool *pool, int batch, const float *x,
                      float *y, uint8_t *winner);
void cpu_pool_backward(struct backend *backend, const struct pool *pool, int batch, const float *dy,
                       const uint8_t *winner, float *dx);
void cpu_activate(struct backend *backend, enum activation activation, size_t count,
                  struct numbers x, struct numbers y);
void cpu_activate_backward(struct backend *backend, enum activation activation, size_t count,
                           struct numbers kept, struct numbers dy, struct numbers dx);
void cpu_cross_entropy(struct backend *backend, const struct cross_entropy *loss,
                       const float *logits, const int32_t *labels, float *dlogits,
                       struct score *score);
void cpu_squared_error(struct backend *backend, int rows, int width, int of, const float *y,
                       const float *want, float *dy, struct score *score);

/* Functions of cpu_gather.c. */
void cpu_gather_pixels(struct backend *backend, int batch, size_t sample_size,
                       const uint8_t *pixels, const uint32_t *pick, float mean, float scale,
                       float *x);
void cpu_gather_rows(struct backend *backend, int batch, size_t size, const void *from,
                     const uint32_t *pick, void *to);
void cpu_augment(struct backend *backend, const struct augment *augment, int batch,
                 const struct augmentation *each, const float *from, float *to);
void cpu_gather_tokens(struct backend *backend, int batch, int length, int token_bytes,
                       const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y);

/* Functions of cpu_optimizers.c. */
void cpu_clip(struct backend *backend, const float *most, size_t count, const float *g,
              float *factor);
void cpu_sgd(struct backend *backend, const struct sgd *sgd, const float *factor, size_t count,
             float *w, const float *g, float *m);
void cpu_adam(struct backend *backend, const struct adam *adam, const float *factor, size_t count,
              float *w, const float *g, float *m, float *v);
void cpu_lamb(struct backend *backend, const struct adam *adam, const float *factor, size_t count,
              bool decays, float *w, float *g, float *m, float *v);
void cpu_muon(struct backend *backend, const struct sgd *sgd, const float *factor, int rows,
              int columns, float *w, float *g, float *m);

#endif
