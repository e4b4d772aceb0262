#include "data/npy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "data/npy_header.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the files' order is the machine's");

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
/* Bytes of magic number, version, and header length in the longer form (version 2 or 3). */
#define PREFIX_BYTES 12
#define HEADER_MAX   ((size_t)1 << 20)
#define CHANNELS_MAX 4 /* channels are surely last only if there are at most this many */
#define SIDE_MIN     8 /* channels are surely last only if height and width are at least this */
#define REMEDY       "write it with np.save, or download it again"

static enum error fail_to_read(const struct npy_file *file, struct problem *problem)
{
    return problem_set(problem, FAILED, "%.300s: cannot be read: %s; check the disk", file->path,
                       strerror(errno));
}

static enum error no_npy(const struct npy_file *file, const unsigned char *begin, size_t bytes,
                         struct problem *problem)
{
    if (bytes >= 4 && memcmp(begin, "PK\3\4", 4) == 0)
        return problem_set(problem, MALFORMED,
                           "%.300s: is a .npz, an archive of arrays; write each of them to a file "
                           "of its own with np.save",
                           file->path);
    return problem_set(problem, MALFORMED,
                       "%.300s: is not a .npy file: it does not begin as NumPy "
                       "writes them; " REMEDY,
                       file->path);
}

/* Sets *begins to the offset of the header's text and *length to its bytes. MALFORMED: the file
 * does not begin as a .npy file. */
static enum error read_prefix(const struct npy_file *file, size_t *begins, size_t *length,
                              struct problem *problem)
{
    unsigned char prefix[PREFIX_BYTES];
    const ssize_t got = pread(file->fd, prefix, sizeof prefix, 0);
    if (got < 0)
        return fail_to_read(file, problem);
    if (got < MAGIC_BYTES || memcmp(prefix, MAGIC, MAGIC_BYTES) != 0)
        return no_npy(file, prefix, (size_t)got, problem);
    if (got < PREFIX_BYTES)
        return problem_set(problem, MALFORMED, "%.300s: ends within its header; " REMEDY,
                           file->path);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return problem_set(problem, MALFORMED,
                           "%.300s: is of version %d.%d of the format, and 1.0, 2.0 and 3.0 can be "
                           "read; " REMEDY,
                           file->path, prefix[6], prefix[7]);
    *length = prefix[8] | (size_t)prefix[9] << 8;
    *begins = 10;
    if (prefix[6] > 1) {
        *length |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
        *begins = 12;
    }
    return OK;
}

static enum error read_header(const struct npy_file *file, struct npy_header *header,
                              size_t *numbers_begin, struct problem *problem)
{
    size_t begins = 0, length = 0;
    enum error error = read_prefix(file, &begins, &length, problem);
    if (error != OK)
        return error;
    if (length > HEADER_MAX)
        return problem_set(problem, MALFORMED,
                           "%.300s: announces a header of %zu bytes, and %zu can be read; " REMEDY,
                           file->path, length, HEADER_MAX);
    char *text = memory_new(length + 1, 1);
    const ssize_t got = pread(file->fd, text, length, (off_t)begins);
    if (got < 0)
        error = fail_to_read(file, problem);
    else if ((size_t)got < length)
        error =
            problem_set(problem, MALFORMED, "%.300s: ends within its header; " REMEDY, file->path);
    else if (!npy_header_parse(header, text, length))
        error = problem_set(problem, MALFORMED,
                            "%.300s: its header does not say type, order and shape as NumPy writes "
                            "them; " REMEDY,
                            file->path);
    free(text);
    *numbers_begin = begins + length;
    return error;
}

const char *npy_file_type(char out[static NPY_NAME_BYTES], const struct npy_file *file)
{
    static const struct {
        char kind;
        const char *name;
    } NAMES[] = {{'u', "uint"}, {'i', "int"}, {'f', "float"}, {'c', "complex"}};
    (void)snprintf(out, NPY_NAME_BYTES, "bool");
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].kind == file->kind)
            (void)snprintf(out, NPY_NAME_BYTES, "%s%d", NAMES[i].name, 8 * file->stored_bytes);
    return out;
}

static enum error unsupported(const struct npy_file *file, const struct npy_header *header,
                              struct problem *problem)
{
    char type[NPY_NAME_BYTES];
    if (file->kind == 'f')
        return problem_set(problem, MALFORMED,
                           "%.300s: holds %s, and of floats float32 and float64 can be read; "
                           "convert it: np.save(FILE, a.astype(np.float32))",
                           file->path, npy_file_type(type, file));
    if (file->kind == 'c')
        return problem_set(problem, MALFORMED,
                           "%.300s: holds %s, and no complex numbers can be learned; write their "
                           "parts as float32",
                           file->path, npy_file_type(type, file));
    return problem_set(problem, MALFORMED,
                       "%.300s: holds %s (%.31s), and only arrays of numbers can be read; convert "
                       "it to one",
                       file->path,
                       file->kind == 'O'                        ? "Python objects"
                       : header->descr[0] == '\0'               ? "records of several fields"
                       : file->kind == 'S' || file->kind == 'U' ? "text"
                                                                : "what are no plain numbers",
                       header->descr[0] ? header->descr : "records");
}

