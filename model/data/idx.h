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
 * Plain or gzip, told apart by content. Nothing is believed: sizes have bounds, and an announced
 * count that the file cannot hold is refused before memory is asked for. After OK from idx_end
 * the file was whole and, if gzip, its checksum held (every truncation:
 * tests/unit/model/test_dataset.c, tests/unit/model/test_idx.c). What follows a gzip stream is
 * ignored, as gunzip does.
 */
#ifndef HEARSAY_MODEL_DATA_IDX_H
#define HEARSAY_MODEL_DATA_IDX_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

#define IDX_PATH_MAX     4096
#define IDX_SIDE_MAX     1024 /* pixels, of an image */
#define IDX_CHANNELS_MAX 64

enum idx_kind { IDX_LABELS, IDX_IMAGES };

struct idx {
    struct gzFile_s *stream;
    enum idx_kind kind;
    int dimensions;
    uint32_t count;      /* items in the file */
    uint32_t at;         /* items read so far */
    struct shape shape;  /* of an item; 1x1x1 for labels */
    uint64_t file_bytes; /* as it lies on the disk */
    char path[IDX_PATH_MAX];
};

/* Open the labels or images of a part, "train" or "t10k": directory/train-labels-idx1-ubyte, or
 * train-images-idx3-ubyte, or train-images-idx4-ubyte, whichever is there first, each plain or .gz;
 * and check the header. After OK the caller must idx_close; after anything else there is nothing to
 * close. */
enum error idx_open(struct idx *idx, const char *directory, const char *part, enum idx_kind kind,
                    struct problem *problem) MUST_USE;

/* The same for one file, labels or images as it says itself. */
enum error idx_open_file(struct idx *idx, const char *path, struct problem *problem) MUST_USE;

/* The next item, as many bytes as its shape has, into item. There must be one left. */
enum error idx_next(struct idx *idx, uint8_t *item, struct problem *problem) MUST_USE;

/* All items are read: nothing may follow, and a gzip checksum must hold. */
enum error idx_end(struct idx *idx, struct problem *problem) MUST_USE;

/* The remedy for a damaged file: "write it or download it again". */
const char *idx_remedy(const struct idx *idx);

void idx_close(struct idx *idx);

#endif
