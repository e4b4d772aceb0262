#include "backend/cuda/cuda_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

#define FILE_NAME "hearsay-cuda.so"

#ifdef HAVE_CUDA
static const char not_found[] = "built with CUDA, but " FILE_NAME
                                " is neither beside the program nor in ../lib/hearsay: install it";
#else
static const char not_found[] = "built without CUDA";
#endif

static char why_not[DEVICE_TEXT_MAX];

static void none_describe(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "%s", why_not);
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

static enum error none_open_team(struct backend *const backends[], int count, struct team **opened,
                                 struct problem *problem)
{
    (void)backends, (void)count, (void)opened;
    return problem_set(problem, MISSING, "%s", why_not);
}

static const struct cuda_module none = {.describe = none_describe,
                                        .devices = none_devices,
                                        .device = none_device,
                                        .open = none_open,
                                        .open_team = none_open_team};

/* Loads the module from this file. Returns NULL and sets why_not if that fails. */
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

/* Searches for the module at `places`, relative to the folder of `file`. Writes its path and
 * returns whether it exists. */
static bool find_from(const char *file, const char *const places[], size_t count,
                      char path[PATH_MAX])
{
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; slash && i < count; i++) {
        const int written =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)(slash - file), file, places[i], FILE_NAME);
        if (written < PATH_MAX && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Searches for the module beside the program, beside libhearsay.so if that contains this code, and
 * where it is installed. Writes its path and returns whether it exists. */
static bool find(char path[PATH_MAX])
{
    static const char *const of_program[] = {"/", "/../lib/hearsay/"};
    static const char *const of_library[] = {"/", "/hearsay/", "/../hearsay/"};
    char program[PATH_MAX];
    Dl_info library;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    return find_from(program, of_program, 2, path) ||
           (dladdr(&none, &library) && find_from(library.dli_fname, of_library, 3, path));
}

/* Returns whether there is an NVIDIA driver. Without a driver the module is not loaded, since
 * CUDA's libraries take time and memory. */
static bool has_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver == NULL)
        (void)snprintf(why_not, sizeof why_not,
                       "built with CUDA, but there is no NVIDIA driver here");
    return driver != NULL;
}

static const struct cuda_module *loaded = &none;

static void load_once(void)
{
    char path[PATH_MAX];
    const struct cuda_module *found = NULL;
    const char *given = getenv("HEARSAY_CUDA");
    if (given != NULL)
        found = load(given);
    else if (!find(path))
        (void)snprintf(why_not, sizeof why_not, "%s", not_found);
    else if (has_driver())
        found = load(path);
    if (found != NULL)
        loaded = found;
}

const struct cuda_module *cuda_module(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(pthread_once(&once, load_once) == 0);
    return loaded;
}