static bool is_supported(const struct npy_file *file)
{
    const int bytes = file->bytes;
    switch (file->kind) {
    case 'b':
        return bytes == 1;
    case 'u':
    case 'i':
        return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    case 'f':
        return bytes == 4 || bytes == 8;
    default:
        return false;
    }
}

/* Sets kind, bytes and stored_bytes of the file from descr: an optional byte order (<, >, | or =),
 * a kind and a number of bytes, such as "<f4". */
static enum error set_type(struct npy_file *file, const struct npy_header *header,
                           struct problem *problem)
{
    const char *descr = header->descr;
    const size_t order = strchr("<>|=", descr[0]) && descr[0] ? 1 : 0;
    char *end = NULL;
    file->kind = descr[order];
    const long bytes = file->kind ? strtol(descr + order + 1, &end, 10) : 0;
    file->bytes = end && *end == '\0' && bytes > 0 && bytes < 1024 ? (int)bytes : 0;
    file->stored_bytes = file->bytes;
    if (!is_supported(file))
        return unsupported(file, header, problem);
    if (file->kind == 'f')
        file->bytes = sizeof(float);
    if (descr[0] == '>' && bytes > 1)
        return problem_set(problem, MALFORMED,
                           "%.300s: is big endian; turn it: np.save(FILE, "
                           "a.astype(a.dtype.newbyteorder('<')))",
                           file->path);
    return OK;
}

static enum error set_shape(struct npy_file *file, const struct npy_header *header,
                            struct problem *problem)
{
    file->rank = header->rank;
    memcpy(file->dims, header->dims, sizeof file->dims);
    memcpy(file->stored_dims, header->dims, sizeof file->stored_dims);
    if (file->rank == 0)
        return problem_set(problem, MALFORMED,
                           "%.300s: is one number without a dimension; the first dimension counts "
                           "the samples: write an array",
                           file->path);
    if (header->fortran_order && file->rank > 1)
        return problem_set(problem, MALFORMED,
                           "%.300s: lies in Fortran order; turn it: np.save(FILE, "
                           "np.ascontiguousarray(a))",
                           file->path);
    file->size = 1;
    for (int i = 0; i < file->rank; i++) {
        if (file->dims[i] == 0)
            return problem_set(problem, MALFORMED,
                               "%.300s: is empty: its dimension %d of %d is 0; name another file",
                               file->path, i + 1, file->rank);
        if (i > 0 && __builtin_mul_overflow(file->size, file->dims[i], &file->size))
            return problem_set(problem, MALFORMED,
                               "%.300s: announces more numbers than can be counted; " REMEDY,
                               file->path);
    }
    return OK;
}

static enum error check_length(const struct npy_file *file, size_t begins, struct problem *problem)
{
    struct stat about;
    uint64_t bytes = 0;
    if (fstat(file->fd, &about) != 0)
        return fail_to_read(file, problem);
    const uint64_t there = (uint64_t)about.st_size - begins;
    const bool is_countable = !__builtin_mul_overflow(file->size, file->dims[0], &bytes) &&
                              !__builtin_mul_overflow(bytes, (uint64_t)file->stored_bytes, &bytes);
    if (is_countable && bytes == there)
        return OK;
    if (!is_countable)
        return problem_set(problem, MALFORMED,
                           "%.300s: announces more numbers than can be counted; " REMEDY,
                           file->path);
    return problem_set(problem, MALFORMED,
                       "%.300s: announces %llu bytes of numbers and holds %llu: it %s; " REMEDY,
                       file->path, (unsigned long long)bytes, (unsigned long long)there,
                       there < bytes ? "is cut short" : "goes on behind them");
}

static enum error look_at(struct npy_file *file, struct problem *problem)
{
    struct stat about;
    struct npy_header header = {.rank = 0};
    size_t begins = 0;
    if (fstat(file->fd, &about) != 0 || !S_ISREG(about.st_mode))
        return problem_set(problem, MALFORMED, "%.300s: is not a file; name one", file->path);
    enum error error = read_header(file, &header, &begins, problem);
    if (error == OK)
        error = set_type(file, &header, problem);
    if (error == OK)
        error = set_shape(file, &header, problem);
    if (error == OK)
        error = check_length(file, begins, problem);
    if (error == OK && lseek(file->fd, (off_t)begins, SEEK_SET) < 0)
        error = fail_to_read(file, problem);
    return error;
}

enum error npy_file_open(struct npy_file *file, const char *path, struct problem *problem)
{
    struct npy_file opened = {.path = path};
    /* O_NONBLOCK: open does not wait if the path is a pipe */
    opened.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened.fd < 0)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%.300s: cannot be opened: %s; name a file that you may read", path,
                           strerror(errno));
    const enum error error = look_at(&opened, problem);
    if (error == OK)
        *file = opened;
    else
        npy_file_close(&opened);
    return error;
}

