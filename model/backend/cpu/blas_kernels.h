/* Makes OpenBLAS use kernels that suit the processor. It chooses its kernels while it is loaded. If
 * its version is older than the processor, it chooses kernels without AVX, and matrix products take
 * three to four times as long. Only an environment variable can change the choice, before OpenBLAS
 * is loaded:
 *
 *   main ─► blas_kernels_restart ─► OPENBLAS_CORETYPE, and the program restarts itself
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H

#include <stdbool.h>

#define BLAS_KERNELS_VARIABLE "OPENBLAS_CORETYPE"
#define BLAS_THREADS_VARIABLE "OPENBLAS_NUM_THREADS"

/* Returns OpenBLAS's name of the kernels in use, such as "Haswell". */
const char *blas_kernels(void);

/* Restarts the program in the same process, with the fastest kernels that this processor supports
 * in BLAS_KERNELS_VARIABLE, and without OpenBLAS's threads if `alone`. Returns if no change is
 * needed (OpenBLAS's kernels use AVX, the variable is already set, or the processor has no AVX2),
 * or if the restart fails. */
void blas_kernels_restart(char **argv, bool alone);

#endif
