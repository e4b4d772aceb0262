/* The CPU's operations, as backend.h describes them.
 *
 *   backend_cpu.c       memory, and dense layers
 *   cpu_team.c          threads
 *   cpu_conv.c          convolutions, over cpu_conv_sheets.c and cpu_conv_tiles.c
 *   cpu_optimizers.c    optimizers
 *   cpu_layers.c        activations, pooling
 *   cpu_loss.c          losses
 *   cpu_gather.c        reading batches from a data set
 *   cpu_sequence.c      embedding, norms, sums, dropout, SwiGLU
 *   cpu_channel_norm.c  batch norm, group norm, averages of images
 *   cpu_attention.c     attention
 *   cpu_exchange.c      the exchange, over survey_simd.c
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_H

#include <cblas.h>

#include "backend/backend.h"

struct team;

/* Functions of backend_cpu.c. */

struct team *cpu_team(struct backend *backend);

/* Returns a scratch buffer of `count` floats, valid until the next call. */
float *cpu_scratch(struct backend *backend, size_t count);
/* Computes c[m,n] = a·b + beta·c, row major. a[m,k] and b[k,n] are stored transposed if turn_a and
 * turn_b say so. */
void cpu_gemm(CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b, int m, int n, int k, const float *a,
              const float *b, float beta, float *c);

/* Groups of operations, each defined in the file that implements it. */
extern const struct element_operations cpu_elements;
extern const struct sequence_operations cpu_sequence;
extern const struct attention_operations cpu_attention;
extern const struct conv_operations cpu_conv;
extern const struct pool_operations cpu_pool;
extern const struct activation_operations cpu_activation;
extern const struct channel_operations cpu_channels;
extern const struct loss_operations cpu_loss;
extern const struct optimizer_operations cpu_optimize;
extern const struct gather_operations cpu_gather;
extern const struct exchange_operations cpu_exchange;

#endif
