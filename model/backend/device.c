#include "backend/device.h"

#include <stdlib.h>
#include <string.h>

#include "backend/cpu/blas_kernels.h"
#include "backend/cuda/cuda_module.h"

#define CUDA_PREFIX "cuda:"
#define UUID_PREFIX "GPU-"

static const char *after(const char *word, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 ? word + length : NULL;
}

/* -1: no whole number. */
static int number(const char *word)
{
    char *end;
    if (word[0] < '0' || word[0] > '9' || strlen(word) > 4)
        return -1;
    const long value = strtol(word, &end, 10);
    return *end == '\0' ? (int)value : -1;
}

bool device_is_word(const char *word)
{
    const char *which = after(word, CUDA_PREFIX);
    if (which == NULL)
        return strcmp(word, "auto") == 0 || strcmp(word, "cpu") == 0;
    return strlen(word) < DEVICE_NAME_MAX && (number(which) >= 0 || after(which, UUID_PREFIX));
}

static enum error find_uuid(const char *uuid, int *found, struct problem *problem)
{
    int matches = 0;
    for (int i = 0; i < cuda_module()->devices(); i++) {
        struct gpu gpu;
        if (!cuda_module()->device(i, &gpu) || !after(gpu.uuid, uuid))
            continue;
        *found = i;
        matches++;
    }
    if (matches == 1)
        return OK;
    return problem_set(problem, MISSING,
                       matches > 1 ? "more than one GPU has a UUID that begins with %s: write more "
                                     "of it ('hearsay --version' lists them)"
                                   : "no GPU here has the UUID %s: 'hearsay --version' lists those "
                                     "there are",
                       uuid);
}

static enum error find(const char *which, int *found, struct problem *problem)
{
    char about[DEVICE_TEXT_MAX];
    const int count = cuda_module()->devices();
    cuda_module()->describe(about, sizeof about);
    if (count == 0)
        return problem_set(problem, MISSING,
                           "there is no GPU to use (%s); write device = cpu, or auto", about);
    if (after(which, UUID_PREFIX))
        return find_uuid(which, found, problem);
    *found = number(which);
    if (*found < count)
        return OK;
    return problem_set(problem, MISSING, "there is no GPU %d: the %d here are counted from 0",
                       *found, count);
}

static void describe(int i, char text[DEVICE_TEXT_MAX])
{
    struct gpu gpu;
    if (cuda_module()->device(i, &gpu))
        (void)snprintf(text, DEVICE_TEXT_MAX, "cuda:%d: %s, %.0f GiB, compute capability %d.%d", i,
                       gpu.name, (double)gpu.bytes / (1 << 30), gpu.major, gpu.minor);
    else
        (void)snprintf(text, DEVICE_TEXT_MAX, "cuda:%d", i);
}

static void open_cpu(int threads, struct backend **backend, char text[DEVICE_TEXT_MAX])
{
    *backend = backend_cpu(threads);
    (void)snprintf(text, DEVICE_TEXT_MAX, "cpu: %d thread%s, %s kernels", threads,
                   threads > 1 ? "s" : "", blas_kernels());
}

enum error device_open(const char *word, int threads, enum precision precision,
                       struct backend **backend, char text[DEVICE_TEXT_MAX],
                       struct problem *problem)
{
    int i = 0;
    enum error error = OK;
    const char *which = after(word, CUDA_PREFIX);
    CHECK(device_is_word(word));
    if (strcmp(word, "cpu") == 0) {
        open_cpu(threads, backend, text);
        return OK;
    }
    if (which == NULL && cuda_module()->devices() == 0) {
        char why[128];
        cuda_module()->describe(why, sizeof why);
        open_cpu(threads, backend, text);
        const size_t length = strlen(text);
        (void)snprintf(text + length, DEVICE_TEXT_MAX - length, " (no GPU: %s)", why);
        return OK;
    }
    if (which != NULL)
        error = find(which, &i, problem);
    if (error == OK)
        error = cuda_module()->open(i, precision, backend, problem);
    if (error == OK)
        describe(i, text);
    return error;
}

void device_list(FILE *out)
{
    char text[DEVICE_TEXT_MAX];
    (void)fprintf(out, "cpu: OpenBLAS, %s kernels\n", blas_kernels());
    cuda_module()->describe(text, sizeof text);
    (void)fprintf(out, "%s\n", text);
    for (int i = 0; i < cuda_module()->devices(); i++) {
        struct gpu gpu;
        describe(i, text);
        (void)fprintf(out, "%s, %s\n", text,
                      cuda_module()->device(i, &gpu) ? gpu.uuid : "does not answer");
    }
}
