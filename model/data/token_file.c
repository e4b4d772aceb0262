#include "data/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files' order is the machine's");

#define REMEDY      "write it or download it again"
#define BLOCK_BYTES ((size_t)64 * 1024) /* bytes per read while the tokens are only counted */

/* maximum of bytes per gzread, whose argument is an unsigned int */
#define PART_BYTES ((size_t)1 << 30)

/* MAGIC_MIN .. MAGIC_MAX: range of llm.c's magic numbers, which are dates. */
#define MAGIC_MIN 20240000
#define MAGIC_MAX 20299999

static const struct format {
    uint32_t magic;
    uint32_t version;
    int token_bytes;
} FORMATS[] = {{20240520, 1, 2}, {20240801, 7, 4}};

static enum error fail_to_read(const struct token_file *file, struct problem *problem)
{
    return problem_set(problem, FAILED, "%.300s: cannot be read: %s; check the disk", file->path,
                       strerror(errno));
}

/* Reports that a read gave fewer bytes than were counted, and why: disk error, no memory,
 * damaged gzip data, or a file that became shorter. Never returns OK. */
static enum error fault(const struct token_file *file, struct problem *problem)
{
    int code = Z_OK;
    if (file->stream)
        (void)gzerror(file->stream, &code);
    if (code == Z_ERRNO)
        return fail_to_read(file, problem);
    if (code == Z_MEM_ERROR)
        return problem_set(problem, FAILED, "%.300s: no memory left to read it; free some",
                           file->path);
    if (file->stream)
        return problem_set(problem, MALFORMED,
                           "%.300s: is damaged: its compressed data or their checksum do not "
                           "hold; " REMEDY,
                           file->path);
    return problem_set(problem, MALFORMED,
                       "%.300s: became shorter while it was read; wait until it is written",
                       file->path);
}

