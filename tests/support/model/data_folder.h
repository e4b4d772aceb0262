/* A temporary folder with data files, for one test at a time.
 *
 *   make_data_folder ─► write_data(name, bytes) ─► data_path(name) ─► remove_data_folder
 */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_DATA_FOLDER_H
#define HEARSAY_TESTS_SUPPORT_MODEL_DATA_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#define DATA_PATH_MAX 384

struct data_path {
    char text[DATA_PATH_MAX];
};

int make_data_folder(void **state);
int remove_data_folder(void **state);

struct data_path data_path(const char *name);
void write_data(const char *name, const void *bytes, size_t count);

/* Writes a gzip file and returns its length in bytes. */
size_t write_packed(const char *name, const void *bytes, size_t count);

/* Writes a token file of llm.c: a header of 256 numbers, then the tokens. announced: the count of
 * tokens that the header states in its third number. */
void write_llmc(const char *name, uint32_t magic, uint32_t version, uint32_t announced,
                const void *tokens, size_t bytes);

/* Writes a NumPy file, version 1. descr: such as "<f4"; shape: such as "(3, 2)". */
void write_npy(const char *name, const char *descr, const char *shape, const void *numbers,
               size_t bytes);

/* Writes a NumPy file of any version, with any header and data. */
void write_npy_header(const char *name, int version, const char *header, const void *numbers,
                      size_t bytes);

/* Extends the file to `bytes` bytes, without using disk space. */
void stretch_data(const char *name, uint64_t bytes);

#define IN_DATA_FOLDER(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, make_data_folder, remove_data_folder)

#endif
