/* Reading an IDX file item by item: the format of MNIST and of data sets made to replace it.
 *
 *   OFFSET SIZE MEANING
 *        0    2 zero
 *        2    1 type of the numbers: only 0x08, unsigned byte, is supported
 *        3    1 number of dimensions. 1: labels. 3: images: count, height, width.
 *               4: images with channels: count, channels, height, width
 *        4  4·n size of each dimension, big-endian
 *      4+4n   … the numbers, row major
 *
 * The file is plain or gzip, as its first bytes say. Sizes have maxima, and a count that the file
 * cannot hold is refused before memory is allocated. After OK from idx_end the file
 * was complete and, if gzip, its checksum was right. Bytes after a gzip stream are ignored, as
 * gunzip does. Tests: tests/unit/model/test_dataset.c and tests/unit/model/test_idx.c.
 */
#ifndef HEARSAY_MODEL_DATA_IDX_H
#define HEARSAY_MODEL_DATA_IDX_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

#define IDX_PATH_MAX     4096
#define IDX_SIDE_MAX     1024 /* maximum height and width of an image, in pixels */
#define IDX_CHANNELS_MAX 64

enum idx_kind { IDX_LABELS, IDX_IMAGES };

struct idx {
    struct gzFile_s *stream;
    enum idx_kind kind;
    int dimensions;
    uint32_t count;      /* items (labels or images) in the file */
    uint32_t at;         /* items read so far */
    struct shape shape;  /* shape of an item; 1x1x1 for labels */
    uint64_t file_bytes; /* size of the file on the disk, in bytes */
    char path[IDX_PATH_MAX];
};

/* Opens the labels or the images of a part, "train" or "t10k". Labels are in
 * directory/PART-labels-idx1-ubyte, images in PART-images-idx3-ubyte or, if that is missing,
 * PART-images-idx4-ubyte; each may end in .gz. Checks the header. After OK the caller must call
 * idx_close; after an error there is nothing to close. */
enum error idx_open(struct idx *idx, const char *directory, const char *part, enum idx_kind kind,
                    struct problem *problem) MUST_USE;

/* Opens one file as idx_open does. The header says whether the file has labels or images. */
enum error idx_open_file(struct idx *idx, const char *path, struct problem *problem) MUST_USE;

/* Copies the next item to `item`, shape_size(idx->shape) bytes. Call it only while at < count. */
enum error idx_next(struct idx *idx, uint8_t *item, struct problem *problem) MUST_USE;

/* Checks the end of the file after the last item was read: no bytes may follow, and a gzip checksum
 * must be right. MALFORMED: the check failed. */
enum error idx_end(struct idx *idx, struct problem *problem) MUST_USE;

/* Returns advice for messages about a damaged file, such as "write it or download it again". */
const char *idx_remedy(const struct idx *idx);

void idx_close(struct idx *idx);

#endif
