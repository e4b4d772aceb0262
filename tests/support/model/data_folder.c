#include "support/model/data_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEADER 256 /* numbers in the header of an llm.c file */

static char folder[64];

int make_data_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-data-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

struct data_path data_path(const char *name)
{
    struct data_path path;
    (void)snprintf(path.text, sizeof path.text, "%s/%s", folder, name);
    return path;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)about;
    (void)kind;
    (void)walk;
    return remove(path);
}

int remove_data_folder(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

static FILE *open_data(const char *name)
{
    FILE *file = fopen(data_path(name).text, "wb");
    assert_non_null(file);
    return file;
}

void write_data(const char *name, const void *bytes, size_t count)
{
    FILE *file = open_data(name);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

size_t write_packed(const char *name, const void *bytes, size_t count)
{
    gzFile file = gzopen(data_path(name).text, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)count), count);
    assert_int_equal(gzclose(file), Z_OK);
    FILE *packed = fopen(data_path(name).text, "rb");
    assert_non_null(packed);
    assert_int_equal(fseek(packed, 0, SEEK_END), 0);
    const long length = ftell(packed);
    assert_int_equal(fclose(packed), 0);
    return (size_t)length;
}

void write_llmc(const char *name, uint32_t magic, uint32_t version, uint32_t announced,
                const void *tokens, size_t bytes)
{
    const uint32_t header[HEADER] = {magic, version, announced};
    FILE *file = open_data(name);
    assert_int_equal(fwrite(header, sizeof *header, HEADER, file), HEADER);
    assert_int_equal(fwrite(tokens, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

void write_npy_header(const char *name, int version, const char *header, const void *numbers,
                      size_t bytes)
{
    const size_t length = strlen(header);
    const unsigned char prefix[] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    (unsigned char)version,
                                    0,
                                    (unsigned char)length,
                                    (unsigned char)(length >> 8),
                                    0,
                                    0};
    const size_t prefix_bytes = version == 1 ? 10 : 12;
    FILE *file = open_data(name);
    assert_int_equal(fwrite(prefix, 1, prefix_bytes, file), prefix_bytes);
    assert_int_equal(fwrite(header, 1, length, file), length);
    assert_int_equal(fwrite(numbers, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

void write_npy(const char *name, const char *descr, const char *shape, const void *numbers,
               size_t bytes)
{
    char header[256];
    (void)snprintf(header, sizeof header,
                   "{'descr': '%s', 'fortran_order': False, 'shape': %s, }   \n", descr, shape);
    write_npy_header(name, 1, header, numbers, bytes);
}

void stretch_data(const char *name, uint64_t bytes)
{
    assert_int_equal(truncate(data_path(name).text, (off_t)bytes), 0);
}
