#include "backend/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/blas_kernels.h"
#include "backend/cuda/cuda_module.h"

#define CUDA_PREFIX "cuda:"
#define UUID_PREFIX "GPU-"
#define ALL         "all"
#define NO_GPU      " (no GPU: "
#define DEVICE_FILE "/dev/nvidiactl"

static const char *after(const char *word, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 ? word + length : NULL;
}

/* Parses a whole number below 10,000. Returns a negative number for any other word. */
static int number(const char *word)
{
    char *end;
    if (word[0] < '0' || word[0] > '9' || strlen(word) > 4)
        return -1;
    const long value = strtol(word, &end, 10);
    return *end == '\0' ? (int)value : -1;
}

/* Copies the first GPU of a comma-separated list to `which` ("" if it is too long). Returns the
 * rest of the list, or NULL if nothing follows. */
static const char *first_of(const char *list, char which[DEVICE_UUID_TEXT])
{
    const size_t length = strcspn(list, ",");
    (void)snprintf(which, DEVICE_UUID_TEXT, "%.*s", length < DEVICE_UUID_TEXT ? (int)length : 0,
                   list);
    return list[length] == ',' ? list + length + 1 : NULL;
}

bool device_is_word(const char *word)
{
    const char *list = after(word, CUDA_PREFIX);
    char which[DEVICE_UUID_TEXT];
    int count = 0;
    if (list == NULL)
        return strcmp(word, "auto") == 0 || strcmp(word, "cpu") == 0;
    if (strcmp(list, ALL) == 0)
        return true;
    while (list != NULL) {
        list = first_of(list, which);
        if (number(which) < 0 && !after(which, UUID_PREFIX))
            return false;
        count++;
    }
    return count <= TEAM_MAX;
}

bool device_is_gpu(const char *word)
{
    return after(word, CUDA_PREFIX) != NULL;
}

int device_count(const char *word)
{
    const char *list = after(word, CUDA_PREFIX);
    int count = 1;
    if (list != NULL && strcmp(list, ALL) == 0)
        count = cuda_module()->devices();
    else
        for (; list != NULL && *list != '\0'; list++)
            count += *list == ',';
    return count > 0 ? count : 1;
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
    const int count = cuda_module()->devices();
    if (after(which, UUID_PREFIX))
        return find_uuid(which, found, problem);
    *found = number(which);
    if (*found < count)
        return OK;
    return problem_set(problem, MISSING, "there is no GPU %d: the %d here are counted from 0",
                       *found, count);
}

static enum error find_each(const char *list, int found[TEAM_MAX], int *count,
                            struct problem *problem)
{
    char which[DEVICE_UUID_TEXT];
    *count = 0;
    while (list != NULL) {
        CHECK(*count < TEAM_MAX);
        list = first_of(list, which);
        const enum error error = find(which, &found[*count], problem);
        if (error != OK)
            return error;
        for (int i = 0; i < *count; i++)
            if (found[i] == found[*count])
                return problem_set(problem, MISMATCH,
                                   "GPU %d is named twice in the device: name each once", found[i]);
        ++*count;
    }
    return OK;
}

/* Finds the indices of the listed GPUs, or of all GPUs if the list is ALL. */
static enum error find_listed(const char *list, int found[TEAM_MAX], int *count,
                              struct problem *problem)
{
    char about[DEVICE_TEXT_MAX];
    const int all = cuda_module()->devices();
    cuda_module()->describe(about, sizeof about);
    if (all == 0)
        return problem_set(problem, MISSING,
                           "there is no GPU to use (%s); write device = cpu, or auto", about);
    if (strcmp(list, ALL) != 0)
        return find_each(list, found, count, problem);
    if (all > TEAM_MAX)
        return problem_set(problem, TOO_BIG,
                           "there are %d GPUs, and a node uses %d at most: name "
                           "those that it is to use",
                           all, TEAM_MAX);
    for (*count = 0; *count < all; ++*count)
        found[*count] = *count;
    return OK;
}

/* Finds the indices of the GPUs that the word names. Returns their number: 0 for cpu, for auto
 * without a GPU, or if the list is wrong. */
static int find_gpus(const char *word, int found[TEAM_MAX])
{
    struct problem problem;
    int count = 0;
    const char *list = after(word, CUDA_PREFIX);
    if (list != NULL)
        return find_listed(list, found, &count, &problem) == OK ? count : 0;
    found[0] = 0;
    return strcmp(word, "auto") == 0 && cuda_module()->devices() > 0 ? 1 : 0;
}

