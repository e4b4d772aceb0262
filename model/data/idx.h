/* Reading an IDX file item by item: the format of MNIST and the sets made in its image.
 *
 *   OFFSET SIZE MEANING
 *        0    2 zero
 *        2    1 type of the numbers: 0x08, unsigned byte, is the only one read here
 *        3    1 dimensions. 1: labels. 3: images, by count, height, width. 4: with channels,
 *               by count, channels, height, width
 *        4  4·n each dimension, big-endian
 *      4+4n   … the numbers, row major
 *
 * Plain or gzip, told apart by content. The contents are checked: sizes have bounds, and a count
 * that the file cannot hold is refused before memory is allocated. After OK from idx_end the file
 * was complete and, if gzip, its checksum was right (every truncation:
 * tests/unit/model/test_dataset.c, tests/unit/model/test_idx.c). Bytes after a gzip stream are
 * ignored, as gunzip does.
 */
#ifndef HEARSAY_MODEL_DATA_IDX_H
#define HEARSAY_MODEL_DATA_IDX_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

#define IDX_PATH_MAX     4096
#define IDX_SIDE_MAX     1024 /* pixels: largest side of an image */
#define IDX_CHANNELS_MAX 64

enum idx_kind { IDX_LABELS, IDX_IMAGES };

struct idx {
    struct gzFile_s *stream;
    enum idx_kind kind;
    int dimensions;
    uint32_t count;      /* items in the file */
    uint32_t at;         /* items read so far */
    struct shape shape;  /* shape of an item; 1x1x1 for labels */
    uint64_t file_bytes; /* bytes on the disk */
    char path[IDX_PATH_MAX];
};

/* Opens the labels or images of a part, "train" or "t10k": the first existing one of
 * directory/train-labels-idx1-ubyte, train-images-idx3-ubyte and train-images-idx4-ubyte, each
 * plain or .gz. Checks the header. After OK the caller must call idx_close; after an error there is
 * nothing to close. */
enum error idx_open(struct idx *idx, const char *directory, const char *part, enum idx_kind kind,
                    struct problem *problem) MUST_USE;

/* Opens one file, labels or images by its header. */
enum error idx_open_file(struct idx *idx, const char *path, struct problem *problem) MUST_USE;

/* Reads the next item into `item`, as many bytes as its shape has. There must be one left. */
enum error idx_next(struct idx *idx, uint8_t *item, struct problem *problem) MUST_USE;

/* Checks the end after all items: no bytes may follow, and a gzip checksum must be right. */
enum error idx_end(struct idx *idx, struct problem *problem) MUST_USE;

/* Returns the remedy for a damaged file: "write it or download it again". */
const char *idx_remedy(const struct idx *idx);

void idx_close(struct idx *idx);

#endif
