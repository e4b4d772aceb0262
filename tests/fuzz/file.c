#include "fuzz/file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"

void file_init(struct file *file)
{
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    CHECK(file->fd >= 0);
    (void)snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
}

void file_put(struct file *file, const void *bytes, size_t count)
{
    CHECK(ftruncate(file->fd, 0) == 0);
    CHECK(count == 0 || pwrite(file->fd, bytes, count, 0) == (ssize_t)count);
}

void file_put_packed(struct file *file, const void *bytes, size_t count)
{
    CHECK(ftruncate(file->fd, 0) == 0);
    gzFile stream = gzopen(file->path, "wb1");
    CHECK(stream);
    CHECK(count == 0 || gzwrite(stream, bytes, (unsigned)count) == (int)count);
    CHECK(gzclose(stream) == Z_OK);
}
