#include "data/idx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DIMENSIONS_MAX 4
#define PACKAGED       "/usr/share/datasets/fashion-mnist/"

/* maximum of uncompressed bytes per compressed byte in deflate (zlib.net/zlib_tech.html) */
#define DEFLATE_RATIO_MAX 1032

/* Returns true if the path is in the folder of Debian's dataset-fashion-mnist. Only then do
 * messages advise to install that package. */
static bool is_packaged(const char *path)
{
    return strncmp(path, PACKAGED, strlen(PACKAGED)) == 0;
}

const char *idx_remedy(const struct idx *idx)
{
    return is_packaged(idx->path) ? "install the Debian package dataset-fashion-mnist again"
                                  : "write it or download it again";
}

static const char *plural(const struct idx *idx)
{
    return idx->kind == IDX_IMAGES ? "images" : "labels";
}

static enum error open_named(struct idx *idx, int *fd, const char *directory, const char *name,
                             const char *suffix, struct problem *problem)
{
    int length = snprintf(idx->path, sizeof idx->path, "%s/%s%s", directory, name, suffix);
    if (length < 0 || (size_t)length >= sizeof idx->path)
        return problem_set(problem, TOO_BIG,
                           "the path of the data set is longer than %d characters; use a shorter "
                           "one: %.200s...",
                           IDX_PATH_MAX - 1, directory);
    *fd = open(idx->path, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0)
        return OK;
    if (errno == ENOENT)
        return MISSING;
    return problem_set(problem, FAILED, "%s: cannot be opened: %s; check who may read it",
                       idx->path, strerror(errno));
}

/* Opens the first file that exists among the names of this kind, each tried plain and then with
 * ".gz". Sets *fd to its descriptor and idx->path to its path. MISSING: there is none. */
static enum error open_any(struct idx *idx, int *fd, const char *directory, const char *part,
                           struct problem *problem)
{
    static const char *const names[][2] = {
        [IDX_LABELS] = {"labels-idx1-ubyte"},
        [IDX_IMAGES] = {"images-idx3-ubyte", "images-idx4-ubyte"}};
    const char *const *of_kind = names[idx->kind];
    enum error error = MISSING;
    for (int i = 0; i < 2 && of_kind[i] && error == MISSING; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.32s-%s", part, of_kind[i]);
        error = open_named(idx, fd, directory, name, "", problem);
        if (error == MISSING)
            error = open_named(idx, fd, directory, name, ".gz", problem);
    }
    if (error != MISSING)
        return error;
    if (access(directory, F_OK) != 0)
        return problem_set(problem, MISSING,
                           "%.300s: there is no such folder; name the folder of an IDX data set",
                           directory);
    char other[64] = "";
    if (of_kind[1])
        (void)snprintf(other, sizeof other, ", nor %.32s-%s", part, of_kind[1]);
    return problem_set(
        problem, MISSING,
        "%s: holds no %s-%s%s, plain or with .gz; name the folder of an IDX data set%s", directory,
        part, of_kind[0], other,
        is_packaged(idx->path) ? ", or install the Debian package dataset-fashion-mnist" : "");
}

/* Reports that a read gave too few bytes, and why: disk error, no memory, damaged gzip data, or a
 * file that ends early. where: where the file ends, such as "in its header". Never returns OK. */
static enum error fault(const struct idx *idx, const char *where, struct problem *problem)
{
    int system_error = errno;
    int code = Z_OK;
    (void)gzerror(idx->stream, &code);
    if (code == Z_ERRNO)
        return problem_set(problem, FAILED, "%s: cannot be read: %s; check the disk", idx->path,
                           strerror(system_error));
    if (code == Z_MEM_ERROR)
        return problem_set(problem, FAILED, "%s: no memory left to read it; free some", idx->path);
    if (code != Z_OK && code != Z_BUF_ERROR)
        return problem_set(problem, MALFORMED,
                           "%s: is damaged: its compressed data or their checksum do not hold; %s",
                           idx->path, idx_remedy(idx));
    return problem_set(problem, MALFORMED, "%s: ends %s; %s", idx->path, where, idx_remedy(idx));
}

static enum error fault_at_item(const struct idx *idx, struct problem *problem)
{
    char where[64];
    (void)snprintf(where, sizeof where, "after %u of %u %s", idx->at, idx->count, plural(idx));
    return fault(idx, where, problem);
}

static enum error read_header(struct idx *idx, uint8_t *header, unsigned bytes,
                              struct problem *problem)
{
    if (gzread(idx->stream, header, bytes) != (int)bytes)
        return fault(idx, "within its header", problem);
    return OK;
}

