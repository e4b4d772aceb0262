/* Measures the duration of work on the device by an event before and an event after it in the
 * stream. */
#include "backend/cuda/cuda.h"

cudaError_t cuda_watch_open(struct cuda *cuda)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < WATCH_MAX && error == cudaSuccess; i++) {
        error = cudaEventCreateWithFlags(&cuda->timed[i].begun, cudaEventDefault);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&cuda->timed[i].ended, cudaEventDefault);
    }
    return error;
}

void cuda_watch_close(struct cuda *cuda)
{
    for (int i = 0; i < WATCH_MAX; i++) {
        cuda_check(cudaEventDestroy(cuda->timed[i].begun), "closing");
        cuda_check(cudaEventDestroy(cuda->timed[i].ended), "closing");
    }
}

static void cuda_watch_begin(struct backend *backend, uint32_t tag)
{
    struct cuda *cuda = cuda_on(backend);
    struct timed *timed = &cuda->timed[cuda->timed_ended % WATCH_MAX];
    CHECK(!cuda->recording);
    if (cuda->timed_ended - cuda->timed_taken == WATCH_MAX)
        cuda->timed_taken++;
    timed->tag = tag;
    cuda_check(cudaEventRecord(timed->begun, cuda->stream), "timing");
}

static void cuda_watch_end(struct backend *backend)
{
    struct cuda *cuda = cuda_on(backend);
    CHECK(!cuda->recording);
    const struct timed *timed = &cuda->timed[cuda->timed_ended++ % WATCH_MAX];
    cuda_check(cudaEventRecord(timed->ended, cuda->stream), "timing");
}

static bool cuda_watch_take(struct backend *backend, struct watch_time *time)
{
    struct cuda *cuda = cuda_on(backend);
    const struct timed *timed = &cuda->timed[cuda->timed_taken % WATCH_MAX];
    float ms = 0;
    if (cuda->timed_taken == cuda->timed_ended)
        return false;
    const cudaError_t error = cudaEventQuery(timed->ended);
    if (error == cudaErrorNotReady)
        return false;
    cuda_check(error, "timing");
    cuda_check(cudaEventElapsedTime(&ms, timed->begun, timed->ended), "timing");
    *time = (struct watch_time){.tag = timed->tag, .ns = (uint64_t)((double)ms * 1e6)};
    cuda->timed_taken++;
    return true;
}

const struct watch_operations cuda_watch = {
    .is_needed = true,
    .begin = cuda_watch_begin,
    .end = cuda_watch_end,
    .take = cuda_watch_take,
};
