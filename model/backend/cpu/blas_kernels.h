/* OpenBLAS has kernels for each kind of processor and chooses among them while it is loaded. If its
 * version is older than the processor, it chooses kernels without AVX, and matrix products take
 * three to four times as long. Only the environment can change the choice, before OpenBLAS is
 * loaded:
 *
 *   main ─► blas_kernels_wanted ─► OPENBLAS_CORETYPE, and the program restarts itself
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H

#define BLAS_KERNELS_VARIABLE "OPENBLAS_CORETYPE"
#define BLAS_THREADS_VARIABLE "OPENBLAS_NUM_THREADS"

/* Returns OpenBLAS's name of the kernels in use, such as "Haswell". */
const char *blas_kernels(void);

/* Returns the name of kernels that this processor supports, if OpenBLAS has chosen kernels without
 * AVX and the environment does not demand that; otherwise NULL. */
const char *blas_kernels_wanted(void);

#endif