static enum error read_plain(struct token_file *file, char *to, size_t bytes,
                             struct problem *problem)
{
    CHECK(file->fd >= 0);
    while (bytes > 0) {
        const ssize_t got = read(file->fd, to, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_to_read(file, problem);
        if (got == 0)
            return fault(file, problem);
        to += got;
        bytes -= (size_t)got;
    }
    return OK;
}

static enum error read_packed(struct token_file *file, char *to, size_t bytes,
                              struct problem *problem)
{
    CHECK(file->stream);
    while (bytes > 0) {
        const unsigned part = (unsigned)(bytes < PART_BYTES ? bytes : PART_BYTES);
        if (gzread(file->stream, to, part) != (int)part)
            return fault(file, problem);
        to += part;
        bytes -= part;
    }
    return OK;
}

enum error token_file_read(struct token_file *file, void *tokens, size_t count,
                           struct problem *problem)
{
    const size_t bytes = count * (size_t)file->token_bytes;
    return file->stream ? read_packed(file, tokens, bytes, problem)
                        : read_plain(file, tokens, bytes, problem);
}

/* Sets file->bytes by reading a whole gzip file, whose checksum zlib verifies, and rewinds it.
 * FAILED or MALFORMED: see fault. */
static enum error measure_packed(struct token_file *file, struct problem *problem)
{
    char block[BLOCK_BYTES];
    int got, code = Z_OK;
    file->bytes = 0;
    while ((got = gzread(file->stream, block, sizeof block)) > 0)
        file->bytes += (uint64_t)got;
    (void)gzerror(file->stream, &code);
    if (got < 0 || code != Z_OK || gzrewind(file->stream) != 0)
        return fault(file, problem);
    return OK;
}

enum error token_file_count(struct token_file *file, uint64_t *count, struct problem *problem)
{
    const enum error error = file->stream ? measure_packed(file, problem) : OK;
    if (error != OK)
        return error;
    if (file->bytes == 0)
        return problem_set(problem, MALFORMED, "%.300s: is empty; name another file, or " REMEDY,
                           file->path);
    *count = file->bytes / (uint64_t)file->token_bytes;
    return OK;
}

/* Prepares a text for reading, as gzip if it begins with gzip's magic bytes. The gzip stream then
 * owns the descriptor. */
static enum error open_text(struct token_file *file, struct problem *problem)
{
    unsigned char begin[2];
    file->token_bytes = 1;
    const bool is_packed = pread(file->fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
                           begin[0] == 0x1f && begin[1] == 0x8b;
    if (!is_packed)
        return OK;
    file->stream = gzdopen(file->fd, "rb");
    if (!file->stream)
        return problem_set(problem, FAILED, "%.300s: no memory left to read it; free some",
                           file->path);
    file->fd = -1;
    return OK;
}

static enum error read_header(struct token_file *file, const uint32_t header[3],
                              struct problem *problem)
{
    const struct format *format = NULL;
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (FORMATS[i].magic == header[0])
            format = &FORMATS[i];
    if (!format)
        return problem_set(problem, MALFORMED,
                           "%.300s: begins with %u, which is not the number of a file of tokens "
                           "(llm.c's are 20240520 and 20240801); name another file",
                           file->path, header[0]);
    if (header[1] != format->version)
        return problem_set(problem, MALFORMED,
                           "%.300s: is of version %u of format %u, and only version %u can be "
                           "read; convert it",
                           file->path, header[1], header[0], format->version);
    file->token_bytes = format->token_bytes;
    file->bytes -= TOKEN_FILE_HEADER_BYTES;
    if (lseek(file->fd, TOKEN_FILE_HEADER_BYTES, SEEK_SET) < 0)
        return fail_to_read(file, problem);
    if (file->bytes == (uint64_t)header[2] * (uint64_t)format->token_bytes)
        return OK;
    return problem_set(problem, MALFORMED,
                       "%.300s: announces %u tokens of %d bytes and holds %llu bytes: it is cut "
                       "short or goes on behind them; " REMEDY,
                       file->path, header[2], format->token_bytes, (unsigned long long)file->bytes);
}

static bool is_magic(uint32_t number)
{
    return number >= MAGIC_MIN && number <= MAGIC_MAX;
}

static enum error open_tokens(struct token_file *file, struct problem *problem)
{
    uint32_t header[3] = {0};
    if (pread(file->fd, header, sizeof header, 0) < 0)
        return fail_to_read(file, problem);
    if (is_magic(__builtin_bswap32(header[0])))
        return problem_set(problem, MALFORMED,
                           "%.300s: is big endian, and llm.c's files are little endian; convert it",
                           file->path);
    if (is_magic(header[0])) {
        if (file->bytes < TOKEN_FILE_HEADER_BYTES)
            return problem_set(problem, MALFORMED, "%.300s: ends within its header; " REMEDY,
                               file->path);
        return read_header(file, header, problem);
    }
    if (file->bytes % 2 != 0)
        return problem_set(problem, MALFORMED,
                           "%.300s: has no header, so its tokens are of 2 bytes, but its length "
                           "is odd (%llu); " REMEDY ", or learn it as data.source = text",
                           file->path, (unsigned long long)file->bytes);
    file->token_bytes = 2;
    return OK;
}

static enum error look_at(struct token_file *file, bool is_text, struct problem *problem)
{
    struct stat about;
    if (fstat(file->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return problem_set(problem, MALFORMED, "%.300s: is not a file; name one", file->path);
    file->bytes = (uint64_t)about.st_size;
    return is_text ? open_text(file, problem) : open_tokens(file, problem);
}

enum error token_file_open(struct token_file *file, const char *path, bool is_text,
                           struct problem *problem)
{
    struct token_file opened = {.path = path};
    /* O_NONBLOCK: open does not wait if the path is a pipe */
    opened.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened.fd < 0)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%.300s: cannot be opened: %s; name a file that you may read", path,
                           strerror(errno));
    const enum error error = look_at(&opened, is_text, problem);
    if (error == OK)
        *file = opened;
    else
        token_file_close(&opened);
    return error;
}

void token_file_close(struct token_file *file)
{
    if (file->stream)
        (void)gzclose_r(file->stream);
    if (file->fd >= 0)
        (void)close(file->fd);
    *file = (struct token_file){.fd = -1};
}
