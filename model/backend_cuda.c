#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda.h"

#define BLAS_ROOM_BYTES ((size_t)32 << 20) /* what cuBLAS wants on the newest devices */
#define BLOCKS_OF_ONE   4                  /* blocks that one multiprocessor runs side by side */

/* What was recorded of a sequence. */
struct recording {
    cudaGraphExec_t graph;
    uint64_t rooms;
};

/* Nothing can be trusted to this device any more, and nothing is lost but what was learned since
 * the last checkpoint. */
static _Noreturn void lost(const char *what, const char *why)
{
    (void)fflush(stdout);
    (void)fprintf(
        stderr,
        "hearsay: the GPU failed (%s: %s); this node ends. Started again, it goes on from "
        "its last checkpoint; 'nvidia-smi' may know more\n",
        what, why);
    _exit(EXIT_FAILURE);
}

void cuda_check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        lost(what, cudaGetErrorString(error));
}

void cuda_check_blas(cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        lost(what, cublasGetStatusString(status));
}

/* Which device a call is for is remembered by each thread; the learner's is not the one that opened
 * the backend. */
struct cuda *cuda_on(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    cuda_check(cudaSetDevice(cuda->device), "choosing the device");
    return cuda;
}

/* Memory. */

static void *take_raw(struct cuda *cuda, size_t bytes)
{
    void *memory = NULL;
    const cudaError_t error = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        (void)cudaMemGetInfo(&left, &all);
        (void)fprintf(stderr,
                      "hearsay: no memory for %zu bytes on GPU %d, of whose %zu MiB %zu are free: "
                      "take a smaller model or batch, or another device\n",
                      bytes, cuda->device, all >> 20, left >> 20);
        _exit(EXIT_FAILURE);
    }
    cuda_check(error, "taking memory");
    return memory;
}

static void *cuda_take(struct backend *backend, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    void *memory = take_raw(cuda, bytes);
    cuda_check(cudaMemsetAsync(memory, 0, bytes, cuda->stream), "clearing memory");
    return memory;
}

static void cuda_give(struct backend *backend, void *memory)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_check(cudaStreamSynchronize(cuda->stream), "giving back memory");
    cuda_check(cudaFree(memory), "giving back memory");
}

/* The host's memory is pageable: it has been read when the call returns. */
void cuda_upload(struct backend *backend, void *to, const void *host_from, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_check(cudaMemcpyAsync(to, host_from, bytes, cudaMemcpyHostToDevice, cuda->stream),
               "upload");
}

void cuda_download(struct backend *backend, void *host_to, const void *from, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_check(cudaMemcpyAsync(host_to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream),
               "download");
    cuda_check(cudaStreamSynchronize(cuda->stream), "download");
}

void *cuda_room(struct cuda *cuda, struct room *room, size_t bytes)
{
    if (bytes <= room->bytes)
        return room->memory;
    CHECK(!cuda->recording);
    cuda_give(&cuda->table, room->memory);
    *room = (struct room){.memory = take_raw(cuda, bytes), .bytes = bytes};
    cuda->rooms++;
    return room->memory;
}

/* Sequences: called once, recorded the second time, launched as one from the third. */

static void launched(struct cuda *cuda)
{
    cuda_check(cudaEventRecord(cuda->done[cuda->launched++ % IN_FLIGHT], cuda->stream), "a step");
}

static void cuda_sequence_drop(struct backend *backend, struct sequence *sequence)
{
    (void)cuda_on(backend);
    struct recording *recording = sequence->recorded;
    if (recording != NULL)
        cuda_check(cudaGraphExecDestroy(recording->graph), "dropping a step");
    free(recording);
    *sequence = (struct sequence){0};
}

static bool cuda_sequence_begin(struct backend *backend, struct sequence *sequence)
{
    struct cuda *cuda = cuda_on(backend);
    const struct recording *recording = sequence->recorded;
    /* Whoever calls may be ahead of the device, but not by more than it does in a moment. */
    cuda_check(cudaEventSynchronize(cuda->done[cuda->launched % IN_FLIGHT]), "a step");
    if (recording != NULL && recording->rooms != cuda->rooms) {
        cuda_sequence_drop(backend, sequence);
        recording = NULL;
    }
    if (recording != NULL) {
        cuda_check(cudaGraphLaunch(recording->graph, cuda->stream), "a step");
        launched(cuda);
        return true;
    }
    cuda->recording = sequence->times == 1;
    if (cuda->recording)
        cuda_check(cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal),
                   "recording");
    return false;
}

