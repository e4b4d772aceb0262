/* An open safetensors file and its header; used by safetensors.c and its helpers.
 *
 *   0         8         8 + length          end of the file
 *   │ length  │ header  │ tensors           │
 *                       └ data_at           └ data_at + data_bytes
 *
 * The file may come from anywhere, so each value of the header is checked. Tests:
 * tests/unit/state/test_safetensors.c.
 */
#ifndef HEARSAY_STATE_SAFETENSORS_FILE_H
#define HEARSAY_STATE_SAFETENSORS_FILE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/names/tensor_names.h"

#define SAFETENSORS_LENGTH_BYTES 8
#define SAFETENSORS_HEADER_MAX   (1024 * 1024)
#define SAFETENSORS_METADATA     "__metadata__"
#define SAFETENSORS_LIST_BYTES   144
#define SAFETENSORS_REMEDY       "use another copy of the file"

struct safetensors_file {
    const char *path;    /* borrowed */
    int fd;              /* open for reading */
    uint64_t data_at;    /* offset in the file of the tensors' bytes */
    uint64_t data_bytes; /* bytes of all tensors */
    json_t *header;      /* metadata, and one entry for each tensor */
};

/* The bytes of a tensor, as offsets after data_at: from <= to <= data_bytes. */
struct safetensors_extent {
    uint64_t from;
    uint64_t to;
};

/* After OK each tensor is inside the file, the last one ends at the end of the file, and the caller
 * must close the file. */
enum error safetensors_file_open(struct safetensors_file *file, const char *path,
                                 struct problem *problem) MUST_USE;
void safetensors_file_close(struct safetensors_file *file);

/* at: offset after data_at. */
enum error safetensors_file_read(const struct safetensors_file *file, void *to, uint64_t bytes,
                                 uint64_t at, struct problem *problem) MUST_USE;

/* Returns false if the header entry of a tensor has no extent, or one outside the file. */
bool safetensors_file_extent(const struct safetensors_file *file, const json_t *entry,
                             struct safetensors_extent *extent) MUST_USE;

size_t safetensors_file_tensors(const struct safetensors_file *file);

/* Lists name, type and shape of the first few tensors in the file, such as "fc1.weight F32
 * [128,784]". If there are more, adds ", ... of" and the number of all. Bytes that are not
 * printable ASCII become '?'. */
void safetensors_file_list(const struct safetensors_file *file, char text[SAFETENSORS_LIST_BYTES]);

/* Lists the tensors that a model needs, in the format of safetensors_file_list. */
void safetensors_file_needs(const struct tensor_names *names, char text[SAFETENSORS_LIST_BYTES]);

#endif
