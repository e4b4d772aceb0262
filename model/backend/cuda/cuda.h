/* The CUDA backend: what its files share.
 *
 *   backend_cuda.c            opening and closing, the table
 *   backend_cuda_memory.c     memory, up and down
 *   backend_cuda_sequence.c   steps recorded and repeated
 *   backend_cuda_layers.c     layers, optimizers, samples
 *   backend_cuda_cudnn.c      convolutions with cuDNN
 *   backend_cuda_conv.c       convolutions without cuDNN, as products
 *   backend_cuda_exchange.c   the exchange
 *   backend_cuda_devices.c    which GPUs there are; the module's table
 *
 * All of it over the CUDA runtime, cuBLAS, perhaps cuDNN, and cuda_kernels.h.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "backend/backend.h"
#include "backend/device.h"
#include "base/error.h"

#define IN_FLIGHT    4 /* steps that may wait for the device at once */
#define PARCELS      8 /* small uploads that may wait at once */
#define PARCEL_BYTES ((size_t)256 << 10)

/* Memory of the device that grows when more is needed, and is not given back. */
struct room {
    void *memory;
    size_t bytes;
};

/* What one operation needs of a room, part after part. */
struct layout {
    char *memory; /* NULL while it is only measured */
    size_t bytes;
};

/* Memory of the host that the device can fetch from. */
struct parcel {
    void *memory; /* [PARCEL_BYTES] */
    cudaEvent_t fetched;
};

struct cuda {
    struct backend table;        /* first: a pointer to it is a pointer to the struct */
    int device;                  /* number of the GPU */
    int survey_blocks;           /* of the survey that run at once */
    cudaStream_t stream;         /* of all work */
    cublasHandle_t blas;         /* on that stream */
    cublasComputeType_t compute; /* of products of float32 */
    bool bf16;                   /* dense layers multiply in bfloat16 */
    struct room operands;        /* rounded operands of a dense layer */
    void *blas_room;             /* workspace of cuBLAS */

    struct convolutions *convolutions; /* NULL before the first */
    struct room exchange;              /* bins, bitmap, levels, updates */
    uint64_t rooms;                    /* times that a room of steps grew: voids recordings */

    struct parcel parcels[PARCELS]; /* small uploads in turn */
    uint64_t parcels_sent;          /* in all */

    cudaEvent_t done[IN_FLIGHT]; /* of the sequences launched last */
    uint64_t launched;           /* sequences in all */
    bool recording;              /* a sequence is being recorded */
};

/* backend_cuda.c; cuda_module.h */
enum error cuda_open(int i, enum precision precision, struct backend **backend,
                     struct problem *problem);

/* The struct behind the table, for a call from this thread. */
struct cuda *cuda_on(struct backend *backend);

/* The process ends; a check does not return if something went wrong. */
_Noreturn void cuda_lost(const char *what, const char *why);
void cuda_check(cudaError_t error, const char *what);
void cuda_check_blas(cublasStatus_t error, const char *what);

/* backend_cuda_memory.c */
void *cuda_take(struct backend *backend, size_t bytes);
void *cuda_keep(struct backend *backend, const void *host_from, size_t bytes, bool *far);
void cuda_give(struct backend *backend, void *memory);
void cuda_upload(struct backend *backend, void *to, const void *host_from, size_t bytes);
void cuda_download(struct backend *backend, void *host_to, const void *from, size_t bytes);
/* Room for what only one operation uses, for so many bytes: whether it had to grow. It does when a
 * larger one is met: in the first step, not in one that is recorded. */
bool cuda_room_grows(struct cuda *cuda, struct room *room, size_t bytes);
/* Room that steps use, and what is recorded of them points to. */
void *cuda_step_room(struct cuda *cuda, struct room *room, size_t bytes);
/* The next part of it, aligned for anything. */
void *cuda_part(struct layout *layout, size_t bytes);

/* backend_cuda_sequence.c */
bool cuda_sequence_begin(struct backend *backend, struct sequence *sequence);
void cuda_sequence_end(struct backend *backend, struct sequence *sequence);
void cuda_sequence_drop(struct backend *backend, struct sequence *sequence);

/* backend_cuda_layers.c */

/* What a product multiplies: numbers of float32 or bfloat16; both of a product are the same. */
struct operand {
    const void *numbers;
    cudaDataType type;
};

static inline struct operand cuda_floats(const float *numbers)
{
    return (struct operand){.numbers = numbers, .type = CUDA_R_32F};
}

/* c[m,n] = a·b, row major; a[m,k] and b[k,n], or transposed as they lie in memory. */
void cuda_gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
               int k, struct operand a, struct operand b, float *c);
void cuda_dense_forward(struct backend *backend, int batch, int in, int out, const float *x,
                        const float *w, const float *b, enum activation activation, float *y);
void cuda_dense_backward(struct backend *backend, int batch, int in, int out, const float *x,
                         const float *w, const float *y, enum activation activation, float *dy,
                         float *dx, float *dw, float *db);
void cuda_pool_forward(struct backend *backend, const struct pool *pool, int batch, const float *x,
                       float *y, uint8_t *winner);
void cuda_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                        const float *dy, const uint8_t *winner, float *dx);
void cuda_activate(struct backend *backend, enum activation activation, size_t count,
                   const float *x, float *y);
void cuda_activate_backward(struct backend *backend, enum activation activation, size_t count,
                            const float *y, const float *dy, float *dx);
void cuda_cross_entropy(struct backend *backend, int batch, int classes, const float *logits,
                        const uint8_t *labels, float *dlogits, struct score *score);
void cuda_sgd(struct backend *backend, const struct sgd *sgd, size_t count, float *w,
              const float *g, float *m);
void cuda_adam(struct backend *backend, const struct adam *adam, size_t count, float *w,
               const float *g, float *m, float *v);
void cuda_gather(struct backend *backend, int batch, size_t sample_size, const uint8_t *pixels,
                 const uint8_t *labels, const uint32_t *pick, float mean, float scale, float *x,
                 uint8_t *y);

/* backend_cuda_cudnn.c or backend_cuda_conv.c */
void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *b, enum activation activation, float *y);
void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                        const float *w, const float *y, enum activation activation, float *dy,
                        float *dx, float *dw, float *db);
void cuda_conv_close(struct cuda *cuda);
/* "cuDNN 9.19", or that there is none. */
void cuda_conv_describe(char *text, size_t room);

/* backend_cuda_exchange.c */
uint32_t cuda_survey(struct backend *backend, const struct survey *survey, size_t count, float *w,
                     const int32_t *base, int32_t *base_at_last_publish,
                     uint32_t host_bins[HISTOGRAM_BINS]);
void cuda_refine(struct backend *backend, uint32_t found, const uint32_t *candidates,
                 const float *w, const int32_t *base, uint32_t bin, uint32_t host_parts[BIN_PARTS]);
void cuda_cut(struct backend *backend, uint32_t found, const uint32_t *candidates, float *w,
              int32_t *base, uint32_t capacity, struct update *host_update);
void cuda_apply(struct backend *backend, const struct update *host_update, float *w, int32_t *base);
void cuda_apply_own(struct backend *backend, const struct update *host_update, float *w,
                    int32_t *base);
void cuda_rebase(struct backend *backend, size_t count, const int32_t *host_base, float *w,
                 int32_t *base);
uint64_t cuda_digest(struct backend *backend, size_t count, const int32_t *base);

#endif
