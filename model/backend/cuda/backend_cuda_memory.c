/* Memory of the device, uploads and downloads. */
#include <string.h>

#include "backend/cuda/cuda.h"

static size_t memory_left(size_t *all)
{
    size_t left = 0;
    cuda_check(cudaMemGetInfo(&left, all), "looking for memory");
    return left;
}

struct device_memory cuda_memory(struct backend *backend)
{
    struct device_memory memory;
    (void)cuda_on(backend);
    memory.free = memory_left(&memory.total);
    return memory;
}

static void *take_raw(struct cuda *cuda, size_t bytes)
{
    void *memory = NULL;
    const cudaError_t error = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        size_t all;
        const size_t left = memory_left(&all);
        fatal("out of memory: no %zu bytes more on GPU %d, of whose %zu MiB %zu are free; take a "
              "smaller model or batch, or another device",
              bytes, cuda->device, all >> 20, left >> 20);
    }
    cuda_check(error, "taking memory");
    return memory;
}

void *cuda_alloc(struct backend *backend, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    void *memory = take_raw(cuda, bytes);
    cuda_check(cudaMemsetAsync(memory, 0, bytes, cuda->stream), "clearing memory");
    return memory;
}

/* Returns a copy in pinned host memory, which the device reads at the same address. */
static void *keep_far(struct cuda *cuda, const void *host_from, size_t bytes)
{
    void *memory = NULL;
    const cudaError_t error = cudaMallocHost(&memory, bytes);
    if (error == cudaErrorMemoryAllocation)
        fatal(
            "out of memory: no %zu bytes for samples, neither on GPU %d nor, where it could reach "
            "them, on its host; take a part of the data (data.shard)",
            bytes, cuda->device);
    cuda_check(error, "taking memory of the host");
    return memcpy(memory, host_from, bytes);
}

void *cuda_keep(struct backend *backend, const void *host_from, size_t bytes, bool *far)
{
    size_t all;
    struct cuda *cuda = cuda_on(backend);
    *far = bytes > memory_left(&all) / 2;
    if (*far)
        return keep_far(cuda, host_from, bytes);
    void *memory = cuda_alloc(backend, bytes);
    cuda_upload(backend, memory, host_from, bytes);
    return memory;
}

void cuda_free(struct backend *backend, void *memory)
{
    struct cuda *cuda = cuda_on(backend);
    struct cudaPointerAttributes about = {.type = cudaMemoryTypeDevice};
    cuda_check(cudaStreamSynchronize(cuda->stream), "giving back memory");
    if (memory != NULL)
        cuda_check(cudaPointerGetAttributes(&about, memory), "giving back memory");
    cuda_check(about.type == cudaMemoryTypeHost ? cudaFreeHost(memory) : cudaFree(memory),
               "giving back memory");
}

static void upload_parcel(struct cuda *cuda, void *to, const void *host_from, size_t bytes)
{
    struct parcel *parcel = &cuda->parcels[cuda->parcels_sent++ % PARCELS];
    cuda_check(cudaEventSynchronize(parcel->fetched), "upload");
    memcpy(parcel->memory, host_from, bytes);
    cuda_check(cudaMemcpyAsync(to, parcel->memory, bytes, cudaMemcpyHostToDevice, cuda->stream),
               "upload");
    cuda_check(cudaEventRecord(parcel->fetched, cuda->stream), "upload");
}

/* Copies the numbers to pinned memory that the device reads later. So the host continues at once,
 * unless all parcels still wait for the device. */
static void upload_in_parcels(struct cuda *cuda, void *to, const void *host_from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PARCEL_BYTES) {
        const size_t left = bytes - at, part = size_min(left, PARCEL_BYTES);
        upload_parcel(cuda, (char *)to + at, (const char *)host_from + at, part);
    }
}

void cuda_upload(struct backend *backend, void *to, const void *host_from, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    if (bytes == 0)
        return;
    if (bytes <= PARCELS / 2 * PARCEL_BYTES) {
        upload_in_parcels(cuda, to, host_from, bytes);
        return;
    }
    cuda_check(cudaMemcpyAsync(to, host_from, bytes, cudaMemcpyHostToDevice, cuda->stream),
               "upload");
    cuda_check(cudaStreamSynchronize(cuda->stream), "upload");
}

void cuda_download(struct backend *backend, void *host_to, const void *from, size_t bytes)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_check(cudaMemcpyAsync(host_to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream),
               "download");
    cuda_check(cudaStreamSynchronize(cuda->stream), "download");
}

/* Reads on its own stream, which waits for the exchange's last write but not for steps. Does not
 * write to struct cuda, because another thread may be running an operation. */
void cuda_peek(struct backend *backend, void *host_to, const void *from, size_t bytes)
{
    const struct cuda *cuda = (const struct cuda *)backend;
    cuda_check(cudaSetDevice(cuda->device), "choosing the device");
    cuda_check(cudaStreamWaitEvent(cuda->aside, cuda->base_written, 0), "reading the base");
    cuda_check(cudaMemcpyAsync(host_to, from, bytes, cudaMemcpyDeviceToHost, cuda->aside),
               "reading the base");
    cuda_check(cudaStreamSynchronize(cuda->aside), "reading the base");
}

bool cuda_buffer_grows(struct cuda *cuda, struct device_buffer *scratch, size_t bytes)
{
    if (bytes <= scratch->bytes)
        return false;
    CHECK(!cuda->recording);
    const size_t half_more = scratch->bytes + scratch->bytes / 2;
    const size_t enough = size_max(bytes, half_more);
    cuda_free(&cuda->table, scratch->memory);
    *scratch = (struct device_buffer){.memory = take_raw(cuda, enough), .bytes = enough};
    return true;
}

void *cuda_part(struct layout *layout, size_t bytes)
{
    const size_t at = layout->bytes;
    layout->bytes += (bytes + 255) & ~(size_t)255;
    return layout->memory != NULL ? layout->memory + at : NULL;
}

void *cuda_step_buffer(struct cuda *cuda, struct device_buffer *scratch, size_t bytes)
{
    cuda->growths += cuda_buffer_grows(cuda, scratch, bytes);
    return scratch->memory;
}

void *cuda_scratch(struct cuda *cuda, size_t bytes)
{
    return cuda_step_buffer(cuda, &cuda->scratch, bytes);
}
