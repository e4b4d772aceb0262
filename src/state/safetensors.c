#include "state/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "state/atomic_file.h"
#include "state/safetensors_file.h"
#include "state/safetensors_metadata.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(float) == 4,
               "the file holds little-endian floats, and so must the memory");

static uint64_t tensor_size(const struct tensor *tensor)
{
    uint64_t size = 1;
    CHECK(tensor->rank >= 1 && tensor->rank <= 4);
    for (int i = 0; i < tensor->rank; i++)
        size *= tensor->dims[i];
    return size;
}

static json_t *tensor_json(const struct tensor *tensor)
{
    const uint64_t from = tensor->offset * sizeof(float);
    const uint64_t to = from + tensor_size(tensor) * sizeof(float);
    json_t *shape = json_array();
    for (int i = 0; i < tensor->rank; i++)
        CHECK(json_array_append_new(shape, json_integer((json_int_t)tensor->dims[i])) == 0);
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape,
                              "data_offsets", (json_int_t)from, (json_int_t)to);
    CHECK(entry);
    return entry;
}

/* The length and the JSON, padded with spaces so that the floats are aligned; free it. */
static char *header_new(const struct model *model, const struct safetensors_about *about,
                        uint64_t checksum, size_t *header_bytes)
{
    json_t *json = json_object();
    size_t floats = 0;
    safetensors_metadata_put(json, SAFETENSORS_METADATA,
                             safetensors_metadata_new(model, about, checksum));
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        CHECK(tensor.offset == floats); /* the format allows no holes */
        floats += tensor_size(&tensor);
        safetensors_metadata_put(json, tensor.name, tensor_json(&tensor));
    }
    CHECK(floats == model_parameters(model));
    const size_t text_bytes = json_dumpb(json, NULL, 0, JSON_COMPACT);
    const uint64_t length = (text_bytes + 7) & ~(uint64_t)7;
    CHECK(text_bytes > 0 && length <= SAFETENSORS_HEADER_MAX);
    *header_bytes = SAFETENSORS_LENGTH_BYTES + length;
    char *header = malloc(*header_bytes);
    CHECK(header);
    memset(header, ' ', *header_bytes);
    memcpy(header, &length, SAFETENSORS_LENGTH_BYTES);
    CHECK(json_dumpb(json, header + SAFETENSORS_LENGTH_BYTES, text_bytes, JSON_COMPACT) ==
          text_bytes);
    json_decref(json);
    return header;
}

