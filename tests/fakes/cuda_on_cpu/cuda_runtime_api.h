/* CUDA without a GPU: the part of its runtime that model/ uses, for tests on machines without one.
 *
 *   sources in model/backend/cuda ──► these headers ──► cuda_on_cpu.cc
 *
 * The backend's sources are compiled against this folder instead of the CUDA Toolkit. It is
 * stricter than a real device:
 * - work only runs when the host waits for it
 * - memory of a device can be accessed only by that device, and ends at a guard page
 * - kernels must be launched in streams of the chosen device
 * - calls that are not allowed while a stream records fail
 * - all threads of a block must reach the same __syncthreads
 * It cannot show speed, races between threads, or the rounding of cuBLAS.
 *
 * Environment: CUDA_ON_CPU_DEVICES (1), CUDA_ON_CPU_MIB (memory of each device, 512),
 * CUDA_ON_CPU_CAPABILITY (9), CUDA_ON_CPU_DRIVER (version of the driver, 13000),
 * CUDA_ON_CPU_KERNELS=0 (the device has no matching kernels), and CUDA_ON_CPU_BREAKS, the name of a
 * file: once it exists, every call fails.
 */
#ifndef CUDA_ON_CPU_RUNTIME_API_H
#define CUDA_ON_CPU_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInvalidConfiguration,
    cudaErrorInvalidDevice,
    cudaErrorECCUncorrectable,
    cudaErrorStreamCaptureUnsupported,
    cudaErrorNoDevice,
    cudaErrorNoKernelImageForDevice,
    cudaErrorInvalidResourceHandle,
    cudaErrorOperatingSystem,
    cudaErrorNotReady,
    cudaErrorInsufficientDriver
} cudaError_t;

typedef struct stand_in_stream *cudaStream_t;
typedef struct stand_in_event *cudaEvent_t;
typedef struct stand_in_graph *cudaGraph_t;
typedef struct stand_in_graph *cudaGraphExec_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
enum cudaDeviceAttr {
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75
};
#define cudaStreamNonBlocking  1u
#define cudaEventDefault       0u
#define cudaEventDisableTiming 2u
#define cudaEventBlockingSync  1u

typedef struct {
    char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem;
    int major;
    int minor;
};

struct cudaPointerAttributes {
    enum cudaMemoryType type;
};

/* Work that was submitted to all devices in this process. */
struct stand_in_count {
    uint64_t copied_bytes;
    uint64_t set_bytes;
    uint64_t kernels;
    uint64_t synchronizations; /* calls in which the host waited for a stream */
};
struct stand_in_count stand_in_counted(void);

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDriverGetVersion(int *version);

cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *about, const void *memory);
cudaError_t cudaMemGetInfo(size_t *left, size_t *all);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begun, cudaEvent_t ended);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);

#ifdef __cplusplus
}
#endif

#endif
