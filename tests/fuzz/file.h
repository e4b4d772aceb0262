/* Temporary files for harnesses of code that reads files. Only this process can open them. */
#ifndef HEARSAY_TESTS_FUZZ_FILE_H
#define HEARSAY_TESTS_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

#define FILE_PATH_BYTES 32

struct file {
    int fd;
    char path[FILE_PATH_BYTES];
};

void file_init(struct file *file);

void file_put(struct file *file, const void *bytes, size_t count);

/* Replaces the file's contents by a gzip stream of `bytes`. */
void file_put_packed(struct file *file, const void *bytes, size_t count);

#endif