/* Folder and name of a path: "." and "x" of "x". False: it is too long. */
static bool split_path(const char *path, char folder[static DISK_PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    const int length = slash
                           ? snprintf(folder, DISK_PATH_MAX, "%.*s", (int)(slash - path) + 1, path)
                           : snprintf(folder, DISK_PATH_MAX, ".");
    return length < DISK_PATH_MAX && strlen(path) + sizeof ATOMIC_FILE_SUFFIX < DISK_PATH_MAX;
}

uint64_t safetensors_checksum(const float *weights, size_t count)
{
    uint64_t checksum = 0;
    for (size_t c = 0; c < count; c++) {
        uint32_t bits;
        memcpy(&bits, &weights[c], sizeof bits);
        checksum = digest_add(checksum, digest_of_entry((uint32_t)c, bits));
    }
    return checksum;
}

enum error safetensors_save(const char *path, const struct model *model,
                            const struct safetensors_about *about, const float *host_weights,
                            struct problem *problem)
{
    char folder[DISK_PATH_MAX];
    const char *name;
    if (!split_path(path, folder, &name))
        return problem_set(problem, TOO_BIG, "%.300s...: this path is too long; use a shorter one",
                           path);
    const uint64_t checksum = safetensors_checksum(host_weights, model_parameters(model));
    size_t header_bytes;
    char *header = header_new(model, about, checksum, &header_bytes);
    struct atomic_file file;
    atomic_file_begin(&file, disk_real(), folder, name, ATOMIC_FILE_PUBLIC);
    atomic_file_write(&file, header, header_bytes);
    atomic_file_write(&file, host_weights, model_parameters(model) * sizeof *host_weights);
    const int error = atomic_file_end(&file);
    free(header);
    if (error == 0)
        return OK;
    return problem_set(problem, FAILED,
                       "%s: the model cannot be saved: %s; check that the folder exists, that you "
                       "may write there and that the disk is not full",
                       path, strerror(-error));
}

enum error safetensors_read_about(const char *path, struct safetensors_about *about,
                                  struct problem *problem)
{
    struct safetensors_file file;
    const char *wrong = NULL;
    enum error error = safetensors_file_open(&file, path, problem);
    if (error != OK)
        return error;
    const json_t *metadata = json_object_get(file.header, SAFETENSORS_METADATA);
    error = safetensors_metadata_parse(metadata, about, &wrong);
    safetensors_file_close(&file);
    if (error == MISMATCH)
        return problem_set(problem, MISMATCH,
                           "%s: was not saved by hearsay (its metadata has no format 'hearsay'); "
                           "name a model that was",
                           path);
    if (error != OK)
        return problem_set(problem, error,
                           "%s: its metadata has no valid '%s'; " SAFETENSORS_REMEDY, path, wrong);
    return OK;
}

static bool same_shape(const json_t *shape, const struct tensor *tensor)
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

/* The file is of another model: why, what it holds and what the model needs. */
static enum error not_this_model(const struct safetensors_file *file, const struct model *model,
                                 const char *why, struct problem *problem)
{
    char holds[SAFETENSORS_LIST_BYTES], needs[SAFETENSORS_LIST_BYTES];
    safetensors_file_list(file, holds);
    safetensors_file_needs(model, needs);
    return problem_set(problem, MISMATCH,
                       "%.120s: %s: it holds %s; the model needs %s; name a file of this model",
                       file->path, why, holds, needs);
}

/* Finds where the file holds this tensor of the model. */
static enum error find_tensor(const struct safetensors_file *file, const struct model *model,
                              const struct tensor *tensor, struct safetensors_extent *extent,
                              struct problem *problem)
{
    char why[96] = "";
    const json_t *entry = json_object_get(file->header, tensor->name);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!entry)
        (void)snprintf(why, sizeof why, "has no tensor %s", tensor->name);
    else if (!dtype || strcmp(dtype, "F32") != 0)
        (void)snprintf(why, sizeof why, "tensor %s is not F32", tensor->name);
    else if (!same_shape(json_object_get(entry, "shape"), tensor))
        (void)snprintf(why, sizeof why, "tensor %s has another shape", tensor->name);
    if (why[0])
        return not_this_model(file, model, why, problem);
    if (!safetensors_file_extent(file, entry, extent) ||
        extent->to - extent->from != tensor_size(tensor) * sizeof(float))
        return problem_set(problem, MALFORMED,
                           "%s: tensor %s is not as long as its shape; " SAFETENSORS_REMEDY,
                           file->path, tensor->name);
    return OK;
}

static enum error read_tensors(const struct safetensors_file *file, const struct model *model,
                               float *floats, struct problem *problem)
{
    for (int i = 0; i < model_tensors(model); i++) {
        struct safetensors_extent extent;
        const struct tensor tensor = model_tensor(model, i);
        enum error error = find_tensor(file, model, &tensor, &extent, problem);
        if (error == OK)
            error = safetensors_file_read(file, floats + tensor.offset, extent.to - extent.from,
                                          extent.from, problem);
        if (error != OK)
            return error;
    }
    if (safetensors_file_tensors(file) != (size_t)model_tensors(model))
        return not_this_model(file, model, "has more tensors than this model", problem);
    return OK;
}

enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem)
{
    struct safetensors_file file;
    const size_t bytes = model_parameters(model) * sizeof(float);
    enum error error = safetensors_file_open(&file, path, problem);
    if (error != OK)
        return error;
    float *floats = malloc(bytes); /* not host_weights: what is wrong may come last */
    CHECK(floats);
    error = read_tensors(&file, model, floats, problem);
    if (error == OK)
        memcpy(host_weights, floats, bytes);
    free(floats);
    safetensors_file_close(&file);
    return error;
}
