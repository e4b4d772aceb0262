/* Files in memory, for harnesses of what reads files: their names are for this process alone. */
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

/* It now holds these bytes and no others. */
void file_put(struct file *file, const void *bytes, size_t count);

/* The same as a gzip file. */
void file_put_packed(struct file *file, const void *bytes, size_t count);

#endif