enum precision device_precision(const char *word, bool is_wide)
{
    int gpus[TEAM_MAX];
    struct gpu gpu;
    const int count = find_gpus(word, gpus);
    for (int i = 0; i < count; i++)
        if (!cuda_module()->device(gpus[i], &gpu) || gpu.major < 8)
            return PRECISION_FP32;
    if (count == 0)
        return PRECISION_FP32;
    return is_wide ? PRECISION_BF16 : PRECISION_TF32;
}

const char *device_precision_name(enum precision precision)
{
    static const char *const names[] = {"fp32", "tf32", "bf16", "auto"};
    CHECK(precision <= PRECISION_AUTO);
    return names[precision];
}

bool device_misses_gpu(const char *text)
{
    return strstr(text, NO_GPU) != NULL &&
           (strstr(text, CUDA_DRIVER_NEEDED " ") != NULL || access(DEVICE_FILE, F_OK) == 0);
}

bool device_gpu(const char *word, struct gpu *gpu)
{
    int gpus[TEAM_MAX];
    return find_gpus(word, gpus) > 0 && cuda_module()->device(gpus[0], gpu);
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

/* Opens the device for the word auto or cpu. */
static enum error open_any(const char *word, int threads, enum precision precision,
                           struct backend **backend, char text[DEVICE_TEXT_MAX],
                           struct problem *problem)
{
    if (strcmp(word, "cpu") == 0) {
        open_cpu(threads, backend, text);
        return OK;
    }
    if (cuda_module()->devices() == 0) {
        char why[200];
        cuda_module()->describe(why, sizeof why);
        open_cpu(threads, backend, text);
        const size_t length = strlen(text);
        (void)snprintf(text + length, DEVICE_TEXT_MAX - length, NO_GPU "%s)", why);
        return OK;
    }
    const enum error error = cuda_module()->open(0, precision, backend, problem);
    if (error == OK)
        describe(0, text);
    return error;
}

/* Opens gpus[count], and their team if there are several. On an error, closes those already
 * opened. */
static enum error open_each(const int gpus[], int count, enum precision precision,
                            struct backend *backends[], struct team **team, struct problem *problem)
{
    enum error error = OK;
    int opened = 0;
    while (error == OK && opened < count) {
        error = cuda_module()->open(gpus[opened], precision, &backends[opened], problem);
        opened += error == OK;
    }
    if (error == OK && count > 1)
        error = cuda_module()->open_team(backends, count, team, problem);
    while (error != OK && opened > 0) {
        opened--;
        backends[opened]->close(backends[opened]);
    }
    return error;
}

static void describe_each(const int gpus[], int count, char text[DEVICE_TEXT_MAX])
{
    CHECK(count > 0);
    describe(gpus[0], text);
    for (int i = 1; i < count; i++) {
        const size_t length = strlen(text);
        (void)snprintf(text + length, DEVICE_TEXT_MAX - length, "%s%s%d", i == 1 ? "; with " : ", ",
                       CUDA_PREFIX, gpus[i]);
    }
}

enum error device_open_team(const char *word, int threads, enum precision precision,
                            struct backend **backend, struct team **team,
                            char text[DEVICE_TEXT_MAX], struct problem *problem)
{
    struct backend *backends[TEAM_MAX];
    int gpus[TEAM_MAX] = {0}, count = 0;
    const char *list = after(word, CUDA_PREFIX);
    CHECK(device_is_word(word));
    *team = NULL;
    if (list == NULL)
        return open_any(word, threads, precision, backend, text, problem);
    enum error error = find_listed(list, gpus, &count, problem);
    if (error == OK)
        error = open_each(gpus, count, precision, backends, team, problem);
    if (error != OK)
        return error;
    *backend = backends[0];
    describe_each(gpus, count, text);
    return OK;
}

enum error device_open(const char *word, int threads, enum precision precision,
                       struct backend **backend, char text[DEVICE_TEXT_MAX],
                       struct problem *problem)
{
    struct team *team;
    if (device_count(word) > 1)
        return problem_set(problem, MISMATCH, "%.200s is more than one device: name one", word);
    return device_open_team(word, threads, precision, backend, &team, text, problem);
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
