#include "library/caller_tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/companding.h"
#include "base/half.h"
#include "base/memory.h"
#include "crypto/secret.h"
#include "wire/model_parts.h"

#define LIST_HASH   16 /* bytes of the hash of the list of tensors */
#define TENSORS_MAX (1 << 20)

#define DEVICE_INDEX_MAX 999

static size_t bytes_of(enum hearsay_dtype dtype)
{
    return dtype == HEARSAY_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
}

/* Returns false if a dimension is wrong, or there are more entries than a model may have. */
static bool count_entries(const struct hearsay_tensor *given, size_t *count)
{
    *count = 1;
    for (uint32_t i = 0; i < given->dimensions; i++) {
        const int64_t size = given->shape[i];
        if (size < 1 || size > INT32_MAX || *count > (size_t)INT32_MAX / (size_t)size)
            return false;
        *count *= (size_t)size;
    }
    return true;
}

static enum error check_tensor(const struct hearsay_tensor *given, uint32_t i,
                               struct problem *problem)
{
    size_t count;
    if (!given->name || !given->name[0] ||
        strnlen(given->name, HEARSAY_NAME_MAX + 1) > HEARSAY_NAME_MAX)
        return problem_set(problem, MALFORMED, "tensor %u: its name is missing or too long",
                           (unsigned)i);
    if (given->device == HEARSAY_CUDA &&
        (given->device_index < 0 || given->device_index > DEVICE_INDEX_MAX))
        return problem_set(problem, MISMATCH, "tensor %.100s: there is no GPU %d", given->name,
                           (int)given->device_index);
    if (given->device != HEARSAY_CPU && given->device != HEARSAY_CUDA)
        return problem_set(problem, MISMATCH,
                           "tensor %.100s: it is on device %d, but this library supports only "
                           "the CPU (1) and CUDA (2)",
                           given->name, (int)given->device);
    if (given->dtype > HEARSAY_FLOAT16 || (given->flags & ~HEARSAY_STATISTICS) != 0)
        return problem_set(problem, MISMATCH,
                           "tensor %.100s: type %u or flag %u is unknown; pass float32, bfloat16 "
                           "or float16, and flag 0 or 1",
                           given->name, (unsigned)given->dtype, (unsigned)given->flags);
    if (given->dimensions > HEARSAY_DIMENSIONS_MAX || !count_entries(given, &count))
        return problem_set(problem, MALFORMED,
                           "tensor %.100s: its shape is invalid: at most %d dimensions of at least "
                           "1 each, and at most 2147483647 numbers",
                           given->name, HEARSAY_DIMENSIONS_MAX);
    if (!given->data || (uintptr_t)given->data % bytes_of((enum hearsay_dtype)given->dtype) != 0)
        return problem_set(problem, MALFORMED, "tensor %.100s: its data is missing or not aligned",
                           given->name);
    return OK;
}

static enum error add(struct caller_tensors *tensors, const struct hearsay_tensor *given,
                      struct problem *problem)
{
    struct caller_tensor *tensor = &tensors->item[tensors->count];
    for (uint32_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->item[i].name, given->name) == 0)
            return problem_set(problem, MALFORMED,
                               "tensor %.100s: two tensors have this name; rename one",
                               given->name);
    if (tensors->count == 0) {
        tensors->device = (enum hearsay_device)given->device;
        tensors->device_index = given->device_index;
    }
    if (given->device != (int32_t)tensors->device ||
        (tensors->device == HEARSAY_CUDA && given->device_index != tensors->device_index))
        return problem_set(problem, MISMATCH,
                           "tensor %.100s: it is on another device than the first tensor; move all "
                           "tensors to one device",
                           given->name);
    *tensor = (struct caller_tensor){.name = memory_text(given->name),
                                     .dimensions = given->dimensions,
                                     .dtype = (enum hearsay_dtype)given->dtype,
                                     .data = given->data,
                                     .are_statistics = (given->flags & HEARSAY_STATISTICS) != 0,
                                     .first = tensors->parameters};
    memcpy(tensor->shape, given->shape, given->dimensions * sizeof *given->shape);
    (void)count_entries(given, &tensor->count);
    tensors->count++;
    tensors->parameters += tensor->count;
    if (tensors->parameters > INT32_MAX)
        return problem_set(
            problem, TOO_BIG,
            "the tensors have more than 2147483647 numbers together; share fewer tensors");
    return OK;
}

static int by_address(const void *a, const void *b)
{
    const struct caller_tensor *x = a, *y = b;
    return ((uintptr_t)x->data > (uintptr_t)y->data) - ((uintptr_t)x->data < (uintptr_t)y->data);
}

