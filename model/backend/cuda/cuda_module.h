/* Loads the CUDA module, hearsay-cuda.so, when a GPU is looked for. So the program also starts on
 * machines without CUDA, and a node on a CPU does not load cuBLAS.
 *
 *   device.c ──► cuda_module() ──dlopen──► struct cuda_module (backend_cuda_devices.c)
 *
 * The module is searched for beside the program or libhearsay.so, and where it is installed. The
 * environment variable HEARSAY_CUDA names another file, such as the stand-in of
 * tests/fakes/cuda_on_cpu. Tests: tests/unit/model/test_device.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_MODULE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_MODULE_H

#include "backend/backend.h"
#include "backend/device.h"
#include "backend/team.h"

/* Part of describe's text if the driver is too old. */
#define CUDA_DRIVER_NEEDED "needs NVIDIA driver"

struct cuda_module {
    /* Writes "CUDA 13.0, driver for 13.0, cuDNN 9.19", or the reason why no GPU can be used. */
    void (*describe)(char *text, size_t capacity);
    int (*devices)(void);
    /* Describes GPU i. Returns false if the driver cannot describe it. */
    bool (*device)(int i, struct gpu *gpu);
    enum error (*open)(int i, enum precision precision, struct backend **backend,
                       struct problem *problem);
    /* Makes a team of open backends on different devices. Closing the team closes all of these
     * backends except the first. */
    enum error (*open_team)(struct backend *const backends[], int count, struct team **opened,
                            struct problem *problem);
};

/* Name of the only symbol that the module exports. */
#define CUDA_MODULE_SYMBOL "hearsay_cuda_module"
extern const struct cuda_module hearsay_cuda_module;

/* Returns the module, loaded by the first call. If it cannot be loaded, there are no devices, and
 * `describe` writes the reason. */
const struct cuda_module *cuda_module(void);

#endif
