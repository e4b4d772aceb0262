/* A stream of bytes that is stored in chunks with checksums, so that damage is detected.
 *
 *   write ─► chunk 0 │ chunk 1 │ … ─► atomic_file.h        disk.h ─► chunk 0 │ chunk 1 │ … ─► read
 *
 * Each chunk has CHUNK_BYTES; the last one may be shorter:
 *   OFFSET  SIZE  MEANING
 *   0       n     the next n bytes of the stream, 1 <= n <= CHUNK_PAYLOAD
 *   n       4     crc32 (zlib's) of: series (8) ‖ number of the chunk (8) ‖ those n bytes
 * All numbers are little-endian. The series is a number that the caller chooses for the file.
 * Because the checksum covers series and chunk number, it also detects swapped chunks and chunks of
 * an older file. Tests: tests/unit/state/test_rot.c.
 */
#ifndef HEARSAY_STATE_CHECKSUMMED_STREAM_H
#define HEARSAY_STATE_CHECKSUMMED_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/atomic_file.h"
#include "state/disk.h"

#define CHUNK_BYTES   65536
#define CHUNK_PAYLOAD (CHUNK_BYTES - 4)

/* Returns the size of a file with a stream of stream_bytes bytes. */
static inline uint64_t checksummed_file_bytes(uint64_t stream_bytes)
{
    return stream_bytes + 4 * ((stream_bytes + CHUNK_PAYLOAD - 1) / CHUNK_PAYLOAD);
}

struct checksummed_writer {
    struct atomic_file *file; /* borrowed */
    uint64_t series;
    uint64_t number;
    size_t used;                /* bytes so far in the present chunk */
    uint8_t bytes[CHUNK_BYTES]; /* the present chunk */
};

void checksummed_writer_init(struct checksummed_writer *writer, struct atomic_file *file,
                             uint64_t series);
void checksummed_write(struct checksummed_writer *writer, const void *from, size_t bytes);
void checksummed_write_end(struct checksummed_writer *writer);

struct checksummed_reader {
    const struct disk *disk; /* borrowed */
    int handle;              /* open for reading; borrowed */
    uint64_t series;
    uint64_t number;            /* number of the next chunk */
    size_t at;                  /* bytes of the present chunk that the caller has read */
    size_t filled;              /* bytes of the stream in the present chunk */
    int error;                  /* negative errno after a FAILED */
    uint8_t bytes[CHUNK_BYTES]; /* the present chunk */
};

void checksummed_reader_init(struct checksummed_reader *reader, const struct disk *disk, int handle,
                             uint64_t series);

/* Copies the next `bytes` bytes of the stream to `to`; NULL = skips them. MALFORMED: a chunk is
 * damaged, or the stream ends early. FAILED: the disk could not be read. After an error, some of
 * the bytes may have been copied. */
enum error checksummed_read(struct checksummed_reader *reader, void *to, size_t bytes) MUST_USE;
/* MALFORMED: the stream has more bytes. FAILED: the disk could not be read. */
enum error checksummed_read_end(struct checksummed_reader *reader) MUST_USE;

#endif
