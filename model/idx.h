/* Reading an IDX file item by item: the format of MNIST and the sets made in its image.
 *
 *   OFFSET SIZE MEANING
 *        0    2 zero
 *        2    1 type of the numbers: 0x08, unsigned byte, is the only one read here
 *        3    1 dimensions: 1 for labels, 3 for images (count, height, width)
 *        4  4·n each dimension, big-endian
 *      4+4n   … the numbers, row major
 *
 * Plain or gzip, told apart by content. Nothing is believed: sizes have bounds, and an announced
 * count that the file cannot hold is refused before memory is asked for. After OK from idx_end
 * the file was whole and, if gzip, its checksum held (tests/test_dataset.c: every truncation).
 * What follows a gzip stream is ignored, as gunzip does.
 */
#ifndef HEARSAY_IDX_H
#define HEARSAY_IDX_H

#include <stdint.h>

#include "status.h"

#define IDX_PATH_MAX 4096
#define IDX_SIDE_MAX 1024 /* pixels, of an image */

enum idx_kind { IDX_LABELS = 1, IDX_IMAGES = 3 }; /* the number of dimensions */

struct idx {
    struct gzFile_s *stream;
    enum idx_kind kind;
    uint32_t count; /* items in the file */
    uint32_t at;    /* items read so far */
    int height;     /* of an item; 1 for labels */
    int width;
    uint64_t file_bytes; /* as it lies on the disk */
    char path[IDX_PATH_MAX];
};

/* Open directory/name, or directory/name.gz where the first does not exist, and check its header.
 * After OK the caller must idx_close; after anything else there is nothing to close. */
enum status idx_open(struct idx *idx, const char *directory, const char *name, enum idx_kind kind,
                     struct problem *problem) MUST_USE;

/* The next item, height·width bytes, into item. There must be one left. */
enum status idx_next(struct idx *idx, uint8_t *item, struct problem *problem) MUST_USE;

/* All items are read: nothing may follow, and a gzip checksum must hold. */
enum status idx_end(struct idx *idx, struct problem *problem) MUST_USE;

void idx_close(struct idx *idx);

#endif
