/* Order between the backend and a stream of the program that uses the library. The program's stream
 * may come from another CUDA runtime in the process, since streams belong to the driver. */
#include "backend/cuda/cuda.h"

static bool cuda_stream_is_known(struct backend *backend, void *stream)
{
    const cudaError_t error = cudaEventRecord(cuda_on(backend)->asked, (cudaStream_t)stream);
    if (error == cudaErrorInvalidResourceHandle || error == cudaErrorInvalidValue) {
        (void)cudaGetLastError(); /* clears the error, which the next check would report */
        return false;
    }
    cuda_check(error, "looking at the program's stream");
    return true;
}

static void order(cudaEvent_t event, cudaStream_t first, cudaStream_t then)
{
    cuda_check(cudaEventRecord(event, first), "ordering with the program's stream");
    cuda_check(cudaStreamWaitEvent(then, event, 0), "ordering with the program's stream");
}

static void cuda_stream_wait_for(struct backend *backend, void *stream)
{
    struct cuda *cuda = cuda_on(backend);
    order(cuda->asked, (cudaStream_t)stream, cuda->stream);
}

static void cuda_stream_hold_back(struct backend *backend, void *stream)
{
    struct cuda *cuda = cuda_on(backend);
    order(cuda->asked, cuda->stream, (cudaStream_t)stream);
}

const struct stream_operations cuda_stream = {
    .is_known = cuda_stream_is_known,
    .wait_for = cuda_stream_wait_for,
    .hold_back = cuda_stream_hold_back,
};
