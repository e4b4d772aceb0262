/* Makes OpenBLAS use kernels that suit the processor. It chooses its kernels while it is loaded. If
 * its version is older than the processor, it chooses kernels without AVX, and matrix products take
 * three to four times as long. Only an environment variable can change the choice, before OpenBLAS
 * is loaded:
 *
 *   main ─► blas_kernels_wanted ─► OPENBLAS_CORETYPE, and the program restarts itself
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H

#define BLAS_KERNELS_VARIABLE "OPENBLAS_CORETYPE"
#define BLAS_THREADS_VARIABLE "OPENBLAS_NUM_THREADS"

/* Returns OpenBLAS's name of the kernels in use, such as "Haswell". */
const char *blas_kernels(void);

/* Returns the kernels to set in BLAS_KERNELS_VARIABLE: the fastest that this processor supports.
 * Returns NULL if no change is needed: OpenBLAS's kernels use AVX, the variable is already set, or
 * the processor has no AVX2. */
const char *blas_kernels_wanted(void);

#endif
