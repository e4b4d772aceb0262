/* Recording of steps as CUDA graphs. The first call of a step runs its operations. The second call
 * records them as a graph and launches it. Later calls launch that graph. If a scratch buffer of
 * steps has grown since the recording, the graph is dropped, and the next calls run and record
 * again. */
#include <stdlib.h>

#include "backend/cuda/cuda.h"
#include "base/memory.h"

/* A recorded graph. It is invalid if cuda->growths has changed since. */
struct recording {
    cudaGraphExec_t graph;
    uint64_t growths;
};

static void launched(struct cuda *cuda)
{
    cuda_check(cudaEventRecord(cuda->done[cuda->launched++ % IN_FLIGHT], cuda->stream), "a step");
}

static void cuda_graph_drop(struct backend *backend, struct step_graph *graph)
{
    const struct cuda *cuda = cuda_on(backend);
    struct recording *recording = graph->recorded;
    if (recording != NULL) {
        /* Waits, because the device may be running the graph. */
        cuda_check(cudaStreamSynchronize(cuda->stream), "dropping a step");
        cuda_check(cudaGraphExecDestroy(recording->graph), "dropping a step");
    }
    free(recording);
    *graph = (struct step_graph){0};
}

static bool cuda_graph_begin(struct backend *backend, struct step_graph *graph)
{
    struct cuda *cuda = cuda_on(backend);
    const struct recording *recording = graph->recorded;
    /* Bounds how far the host is ahead: waits until at most IN_FLIGHT - 1 sequences are
     * unfinished. */
    cuda_check(cudaEventSynchronize(cuda->done[cuda->launched % IN_FLIGHT]), "a step");
    if (recording != NULL && recording->growths != cuda->growths) {
        cuda_graph_drop(backend, graph);
        recording = NULL;
    }
    if (recording != NULL) {
        cuda_check(cudaGraphLaunch(recording->graph, cuda->stream), "a step");
        launched(cuda);
        return true;
    }
    cuda->recording = graph->times == 1;
    if (cuda->recording)
        cuda_check(cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal),
                   "recording");
    return false;
}

static void cuda_graph_end(struct backend *backend, struct step_graph *graph)
{
    struct cuda *cuda = cuda_on(backend);
    if (cuda->recording) {
        cudaGraph_t captured;
        struct recording *recording = memory_new(1, sizeof *recording);
        recording->growths = cuda->growths;
        cuda_check(cudaStreamEndCapture(cuda->stream, &captured), "recording");
        cuda_check(cudaGraphInstantiate(&recording->graph, captured, 0), "recording");
        cuda_check(cudaGraphDestroy(captured), "recording");
        cuda_check(cudaGraphLaunch(recording->graph, cuda->stream), "a step");
        graph->recorded = recording;
        cuda->recording = false;
    }
    graph->times++;
    launched(cuda);
}

const struct graph_operations cuda_graph = {
    .begin = cuda_graph_begin,
    .end = cuda_graph_end,
    .drop = cuda_graph_drop,
};