/* Checks that no two tensors share memory: an update would move shared memory twice. */
static enum error check_apart(const struct caller_tensors *tensors, struct problem *problem)
{
    enum error error = OK;
    struct caller_tensor *sorted = memory_new(tensors->count, sizeof *sorted);
    memcpy(sorted, tensors->item, tensors->count * sizeof *sorted);
    qsort(sorted, tensors->count, sizeof *sorted, by_address);
    for (uint32_t i = 1; error == OK && i < tensors->count; i++) {
        const struct caller_tensor *before = &sorted[i - 1];
        if ((uintptr_t)sorted[i].data - (uintptr_t)before->data <
            before->count * bytes_of(before->dtype))
            error = problem_set(problem, MALFORMED,
                                "tensors %.100s and %.100s share memory; pass only one of them",
                                before->name, sorted[i].name);
    }
    free(sorted);
    return error;
}

enum error caller_tensors_init(struct caller_tensors *tensors, const struct hearsay_tensor *given,
                               uint32_t count, struct problem *problem)
{
    enum error error = OK;
    *tensors = (struct caller_tensors){.count = 0};
    if (!given || count == 0 || count > TENSORS_MAX)
        return problem_set(problem, MALFORMED, "the call passes %u tensors; pass 1 to %d",
                           (unsigned)count, TENSORS_MAX);
    tensors->item = memory_new(count, sizeof *tensors->item);
    for (uint32_t i = 0; error == OK && i < count; i++) {
        error = check_tensor(&given[i], i, problem);
        if (error == OK)
            error = add(tensors, &given[i], problem);
    }
    if (error == OK)
        error = check_apart(tensors, problem);
    if (error != OK)
        caller_tensors_free(tensors);
    return error;
}

void caller_tensors_use(struct caller_tensors *tensors, struct backend *backend)
{
    CHECK(!tensors->backend);
    tensors->backend = backend;
}

void caller_tensors_free(struct caller_tensors *tensors)
{
    for (uint32_t i = 0; i < tensors->count; i++)
        free(tensors->item[i].name);
    free(tensors->item);
    *tensors = (struct caller_tensors){.count = 0};
}

static bool find(const struct model *model, const char *name, struct tensor *found)
{
    for (int i = 0; i < model_tensors(model); i++) {
        *found = model_tensor(model, i);
        if (strcmp(found->name, name) == 0)
            return true;
    }
    return false;
}

static bool has_sides(const struct caller_tensor *tensor, const struct tensor *model)
{
    bool has = tensor->dimensions == (uint32_t)model->rank;
    for (int i = 0; has && i < model->rank; i++)
        has = tensor->shape[i] == (int64_t)model->dims[i];
    return has;
}

static int by_place(const void *a, const void *b)
{
    const struct caller_tensor *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

enum error caller_tensors_place(struct caller_tensors *tensors, const struct model *model,
                                struct problem *problem)
{
    struct tensor found;
    if (tensors->count != (uint32_t)model_tensors(model) ||
        tensors->parameters != model_parameters(model))
        return problem_set(problem, MALFORMED,
                           "the call passes %u tensors with %zu numbers, but the configured model "
                           "has %d with %zu; pass all its tensors, or set run",
                           (unsigned)tensors->count, tensors->parameters, model_tensors(model),
                           model_parameters(model));
    for (uint32_t i = 0; i < tensors->count; i++) {
        struct caller_tensor *tensor = &tensors->item[i];
        if (!find(model, tensor->name, &found) || !has_sides(tensor, &found))
            return problem_set(
                problem, MALFORMED,
                "tensor %.100s: the configured model has no tensor of this name and shape",
                tensor->name);
        tensor->first = found.offset;
    }
    qsort(tensors->item, tensors->count, sizeof *tensors->item, by_place);
    return OK;
}

enum error caller_tensors_need_float32(const struct caller_tensors *tensors,
                                       struct problem *problem)
{
    for (uint32_t i = 0; i < tensors->count; i++)
        if (tensors->item[i].dtype != HEARSAY_FLOAT32)
            return problem_set(problem, MALFORMED,
                               "tensor %.100s: the configured model supports only float32",
                               tensors->item[i].name);
    return OK;
}

static bool is_same(const struct caller_tensor *a, const struct caller_tensor *b)
{
    return strcmp(a->name, b->name) == 0 && a->dimensions == b->dimensions &&
           memcmp(a->shape, b->shape, a->dimensions * sizeof *a->shape) == 0;
}

enum error caller_tensors_check(const struct caller_tensors *tensors,
                                const struct caller_tensors *others, struct problem *problem)
{
    if (tensors->count != others->count)
        return problem_set(problem, MALFORMED,
                           "the call passes %u tensors, but hearsay_open had %u",
                           (unsigned)others->count, (unsigned)tensors->count);
    for (uint32_t i = 0; i < tensors->count; i++)
        if (!is_same(&tensors->item[i], &others->item[i]))
            return problem_set(
                problem, MALFORMED,
                "tensor %u is %.100s, but at hearsay_open it was %.100s, or had another shape",
                (unsigned)i, others->item[i].name, tensors->item[i].name);
    return OK;
}

struct weights_part *caller_tensors_parts(const struct caller_tensors *tensors)
{
    for (uint32_t i = 0; i < tensors->count; i++)
        if (tensors->item[i].dtype != HEARSAY_FLOAT32)
            return NULL;
    struct weights_part *parts = memory_new(tensors->count, sizeof *parts);
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        parts[i] = (struct weights_part){
            .at = tensor->data, .first = tensor->first, .count = tensor->count};
    }
    return parts;
}