static void cuda_sequence_end(struct backend *backend, struct sequence *sequence)
{
    struct cuda *cuda = cuda_on(backend);
    if (cuda->recording) {
        cudaGraph_t graph;
        struct recording *recording = malloc(sizeof *recording);
        CHECK(recording);
        recording->rooms = cuda->rooms;
        cuda_check(cudaStreamEndCapture(cuda->stream, &graph), "recording");
        cuda_check(cudaGraphInstantiate(&recording->graph, graph, 0), "recording");
        cuda_check(cudaGraphDestroy(graph), "recording");
        cuda_check(cudaGraphLaunch(recording->graph, cuda->stream), "a step");
        sequence->recorded = recording;
        cuda->recording = false;
    }
    sequence->times++;
    launched(cuda);
}

/* The device itself. */

static void cuda_close(struct backend *backend)
{
    struct cuda *cuda = cuda_on(backend);
    struct room *rooms[] = {&cuda->patches, &cuda->products, &cuda->exchange};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        cuda_give(backend, rooms[i]->memory);
    for (int i = 0; i < IN_FLIGHT; i++)
        cuda_check(cudaEventDestroy(cuda->done[i]), "closing");
    cuda_check_blas(cublasDestroy(cuda->blas), "closing");
    cuda_give(backend, cuda->blas_room);
    cuda_check(cudaStreamDestroy(cuda->stream), "closing");
    free(cuda);
}

static const struct backend cuda_table = {
    .name = "cuda",
    .take = cuda_take,
    .give = cuda_give,
    .upload = cuda_upload,
    .download = cuda_download,
    .close = cuda_close,
    .sequence_begin = cuda_sequence_begin,
    .sequence_end = cuda_sequence_end,
    .sequence_drop = cuda_sequence_drop,
    .dense_forward = cuda_dense_forward,
    .dense_backward = cuda_dense_backward,
    .conv_forward = cuda_conv_forward,
    .conv_backward = cuda_conv_backward,
    .pool_forward = cuda_pool_forward,
    .pool_backward = cuda_pool_backward,
    .activate = cuda_activate,
    .activate_backward = cuda_activate_backward,
    .cross_entropy = cuda_cross_entropy,
    .sgd = cuda_sgd,
    .adam = cuda_adam,
    .gather = cuda_gather,
    .survey = cuda_survey,
    .refine = cuda_refine,
    .cut = cuda_cut,
    .hear = cuda_hear,
    .hear_own = cuda_hear_own,
    .rebase = cuda_rebase,
    .digest = cuda_digest,
};

static cublasComputeType_t compute_type(enum precision precision)
{
    switch (precision) {
    case PRECISION_FP32:
        return CUBLAS_COMPUTE_32F;
    case PRECISION_TF32:
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    case PRECISION_BF16:
        return CUBLAS_COMPUTE_32F_FAST_16BF;
    }
    CHECK(false);
}

/* The first calls for a device, in which it turns out whether it can be used. */
static enum status reach(struct cuda *cuda, struct problem *problem)
{
    int processors = 0;
    cudaError_t error = cudaSetDevice(cuda->device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, cuda->device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    cuda->blocks = BLOCKS_OF_ONE * processors;
    if (error == cudaSuccess)
        return OK;
    return problem_set(problem, FAILED,
                       "GPU %d cannot be used: %s; is another program using all of it? See "
                       "'nvidia-smi', or write device = cpu",
                       cuda->device, cudaGetErrorString(error));
}

enum status cuda_open(int i, enum precision precision, struct backend **backend,
                      struct problem *problem)
{
    struct cuda *cuda = calloc(1, sizeof *cuda);
    CHECK(cuda);
    cuda->table = cuda_table;
    cuda->device = i;
    cuda->compute = compute_type(precision);
    const enum status status = reach(cuda, problem);
    if (status != OK) {
        free(cuda);
        return status;
    }
    cuda->blas_room = take_raw(cuda, BLAS_ROOM_BYTES);
    cuda_check_blas(cublasCreate(&cuda->blas), "cuBLAS");
    cuda_check_blas(cublasSetStream(cuda->blas, cuda->stream), "cuBLAS");
    cuda_check_blas(cublasSetWorkspace(cuda->blas, cuda->blas_room, BLAS_ROOM_BYTES), "cuBLAS");
    for (int k = 0; k < IN_FLIGHT; k++)
        cuda_check(cudaEventCreateWithFlags(&cuda->done[k], cudaEventDisableTiming), "an event");
    *backend = &cuda->table;
    return OK;
}
