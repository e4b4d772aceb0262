#include "state/checksummed_stream.h"

#include <string.h>
#include <zlib.h>

#include "base/min_max.h"

#define SUM_BYTES 4

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the file holds little-endian numbers, and so must the memory");
_Static_assert(CHUNK_BYTES - CHUNK_PAYLOAD == SUM_BYTES, "room for the checksum");

static uint32_t checksum(uint64_t series, uint64_t number, const uint8_t *bytes, size_t count)
{
    const uint64_t place[] = {series, number};
    const uLong start = crc32(0, (const uint8_t *)place, sizeof place);
    return (uint32_t)crc32(start, bytes, (uInt)count);
}

void checksummed_writer_init(struct checksummed_writer *writer, struct atomic_file *file,
                             uint64_t series)
{
    writer->file = file;
    writer->series = series;
    writer->number = 0;
    writer->used = 0;
}

static void flush(struct checksummed_writer *writer)
{
    CHECK(writer->used > 0 && writer->used <= CHUNK_PAYLOAD);
    const uint32_t sum = checksum(writer->series, writer->number, writer->bytes, writer->used);
    memcpy(writer->bytes + writer->used, &sum, SUM_BYTES);
    atomic_file_write(writer->file, writer->bytes, writer->used + SUM_BYTES);
    writer->number++;
    writer->used = 0;
}

void checksummed_write(struct checksummed_writer *writer, const void *from, size_t bytes)
{
    const uint8_t *next = from;
    while (bytes > 0) {
        CHECK(writer->used < CHUNK_PAYLOAD);
        const size_t room = CHUNK_PAYLOAD - writer->used;
        const size_t part = size_min(bytes, room);
        memcpy(writer->bytes + writer->used, next, part);
        writer->used += part;
        next += part;
        bytes -= part;
        if (writer->used == CHUNK_PAYLOAD)
            flush(writer);
    }
}

void checksummed_write_end(struct checksummed_writer *writer)
{
    if (writer->used > 0)
        flush(writer);
}

void checksummed_reader_init(struct checksummed_reader *reader, const struct disk *disk, int handle,
                             uint64_t series)
{
    CHECK(handle >= 0);
    reader->disk = disk;
    reader->handle = handle;
    reader->series = series;
    reader->number = 0;
    reader->at = reader->filled = 0;
    reader->error = 0;
}

static enum error next_chunk(struct checksummed_reader *reader)
{
    CHECK(reader->at == reader->filled);
    const int64_t got = disk_read_all(reader->disk, reader->handle, reader->bytes, CHUNK_BYTES);
    if (got < 0) {
        reader->error = (int)got;
        return FAILED;
    }
    if (got <= SUM_BYTES)
        return MALFORMED;
    const size_t payload = (size_t)got - SUM_BYTES;
    uint32_t sum;
    memcpy(&sum, reader->bytes + payload, SUM_BYTES);
    if (sum != checksum(reader->series, reader->number, reader->bytes, payload))
        return MALFORMED;
    reader->number++;
    reader->at = 0;
    reader->filled = payload;
    return OK;
}

enum error checksummed_read(struct checksummed_reader *reader, void *to, size_t bytes)
{
    uint8_t *next = to;
    while (bytes > 0) {
        const enum error error = reader->at == reader->filled ? next_chunk(reader) : OK;
        if (error != OK)
            return error;
        const size_t has = reader->filled - reader->at;
        const size_t part = size_min(bytes, has);
        if (next) {
            memcpy(next, reader->bytes + reader->at, part);
            next += part;
        }
        reader->at += part;
        bytes -= part;
    }
    return OK;
}

enum error checksummed_read_end(struct checksummed_reader *reader)
{
    uint8_t more;
    if (reader->at < reader->filled)
        return MALFORMED;
    const int64_t got = disk_read_all(reader->disk, reader->handle, &more, 1);
    if (got < 0)
        reader->error = (int)got;
    return got < 0 ? FAILED : got > 0 ? MALFORMED : OK;
}
