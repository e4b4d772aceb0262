/* The GPU as a backend, through CUDA and cuBLAS, and which GPUs there are. Whoever chooses one sees
 * device.h. Without CUDA at build time, backend_without_cuda.c has none. */
#ifndef HEARSAY_BACKEND_CUDA_H
#define HEARSAY_BACKEND_CUDA_H

#include "backend.h"
#include "device.h"

/* What the program was built with and what it finds: "CUDA 13.0, driver 12.8", or why there are no
 * GPUs. */
void cuda_describe(char *text, size_t room);

int cuda_devices(void);
/* False: the driver does not tell. */
bool cuda_device(int i, struct gpu *gpu);

/* Opens GPU i; the problem says why it cannot be used. */
enum status backend_cuda(int i, enum precision precision, struct backend **backend,
                         struct problem *problem) MUST_USE;

#endif
