#include "state/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/float_bits.h"
#include "base/memory.h"
#include "state/atomic_file.h"
#include "state/safetensors_file.h"
#include "state/safetensors_metadata.h"
#include "state/safetensors_tensor.h"

static json_t *tensor_json(const struct named_tensor *tensor, uint64_t from)
{
    const uint64_t to = from + named_tensor_count(tensor) * sizeof(float);
    json_t *shape = json_array();
    for (int i = 0; i < tensor->rank; i++)
        CHECK(json_array_append_new(shape, json_integer((json_int_t)tensor->dims[i])) == 0);
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape,
                              "data_offsets", (json_int_t)from, (json_int_t)to);
    CHECK(entry);
    return entry;
}

/* Returns the length field and the JSON header; blanks align the floats. The caller frees the
 * text. */
static char *header_new(const struct tensor_names *names, json_t *metadata, size_t *header_bytes)
{
    json_t *json = json_object();
    uint64_t at = 0;
    safetensors_metadata_put(json, SAFETENSORS_METADATA, metadata);
    for (int i = 0; i < names->count; i++) {
        const struct named_tensor *tensor = &names->tensor[i];
        safetensors_metadata_put(json, tensor->name, tensor_json(tensor, at));
        at += named_tensor_count(tensor) * sizeof(float);
    }
    const size_t text_bytes = json_dumpb(json, NULL, 0, JSON_COMPACT);
    const uint64_t length = (text_bytes + 7) & ~(uint64_t)7;
    CHECK(text_bytes > 0 && length <= SAFETENSORS_HEADER_MAX);
    *header_bytes = SAFETENSORS_LENGTH_BYTES + length;
    char *header = memory_new(*header_bytes, 1);
    memset(header, ' ', *header_bytes);
    memcpy(header, &length, SAFETENSORS_LENGTH_BYTES);
    CHECK(json_dumpb(json, header + SAFETENSORS_LENGTH_BYTES, text_bytes, JSON_COMPACT) ==
          text_bytes);
    json_decref(json);
    return header;
}

uint64_t safetensors_checksum(const float *weights, size_t count)
{
    uint64_t checksum = 0;
    for (size_t c = 0; c < count; c++)
        checksum = digest_add(checksum, digest_of_entry((uint32_t)c, bits_of_float(weights[c])));
    return checksum;
}

/* Releases the metadata. */
static enum error save(const char *path, const struct tensor_names *names, json_t *metadata,
                       const float *host_weights, struct problem *problem)
{
    char folder[DISK_PATH_MAX];
    const char *name;
    size_t header_bytes;
    char *header = header_new(names, metadata, &header_bytes);
    struct atomic_file file;
    const bool fits = atomic_file_split(path, folder, &name);
    if (fits) {
        atomic_file_begin(&file, disk_real(), folder, name, ATOMIC_FILE_SHARED);
        atomic_file_write(&file, header, header_bytes);
        for (int i = 0; i < names->count; i++)
            safetensors_tensor_write(&file, &names->tensor[i], host_weights);
    }
    const int error = fits ? atomic_file_end(&file) : 0;
    free(header);
    if (!fits)
        return problem_set(problem, TOO_BIG, "%.300s...: this path is too long; use a shorter one",
                           path);
    if (error == 0)
        return OK;
    return problem_set(
        problem, FAILED,
        "%s: cannot save the model: %s; check the folder, its permissions and the free disk space",
        path, strerror(-error));
}

enum error safetensors_save(const char *path, const struct model *model,
                            const struct safetensors_about *about, const float *host_weights,
                            struct problem *problem)
{
    struct tensor_names names;
    const uint64_t checksum = safetensors_checksum(host_weights, model_parameters(model));
    tensor_names_own(&names, model);
    const enum error error =
        save(path, &names, safetensors_metadata_new("hearsay", model, about, checksum),
             host_weights, problem);
    tensor_names_free(&names);
    return error;
}

enum error safetensors_save_foreign(const char *path, const struct model *model,
                                    const struct safetensors_about *about,
                                    const float *host_weights, struct problem *problem)
{
    struct tensor_names names;
    const uint64_t checksum = safetensors_checksum(host_weights, model_parameters(model));
    enum error error = tensor_names_family(&names, model, problem);
    if (error != OK)
        return error;
    error = save(path, &names, safetensors_metadata_new("pt", model, about, checksum), host_weights,
                 problem);
    tensor_names_free(&names);
    return error;
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
                           "name a model saved by hearsay",
                           path);
    if (error != OK)
        return problem_set(problem, error,
                           "%s: its metadata has no valid '%s'; " SAFETENSORS_REMEDY, path, wrong);
    return OK;
}

enum error safetensors_read_version(const char *path, char version[static SAFETENSORS_VERSION_MAX],
                                    struct problem *problem)
{
    struct safetensors_file file;
    const enum error error = safetensors_file_open(&file, path, problem);
    if (error != OK)
        return error;
    const json_t *metadata = json_object_get(file.header, SAFETENSORS_METADATA);
    const char *text = json_string_value(json_object_get(metadata, "version"));
    (void)snprintf(version, SAFETENSORS_VERSION_MAX, "%s", text ? text : "");
    safetensors_file_close(&file);
    return OK;
}

/* Chooses the names of the model's family if the file lacks our first tensor and has the family's.
 * Otherwise chooses our own names. */
static void choose_names(const struct safetensors_file *file, const struct model *model,
                         struct tensor_names *names)
{
    struct tensor_names others;
    struct problem none;
    tensor_names_own(names, model);
    if (safetensors_tensor_find(file, names, &names->tensor[0]) ||
        tensor_names_family(&others, model, &none) != OK)
        return;
    const bool is_theirs = safetensors_tensor_find(file, &others, &others.tensor[0]) != NULL;
    tensor_names_free(is_theirs ? names : &others);
    if (is_theirs)
        *names = others;
}

static enum error read_tensors(const struct safetensors_file *file,
                               const struct tensor_names *names, float *floats,
                               struct problem *problem)
{
    for (int i = 0; i < names->count; i++) {
        const enum error error =
            safetensors_tensor_read(file, names, &names->tensor[i], floats, problem);
        if (error != OK)
            return error;
    }
    return safetensors_tensor_check_others(file, names, problem);
}

enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem)
{
    struct safetensors_file file;
    const size_t bytes = model_parameters(model) * sizeof(float);
    enum error error = safetensors_file_open(&file, path, problem);
    if (error != OK)
        return error;
    struct tensor_names names;
    /* a copy, because an error in the last tensor must leave the result unchanged */
    float *floats = memory_new(bytes, 1);
    choose_names(&file, model, &names);
    error = read_tensors(&file, &names, floats, problem);
    if (error == OK)
        memcpy(host_weights, floats, bytes);
    free(floats);
    tensor_names_free(&names);
    safetensors_file_close(&file);
    return error;
}
