/* A temporary folder with files of data, for one test at a time.
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

/* Writes a gzip file. Returns its length. */
size_t write_packed(const char *name, const void *bytes, size_t count);

/* llm.c's format: a header of 256 numbers, of which `announced` is the third, then the tokens. */
void write_llmc(const char *name, uint32_t magic, uint32_t version, uint32_t announced,
                const void *tokens, size_t bytes);

/* NumPy's format, version 1: descr as in "<f4", shape as in "(3, 2)". */
void write_npy(const char *name, const char *descr, const char *shape, const void *numbers,
               size_t bytes);

/* Any header of any version, and what follows it. */
void write_npy_header(const char *name, int version, const char *header, const void *numbers,
                      size_t bytes);

/* Extends the file to this length; the extension is sparse. */
void stretch_data(const char *name, uint64_t bytes);

#define IN_DATA_FOLDER(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, make_data_folder, remove_data_folder)

#endif
