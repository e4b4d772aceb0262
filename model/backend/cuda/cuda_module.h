/* The CUDA module, hearsay-cuda.so, which is loaded when a GPU is requested. So the program starts
 * on machines without CUDA, and a node on a CPU does not load cuBLAS.
 *
 *   device.c ──► cuda_module() ──dlopen──► struct cuda_module (backend_cuda_devices.c)
 *
 * It is searched for beside the program or libhearsay.so, and in ../lib/hearsay; HEARSAY_CUDA names
 * another file, such as the stand-in of tests/fakes/cuda_on_cpu. Held by
 * tests/unit/model/test_device.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_MODULE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_MODULE_H

#include "backend/backend.h"
#include "backend/device.h"
#include "backend/team.h"

#define CUDA_DRIVER_NEEDED "needs NVIDIA driver" /* part of the description for old drivers */

struct cuda_module {
    /* Writes "CUDA 13.0, driver for 13.0", or the reason why no GPU can be used. */
    void (*describe)(char *text, size_t capacity);
    int (*devices)(void);
    /* Describes GPU i. Returns false if the driver gives no information. */
    bool (*device)(int i, struct gpu *gpu);
    /* Opens GPU i. On an error the problem has the reason. */
    enum error (*open)(int i, enum precision precision, struct backend **backend,
                       struct problem *problem);
    /* Makes a team of these open backends, with no device twice. On OK the team closes all but the
     * first. */
    enum error (*open_team)(struct backend *const backends[], int count, struct team **opened,
                            struct problem *problem);
};

/* Name of the only symbol that the module exports. */
#define CUDA_MODULE_SYMBOL "hearsay_cuda_module"
extern const struct cuda_module hearsay_cuda_module;

/* Returns the module, loaded once by the first call. If it is missing, there are no devices, and
 * describe gives the reason. */
const struct cuda_module *cuda_module(void);

#endif
