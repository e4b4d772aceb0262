/* CUDA graphs: operations are called the first time, recorded the second time, and launched as one
 * graph from the third time on. */
#include <stdlib.h>

#include "backend/cuda/cuda_operations.h"
#include "base/memory.h"

/* A recorded CUDA graph. */
struct recording {
    cudaGraphExec_t graph;
    uint64_t growths;
};

static void launched(struct cuda *cuda)
{
    cuda_check(cudaEventRecord(cuda->done[cuda->launched++ % IN_FLIGHT], cuda->stream), "a step");
}

void cuda_graph_drop(struct backend *backend, struct step_graph *graph)
{
    const struct cuda *cuda = cuda_on(backend);
    struct recording *recording = graph->recorded;
    if (recording != NULL) {
        /* The device may be running it. */
        cuda_check(cudaStreamSynchronize(cuda->stream), "dropping a step");
        cuda_check(cudaGraphExecDestroy(recording->graph), "dropping a step");
    }
    free(recording);
    *graph = (struct step_graph){0};
}

bool cuda_graph_begin(struct backend *backend, struct step_graph *graph)
{
    struct cuda *cuda = cuda_on(backend);
    const struct recording *recording = graph->recorded;
    /* The host may be ahead of the device by a bounded number of steps. */
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

void cuda_graph_end(struct backend *backend, struct step_graph *graph)
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
