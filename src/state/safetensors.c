#include "state/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "state/atomic_file.h"

#define LENGTH_BYTES     8
#define HEADER_BYTES_MAX (1024 * 1024)
#define SIDE_MAX         65536 /* of an input shape: the product of three fits in size_t */
#define CLASSES_MAX      256   /* labels are bytes */
#define METADATA         "__metadata__"
#define REMEDY           "use another copy of the file"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(float) == 4,
               "the file holds little-endian floats, and so must the memory");

static uint64_t tensor_size(const struct tensor *tensor)
{
    uint64_t size = 1;
    for (int i = 0; i < tensor->rank; i++)
        size *= tensor->dims[i];
    return size;
}

/* Saving */

/* jansson fails only for want of memory or on text that is not UTF-8, and ours is. */
static void put(json_t *object, const char *key, json_t *value)
{
    CHECK(json_object_set_new(object, key, value) == 0);
}

static json_t *metadata_json(const struct model *model, const struct safetensors_about *about,
                             uint64_t checksum)
{
    const struct shape in = model_input(model);
    json_t *metadata = json_object();
    put(metadata, "format", json_string("hearsay"));
    put(metadata, "layers", json_string(model_line(model)));
    put(metadata, "input", json_sprintf("%dx%dx%d", in.channels, in.height, in.width));
    put(metadata, "classes", json_sprintf("%d", about->classes));
    put(metadata, "mean", json_sprintf("%.9g", (double)about->mean));
    put(metadata, "scale", json_sprintf("%.9g", (double)about->scale));
    put(metadata, "digest", json_sprintf("%016" PRIx64, about->digest));
    put(metadata, "samples", json_sprintf("%" PRIu64, about->samples));
    put(metadata, "checksum", json_sprintf("%016" PRIx64, checksum));
    if (about->version) {
        CHECK(strlen(about->version) <= SAFETENSORS_VERSION_MAX);
        put(metadata, "version", json_string(about->version));
    }
    return metadata;
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
    put(json, METADATA, metadata_json(model, about, checksum));
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        CHECK(tensor.offset == floats); /* the format allows no holes */
        floats += tensor_size(&tensor);
        put(json, tensor.name, tensor_json(&tensor));
    }
    CHECK(floats == model_parameters(model));
    const size_t text_bytes = json_dumpb(json, NULL, 0, JSON_COMPACT);
    const uint64_t length = (text_bytes + 7) & ~(uint64_t)7;
    CHECK(text_bytes > 0 && length <= HEADER_BYTES_MAX);
    *header_bytes = LENGTH_BYTES + length;
    char *header = malloc(*header_bytes);
    CHECK(header);
    memset(header, ' ', *header_bytes);
    memcpy(header, &length, LENGTH_BYTES);
    CHECK(json_dumpb(json, header + LENGTH_BYTES, text_bytes, JSON_COMPACT) == text_bytes);
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
    return length < DISK_PATH_MAX && strlen(path) + sizeof DRAFT_SUFFIX < DISK_PATH_MAX;
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
    struct atomic_file atomic_file;
    atomic_file_begin(&atomic_file, disk_real(), folder, name, DRAFT_PUBLIC);
    atomic_file_write(&atomic_file, header, header_bytes);
    atomic_file_write(&atomic_file, host_weights, model_parameters(model) * sizeof *host_weights);
    const int error = atomic_file_end(&atomic_file);
    free(header);
    if (error == 0)
        return OK;
    return problem_set(problem, FAILED,
                       "%s: the model cannot be saved: %s; check that the folder exists, that you "
                       "may write there and that the disk is not full",
                       path, strerror(-error));
}

/* Loading */

struct file {
    int fd;
    uint64_t data_at;    /* where the tensors begin */
    uint64_t data_bytes; /* and how long they are */
    json_t *header;
};

static void file_close(struct file *file)
{
    json_decref(file->header);
    (void)close(file->fd);
}

