/* The CUDA backend: declarations for its files.
 *
 *   backend_cuda.c              opening and closing, the table
 *   backend_cuda_memory.c       memory, up and down
 *   backend_cuda_graph.c     steps recorded and repeated
 *   backend_cuda_watch.c        the time that they take
 *   backend_cuda_stream.c       order with a stream of the program's
 *   backend_cuda_matmul.c       matrix products
 *   backend_cuda_choice.c       which of a library's algorithms computes an operation
 *   backend_cuda_layers.c       layers, losses
 *   backend_cuda_logits.c       logits with their loss
 *   backend_cuda_transformer.c  what sequence models need: embedding, norms, attention
 *   backend_cuda_cudnn.c        convolutions with cuDNN; _ways: which of its algorithms
 *   backend_cuda_conv.c         convolutions without cuDNN, as products
 *   backend_cuda_cudnn_attention.c  attention with cuDNN; _graph: its operations; _no_flash: none
 *   backend_cuda_exchange.c     the exchange
 *   backend_cuda_team.c         several GPUs together, with NCCL; _no_team: without it, none
 *   backend_cuda_devices.c      which GPUs there are; the module's table
 *
 * All of it over the CUDA runtime, cuBLAS, cuBLASLt, perhaps cuDNN and NCCL, cuda_kernels.h
 * and cuda_transformer.h. The operations of the table stand in cuda_operations.h.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "backend/backend.h"
#include "backend/device.h"
#include "backend/team.h"
#include "base/error.h"

#define IN_FLIGHT    4  /* steps that may wait for the device at once */
#define PARCELS      64 /* uploads that may wait at once: 8 MiB */
#define PARCEL_BYTES ((size_t)128 << 10)

#define BLAS_WORKSPACE_BYTES ((size_t)32 << 20) /* bytes, as cuBLAS recommends for new devices */

/* Memory of the device that grows when more is needed, and is never freed. */
struct device_buffer {
    void *memory;
    size_t bytes;
};

/* Splits an operation's scratch buffer into parts. */
struct layout {
    char *memory; /* memory of the parts; NULL = only the size is measured */
    size_t bytes;
};

/* A buffer of host memory that the device can read. */
struct parcel {
    void *memory; /* [PARCEL_BYTES] the buffer */
    cudaEvent_t fetched;
};

/* Events before and after work that is timed. */
struct timed {
    cudaEvent_t begun;
    cudaEvent_t ended;
    uint32_t tag;
};

struct cuda {
    /* Must be first: a pointer to it is also a pointer to the struct. */
    struct backend table;
    int device;                    /* number of the GPU */
    int survey_blocks;             /* blocks of the survey kernel that the GPU runs at once */
    cudaStream_t stream;           /* stream of all work, except: */
    cudaStream_t aside;            /* stream of reads beside it, perhaps from another thread */
    cudaEvent_t base_written;      /* the exchange has written what it was asked to */
    cudaEvent_t asked;             /* of order with a stream of the program's */
    cublasHandle_t blas;           /* on that stream */
    cublasComputeType_t compute;   /* type of float32 products */
    bool bf16;                     /* dense layers multiply in bfloat16 */
    struct device_buffer operands; /* rounded operands of a dense layer or of logits */
    struct device_buffer scratch;  /* scratch buffer of an operation */
    void *blas_workspace;          /* workspace of cuBLAS and cuBLASLt, [BLAS_WORKSPACE_BYTES] */
    struct products *products;     /* plans of products; NULL before the first */

    struct convolutions *convolutions; /* plans of convolutions; NULL before the first */
    struct flash *flash;               /* plans of attention by cuDNN; NULL before the first */
    void *cudnn;                       /* cuDNN handle; NULL before its first use */
    struct device_buffer exchange;     /* bins, bitmap, levels, updates */
    /* Number of times that a buffer of steps grew; each time voids recordings. */
    uint64_t growths;

    struct parcel parcels[PARCELS]; /* buffers of small uploads, used in turn */
    uint64_t parcels_sent;          /* in all */

    cudaEvent_t done[IN_FLIGHT]; /* events at the ends of the latest graphs */
    uint64_t launched;           /* number of graphs launched */
    bool recording;              /* a graph is being recorded */

    struct timed timed[WATCH_MAX]; /* in turn */
    uint64_t timed_ended;          /* number of ended timings */
    uint64_t timed_taken;          /* number of these results that were read or dropped */
};

/* Functions of backend_cuda.c and cuda_module.h. */
enum error cuda_open(int i, enum precision precision, struct backend **backend,
                     struct problem *problem);

/* Functions of backend_cuda_team.c and cuda_module.h. */
enum error cuda_team_open(struct backend *const backends[], int count, struct team **opened,
                          struct problem *problem);

/* Returns the struct behind the table, for a call from this thread. */
struct cuda *cuda_on(struct backend *backend);

/* cuda_lost ends the process; a check does so if something went wrong. */
_Noreturn void cuda_lost(const char *what, const char *why);
void cuda_check(cudaError_t error, const char *what);
void cuda_check_blas(cublasStatus_t error, const char *what);

/* Functions of backend_cuda_memory.c. */
struct device_memory cuda_memory(struct backend *backend);
void *cuda_alloc(struct backend *backend, size_t bytes);
void *cuda_keep(struct backend *backend, const void *host_from, size_t bytes, bool *far);
void cuda_free(struct backend *backend, void *memory);
void cuda_upload(struct backend *backend, void *to, const void *host_from, size_t bytes);
void cuda_download(struct backend *backend, void *host_to, const void *from, size_t bytes);
void cuda_peek(struct backend *backend, void *host_to, const void *from, size_t bytes);
/* Provides a scratch buffer of `bytes` bytes for one operation at a time; returns whether it had to
 * grow. It grows in the first step only, never in a recorded one. */
bool cuda_buffer_grows(struct cuda *cuda, struct device_buffer *scratch, size_t bytes);
/* Returns a buffer that steps use and that their recordings point to. */
void *cuda_step_buffer(struct cuda *cuda, struct device_buffer *scratch, size_t bytes);
/* Returns the scratch buffer for operations without their own, valid until the next operation. */
void *cuda_scratch(struct cuda *cuda, size_t bytes);
/* Returns the next part of a buffer, aligned for any type. */
void *cuda_part(struct layout *layout, size_t bytes);

/* Functions of backend_cuda_watch.c. */
cudaError_t cuda_watch_open(struct cuda *cuda);
void cuda_watch_close(struct cuda *cuda);
void cuda_watch_begin(struct backend *backend, uint32_t tag);
void cuda_watch_end(struct backend *backend);
bool cuda_watch_take(struct backend *backend, struct watch_time *time);

#endif
