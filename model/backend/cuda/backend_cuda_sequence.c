/* Sequences: called once, recorded the second time, launched as one from the third. */
#include <stdlib.h>

#include "backend/cuda/cuda_operations.h"
#include "base/memory.h"

/* A recorded CUDA graph. */
struct recording {
    cudaGraphExec_t graph;
    uint64_t rooms;
};

static void launched(struct cuda *cuda)
{
    cuda_check(cudaEventRecord(cuda->done[cuda->launched++ % IN_FLIGHT], cuda->stream), "a step");
}

void cuda_sequence_drop(struct backend *backend, struct sequence *sequence)
{
    const struct cuda *cuda = cuda_on(backend);
    struct recording *recording = sequence->recorded;
    if (recording != NULL) {
        cuda_check(cudaStreamSynchronize(cuda->stream), "dropping a step"); /* it may be in it */
        cuda_check(cudaGraphExecDestroy(recording->graph), "dropping a step");
    }
    free(recording);
    *sequence = (struct sequence){0};
}

bool cuda_sequence_begin(struct backend *backend, struct sequence *sequence)
{
    struct cuda *cuda = cuda_on(backend);
    const struct recording *recording = sequence->recorded;
    /* The caller may be ahead of the device by a bounded amount of work. */
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

void cuda_sequence_end(struct backend *backend, struct sequence *sequence)
{
    struct cuda *cuda = cuda_on(backend);
    if (cuda->recording) {
        cudaGraph_t graph;
        struct recording *recording = memory_new(1, sizeof *recording);
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
