/* Marks a function that CUDA kernels may also call. */
#ifndef HEARSAY_BASE_ON_DEVICE_H
#define HEARSAY_BASE_ON_DEVICE_H

#ifdef __CUDACC__
#define ON_DEVICE __host__ __device__
#else
#define ON_DEVICE
#endif

#endif
