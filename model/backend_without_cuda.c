/* In the place of backend_cuda.c where the program is built without CUDA. */
#include "backend_cuda.h"

#include <stdio.h>

void cuda_describe(char *text, size_t room)
{
    (void)snprintf(text, room, "built without CUDA");
}

int cuda_devices(void)
{
    return 0;
}

bool cuda_device(int i, struct gpu *gpu)
{
    (void)i, (void)gpu;
    return false;
}

enum status backend_cuda(int i, enum precision precision, struct backend **backend,
                         struct problem *problem)
{
    (void)i, (void)precision, (void)backend;
    return problem_set(problem, MISSING,
                       "this program was built without CUDA: build it where nvcc is on the PATH, "
                       "with -DWITH_CUDA=ON");
}
