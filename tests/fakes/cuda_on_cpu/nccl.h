/* The part of NCCL that model/ uses (cuda_runtime_api.h): devices of one process send and add
 * numbers, each in its stream and in its own memory. It refuses calls that NCCL refuses or hangs
 * in: a device twice, calls outside of a group, groups in which a device is missing or calls
 * another operation than the others, streams and memory of another device. The sum for a device
 * begins with the next device's numbers and ends with its own, as in a ring.
 *
 * Environment: NCCL_ON_CPU_FAILS=1 (the communicator cannot be created). */
#ifndef CUDA_ON_CPU_NCCL_H
#define CUDA_ON_CPU_NCCL_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm *ncclComm_t;
typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5
} ncclResult_t;
typedef enum { ncclFloat32 = 7 } ncclDataType_t;
typedef enum { ncclSum = 0 } ncclRedOp_t;

const char *ncclGetErrorString(ncclResult_t error);
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
