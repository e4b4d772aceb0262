/* Makes OpenBLAS use kernels that suit the processor. OpenBLAS chooses its kernels while it is
 * loaded. A version that is older than the processor chooses kernels without AVX, and matrix
 * products take three to four times as long. Only an environment variable can change the choice,
 * before OpenBLAS is loaded:
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

/* Restarts the program in the same process, with one or both of these changes:
 *   - if `alone`, BLAS_THREADS_VARIABLE is 1, so that OpenBLAS creates no threads;
 *   - if OpenBLAS's kernels use no AVX, and an x86-64 processor has AVX2 and FMA,
 *     BLAS_KERNELS_VARIABLE is "SkylakeX" (with AVX-512) or "Haswell", unless it is set already.
 * Returns if neither change is needed, or if the restart fails. */
void blas_kernels_restart(char **argv, bool alone);

#endif
