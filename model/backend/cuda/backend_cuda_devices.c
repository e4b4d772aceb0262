#include <cuda_runtime_api.h>
#include <stdio.h>

#include "backend/cuda/cuda_module.h"
#include "backend/cuda/cuda_operations.h"

static int cuda_devices(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

static void cuda_describe(char *text, size_t room)
{
    int runtime = 0, driver = 0, count = 0;
    char convolutions[32];
    cuda_conv_describe(convolutions, sizeof convolutions);
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        (void)snprintf(text, room, "CUDA %d.%d: %s", runtime / 1000, runtime % 1000 / 10,
                       cudaGetErrorString(error));
    else
        (void)snprintf(text, room, "CUDA %d.%d, driver for %d.%d, %s", runtime / 1000,
                       runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, convolutions);
}

/* As nvidia-smi writes it. */
static void write_uuid(const cudaUUID_t *uuid, char text[DEVICE_UUID_TEXT])
{
    size_t at = (size_t)snprintf(text, DEVICE_UUID_TEXT, "GPU");
    for (int i = 0; i < 16; i++) {
        const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += (size_t)snprintf(text + at, DEVICE_UUID_TEXT - at, "%s%02x", group ? "-" : "",
                               (unsigned)(unsigned char)uuid->bytes[i]);
    }
}

static bool cuda_device(int i, struct gpu *gpu)
{
    struct cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess)
        return false;
    *gpu = (struct gpu){
        .major = properties.major, .minor = properties.minor, .bytes = properties.totalGlobalMem};
    (void)snprintf(gpu->name, sizeof gpu->name, "%.*s", (int)sizeof gpu->name - 1, properties.name);
    write_uuid(&properties.uuid, gpu->uuid);
    return true;
}

const struct cuda_module hearsay_cuda_module = {.describe = cuda_describe,
                                                .devices = cuda_devices,
                                                .device = cuda_device,
                                                .open = cuda_open,
                                                .open_team = cuda_team_open};