static enum error read_magic(struct idx *idx, struct problem *problem)
{
    uint8_t magic[4];
    enum error error = read_header(idx, magic, sizeof magic, problem);
    if (error != OK)
        return error;
    if (magic[0] != 0 || magic[1] != 0)
        return problem_set(problem, MALFORMED,
                           "%s: is not an IDX file (it begins with %02x %02x instead of 00 00); %s",
                           idx->path, magic[0], magic[1], idx_remedy(idx));
    if (magic[2] != 0x08)
        return problem_set(problem, MALFORMED,
                           "%s: holds numbers of IDX type 0x%02x, and only unsigned bytes (0x08) "
                           "can be read; convert it",
                           idx->path, magic[2]);
    idx->dimensions = magic[3];
    const bool is_image = idx->dimensions == 3 || idx->dimensions == 4;
    if (idx->kind == IDX_IMAGES ? !is_image : idx->dimensions != 1)
        return problem_set(problem, MALFORMED, "%s: has %d dimensions, and %s have %s; %s",
                           idx->path, idx->dimensions, plural(idx),
                           idx->kind == IDX_IMAGES ? "3 or, with channels, 4" : "1",
                           idx_remedy(idx));
    return OK;
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum error read_dimensions(struct idx *idx, struct problem *problem)
{
    uint8_t bytes[4 * DIMENSIONS_MAX];
    /* count, channels, height, width; 1 for dimensions that the file lacks */
    uint32_t sizes[DIMENSIONS_MAX] = {1, 1, 1, 1};
    enum error error = read_header(idx, bytes, 4 * (unsigned)idx->dimensions, problem);
    if (error != OK)
        return error;
    for (int i = 1; i < idx->dimensions; i++)
        sizes[DIMENSIONS_MAX - idx->dimensions + i] = big_endian(bytes + 4 * (ptrdiff_t)i);
    const uint32_t channels = sizes[1], height = sizes[2], width = sizes[3];
    if (channels < 1 || channels > IDX_CHANNELS_MAX || height < 1 || height > IDX_SIDE_MAX ||
        width < 1 || width > IDX_SIDE_MAX)
        return problem_set(
            problem, TOO_BIG,
            "%s: announces images of %ux%ux%u (channels, height, width), and 1x1x1 to %dx%dx%d can "
            "be read; %s",
            idx->path, channels, height, width, IDX_CHANNELS_MAX, IDX_SIDE_MAX, IDX_SIDE_MAX,
            idx_remedy(idx));
    idx->count = big_endian(bytes);
    idx->shape = (struct shape){(int)channels, (int)height, (int)width, 0};
    if (idx->count == 0)
        return problem_set(problem, MALFORMED, "%s: holds no %s; %s", idx->path, plural(idx),
                           idx_remedy(idx));
    return OK;
}

static enum error check_size(const struct idx *idx, struct problem *problem)
{
    uint64_t announced = (uint64_t)idx->count * shape_size(idx->shape);
    if (announced / DEFLATE_RATIO_MAX <= idx->file_bytes)
        return OK;
    return problem_set(
        problem, MALFORMED, "%s: announces %u %s, more than its %llu bytes can hold; %s", idx->path,
        idx->count, plural(idx), (unsigned long long)idx->file_bytes, idx_remedy(idx));
}

static enum error open_stream(struct idx *idx, int fd, struct problem *problem)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(fd);
        return problem_set(problem, MALFORMED, "%s: is not a file; %s", idx->path, idx_remedy(idx));
    }
    idx->stream = gzdopen(fd, "rb");
    if (!idx->stream) {
        (void)close(fd);
        return problem_set(problem, FAILED, "%s: no memory left to read it; free some", idx->path);
    }
    idx->file_bytes = (uint64_t)about.st_size;
    return OK;
}

/* Reads and checks the header of the file open as fd. Closes fd on error; after OK, idx_close
 * closes it. */
static enum error open_header(struct idx *idx, int fd, struct problem *problem)
{
    enum error error = open_stream(idx, fd, problem);
    if (error != OK)
        return error;
    error = read_magic(idx, problem);
    if (error == OK)
        error = read_dimensions(idx, problem);
    if (error == OK)
        error = check_size(idx, problem);
    if (error != OK)
        idx_close(idx);
    return error;
}

enum error idx_open(struct idx *idx, const char *directory, const char *part, enum idx_kind kind,
                    struct problem *problem)
{
    int fd = -1;
    *idx = (struct idx){.kind = kind};
    const enum error error = open_any(idx, &fd, directory, part, problem);
    return error == OK ? open_header(idx, fd, problem) : error;
}

/* Returns IDX_LABELS if the file's magic number says one dimension. Returns IDX_IMAGES otherwise,
 * also if the file cannot be read. */
static enum idx_kind kind_of(const char *path)
{
    uint8_t magic[4] = {0};
    gzFile stream = gzopen(path, "rb");
    const bool is_read = stream && gzread(stream, magic, sizeof magic) == (int)sizeof magic;
    if (stream)
        (void)gzclose_r(stream);
    return is_read && magic[3] == 1 ? IDX_LABELS : IDX_IMAGES;
}

enum error idx_open_file(struct idx *idx, const char *path, struct problem *problem)
{
    *idx = (struct idx){.kind = kind_of(path)};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || snprintf(idx->path, sizeof idx->path, "%s", path) >= (int)sizeof idx->path) {
        if (fd >= 0)
            (void)close(fd);
        return problem_set(problem, errno == ENOENT ? MISSING : FAILED,
                           "%.300s: cannot be opened: %s; name a file that you may read", path,
                           strerror(fd < 0 ? errno : ENAMETOOLONG));
    }
    return open_header(idx, fd, problem);
}

enum error idx_next(struct idx *idx, uint8_t *item, struct problem *problem)
{
    CHECK(idx->at < idx->count);
    const int bytes = (int)shape_size(idx->shape);
    if (gzread(idx->stream, item, (unsigned)bytes) != bytes)
        return fault_at_item(idx, problem);
    idx->at++;
    return OK;
}

enum error idx_end(struct idx *idx, struct problem *problem)
{
    CHECK(idx->at == idx->count);
    uint8_t extra;
    int code = Z_OK;
    const int got = gzread(idx->stream, &extra, 1);
    (void)gzerror(idx->stream, &code);
    if (got == 1)
        return problem_set(problem, MALFORMED, "%s: goes on after its %u %s; %s", idx->path,
                           idx->count, plural(idx), idx_remedy(idx));
    if (got != 0 || code != Z_OK)
        return fault_at_item(idx, problem);
    return OK;
}

void idx_close(struct idx *idx)
{
    if (idx->stream)
        (void)gzclose_r(idx->stream);
    idx->stream = NULL;
}
