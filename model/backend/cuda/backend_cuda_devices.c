#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_module.h"

static int cuda_devices(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/* Returns the first driver version that supports this major version of CUDA, from NVIDIA's table of
 * minor version compatibility; 0 = unknown. */
static int driver_for(int runtime)
{
    const int major = runtime / 1000;
    return major == 11 ? 450 : major == 12 ? 525 : major == 13 ? 580 : 0;
}

static void describe_old_driver(char *text, size_t capacity, int runtime, int driver)
{
    (void)snprintf(text, capacity,
                   "CUDA %d.%d " CUDA_DRIVER_NEEDED " %d or later, and the one here is for CUDA "
                   "%d.%d: install it, and restart the machine",
                   runtime / 1000, runtime % 1000 / 10, driver_for(runtime), driver / 1000,
                   driver % 1000 / 10);
}

static void cuda_describe(char *text, size_t capacity)
{
    int runtime = 0, driver = 0, count = 0;
    char convolutions[32];
    cuda_conv_describe(convolutions, sizeof convolutions);
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorInsufficientDriver)
        describe_old_driver(text, capacity, runtime, driver);
    else if (error != cudaSuccess)
        (void)snprintf(text, capacity, "CUDA %d.%d: %s", runtime / 1000, runtime % 1000 / 10,
                       cudaGetErrorString(error));
    else
        (void)snprintf(text, capacity, "CUDA %d.%d, driver for %d.%d, %s", runtime / 1000,
                       runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, convolutions);
}

/* Formats a UUID as nvidia-smi does. */
static void write_uuid(const cudaUUID_t *uuid, char text[DEVICE_UUID_TEXT])
{
    size_t at = (size_t)snprintf(text, DEVICE_UUID_TEXT, "GPU");
    for (int i = 0; i < 16; i++) {
        const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += (size_t)snprintf(text + at, DEVICE_UUID_TEXT - at, "%s%02x", group ? "-" : "",
                               (unsigned)(unsigned char)uuid->bytes[i]);
    }
}

/* Floating-point operations of matrix products per clock and multiprocessor, from NVIDIA's white
 * papers of each architecture. GeForce cards of compute capability 8.6, 8.9 and 12 add to float32
 * sums at half that rate. */
static const struct rate {
    int major;
    int minor; /* first minor version with this rate; later minor versions also have it */
    double flops[PRECISION_AUTO];
    bool is_halved; /* GeForce cards have half the rate, except in float32 */
} rates[] = {{7, 0, {128, 0, 0}, false},        {8, 0, {128, 1024, 2048}, false},
             {8, 6, {256, 512, 1024}, true},    {9, 0, {256, 2048, 4096}, false},
             {10, 0, {256, 4096, 8192}, false}, {12, 0, {256, 512, 1024}, true}};

/* Returns the floating-point operations per clock and multiprocessor; 0 if the architecture is
 * unknown. */
static double flops_per_clock(const struct gpu *gpu, enum precision precision)
{
    const struct rate *found = NULL;
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (rates[i].major == gpu->major && rates[i].minor <= gpu->minor)
            found = &rates[i];
    if (found == NULL)
        return 0;
    const bool is_half =
        found->is_halved && precision != PRECISION_FP32 && strstr(gpu->name, "GeForce") != NULL;
    return found->flops[precision] / (is_half ? 2 : 1);
}

static void find_flops(int i, struct gpu *gpu)
{
    int processors = 0, khz = 0;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, i) != cudaSuccess ||
        cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, i) != cudaSuccess)
        return;
    for (int p = 0; p < PRECISION_AUTO; p++)
        gpu->flops[p] = flops_per_clock(gpu, (enum precision)p) * processors * khz * 1e3;
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
    find_flops(i, gpu);
    return true;
}

const struct cuda_module hearsay_cuda_module = {.describe = cuda_describe,
                                                .devices = cuda_devices,
                                                .device = cuda_device,
                                                .open = cuda_open,
                                                .open_team = cuda_team_open};
