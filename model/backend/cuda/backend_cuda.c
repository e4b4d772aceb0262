/* Opens and closes a GPU. Has the table of its operations. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/cuda/cuda_exchange.h"
#include "backend/cuda/cuda_exchange_kernels.h"
#include "backend/cuda/cuda_flash.h"
#include "backend/cuda/cuda_operations.h"
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

/* Makes the GPU the thread's current device and returns its struct. Each operation calls it: the
 * learner's thread did not open the backend, and each thread has its own current device. */
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
    .graph_begin = cuda_graph_begin,
    .graph_end = cuda_graph_end,
    .graph_drop = cuda_graph_drop,
    .dense_forward = cuda_dense_forward,
    .dense_backward = cuda_dense_backward,
    .dense_activate_forward = cuda_dense_activate_forward,
    .dense_activate_backward = cuda_dense_activate_backward,
    .embed_forward = cuda_embed_forward,
    .embed_backward = cuda_embed_backward,
    .add_shared = cuda_add_shared,
    .sum_shared = cuda_sum_shared,
    .add = cuda_add,
    .copy = cuda_copy,
    .clear = cuda_clear,
    .drop = cuda_drop,
    .norm_forward = cuda_norm_forward,
    .norm_backward = cuda_norm_backward,
    .add_norm_forward = cuda_add_norm_forward,
    .channels.measure = cuda_channel_norm_measure,
    .channels.recall = cuda_channel_norm_recall,
    .channels.apply = cuda_channel_norm_apply,
    .channels.backward = cuda_channel_norm_backward,
    .channels.drift = cuda_channel_norm_drift,
    .attention_forward = cuda_attention_forward,
    .attention_backward = cuda_attention_backward,
    .rotate = cuda_rotate,
    .swiglu_forward = cuda_swiglu_forward,
    .swiglu_backward = cuda_swiglu_backward,
    .conv_forward = cuda_conv_forward,
    .conv_backward = cuda_conv_backward,
    .pool_forward = cuda_pool_forward,
    .pool_backward = cuda_pool_backward,
    .channels.average = cuda_average_forward,
    .channels.average_backward = cuda_average_backward,
    .activate = cuda_activate,
    .activate_backward = cuda_activate_backward,
    .watch = {.begin = cuda_watch_begin,
              .end = cuda_watch_end,
              .take = cuda_watch_take,
              .is_needed = true},
    .loss.cross_entropy = cuda_cross_entropy,
    .loss.logits = cuda_logits_loss,
    .loss.logits_budget = cuda_logits_budget,
    .loss.squared_error = cuda_squared_error,
    .optimize.clip = cuda_clip,
    .optimize.sgd = cuda_sgd,
    .optimize.adam = cuda_adam,
    .optimize.lamb = cuda_lamb,
    .optimize.muon = cuda_muon,
    .gather.pixels = cuda_gather_pixels,
    .gather.rows = cuda_gather_rows,
    .gather.tokens = cuda_gather_tokens,
    .gather.augment = cuda_augment,
    .exchange.reserve = cuda_reserve,
    .exchange.survey = cuda_survey,
    .exchange.refine = cuda_refine,
    .exchange.cut = cuda_cut,
    .exchange.apply = cuda_apply,
    .exchange.apply_own = cuda_apply_own,
    .exchange.rebase = cuda_rebase,
    .exchange.withhold = cuda_withhold,
    .exchange.release = cuda_release,
    .exchange.let_go = cuda_let_go,
    .exchange.agreement = cuda_agreement,
    .exchange.digest = cuda_digest,
    .exchange.follow = cuda_follow,
    .exchange.round = cuda_round,
    .exchange.follow_moved = cuda_follow_moved,
    .exchange.round_moved = cuda_round_moved,
    .stream.is_known = cuda_stream_is_known,
    .stream.wait_for = cuda_stream_wait_for,
    .stream.hold_back = cuda_stream_hold_back,
};

static cublasComputeType_t compute_type(enum precision precision)
{
    switch (precision) {
    case PRECISION_FP32:
        return CUBLAS_COMPUTE_32F;
    case PRECISION_TF32:
    case PRECISION_BF16: /* only dense layers use bfloat16; other products use TF32 */
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
