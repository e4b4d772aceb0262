#include "commands/data/data_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/min_max.h"

#define LOOKED_AT 512 /* bytes read from the start of a file to determine its format */

static bool ends_in(const char *path, const char *end)
{
    const size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcmp(path + length - tail, end) == 0;
}

static bool is_idx(const unsigned char *begin, int bytes)
{
    return bytes >= 4 && begin[0] == 0 && begin[1] == 0 && begin[2] >= 0x08 && begin[2] <= 0x0e &&
           begin[3] >= 1 && begin[3] <= 4;
}

/* Returns true if the file begins like a token file of llm.c. The magic numbers of such files
 * are dates, in either byte order. */
static bool is_llmc(const unsigned char *begin, int bytes)
{
    uint32_t number = 0;
    if (bytes < (int)sizeof number)
        return false;
    memcpy(&number, begin, sizeof number);
    const uint32_t turned = __builtin_bswap32(number);
    return (number >= 20240000 && number < 20300000) || (turned >= 20240000 && turned < 20300000);
}

/* Reads the first bytes of the file, decompressed, and returns their number. */
static int look_at(const char *path, unsigned char begin[static LOOKED_AT])
{
    gzFile stream = gzopen(path, "rb");
    const int got = stream ? gzread(stream, begin, LOOKED_AT) : 0;
    if (stream)
        (void)gzclose_r(stream);
    return int_max(got, 0);
}

static enum error find_format(struct data_reader *reader, struct problem *problem)
{
    unsigned char begin[LOOKED_AT];
    struct stat about;
    if (stat(reader->path, &about) != 0)
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%.300s: cannot be opened: %s; name a file that you may read",
                           reader->path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return problem_set(problem, MALFORMED, "%.300s: is not a file; name one", reader->path);
    const int got = look_at(reader->path, begin);
    if (ends_in(reader->path, ".npy") || ends_in(reader->path, ".npz") ||
        (got >= 6 && memcmp(begin, "\x93NUMPY", 6) == 0))
        reader->format = DATA_NPY;
    else if (is_llmc(begin, got) || ends_in(reader->path, ".bin"))
        reader->format = DATA_TOKENS;
    else if (is_idx(begin, got))
        reader->format = DATA_IDX;
    else if (!memchr(begin, '\0', (size_t)got))
        reader->format = DATA_TEXT;
    else
        return problem_set(problem, MALFORMED,
                           "%.300s: unknown format; convert the file to a NumPy array (.npy), IDX, "
                           "text or tokens (.bin)",
                           reader->path);
    return OK;
}

static enum error open_npy(struct data_reader *reader, struct problem *problem)
{
    enum error error = npy_file_open(&reader->npy, reader->path, problem);
    if (error != OK)
        return error;
    error = npy_file_order(&reader->npy, NPY_CHANNELS_AUTO, problem);
    if (error != OK) {
        npy_file_close(&reader->npy);
        return error;
    }
    reader->kind = reader->npy.kind;
    reader->bytes = reader->npy.bytes;
    reader->rank = reader->npy.rank;
    memcpy(reader->dims, reader->npy.dims, sizeof reader->dims);
    return OK;
}

static enum error open_idx(struct data_reader *reader, struct problem *problem)
{
    const enum error error = idx_open_file(&reader->idx, reader->path, problem);
    if (error != OK)
        return error;
    const struct shape shape = reader->idx.shape;
    const int dimensions = reader->idx.dimensions;
    const uint64_t sides[] = {reader->idx.count, (uint64_t)shape.channels, (uint64_t)shape.height,
                              (uint64_t)shape.width};
    reader->kind = 'u';
    reader->bytes = 1;
    for (int i = 0; i < 4; i++)
        if (i == 0 || dimensions == 4 || (dimensions == 3 && i > 1))
            reader->dims[reader->rank++] = sides[i];
    return OK;
}