static enum error ask_for_channels(const struct npy_file *file, struct problem *problem)
{
    const unsigned long long sides[] = {file->dims[1], file->dims[2], file->dims[3]};
    return problem_set(problem, MISMATCH,
                       "%.300s: its samples are %llu x %llu x %llu, and the channels may be the "
                       "first or the last of these; say which: data.channels = first, or last",
                       file->path, sides[0], sides[1], sides[2]);
}

/* Sets *channels to FIRST or LAST. The last dimension may count channels if it is smaller than both
 * other dimensions. It surely counts channels if it is also at most CHANNELS_MAX, height and width
 * are at least SIDE_MIN, and it is odd or height equals width. MISMATCH: it may count channels, but
 * the file may also have narrow maps with the channels first. */
static enum error find_channels(const struct npy_file *file, enum npy_channels *channels,
                                struct problem *problem)
{
    const uint64_t height = file->dims[1], width = file->dims[2], last = file->dims[3];
    *channels = NPY_CHANNELS_FIRST;
    if (last >= height || last >= width)
        return OK;
    if (height < SIDE_MIN || width < SIDE_MIN || last > CHANNELS_MAX ||
        (last % 2 == 0 && height != width))
        return ask_for_channels(file, problem);
    *channels = NPY_CHANNELS_LAST;
    return OK;
}

enum error npy_file_order(struct npy_file *file, enum npy_channels channels,
                          struct problem *problem)
{
    CHECK(file->at == 0 && !file->channels_last);
    if (file->rank != 4 || channels == NPY_CHANNELS_FIRST)
        return OK;
    const enum error error =
        channels == NPY_CHANNELS_AUTO ? find_channels(file, &channels, problem) : OK;
    if (error != OK || channels == NPY_CHANNELS_FIRST)
        return error;
    const uint64_t sides[] = {file->dims[3], file->dims[1], file->dims[2]};
    memcpy(file->dims + 1, sides, sizeof sides);
    file->channels_last = true;
    return OK;
}

static enum error read_bytes(struct npy_file *file, void *to, uint64_t bytes,
                             struct problem *problem)
{
    char *next = to;
    while (bytes > 0) {
        const ssize_t got = read(file->fd, next, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_to_read(file, problem);
        if (got == 0)
            return problem_set(problem, MALFORMED,
                               "%.300s: became shorter while it was read; wait until it is written",
                               file->path);
        next += got;
        bytes -= (uint64_t)got;
    }
    return OK;
}

/* Copies number `at` of `from`, in the file's type, to `to`. Converts float64 to float32. */
static void put_number(const struct npy_file *file, const unsigned char *from, uint64_t at,
                       unsigned char *to)
{
    if (file->stored_bytes == file->bytes) {
        memcpy(to, from + at * (uint64_t)file->bytes, (size_t)file->bytes);
        return;
    }
    double number;
    memcpy(&number, from + at * sizeof number, sizeof number);
    const float rounded = (float)number;
    memcpy(to, &rounded, sizeof rounded);
}

/* Copies samples from `from` to `to`. Changes h, w, c to c, h, w if the file has the channels last,
 * and float64 to float32. */
static void reorder(const struct npy_file *file, const unsigned char *from, uint64_t samples,
                    unsigned char *to)
{
    const uint64_t channels = file->channels_last ? file->dims[1] : 1;
    const uint64_t places = file->size / channels, bytes = (uint64_t)file->bytes;
    for (uint64_t i = 0; i < samples; i++)
        for (uint64_t c = 0; c < channels; c++)
            for (uint64_t k = 0; k < places; k++, to += bytes)
                put_number(file, from, i * file->size + k * channels + c, to);
}

enum error npy_file_read(struct npy_file *file, void *to, uint64_t samples, struct problem *problem)
{
    const bool is_as_stored = !file->channels_last && file->stored_bytes == file->bytes;
    const uint64_t bytes = samples * file->size * (uint64_t)file->stored_bytes;
    CHECK(samples <= file->dims[0] - file->at);
    unsigned char *stored = is_as_stored ? to : memory_new(bytes + 1, 1);
    const enum error error = read_bytes(file, stored, bytes, problem);
    if (!is_as_stored && error == OK)
        reorder(file, stored, samples, to);
    if (!is_as_stored)
        free(stored);
    file->at += error == OK ? samples : 0;
    return error;
}

enum error npy_file_skip(struct npy_file *file, uint64_t samples, struct problem *problem)
{
    CHECK(samples < file->dims[0] - file->at);
    const uint64_t bytes = samples * file->size * (uint64_t)file->stored_bytes;
    if (lseek(file->fd, (off_t)bytes, SEEK_CUR) < 0)
        return fail_to_read(file, problem);
    file->at += samples;
    return OK;
}

void npy_file_close(struct npy_file *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    *file = (struct npy_file){.fd = -1};
}
