#include "backend/cpu/blas_kernels.h"

#include <cblas.h>
#include <stdbool.h>
#include <stdlib.h>
#include <strings.h>

const char *blas_kernels(void)
{
    return openblas_get_corename();
}

#ifdef __x86_64__
static bool are_before_avx(const char *kernels)
{
    static const char *const old[] = {"Prescott",  "Core2",  "Penryn", "Dunnington", "Nehalem",
                                      "Atom",      "Athlon", "Nano",   "Opteron",    "Opteron_SSE3",
                                      "Barcelona", "Bobcat", "generic"};
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (strcasecmp(kernels, old[i]) == 0)
            return true;
    return false;
}

static const char *fitting(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return "SkylakeX";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "Haswell" : NULL;
}

const char *blas_kernels_wanted(void)
{
    return getenv(BLAS_KERNELS_VARIABLE) || !are_before_avx(blas_kernels()) ? NULL : fitting();
}
#else
const char *blas_kernels_wanted(void)
{
    return NULL;
}
#endif