struct entry_range *caller_tensors_statistics(const struct caller_tensors *tensors,
                                              uint32_t *ranges)
{
    struct entry_range *range = memory_new(tensors->count, sizeof *range);
    *ranges = 0;
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        if (tensor->are_statistics)
            range[(*ranges)++] =
                (struct entry_range){.first = tensor->first, .count = tensor->count};
    }
    return range;
}

static enum half_type half_type(const struct caller_tensor *tensor)
{
    CHECK(tensor->dtype != HEARSAY_FLOAT32);
    return tensor->dtype == HEARSAY_BFLOAT16 ? HALF_BFLOAT16 : HALF_FLOAT16;
}

struct weights_copy *caller_tensors_copies(const struct caller_tensors *tensors)
{
    const size_t bytes = tensors->count * sizeof(struct weights_copy);
    struct weights_copy *copies = memory_new(tensors->count, sizeof *copies);
    bool is_far;
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        const bool is_rounded = tensor->dtype != HEARSAY_FLOAT32;
        copies[i] = (struct weights_copy){.at = tensor->data,
                                          .first = tensor->first,
                                          .count = tensor->count,
                                          .is_rounded = is_rounded,
                                          .type = is_rounded ? half_type(tensor) : HALF_BFLOAT16};
    }
    struct weights_copy *kept = tensors->backend->keep(tensors->backend, copies, bytes, &is_far);
    free(copies);
    return kept;
}

/* Copies a tensor to weights[] in main memory, as float32. */
static void download(struct backend *backend, const struct caller_tensor *tensor, float *weights)
{
    if (tensor->dtype == HEARSAY_FLOAT32) {
        backend->download(backend, weights, tensor->data, tensor->count * sizeof *weights);
        return;
    }
    uint16_t *halves = memory_new(tensor->count, sizeof *halves);
    backend->download(backend, halves, tensor->data, tensor->count * sizeof *halves);
    for (size_t at = 0; at < tensor->count; at++)
        weights[at] = half_of(half_type(tensor), halves[at]);
    free(halves);
}

const char *caller_tensors_name(const struct caller_tensors *tensors, size_t entry)
{
    const struct caller_tensor *item = tensors->item;
    CHECK(entry < tensors->parameters);
    while (entry < item->first || entry - item->first >= item->count)
        item++;
    return item->name;
}

enum error caller_tensors_read(const struct caller_tensors *tensors, float *weights,
                               struct problem *problem)
{
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        float *ours = weights + tensor->first;
        download(tensors->backend, tensor, ours);
        for (size_t at = 0; at < tensor->count; at++)
            if (!(fabsf(ours[at]) <= FIRST_WEIGHT_MAX))
                return problem_set(
                    problem, MALFORMED,
                    "tensor %.100s: a weight of %g is outside the range of a swarm, -%g to %g",
                    tensor->name, (double)ours[at], (double)FIRST_WEIGHT_MAX,
                    (double)FIRST_WEIGHT_MAX);
    }
    return OK;
}

/* Sets *from and *to to the part of entries first .. end-1 that is in this tensor, counted from the
 * tensor's start. Returns false if no entry is in it. */
static bool overlap(const struct caller_tensor *tensor, size_t first, size_t end, size_t *from,
                    size_t *to)
{
    const size_t tensor_end = tensor->first + tensor->count;
    if (first >= tensor_end || end <= tensor->first)
        return false;
    *from = first > tensor->first ? first - tensor->first : 0;
    *to = size_min(end, tensor_end) - tensor->first;
    return true;
}

