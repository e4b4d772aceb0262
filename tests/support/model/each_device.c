#include "support/model/each_device.h"

int gpu_under_test = -1;

struct backend *open_device_in(enum precision precision)
{
    struct backend *device;
    struct problem problem;
    if (gpu_under_test < 0)
        return backend_cpu(1);
    if (cuda_module()->open(gpu_under_test, precision, &device, &problem) == OK)
        return device;
    (void)fprintf(stderr, "%s\n", problem.text);
    abort();
}

struct backend *open_device(void)
{
    return open_device_in(PRECISION_FP32);
}

struct backend *backend;

int device_opens(void **state)
{
    (void)state;
    backend = open_device();
    return 0;
}

int device_closes(void **state)
{
    (void)state;
    backend->close(backend);
    return 0;
}
