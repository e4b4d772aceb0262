#include "state/safetensors_tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(float) == 4,
               "the file holds little-endian floats, and so must the memory");

static float from_f32(const void *at)
{
    float value;
    memcpy(&value, at, sizeof value);
    return value;
}

static float from_bf16(const void *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return half_of_bfloat16(half);
}

static float from_f16(const void *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return half_of_float16(half);
}

static const struct number_type {
    const char *name;
    size_t bytes;
    float (*read)(const void *at);
} types[] = {{"F32", 4, from_f32}, {"F16", 2, from_f16}, {"BF16", 2, from_bf16}};
#define TYPES (sizeof types / sizeof types[0])

static const struct number_type *type_of(const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "dtype"));
    for (size_t i = 0; name && i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static bool same_shape(const json_t *shape, const struct named_tensor *tensor)
{
    if (json_array_size(shape) != (size_t)tensor->rank)
        return false;
    for (int i = 0; i < tensor->rank; i++) {
        const json_t *side = json_array_get(shape, (size_t)i);
        if (!json_is_integer(side) || json_integer_value(side) != (json_int_t)tensor->dims[i])
            return false;
    }
    return true;
}

const json_t *safetensors_tensor_find(const struct safetensors_file *file,
                                      const struct tensor_names *names,
                                      const struct named_tensor *tensor)
{
    char spelling[NAMED_TENSOR_BYTES];
    const json_t *entry = NULL;
    for (int i = 0; !entry && tensor_names_spelling(names, tensor->name, i, spelling); i++)
        entry = json_object_get(file->header, spelling);
    return entry;
}

static enum error not_this_model(const struct safetensors_file *file,
                                 const struct tensor_names *names, const char *why,
                                 struct problem *problem)
{
    char holds[SAFETENSORS_LIST_BYTES], needs[SAFETENSORS_LIST_BYTES];
    safetensors_file_list(file, holds);
    safetensors_file_needs(names, needs);
    return problem_set(problem, MISMATCH,
                       "%.120s: %s: it holds %s; the model needs %s; name a file of this model",
                       file->path, why, holds, needs);
}

static enum error find(const struct safetensors_file *file, const struct tensor_names *names,
                       const struct named_tensor *tensor, const struct number_type **type,
                       struct safetensors_extent *extent, struct problem *problem)
{
    char why[NAMED_TENSOR_BYTES + 48] = "";
    const json_t *entry = safetensors_tensor_find(file, names, tensor);
    *type = type_of(entry);
    if (!entry)
        (void)snprintf(why, sizeof why, "has no tensor %s", tensor->name);
    else if (!*type)
        (void)snprintf(why, sizeof why, "tensor %s is not F32, F16 or BF16", tensor->name);
    else if (!same_shape(json_object_get(entry, "shape"), tensor))
        (void)snprintf(why, sizeof why, "tensor %s has another shape", tensor->name);
    if (why[0])
        return not_this_model(file, names, why, problem);
    if (!safetensors_file_extent(file, entry, extent) ||
        extent->to - extent->from != named_tensor_count(tensor) * (*type)->bytes)
        return problem_set(problem, MALFORMED,
                           "%s: tensor %s is not as long as its shape; " SAFETENSORS_REMEDY,
                           file->path, tensor->name);
    return OK;
}

/* Returns the index, in the model's flat vector, of number i of the file's tensor. */
static size_t place_of(const struct named_tensor *tensor, size_t i)
{
    if (!tensor->is_transposed)
        return tensor->offset + i;
    return tensor->offset + i % tensor->dims[1] * tensor->dims[0] + i / tensor->dims[1];
}

enum error safetensors_tensor_read(const struct safetensors_file *file,
                                   const struct tensor_names *names,
                                   const struct named_tensor *tensor, float *weights,
                                   struct problem *problem)
{
    const struct number_type *type = NULL;
    struct safetensors_extent extent;
    enum error error = find(file, names, tensor, &type, &extent, problem);
    if (error != OK)
        return error;
    const size_t bytes = extent.to - extent.from;
    if (type->read == from_f32 && !tensor->is_transposed)
        return safetensors_file_read(file, weights + tensor->offset, bytes, extent.from, problem);
    char *raw = memory_new(bytes, 1);
    error = safetensors_file_read(file, raw, bytes, extent.from, problem);
    for (size_t i = 0; error == OK && i < bytes / type->bytes; i++)
        weights[place_of(tensor, i)] = type->read(raw + i * type->bytes);
    free(raw);
    return error;
}

static bool is_known(const struct tensor_names *names, const char *name)
{
    char spelling[NAMED_TENSOR_BYTES];
    for (int i = 0; i < names->count; i++)
        for (int k = 0; tensor_names_spelling(names, names->tensor[i].name, k, spelling); k++)
            if (strcmp(spelling, name) == 0)
                return true;
    return tensor_names_spare(names, name);
}

enum error safetensors_tensor_check_others(const struct safetensors_file *file,
                                           const struct tensor_names *names,
                                           struct problem *problem)
{
    const char *name;
    const json_t *entry;
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, SAFETENSORS_METADATA) != 0 && !is_known(names, name))
            return not_this_model(file, names, "has more tensors than this model", problem);
    }
    return OK;
}

void safetensors_tensor_write(struct atomic_file *file, const struct named_tensor *tensor,
                              const float *weights)
{
    const size_t count = named_tensor_count(tensor);
    if (!tensor->is_transposed) {
        atomic_file_write(file, weights + tensor->offset, count * sizeof *weights);
        return;
    }
    float *turned = memory_new(count, sizeof *turned);
    for (size_t i = 0; i < count; i++)
        turned[i] = weights[place_of(tensor, i)];
    atomic_file_write(file, turned, count * sizeof *turned);
    free(turned);
}