static enum error read_at(const struct file *file, const char *path, void *to, uint64_t bytes,
                          uint64_t at, struct problem *problem)
{
    char *next = to;
    while (bytes > 0) {
        const ssize_t got = pread(file->fd, next, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return problem_set(problem, FAILED, "%s: cannot be read: %s; check the disk", path,
                               got < 0 ? strerror(errno) : "it shrank meanwhile");
        next += got;
        at += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return OK;
}

static enum error read_header(struct file *file, const char *path, struct problem *problem)
{
    uint64_t length;
    struct stat about;
    if (fstat(file->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return problem_set(problem, MALFORMED, "%s: is not a file; name a saved model", path);
    const uint64_t size = (uint64_t)about.st_size;
    if (size < LENGTH_BYTES)
        return problem_set(problem, MALFORMED, "%s: is too short for a model; " REMEDY, path);
    enum error error = read_at(file, path, &length, LENGTH_BYTES, 0, problem);
    if (error != OK)
        return error;
    if (length > HEADER_BYTES_MAX || length > size - LENGTH_BYTES)
        return problem_set(problem, MALFORMED,
                           "%s: is not a safetensors file, or is cut short; " REMEDY, path);
    char *text = malloc(length + 1);
    CHECK(text);
    error = read_at(file, path, text, length, LENGTH_BYTES, problem);
    if (error == OK)
        file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    if (error == OK && !json_is_object(file->header))
        return problem_set(problem, MALFORMED, "%s: its header is not a JSON object; " REMEDY,
                           path);
    file->data_at = LENGTH_BYTES + length;
    file->data_bytes = size - file->data_at;
    return error;
}

/* Where a tensor lies, from data_at on. */
struct extent {
    uint64_t from, to;
};

static bool entry_extent(const json_t *entry, uint64_t data_bytes, struct extent *extent)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *from = json_array_get(offsets, 0);
    const json_t *to = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return false;
    const json_int_t first = json_integer_value(from), last = json_integer_value(to);
    if (first < 0 || last < first || (uint64_t)last > data_bytes)
        return false;
    *extent = (struct extent){(uint64_t)first, (uint64_t)last};
    return true;
}

/* Every tensor lies inside the file, and the last ends with it. */
static enum error check_extents(const struct file *file, const char *path, struct problem *problem)
{
    const char *name;
    json_t *entry;
    uint64_t end = 0;
    json_object_foreach(file->header, name, entry)
    {
        struct extent extent;
        if (strcmp(name, METADATA) == 0)
            continue;
        if (!entry_extent(entry, file->data_bytes, &extent))
            return problem_set(problem, MALFORMED,
                               "%s: a tensor reaches beyond the end of the file; " REMEDY, path);
        if (extent.to > end)
            end = extent.to;
    }
    if (end != file->data_bytes)
        return problem_set(problem, MALFORMED, "%s: goes on after its last tensor; " REMEDY, path);
    return OK;
}

/* After OK the caller must file_close. */
static enum error file_open(struct file *file, const char *path, struct problem *problem)
{
    *file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->fd < 0)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%s: cannot be opened: %s; name a saved model that you may read", path,
                           strerror(errno));
    enum error error = read_header(file, path, problem);
    if (error == OK)
        error = check_extents(file, path, problem);
    if (error != OK)
        file_close(file);
    return error;
}

/* Decimal digits, at least one, for a number of at most `max`; *text moves behind them. */
static bool parse_number(const char **text, uint64_t max, uint64_t *number)
{
    const char *next = *text;
    uint64_t value = 0;
    for (; *next >= '0' && *next <= '9'; next++) {
        const uint64_t digit = (uint64_t)(*next - '0');
        if (value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (next == *text)
        return false;
    *text = next;
    *number = value;
    return true;
}

static bool parse_input(const char *text, struct shape *shape)
{
    uint64_t sides[3];
    for (int i = 0; i < 3; i++) {
        if (i > 0 && *text++ != 'x')
            return false;
        if (!parse_number(&text, SIDE_MAX, &sides[i]) || sides[i] == 0)
            return false;
    }
    *shape = (struct shape){(int)sides[0], (int)sides[1], (int)sides[2]};
    return *text == '\0';
}

static bool parse_classes(const char *text, int *classes)
{
    uint64_t number;
    if (!parse_number(&text, CLASSES_MAX, &number) || number < 2 || *text != '\0')
        return false;
    *classes = (int)number;
    return true;
}

static bool parse_float(const char *text, float *value)
{
    char *end;
    *value = strtof(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static bool parse_digest(const char *text, uint64_t *digest)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *digest = strtoull(text, NULL, 16);
    return true;
}

static bool parse_samples(const char *text, uint64_t *samples)
{
    return parse_number(&text, UINT64_MAX, samples) && *text == '\0';
}

static bool parse_layers(const char *text, char layers[static MODEL_LINE_MAX])
{
    const size_t length = strlen(text);
    if (length == 0 || length >= MODEL_LINE_MAX)
        return false;
    memcpy(layers, text, length + 1);
    return true;
}

/* The text of a key; what cannot be parsed where there is none. */
static const char *text_of(const json_t *metadata, const char *key)
{
    const char *text = json_string_value(json_object_get(metadata, key));
    return text ? text : "";
}

/* Returns the first key that is wrong, or NULL. */
static const char *parse_metadata(const json_t *metadata, struct safetensors_about *about)
{
    if (!parse_layers(text_of(metadata, "layers"), about->layers))
        return "layers";
    if (!parse_input(text_of(metadata, "input"), &about->in))
        return "input";
    if (!parse_classes(text_of(metadata, "classes"), &about->classes))
        return "classes";
    if (!parse_float(text_of(metadata, "mean"), &about->mean))
        return "mean";
    if (!parse_float(text_of(metadata, "scale"), &about->scale))
        return "scale";
    if (!parse_digest(text_of(metadata, "digest"), &about->digest))
        return "digest";
    if (!parse_samples(text_of(metadata, "samples"), &about->samples))
        return "samples";
    if (!parse_digest(text_of(metadata, "checksum"), &about->checksum))
        return "checksum";
    return NULL;
}

enum error safetensors_read_about(const char *path, struct safetensors_about *about,
                                  struct problem *problem)
{
    struct file file;
    struct safetensors_about parsed = {0};
    enum error error = file_open(&file, path, problem);
    if (error != OK)
        return error;
    const json_t *metadata = json_object_get(file.header, METADATA);
    const bool ours = strcmp(text_of(metadata, "format"), "hearsay") == 0;
    const char *wrong = ours ? parse_metadata(metadata, &parsed) : NULL;
    file_close(&file);
    if (!ours)
        return problem_set(problem, MISMATCH,
                           "%s: was not saved by hearsay (its metadata has no format 'hearsay'); "
                           "name a model that was",
                           path);
    if (wrong)
        return problem_set(problem, MALFORMED, "%s: its metadata has no valid '%s'; " REMEDY, path,
                           wrong);
    *about = parsed;
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

/* Where the file holds this tensor of the model. */
static enum error find_tensor(const struct file *file, const char *path,
                              const struct tensor *tensor, struct extent *extent,
                              struct problem *problem)
{
    const json_t *entry = json_object_get(file->header, tensor->name);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!entry)
        return problem_set(problem, MISMATCH,
                           "%s: has no tensor %s; name a file saved from this model", path,
                           tensor->name);
    if (!dtype || strcmp(dtype, "F32") != 0)
        return problem_set(problem, MISMATCH, "%s: tensor %s is not F32; convert the file", path,
                           tensor->name);
    if (!same_shape(json_object_get(entry, "shape"), tensor))
        return problem_set(problem, MISMATCH,
                           "%s: tensor %s has another shape than in this model; name a file saved "
                           "from this model",
                           path, tensor->name);
    if (!entry_extent(entry, file->data_bytes, extent) ||
        extent->to - extent->from != tensor_size(tensor) * sizeof(float))
        return problem_set(problem, MALFORMED, "%s: tensor %s is not as long as its shape; " REMEDY,
                           path, tensor->name);
    return OK;
}

static enum error read_tensors(const struct file *file, const char *path, const struct model *model,
                               float *floats, struct problem *problem)
{
    const size_t metadata = json_object_get(file->header, METADATA) != NULL;
    const size_t tensors = json_object_size(file->header) - metadata;
    for (int i = 0; i < model_tensors(model); i++) {
        struct extent extent;
        const struct tensor tensor = model_tensor(model, i);
        enum error error = find_tensor(file, path, &tensor, &extent, problem);
        if (error == OK)
            error = read_at(file, path, floats + tensor.offset, extent.to - extent.from,
                            file->data_at + extent.from, problem);
        if (error != OK)
            return error;
    }
    if (tensors != (size_t)model_tensors(model))
        return problem_set(problem, MISMATCH,
                           "%s: has %zu tensors, and this model %d; name a file saved from this "
                           "model",
                           path, tensors, model_tensors(model));
    return OK;
}

enum error safetensors_load(const char *path, const struct model *model, float *host_weights,
                            struct problem *problem)
{
    struct file file;
    const size_t bytes = model_parameters(model) * sizeof(float);
    enum error error = file_open(&file, path, problem);
    if (error != OK)
        return error;
    float *floats = malloc(bytes); /* not host_weights: what is wrong may come last */
    CHECK(floats);
    error = read_tensors(&file, path, model, floats, problem);
    if (error == OK)
        memcpy(host_weights, floats, bytes);
    free(floats);
    file_close(&file);
    return error;
}
