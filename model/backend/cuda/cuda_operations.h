/* The operations of the CUDA backend's table, except memory and the exchange. backend.h describes
 * them.
 *
 *   table in backend_cuda.c ──► these functions ──► cuBLAS, cuDNN, kernels ──► stream
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_OPERATIONS_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_OPERATIONS_H

#include <cublasLt.h>

#include "backend/cuda/cuda.h"

/* Functions of backend_cuda_graph.c. */
bool cuda_graph_begin(struct backend *backend, struct step_graph *graph);
void cuda_graph_end(struct backend *backend, struct step_graph *graph);
void cuda_graph_drop(struct backend *backend, struct step_graph *graph);

/* Functions of backend_cuda_stream.c. */
bool cuda_stream_is_known(struct backend *backend, void *stream);
void cuda_stream_wait_for(struct backend *backend, void *stream);
void cuda_stream_hold_back(struct backend *backend, void *stream);

/* Functions of backend_cuda_matmul.c. */
/* Operand of a matrix product. Both operands have the same type, float32 or bfloat16. */
struct operand {
    const void *numbers;
    cudaDataType type;
    int stride; /* numbers from one row to the next; 0 = rows are adjacent */
};

/* Output of a matrix product. */
struct result {
    void *numbers;
    cudaDataType type;
    int stride; /* numbers from one row to the next; 0 = rows are adjacent */
};

#define cuda_floats(from)  ((struct operand){.numbers = (from), .type = CUDA_R_32F})
#define cuda_to_floats(to) ((struct result){.numbers = (to), .type = CUDA_R_32F})

/* Product c[m,n] = epilogue(alpha·a·b + beta·c), row major. a[m,k] and b[k,n] are stored transposed
 * if turn_a and turn_b say so. */
struct product {
    cublasOperation_t turn_a, turn_b;
    int m, n, k;
    float alpha, beta;
    struct operand a, b;
    struct result c;
    cublasLtEpilogue_t epilogue;
    const void *bias; /* [n] biases in the type of c, if the epilogue adds biases */
    float *a_sums;    /* [m] output of epilogue BGRADB: sums of a's rows, the gradients of biases */
    void *before;     /* [m, n] in c's type; written by epilogue GELU_AUX_BIAS, read by DGELU */
};

/* Computes the product. Returns false, and does nothing, if no algorithm has the epilogue. */
bool cuda_multiply(struct cuda *cuda, const struct product *product);
/* cuda_gemm_onto computes c = alpha·a·b + beta·c, cuda_gemm c = a·b; c is float32. */
void cuda_gemm_onto(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
                    int n, int k, float alpha, struct operand a, struct operand b, float beta,
                    float *c);
void cuda_gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
               int k, struct operand a, struct operand b, float *c);
void cuda_gemm_close(struct cuda *cuda);

/* Functions of backend_cuda_layers.c. */
void cuda_dense_forward(struct backend *backend, int batch, int in, int out, struct numbers x,
                        struct numbers w, struct numbers b, enum activation activation,
                        struct numbers y);
void cuda_dense_backward(struct backend *backend, int batch, int in, int out, struct numbers x,
                         struct numbers w, struct numbers y, enum activation activation,
                         struct numbers dy, struct numbers dx, float *dw, float *db, bool adds);
void cuda_dense_activate_forward(struct backend *backend, int batch, int in, int out,
                                 struct numbers x, struct numbers w, struct numbers b,
                                 enum activation activation, struct numbers before,
                                 struct numbers y);
void cuda_dense_activate_backward(struct backend *backend, int batch, int in, int out,
                                  struct numbers x, struct numbers w, struct numbers dy,
                                  enum activation activation, struct numbers before,
                                  struct numbers dx, float *dw, float *db);
void cuda_pool_forward(struct backend *backend, const struct pool *pool, int batch, const float *x,
                       float *y, uint8_t *winner);
void cuda_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                        const float *dy, const uint8_t *winner, float *dx);
void cuda_activate(struct backend *backend, enum activation activation, size_t count,
                   struct numbers x, struct numbers y);
void cuda_activate_backward(struct backend *backend, enum activation activation, size_t count,
                            struct numbers kept, struct numbers dy, struct numbers dx);
void cuda_cross_entropy(struct backend *backend, const struct cross_entropy *loss,
                        const float *logits, const int32_t *labels, float *dlogits,
                        struct score *score);
void cuda_squared_error(struct backend *backend, int rows, int width, int of, const float *y,
                        const float *want, float *dy, struct score *score);

/* Functions of backend_cuda_gather.c. */
void cuda_gather_pixels(struct backend *backend, int batch, size_t sample_size,
                        const uint8_t *pixels, const uint32_t *pick, float mean, float scale,
                        float *x);
void cuda_gather_rows(struct backend *backend, int batch, size_t size, const void *from,
                      const uint32_t *pick, void *to);
void cuda_augment(struct backend *backend, const struct augment *augment, int batch,
                  const struct augmentation *each, const float *from, float *to);