void caller_tensors_gather(const struct caller_tensors *tensors, size_t first, size_t count,
                           float *weights)
{
    struct backend *backend = tensors->backend;
    size_t from, to;
    CHECK(first <= tensors->parameters && count <= tensors->parameters - first);
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        float *ours = weights + tensor->first;
        if (!overlap(tensor, first, first + count, &from, &to))
            continue;
        if (tensor->dtype == HEARSAY_FLOAT32)
            backend->elements->copy(backend, to - from, floats((const float *)tensor->data + from),
                                    floats(ours + from));
        else
            backend->exchange->follow(backend, half_type(tensor), to - from,
                                      (const uint16_t *)tensor->data + from, ours + from);
    }
}

void caller_tensors_scatter(const struct caller_tensors *tensors, size_t first, size_t count,
                            const float *weights)
{
    struct backend *backend = tensors->backend;
    size_t from, to;
    CHECK(first <= tensors->parameters && count <= tensors->parameters - first);
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        const float *ours = weights + tensor->first;
        if (!overlap(tensor, first, first + count, &from, &to))
            continue;
        if (tensor->dtype == HEARSAY_FLOAT32)
            backend->elements->copy(backend, to - from, floats(ours + from),
                                    floats((float *)tensor->data + from));
        else
            backend->exchange->round(backend, half_type(tensor), to - from, ours + from,
                                     (uint16_t *)tensor->data + from);
    }
}

void caller_tensors_finish(const struct caller_tensors *tensors)
{
    uint16_t first;
    struct backend *backend = tensors->backend;
    if (tensors->device != HEARSAY_CPU)
        backend->download(backend, &first, tensors->item->data,
                          sizeof first); /* the download waits for all earlier GPU work */
}

/* Each tensor's hash also covers the hash of the tensors before it. */
void caller_tensors_describe(const struct caller_tensors *tensors, const char *run,
                             char text[static CALLER_TENSORS_TEXT])
{
    uint8_t hash[LIST_HASH] = {0};
    char line[HEARSAY_NAME_MAX + 32 * HEARSAY_DIMENSIONS_MAX], hex[2 * LIST_HASH + 1];
    for (uint32_t i = 0; i < tensors->count; i++) {
        const struct caller_tensor *tensor = &tensors->item[i];
        int length = snprintf(line, sizeof line, "%d %s", (int)tensor->dtype, tensor->name);
        for (uint32_t d = 0; d < tensor->dimensions; d++)
            length += snprintf(line + length, sizeof line - (size_t)length, "\n%lld",
                               (long long)tensor->shape[d]);
        CHECK(length > 0 && (size_t)length < sizeof line);
        secret_blake2b(hash, sizeof hash, line, (size_t)length, hash, sizeof hash);
    }
    for (int i = 0; i < LIST_HASH; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    (void)snprintf(text, CALLER_TENSORS_TEXT, "run %s, %u tensors, list %s", run,
                   (unsigned)tensors->count, hex);
}

/* Returns the length of the line, including the newline. */
static size_t put_line(char *out, size_t room, const struct caller_tensor *tensor)
{
    static const char *const TYPES[] = {
        [HEARSAY_FLOAT32] = "", [HEARSAY_FLOAT16] = " float16", [HEARSAY_BFLOAT16] = " bfloat16"};
    int length = snprintf(out, room, "%s [", tensor->name);
    for (uint32_t d = 0; d < tensor->dimensions; d++)
        length += snprintf(out + length, room - (size_t)length, "%s%lld", d > 0 ? ", " : "",
                           (long long)tensor->shape[d]);
    length += snprintf(out + length, room - (size_t)length, "]%s\n", TYPES[tensor->dtype]);
    CHECK(length > 0 && (size_t)length < room);
    return (size_t)length;
}

const char *caller_tensors_list(const struct caller_tensors *tensors, const char *run,
                                struct arena *arena)
{
    char line[HEARSAY_NAME_MAX + 32 * HEARSAY_DIMENSIONS_MAX];
    size_t bytes = strlen(MODEL_PARTS_RUN "\n") + strlen(run) + 1;
    for (uint32_t i = 0; i < tensors->count; i++)
        bytes += put_line(line, sizeof line, &tensors->item[i]);
    char *text = arena_alloc(arena, bytes, 1);
    size_t length = (size_t)snprintf(text, bytes, MODEL_PARTS_RUN "%s\n", run);
    for (uint32_t i = 0; i < tensors->count; i++)
        length += put_line(text + length, bytes - length, &tensors->item[i]);
    return text;
}
