#include "backend/cuda/cuda_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "hearsay-cuda.so"

#ifdef HAVE_CUDA
static const char not_found[] = "built with CUDA, but " FILE_NAME
                                " is neither beside the program nor in ../lib/hearsay: copy it too";
#else
static const char not_found[] = "built without CUDA";
#endif

static char why_not[DEVICE_TEXT_MAX];

static void none_describe(char *text, size_t room)
{
    (void)snprintf(text, room, "%s", why_not);
}

static int none_devices(void)
{
    return 0;
}

static bool none_device(int i, struct gpu *gpu)
{
    (void)i, (void)gpu;
    return false;
}

static enum error none_open(int i, enum precision precision, struct backend **backend,
                            struct problem *problem)
{
    (void)i, (void)precision, (void)backend;
    return problem_set(problem, MISSING, "%s", why_not);
}

static const struct cuda_module none = {
    .describe = none_describe, .devices = none_devices, .device = none_device, .open = none_open};

/* NULL, and why_not says why. */
static const struct cuda_module *load(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct cuda_module *found = module ? dlsym(module, CUDA_MODULE_SYMBOL) : NULL;
    if (found == NULL) {
        const char *error = dlerror();
        (void)snprintf(why_not, sizeof why_not, "CUDA cannot be loaded: %.160s",
                       error ? error : path);
    }
    return found;
}

/* Beside the program, or where it was installed. */
static bool find(char path[PATH_MAX])
{
    static const char *const places[] = {"/", "/../lib/hearsay/"};
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int written = snprintf(path, PATH_MAX, "%s%s%s", program, places[i], FILE_NAME);
        if (written < PATH_MAX && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* CUDA's libraries take a moment and some memory to load: not where there is no driver. */
static bool has_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == NULL)
        (void)snprintf(why_not, sizeof why_not,
                       "built with CUDA, but there is no NVIDIA driver here");
    return driver != NULL;
}

const struct cuda_module *cuda_module(void)
{
    static const struct cuda_module *loaded;
    if (loaded != NULL)
        return loaded;
    char path[PATH_MAX];
    const char *given = getenv("HEARSAY_CUDA");
    if (given != NULL)
        loaded = load(given);
    else if (!find(path))
        (void)snprintf(why_not, sizeof why_not, "%s", not_found);
    else if (has_driver())
        loaded = load(path);
    loaded = loaded != NULL ? loaded : &none;
    return loaded;
}