void cuda_gather_tokens(struct backend *backend, int batch, int length, int token_bytes,
                        const void *tokens, const uint32_t *pick, int32_t *x, int32_t *y);

/* Functions of backend_cuda_logits.c. */
void cuda_logits_loss(struct backend *backend, const struct logits *logits, struct numbers x,
                      struct numbers w, const int32_t *labels, struct numbers dx, float *dw,
                      struct score *score);
size_t cuda_logits_budget(struct backend *backend);

/* Functions of backend_cuda_transformer.c. */
void cuda_embed_forward(struct backend *backend, size_t rows, int size, const int32_t *token,
                        struct numbers table, struct numbers y);
void cuda_embed_backward(struct backend *backend, size_t rows, int size, const int32_t *token,
                         struct numbers dy, float *dtable);
void cuda_add_shared(struct backend *backend, int batch, size_t count, struct numbers x,
                     const float *shared, struct numbers y);
void cuda_sum_shared(struct backend *backend, int batch, size_t count, struct numbers dy,
                     float *dshared);
void cuda_add(struct backend *backend, size_t count, struct numbers a, struct numbers b,
              struct numbers y);
void cuda_copy(struct backend *backend, size_t count, struct numbers from, struct numbers to);
void cuda_clear(struct backend *backend, size_t count, float *to);
void cuda_drop(struct backend *backend, const struct dropout *dropout, const uint32_t *draws,
               struct numbers x, struct numbers y);
void cuda_norm_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                       const float *w, const float *b, struct numbers y, float *stats);
void cuda_norm_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                        const float *w, const float *stats, struct numbers dy,
                        struct numbers passed, struct numbers dx, float *dw, float *db);
void cuda_add_norm_forward(struct backend *backend, size_t rows, int size, struct numbers a,
                           struct numbers b, struct numbers sum, const float *w,
                           const float *norm_b, struct numbers y, float *stats);
void cuda_attention_forward(struct backend *backend, const struct attention *attention, int batch,
                            struct numbers x, struct numbers y, float *log_sums);
void cuda_attention_backward(struct backend *backend, const struct attention *attention, int batch,
                             struct numbers x, struct numbers y, const float *log_sums,
                             struct numbers dy, struct numbers dx);
void cuda_rotate(struct backend *backend, const struct attention *attention, int batch, int turn,
                 struct numbers x);
void cuda_swiglu_forward(struct backend *backend, size_t rows, int size, struct numbers x,
                         struct numbers y);
void cuda_swiglu_backward(struct backend *backend, size_t rows, int size, struct numbers x,
                          struct numbers dy, struct numbers dx);

/* Functions of backend_cuda_optimizers.c. */
void cuda_clip(struct backend *backend, const float *most, size_t count, const float *g,
               float *factor);
void cuda_sgd(struct backend *backend, const struct sgd *sgd, const float *factor, size_t count,
              float *w, const float *g, float *m);
void cuda_adam(struct backend *backend, const struct adam *adam, const float *factor, size_t count,
               float *w, const float *g, float *m, float *v);
void cuda_lamb(struct backend *backend, const struct adam *adam, const float *factor, size_t count,
               bool decays, float *w, float *g, float *m, float *v);
void cuda_muon(struct backend *backend, const struct sgd *sgd, const float *factor, int rows,
               int columns, float *w, float *g, float *m);

/* Functions of backend_cuda_channel_norm.c. */
void cuda_channel_norm_measure(struct backend *backend, const struct channel_norm *norm, int batch,
                               const float *x, float *stats);
void cuda_channel_norm_recall(struct backend *backend, const struct channel_norm *norm,
                              const float *mean, const float *variance, float *stats);
void cuda_channel_norm_apply(struct backend *backend, const struct channel_norm *norm, int batch,
                             const float *x, const float *stats, const float *w, const float *b,
                             enum activation activation, float *y);
void cuda_channel_norm_backward(struct backend *backend, const struct channel_norm *norm, int batch,
                                const float *x, const float *stats, const float *w, const float *y,
                                enum activation activation, float *dy, float *dx, float *dw,
                                float *db);
void cuda_channel_norm_drift(struct backend *backend, const struct channel_norm *norm, int batch,
                             const float *stats, const float *mean, const float *variance,
                             float *dmean, float *dvariance);
void cuda_average_forward(struct backend *backend, size_t planes, size_t places, const float *x,
                          float *y);
void cuda_average_backward(struct backend *backend, size_t planes, size_t places, const float *dy,
                           float *dx);

/* Functions of backend_cuda_cudnn.c or backend_cuda_conv.c. */
void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *b, enum activation activation, float *y);
void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                        const float *w, const float *y, enum activation activation, float *dy,
                        float *dx, float *dw, float *db);
void cuda_conv_close(struct cuda *cuda);
/* Writes "cuDNN 9.19", or "no cuDNN" in a build without it. */
void cuda_conv_describe(char *text, size_t capacity);

#endif
