/* Replaces backend_cuda_team.c in a build without NCCL. */
#include "backend/cuda/cuda.h"

enum error cuda_team_open(struct backend *const backends[], int count, struct team **opened,
                          struct problem *problem)
{
    (void)backends, (void)opened;
    return problem_set(problem, MISSING,
                       "%d GPUs need NCCL, and this was built without it: name one, or build it "
                       "where nccl.h is",
                       count);
}