static enum error open_tokens(struct data_reader *reader, struct problem *problem)
{
    enum error error =
        token_file_open(&reader->tokens, reader->path, reader->format == DATA_TEXT, problem);
    if (error != OK)
        return error;
    error = token_file_count(&reader->tokens, &reader->dims[0], problem);
    if (error != OK)
        token_file_close(&reader->tokens);
    reader->kind = 'u';
    reader->bytes = reader->tokens.token_bytes;
    reader->rank = 1;
    return error;
}

enum error data_reader_open(struct data_reader *reader, const char *path, struct problem *problem)
{
    *reader = (struct data_reader){.path = path, .size = 1};
    enum error error = find_format(reader, problem);
    if (error != OK)
        return error;
    if (reader->format == DATA_NPY)
        error = open_npy(reader, problem);
    else if (reader->format == DATA_IDX)
        error = open_idx(reader, problem);
    else
        error = open_tokens(reader, problem);
    for (int i = 1; error == OK && i < reader->rank; i++)
        reader->size *= reader->dims[i];
    reader->left = reader->dims[0];
    return error;
}

static enum error next_of_idx(struct idx *idx, uint8_t *to, uint64_t samples, uint64_t *got,
                              struct problem *problem)
{
    const size_t size = shape_size(idx->shape);
    enum error error = OK;
    for (*got = 0; error == OK && *got < samples && idx->at < idx->count; (*got)++, to += size)
        error = idx_next(idx, to, problem);
    return error == OK && samples > 0 && *got == 0 ? idx_end(idx, problem) : error;
}

enum error data_reader_next(struct data_reader *reader, void *to, uint64_t samples, uint64_t *got,
                            struct problem *problem)
{
    if (reader->format == DATA_IDX)
        return next_of_idx(&reader->idx, to, samples, got, problem);
    *got = u64_min(samples, reader->left);
    reader->left -= *got;
    if (*got == 0)
        return OK;
    return reader->format == DATA_NPY ? npy_file_read(&reader->npy, to, *got, problem)
                                      : token_file_read(&reader->tokens, to, *got, problem);
}

static double whole_number(char kind, int bytes, const void *numbers, uint64_t i)
{
    const bool is_signed = kind == 'i';
    switch (bytes) {
    case 1:
        return is_signed ? ((const int8_t *)numbers)[i] : ((const uint8_t *)numbers)[i];
    case 2:
        return is_signed ? ((const int16_t *)numbers)[i] : ((const uint16_t *)numbers)[i];
    case 4:
        return is_signed ? (double)((const int32_t *)numbers)[i]
                         : (double)((const uint32_t *)numbers)[i];
    default:
        return is_signed ? (double)((const int64_t *)numbers)[i]
                         : (double)((const uint64_t *)numbers)[i];
    }
}

double data_reader_number(const struct data_reader *reader, const void *samples, uint64_t i)
{
    return reader->kind == 'f' ? (double)((const float *)samples)[i]
                               : whole_number(reader->kind, reader->bytes, samples, i);
}

const char *data_reader_describe(char out[static 64], const struct data_reader *reader)
{
    char type[NPY_NAME_BYTES];
    switch (reader->format) {
    case DATA_NPY:
        (void)snprintf(out, 64, "NumPy array of %s", npy_file_type(type, &reader->npy));
        break;
    case DATA_IDX:
        (void)snprintf(out, 64, "IDX, %s", reader->rank == 1 ? "labels" : "images");
        break;
    case DATA_TEXT:
        (void)snprintf(out, 64, "text%s", reader->tokens.stream ? ", packed" : "");
        break;
    case DATA_TOKENS:
        (void)snprintf(out, 64, "tokens of %d bits", 8 * reader->bytes);
        break;
    }
    return out;
}

void data_reader_close(struct data_reader *reader)
{
    if (reader->format == DATA_NPY)
        npy_file_close(&reader->npy);
    else if (reader->format == DATA_IDX)
        idx_close(&reader->idx);
    else
        token_file_close(&reader->tokens);
}
