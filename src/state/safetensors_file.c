#include "state/safetensors_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define LISTED    3  /* maximum tensors in a list */
#define NAME_MAX_ 24 /* maximum characters of a name in a list */
#define RANK_MAX  4  /* maximum dimensions of a shape in a list */

static enum error read_at(const struct safetensors_file *file, void *to, uint64_t bytes,
                          uint64_t at, struct problem *problem)
{
    char *next = to;
    CHECK(file->fd >= 0);
    while (bytes > 0) {
        const ssize_t got = pread(file->fd, next, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return problem_set(problem, FAILED, "%s: cannot be read: %s; check the disk",
                               file->path,
                               got < 0 ? strerror(errno) : "the file shrank while it was read");
        next += got;
        at += (uint64_t)got;
        bytes -= (uint64_t)got;
    }
    return OK;
}

enum error safetensors_file_read(const struct safetensors_file *file, void *to, uint64_t bytes,
                                 uint64_t at, struct problem *problem)
{
    CHECK(at <= file->data_bytes && bytes <= file->data_bytes - at);
    return read_at(file, to, bytes, file->data_at + at, problem);
}

static enum error read_header(struct safetensors_file *file, struct problem *problem)
{
    uint64_t length;
    struct stat about;
    const char *path = file->path;
    if (fstat(file->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return problem_set(problem, MALFORMED, "%s: is not a file; name a saved model", path);
    const uint64_t size = (uint64_t)about.st_size;
    if (size < SAFETENSORS_LENGTH_BYTES)
        return problem_set(problem, MALFORMED, "%s: is too short for a model; " SAFETENSORS_REMEDY,
                           path);
    enum error error = read_at(file, &length, SAFETENSORS_LENGTH_BYTES, 0, problem);
    if (error != OK)
        return error;
    if (length > SAFETENSORS_HEADER_MAX || length > size - SAFETENSORS_LENGTH_BYTES)
        return problem_set(problem, MALFORMED,
                           "%s: is not a safetensors file, or is cut short; " SAFETENSORS_REMEDY,
                           path);
    char *text = memory_new(length + 1, 1);
    error = read_at(file, text, length, SAFETENSORS_LENGTH_BYTES, problem);
    if (error == OK)
        file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    if (error == OK && !json_is_object(file->header))
        return problem_set(problem, MALFORMED,
                           "%s: its header is not a JSON object; " SAFETENSORS_REMEDY, path);
    file->data_at = SAFETENSORS_LENGTH_BYTES + length;
    file->data_bytes = size - file->data_at;
    return error;
}

bool safetensors_file_extent(const struct safetensors_file *file, const json_t *entry,
                             struct safetensors_extent *extent)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *from = json_array_get(offsets, 0);
    const json_t *to = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(from) || !json_is_integer(to))
        return false;
    const json_int_t first = json_integer_value(from), last = json_integer_value(to);
    if (first < 0 || last < first || (uint64_t)last > file->data_bytes)
        return false;
    *extent = (struct safetensors_extent){(uint64_t)first, (uint64_t)last};
    return true;
}

static enum error check_extents(const struct safetensors_file *file, struct problem *problem)
{
    const char *name;
    json_t *entry;
    uint64_t end = 0;
    json_object_foreach(file->header, name, entry)
    {
        struct safetensors_extent extent;
        if (strcmp(name, SAFETENSORS_METADATA) == 0)
            continue;
        if (!safetensors_file_extent(file, entry, &extent))
            return problem_set(
                problem, MALFORMED,
                "%s: a tensor extends beyond the end of the file; " SAFETENSORS_REMEDY, file->path);
        end = u64_max(end, extent.to);
    }
    if (end != file->data_bytes)
        return problem_set(problem, MALFORMED,
                           "%s: has bytes after its last tensor; " SAFETENSORS_REMEDY, file->path);
    return OK;
}

enum error safetensors_file_open(struct safetensors_file *file, const char *path,
                                 struct problem *problem)
{
    *file = (struct safetensors_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->fd < 0)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%s: cannot be opened: %s; name a saved model that you may read", path,
                           strerror(errno));
    enum error error = read_header(file, problem);
    if (error == OK)
        error = check_extents(file, problem);
    if (error != OK)
        safetensors_file_close(file);
    return error;
}

void safetensors_file_close(struct safetensors_file *file)
{
    CHECK(file->fd >= 0);
    json_decref(file->header);
    (void)close(file->fd);
    *file = (struct safetensors_file){.fd = -1};
}

size_t safetensors_file_tensors(const struct safetensors_file *file)
{
    CHECK(json_is_object(file->header));
    const bool has_metadata = json_object_get(file->header, SAFETENSORS_METADATA) != NULL;
    return json_object_size(file->header) - has_metadata;
}

/* Text beyond the buffer is cut off. */
struct list {
    char *text; /* [SAFETENSORS_LIST_BYTES] */
    size_t used;
};

/* Replaces bytes that are not printable ASCII by '?', because the list may be printed to a
 * terminal. */
__attribute__((format(printf, 2, 3))) static void add(struct list *list, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = SAFETENSORS_LIST_BYTES - list->used;
    const int length = vsnprintf(list->text + list->used, room, format, arguments);
    va_end(arguments);
    CHECK(length >= 0);
    const size_t end = list->used + ((size_t)length < room ? (size_t)length : room - 1);
    for (; list->used < end; list->used++)
        if (list->text[list->used] < ' ' || list->text[list->used] > '~')
            list->text[list->used] = '?';
}

static void add_name(struct list *list, const char *name)
{
    add(list, "%s%.*s", list->used > 0 ? ", " : "", NAME_MAX_, name);
}

static void add_end(struct list *list, size_t listed, size_t tensors)
{
    if (listed < tensors)
        add(list, ", ... of %zu", tensors);
}

static void add_entry(struct list *list, const char *name, const json_t *entry)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const json_t *shape = json_object_get(entry, "shape");
    const size_t rank = json_array_size(shape);
    add_name(list, name);
    add(list, " %.4s [", dtype ? dtype : "?");
    for (size_t i = 0; i < rank && i < RANK_MAX; i++)
        add(list, "%s%" JSON_INTEGER_FORMAT, i > 0 ? "," : "",
            json_integer_value(json_array_get(shape, i)));
    add(list, rank > RANK_MAX ? ",...]" : "]");
}

void safetensors_file_list(const struct safetensors_file *file, char text[SAFETENSORS_LIST_BYTES])
{
    struct list list = {.text = text};
    const char *name;
    json_t *entry;
    size_t listed = 0;
    CHECK(json_is_object(file->header));
    text[0] = '\0';
    json_object_foreach(file->header, name, entry)
    {
        if (strcmp(name, SAFETENSORS_METADATA) == 0)
            continue;
        if (listed++ < LISTED)
            add_entry(&list, name, entry);
    }
    add_end(&list, LISTED, listed);
    if (listed == 0)
        add(&list, "no tensor");
}

void safetensors_file_needs(const struct tensor_names *names, char text[SAFETENSORS_LIST_BYTES])
{
    struct list list = {.text = text};
    CHECK(names->count > 0);
    text[0] = '\0';
    for (int i = 0; i < names->count && i < LISTED; i++) {
        const struct named_tensor *tensor = &names->tensor[i];
        add_name(&list, tensor->name);
        add(&list, " F32 [");
        for (int side = 0; side < tensor->rank; side++)
            add(&list, "%s%zu", side > 0 ? "," : "", tensor->dims[side]);
        add(&list, "]");
    }
    add_end(&list, LISTED, (size_t)names->count);
}
