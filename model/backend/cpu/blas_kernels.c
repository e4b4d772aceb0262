#include "backend/cpu/blas_kernels.h"

#include <cblas.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

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

static const char *wanted(void)
{
    return getenv(BLAS_KERNELS_VARIABLE) || !are_before_avx(blas_kernels()) ? NULL : fitting();
}
#else
static const char *wanted(void)
{
    return NULL;
}
#endif

void blas_kernels_restart(char **argv, bool alone)
{
    char path[4096];
    const char *kernels = wanted();
    if (!kernels && !alone)
        return;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || (kernels && setenv(BLAS_KERNELS_VARIABLE, kernels, 0) != 0) ||
        (alone && setenv(BLAS_THREADS_VARIABLE, "1", 1) != 0))
        return;
    path[length] = '\0';
    (void)execv(path, argv);
}
