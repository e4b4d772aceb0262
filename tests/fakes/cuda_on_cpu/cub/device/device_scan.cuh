/* CUB's scan on the CPU (cuda_runtime_api.h). */
#ifndef CUDA_ON_CPU_DEVICE_SCAN_CUH
#define CUDA_ON_CPU_DEVICE_SCAN_CUH

#include "cuda_runtime.h"

namespace cub {
struct DeviceScan {
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, const uint32_t *from, uint32_t *to,
                                    int count, cudaStream_t stream = nullptr)
    {
        const size_t needed = 256 + (size_t)count / 64;
        if (room == nullptr) {
            bytes = needed;
            return cudaSuccess;
        }
        if (bytes < needed)
            return cudaErrorInvalidValue;
        return stand_in_submit(stream, [=] {
            memset(room, 0xEE, needed);
            uint32_t sum = 0;
            for (int i = 0; i < count; i++) {
                const uint32_t own = from[i];
                to[i] = sum;
                sum += own;
            }
        });
    }
};
} // namespace cub

#endif
