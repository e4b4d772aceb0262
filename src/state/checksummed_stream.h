/* A stream of bytes in chunks, each with a checksum, so that no damaged byte is believed.
 *
 * A file is chunks 0, 1, 2, ..., each CHUNK_BYTES long but the last, which is as long as it needs:
 *   OFFSET  SIZE  MEANING
 *   0       n     the next n bytes of the stream, 1 <= n <= CHUNK_PAYLOAD
 *   n       4     crc32 (zlib's) of: series (8) ‖ number of the chunk (8) ‖ those n bytes
 * All numbers are little-endian. The series is the caller's number for the file: so a chunk in the
 * place of another, or left there by an older file, is noticed as a flipped bit is.
 */
#ifndef HEARSAY_STATE_CHECKSUMMED_STREAM_H
#define HEARSAY_STATE_CHECKSUMMED_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "state/disk.h"
#include "state/atomic_file.h"
#include "base/error.h"

#define CHUNK_BYTES   65536
#define CHUNK_PAYLOAD (CHUNK_BYTES - 4)

/* What a stream of so many bytes takes as a file. */
static inline uint64_t checksummed_file_bytes(uint64_t stream_bytes)
{
    return stream_bytes + 4 * ((stream_bytes + CHUNK_PAYLOAD - 1) / CHUNK_PAYLOAD);
}

struct checksummed_writer {
    struct atomic_file *atomic_file; /* the caller's */
    uint64_t series;
    uint64_t number;
    size_t used;
    uint8_t bytes[CHUNK_BYTES];
};

/* What fails is the draft's to tell. */
void checksummed_writer_init(struct checksummed_writer *writer, struct atomic_file *atomic_file,
                             uint64_t series);
void checksummed_write(struct checksummed_writer *writer, const void *from, size_t bytes);
void checksummed_write_end(struct checksummed_writer *writer);

struct checksummed_reader {
    const struct disk *disk;
    int handle; /* the caller's */
    uint64_t series;
    uint64_t number; /* of the next chunk */
    size_t at;
    size_t filled;
    int error; /* of the disk, a negative errno, once something has returned FAILED */
    uint8_t bytes[CHUNK_BYTES];
};

void checksummed_reader_init(struct checksummed_reader *reader, const struct disk *disk, int handle,
                             uint64_t series);

/* The next bytes of the stream, or nowhere if `to` is NULL. MALFORMED: a chunk is damaged or the
 * stream ends before; FAILED: the disk refused. `to` may then hold a part of them. */
enum error checksummed_read(struct checksummed_reader *reader, void *to, size_t bytes) MUST_USE;
/* MALFORMED if the stream goes on. */
enum error checksummed_read_end(struct checksummed_reader *reader) MUST_USE;

#endif
