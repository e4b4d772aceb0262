/* OpenBLAS has kernels for each kind of processor and chooses when it is loaded. One that does not
 * know a processor, because it is older than it, takes kernels without AVX: a product of matrices
 * then takes three to four times as long. The choice can be made only in the environment, before it
 * is loaded:
 *
 *   main ─► blas_kernels_wanted ─► OPENBLAS_CORETYPE, and the program restarts itself
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H
#define HEARSAY_MODEL_BACKEND_CPU_BLAS_KERNELS_H

#define BLAS_KERNELS_VARIABLE "OPENBLAS_CORETYPE"
#define BLAS_THREADS_VARIABLE "OPENBLAS_NUM_THREADS"

/* OpenBLAS's name of those that it uses: "Haswell". */
const char *blas_kernels(void);

/* The name of those that this processor has the instructions for, where OpenBLAS has taken some of
 * before AVX and nobody has told it to; else NULL. */
const char *blas_kernels_wanted(void);

#endif
