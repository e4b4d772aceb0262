#include "state/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"

static int outcome(int result)
{
    return result < 0 ? -errno : result;
}

/* fchmod sets the mode, because the umask may restrict the mode of open(). */
static int real_create(void *self, const char *path, int mode)
{
    (void)self;
    const int handle = outcome(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    const int error = handle >= 0 ? outcome(fchmod(handle, (mode_t)mode)) : 0;
    if (error < 0)
        (void)close(handle);
    return error < 0 ? error : handle;
}

static int real_open(void *self, const char *path)
{
    (void)self;
    return outcome(open(path, O_RDONLY | O_CLOEXEC));
}

static int64_t real_read(void *self, int handle, void *to, size_t bytes)
{
    (void)self;
    ssize_t got;
    do
        got = read(handle, to, bytes);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static int64_t real_write(void *self, int handle, const void *from, size_t bytes)
{
    (void)self;
    ssize_t wrote;
    do
        wrote = write(handle, from, bytes);
    while (wrote < 0 && errno == EINTR);
    return wrote < 0 ? -errno : wrote;
}

static int real_sync(void *self, int handle)
{
    (void)self;
    return outcome(fdatasync(handle));
}

static int real_close(void *self, int handle)
{
    (void)self;
    const int error = outcome(close(handle));
    return error == -EINTR ? 0 : error; /* after EINTR Linux has closed the file */
}

static int real_rename(void *self, const char *from, const char *to)
{
    (void)self;
    return outcome(rename(from, to));
}

static int real_link(void *self, const char *from, const char *to)
{
    (void)self;
    return outcome(link(from, to));
}

static int real_remove(void *self, const char *path)
{
    (void)self;
    return outcome(unlink(path));
}

/* Returns 0 for EINVAL: the file system cannot sync folders. */
static int real_sync_folder(void *self, const char *folder)
{
    (void)self;
    const int handle = outcome(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (handle < 0)
        return handle;
    const int error = outcome(fsync(handle));
    (void)close(handle);
    return error == -EINVAL ? 0 : error;
}

static int real_list(void *self, const char *folder, void (*found)(void *context, const char *name),
                     void *context)
{
    (void)self;
    DIR *stream = opendir(folder);
    if (!stream)
        return -errno;
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL; errno = 0)
        found(context, entry->d_name);
    const int error = -errno;
    (void)closedir(stream);
    return error;
}

const struct disk *disk_real(void)
{
    static const struct disk real = {
        .create = real_create,
        .open = real_open,
        .read = real_read,
        .write = real_write,
        .sync = real_sync,
        .close = real_close,
        .rename = real_rename,
        .link = real_link,
        .remove = real_remove,
        .sync_folder = real_sync_folder,
        .list = real_list,
    };
    return &real;
}

int disk_write_all(const struct disk *disk, int handle, const void *from, size_t bytes)
{
    const unsigned char *next = from;
    while (bytes > 0) {
        const int64_t wrote = disk->write(disk->self, handle, next, bytes);
        CHECK(wrote <= (int64_t)bytes);
        if (wrote <= 0)
            return wrote < 0 ? (int)wrote : -EIO;
        next += wrote;
        bytes -= (size_t)wrote;
    }
    return 0;
}

int64_t disk_read_all(const struct disk *disk, int handle, void *to, size_t bytes)
{
    unsigned char *next = to;
    size_t left = bytes;
    while (left > 0) {
        const int64_t got = disk->read(disk->self, handle, next, left);
        CHECK(got <= (int64_t)left);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        next += got;
        left -= (size_t)got;
    }
    return (int64_t)(bytes - left);
}

int disk_path(char path[DISK_PATH_MAX], const char *folder, const char *name, const char *suffix)
{
    const int length = snprintf(path, DISK_PATH_MAX, "%s/%s%s", folder, name, suffix);
    return length < 0 || length >= DISK_PATH_MAX ? -ENAMETOOLONG : 0;
}

uint64_t disk_free_bytes(const char *folder)
{
    struct statvfs about;
    return statvfs(folder, &about) == 0 ? (uint64_t)about.f_bavail * about.f_frsize : 0;
}
