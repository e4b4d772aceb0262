/* The CUDA module, hearsay-cuda.so: loaded when a GPU is asked for. So the program starts where
 * there is no CUDA, and a node on a CPU does not carry cuBLAS in memory.
 *
 *   device.c ──► cuda_module() ──dlopen──► struct cuda_module (backend_cuda_devices.c)
 *
 * It is looked for beside the program or libhearsay.so, and in ../lib/hearsay; HEARSAY_CUDA names
 * another file, such as the stand-in of tests/fakes/cuda_on_cpu. Held by
 * tests/unit/model/test_device.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_MODULE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_MODULE_H

#include "backend/backend.h"
#include "backend/device.h"
#include "backend/team.h"

#define CUDA_DRIVER_NEEDED "needs NVIDIA driver" /* in the description where it is too old */

struct cuda_module {
    /* Writes "CUDA 13.0, driver for 13.0", or why no GPU can be used. */
    void (*describe)(char *text, size_t room);
    int (*devices)(void);
    /* False: the driver does not tell. */
    bool (*device)(int i, struct gpu *gpu);
    /* The problem says why GPU i cannot be used. */
    enum error (*open)(int i, enum precision precision, struct backend **backend,
                       struct problem *problem);
    /* Makes a team of these, opened before: no device twice. On OK all but the first are the team's
     * to close. */
    enum error (*open_team)(struct backend *const backends[], int count, struct team **opened,
                            struct problem *problem);
};

/* The only symbol that the module exports. */
#define CUDA_MODULE_SYMBOL "hearsay_cuda_module"
extern const struct cuda_module hearsay_cuda_module;

/* Loads it once, from the thread that starts first. Where there is none: no devices, and describe
 * says why. */
const struct cuda_module *cuda_module(void);

#endif
