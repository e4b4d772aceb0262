/* Opens and closes a GPU. Has the table of its operations. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/cuda/cuda_exchange_kernels.h"
#include "backend/cuda/cuda_flash.h"
#include "backend/cuda/cuda_matmul.h"
#include "base/memory.h"

/* Ends the process, because results of the device can no longer be trusted. Only progress since the
 * last checkpoint is lost. */
_Noreturn void cuda_lost(const char *what, const char *why)
{
    (void)fflush(stdout);
    fatal("the GPU failed (%s: %s); this node ends. Started again, it goes on from its last "
          "checkpoint; 'nvidia-smi' may know more",
          what, why);
}

void cuda_check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        cuda_lost(what, cudaGetErrorString(error));
}

void cuda_check_blas(cublasStatus_t error, const char *what)
{
    if (error != CUBLAS_STATUS_SUCCESS)
        cuda_lost(what, cublasGetStatusString(error));
}

/* Each operation except cuda_peek calls this function, because each thread has its own current
 * device and the learner's thread did not open the backend. */
struct cuda *cuda_on(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!cuda->recording)
        cuda_check(cudaSetDevice(cuda->device), "choosing the device");
    return cuda;
}

static void cuda_close(struct backend *backend)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_flash_close(cuda);
    cuda_conv_close(cuda);
    cuda_gemm_close(cuda);
    cuda_watch_close(cuda);
    cuda_free(backend, cuda->exchange.memory);
    cuda_free(backend, cuda->operands.memory);
    cuda_free(backend, cuda->scratch.memory);
    for (int i = 0; i < IN_FLIGHT; i++)
        cuda_check(cudaEventDestroy(cuda->done[i]), "closing");
    for (int i = 0; i < PARCELS; i++) {
        cuda_check(cudaEventDestroy(cuda->parcels[i].fetched), "closing");
        cuda_check(cudaFreeHost(cuda->parcels[i].memory), "closing");
    }
    cuda_check_blas(cublasDestroy(cuda->blas), "closing");
    cuda_free(backend, cuda->blas_workspace);
    cuda_check(cudaEventDestroy(cuda->base_written), "closing");
    cuda_check(cudaEventDestroy(cuda->asked), "closing");
    cuda_check(cudaStreamDestroy(cuda->aside), "closing");
    cuda_check(cudaStreamDestroy(cuda->stream), "closing");
    free(cuda);
}

static const struct backend cuda_table = {
    .name = "cuda",
    .alloc = cuda_alloc,
    .keep = cuda_keep,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .peek = cuda_peek,
    .memory = cuda_memory,
    .close = cuda_close,
    .graph = &cuda_graph,
    .dense = &cuda_dense,
    .elements = &cuda_elements,
    .sequence = &cuda_sequence,
    .attention = &cuda_attention,
    .conv = &cuda_conv,
    .pool = &cuda_pool,
    .activation = &cuda_activation,
    .channels = &cuda_channels,
    .loss = &cuda_loss,
    .optimize = &cuda_optimize,
    .gather = &cuda_gather,
    .exchange = &cuda_exchange,
    .stream = &cuda_stream,
    .watch = &cuda_watch,
};

static cublasComputeType_t compute_type(enum precision precision)
{
    switch (precision) {
    case PRECISION_FP32:
        return CUBLAS_COMPUTE_32F;
    case PRECISION_TF32:
    case PRECISION_BF16: /* products of float32 operands, as in convolutions, use TF32 */
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    case PRECISION_AUTO:
        break;
    }
    CHECK(false);
}

/* Checks that the kernels fit this kind of GPU. Then allocates the device's resources. */
static cudaError_t reach(struct cuda *cuda)
{
    int processors = 0, blocks = 0;
    cudaError_t error = cudaSetDevice(cuda->device);
    if (error == cudaSuccess)
        error = kernels_fit(&blocks);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, cuda->device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&cuda->aside, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&cuda->base_written, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&cuda->asked, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cuda_watch_open(cuda);
    if (error == cudaSuccess)
        error = cudaMalloc(&cuda->blas_workspace, BLAS_WORKSPACE_BYTES);
    for (int i = 0; i < IN_FLIGHT && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&cuda->done[i],
                                         cudaEventDisableTiming | cudaEventBlockingSync);
    for (int i = 0; i < PARCELS && error == cudaSuccess; i++) {
        error = cudaEventCreateWithFlags(&cuda->parcels[i].fetched, cudaEventDisableTiming);
        if (error == cudaSuccess)
            error = cudaMallocHost(&cuda->parcels[i].memory, PARCEL_BYTES);
    }
    cuda->survey_blocks = blocks * processors;
    return error;
}

/* Creates the cuBLAS handle. Setting the stream resets its workspace, so the workspace is set
 * afterwards. */
static cublasStatus_t reach_blas(struct cuda *cuda)
{
    cublasStatus_t error = cublasCreate(&cuda->blas);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasSetStream(cuda->blas, cuda->stream);
    if (error == CUBLAS_STATUS_SUCCESS)
        error = cublasSetWorkspace(cuda->blas, cuda->blas_workspace, BLAS_WORKSPACE_BYTES);
    return error;
}

/* Returns true if the device is too old for bfloat16. If the device does not answer, returns
 * false; cuda_open then reports the error. */
static bool is_too_old_for_bf16(int device)
{
    int major = 0;
    const cudaError_t error =
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return error == cudaSuccess && major < 8;
}

/* Opens GPU i. If it cannot be used, its resources are freed only when the process ends. */
enum error cuda_open(int i, enum precision precision, struct backend **backend,
                     struct problem *problem)
{
    struct cuda *cuda = memory_new(1, sizeof *cuda);
    cuda->table = cuda_table;
    cuda->device = i;
    cuda->compute = compute_type(precision);
    cuda->bf16 = precision == PRECISION_BF16;
    cuda->table.activations = cuda->bf16 ? BFLOAT16 : FLOAT32;
    if (cuda->bf16 && is_too_old_for_bf16(i)) {
        free(cuda);
        return problem_set(problem, FAILED,
                           "GPU %d cannot multiply bfloat16 (that takes compute capability 8.0): "
                           "write precision = fp32",
                           i);
    }
    const cudaError_t error = reach(cuda);
    const cublasStatus_t blas_status =
        error == cudaSuccess ? reach_blas(cuda) : CUBLAS_STATUS_SUCCESS;
    if (error == cudaSuccess && blas_status == CUBLAS_STATUS_SUCCESS) {
        *backend = &cuda->table;
        return OK;
    }
    free(cuda);
    (void)cudaGetLastError(); /* clears CUDA's error, which is reported below */
    return problem_set(
        problem, FAILED,
        "GPU %d cannot be used: %s; is another program using all of it? See "
        "'nvidia-smi', or write device = cpu",
        i, error != cudaSuccess ? cudaGetErrorString(error) : cublasGetStatusString(blas_status));
}
