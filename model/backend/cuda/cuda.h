/* The CUDA backend: declarations for its files.
 *
 *   backend_cuda.c              opening and closing a GPU, the table of operations
 *   backend_cuda_memory.c       memory, uploads and downloads
 *   backend_cuda_graph.c        recording and repeating of steps
 *   backend_cuda_watch.c        measuring the duration of steps
 *   backend_cuda_stream.c       order with a stream of the program that uses the library
 *   backend_cuda_matmul.c       matrix products
 *   backend_cuda_choice.c       choice among a library's algorithms by measuring
 *   backend_cuda_layers.c       dense layers, activations, pooling
 *   backend_cuda_loss.c         losses
 *   backend_cuda_optimizers.c   optimizers
 *   backend_cuda_gather.c       reading batches from a data set
 *   backend_cuda_transformer.c  operations of sequence models: embedding, norms, attention
 *   backend_cuda_channel_norm.c batch norm, group norm, averages of images
 *   backend_cuda_cudnn.c        convolutions with cuDNN
 *   backend_cuda_cudnn_ways.c   choice of cuDNN's algorithm for a convolution
 *   backend_cuda_conv.c         convolutions in a build without cuDNN, as matrix products
 *   backend_cuda_cudnn_attention.c  attention with cuDNN
 *   backend_cuda_cudnn_graph.c  the graphs of operations by which cuDNN computes attention
 *   backend_cuda_no_flash.c     stands in for backend_cuda_cudnn_attention.c without cuDNN
 *   backend_cuda_exchange.c     the exchange
 *   backend_cuda_team.c         several GPUs together, with NCCL
 *   backend_cuda_no_team.c      stands in for backend_cuda_team.c in a build without NCCL
 *   backend_cuda_devices.c      finding and describing GPUs, the module's table
 *
 * These files use the CUDA runtime, cuBLAS, cuBLASLt, perhaps cuDNN and NCCL, and our own kernels
 * (cuda_*.cu; rules in cuda_kernels.h).
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include "backend/backend.h"
#include "backend/device.h"
#include "backend/team.h"
#include "base/error.h"

#define IN_FLIGHT    4  /* sequences (struct step_graph) that may wait for the device at once */
#define PARCELS      64 /* parcels of uploads that may wait for the device at once: 8 MiB */
#define PARCEL_BYTES ((size_t)128 << 10)

#define BLAS_WORKSPACE_BYTES ((size_t)32 << 20) /* size that cuBLAS recommends for new devices */

/* Device memory that grows when an operation needs more, and never shrinks. */
struct device_buffer {
    void *memory;
    size_t bytes;
};

/* Position in a buffer that cuda_part divides into parts. */
struct layout {
    char *memory; /* start of the buffer; NULL = only measures the size */
    size_t bytes;
};

/* A pinned buffer of host memory for a piece of an upload, or for a small download. */
struct parcel {
    void *memory;
    cudaEvent_t fetched;
};

/* Events before and after work that is timed (watch.h). */
struct timed {
    cudaEvent_t begun;
    cudaEvent_t ended;
    uint32_t tag;
};

struct cuda {
    /* Must be first: a pointer to it is also a pointer to struct cuda. */
    struct backend table;
    int device;                    /* index of the GPU */
    int survey_blocks;             /* blocks of the survey kernel that the GPU runs at once */
    cudaStream_t stream;           /* stream of all work except reads on `aside` */
    cudaStream_t aside;            /* stream of cuda_peek, perhaps called by another thread */
    cudaEvent_t base_written;      /* event after the last apply, apply_own or rebase */
    cudaEvent_t asked;             /* event that orders work with a stream of the program */
    cublasHandle_t blas;           /* cuBLAS handle on `stream` */
    cublasComputeType_t compute;   /* precision of products of float32 operands */
    bool bf16;                     /* true if dense layers, logits and attention use bfloat16 */
    struct device_buffer operands; /* rounded operands of a dense layer or of logits */
    struct device_buffer scratch;  /* scratch buffer for one operation at a time */
    void *blas_workspace;          /* [BLAS_WORKSPACE_BYTES] workspace of cuBLAS and cuBLASLt */
    struct products *products;     /* plans of products; NULL before the first */

    struct convolutions *convolutions; /* plans of convolutions; NULL before the first */
    struct flash *flash;               /* plans of attention by cuDNN; NULL before the first */
    void *cudnn;                       /* cuDNN handle; NULL before its first use */
    struct device_buffer exchange;     /* scratch buffer of the exchange */
    /* Number of times that a buffer of steps grew. Each growth makes all recordings invalid. */
    uint64_t growths;

    struct parcel parcels[PARCELS]; /* used in turn */
    uint64_t parcels_sent;

    cudaEvent_t done[IN_FLIGHT]; /* events after the last IN_FLIGHT sequences of operations */
    uint64_t launched;
    bool recording;

    struct timed timed[WATCH_MAX]; /* the last WATCH_MAX timings, used in turn */
    uint64_t timed_ended;
    uint64_t timed_taken; /* number of timings whose result was read or dropped */
};

/* `open` of the module's table (cuda_module.h), defined in backend_cuda.c. */
enum error cuda_open(int i, enum precision precision, struct backend **backend,
                     struct problem *problem);

/* `open_team` of the module's table (cuda_module.h), defined in backend_cuda_team.c. */
enum error cuda_team_open(struct backend *const backends[], int count, struct team **opened,
                          struct problem *problem);

/* Returns the struct of a backend, and makes its GPU the calling thread's current device, unless a
 * step is being recorded. */
struct cuda *cuda_on(struct backend *backend);

/* cuda_lost ends the process. cuda_check and cuda_check_blas call cuda_lost if `error` is not
 * success. what: the operation, for the message. */
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
/* Enlarges a scratch buffer to at least `bytes` bytes. Returns true if it had to grow; its content
 * is then lost. It must not grow while a step is recorded. */
bool cuda_buffer_grows(struct cuda *cuda, struct device_buffer *scratch, size_t bytes);
/* Returns a buffer of at least `bytes` bytes for operations of a step. If the buffer grows,
 * recordings become invalid, because they point to it. */
void *cuda_step_buffer(struct cuda *cuda, struct device_buffer *scratch, size_t bytes);
/* Returns the common scratch buffer, valid until the next call. */
void *cuda_scratch(struct cuda *cuda, size_t bytes);
/* Returns the next `bytes` bytes of the layout's buffer, aligned for any type; NULL if the
 * layout only measures the size. */
void *cuda_part(struct layout *layout, size_t bytes);

/* Functions of backend_cuda_watch.c. */
cudaError_t cuda_watch_open(struct cuda *cuda);
void cuda_watch_close(struct cuda *cuda);

/* Functions of backend_cuda_cudnn.c or backend_cuda_conv.c. */
void cuda_conv_close(struct cuda *cuda);
/* Writes "cuDNN 9.19", or "no cuDNN" in a build without it. */
void cuda_conv_describe(char *text, size_t capacity);

/* Groups of operations, each defined in the file that implements it. */
extern const struct graph_operations cuda_graph;
extern const struct dense_operations cuda_dense;
extern const struct element_operations cuda_elements;
extern const struct sequence_operations cuda_sequence;
extern const struct attention_operations cuda_attention;
extern const struct conv_operations cuda_conv;
extern const struct pool_operations cuda_pool;
extern const struct activation_operations cuda_activation;
extern const struct channel_operations cuda_channels;
extern const struct loss_operations cuda_loss;
extern const struct optimizer_operations cuda_optimize;
extern const struct gather_operations cuda_gather;
extern const struct exchange_operations cuda_exchange;
extern const struct stream_operations cuda_stream;
extern const struct watch_operations cuda_watch;

#endif
