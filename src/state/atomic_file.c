#include "state/atomic_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool atomic_file_split(const char *path, char folder[DISK_PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    const int length = slash
                           ? snprintf(folder, DISK_PATH_MAX, "%.*s", (int)(slash - path) + 1, path)
                           : snprintf(folder, DISK_PATH_MAX, ".");
    return length < DISK_PATH_MAX && strlen(path) + sizeof ATOMIC_FILE_SUFFIX < DISK_PATH_MAX;
}

void atomic_file_begin(struct atomic_file *file, const struct disk *disk, const char *folder,
                       const char *name, int mode)
{
    char path[DISK_PATH_MAX];
    CHECK(mode == ATOMIC_FILE_PRIVATE || mode == ATOMIC_FILE_SHARED);
    *file = (struct atomic_file){.disk = disk, .folder = folder, .name = name, .handle = -1};
    file->error = disk_path(path, folder, name, ATOMIC_FILE_SUFFIX);
    if (file->error != 0)
        return;
    /* if an older file stays, create returns -EEXIST */
    (void)disk->remove(disk->self, path);
    file->handle = disk->create(disk->self, path, mode);
    if (file->handle < 0)
        file->error = file->handle;
}

void atomic_file_write(struct atomic_file *file, const void *from, size_t bytes)
{
    if (file->error != 0)
        return;
    CHECK(file->handle >= 0);
    file->error = disk_write_all(file->disk, file->handle, from, bytes);
}

static void finish_bytes(struct atomic_file *file)
{
    const struct disk *disk = file->disk;
    if (file->error == 0)
        file->error = disk->sync(disk->self, file->handle);
    const int error = disk->close(disk->self, file->handle);
    file->handle = -1;
    if (file->error == 0)
        file->error = error;
}

static void finish_name(struct atomic_file *file)
{
    const struct disk *disk = file->disk;
    char from[DISK_PATH_MAX], to[DISK_PATH_MAX];
    (void)disk_path(from, file->folder, file->name, ATOMIC_FILE_SUFFIX);
    (void)disk_path(to, file->folder, file->name, "");
    if (file->error == 0)
        file->error = disk->rename(disk->self, from, to);
    if (file->error == 0)
        file->error = disk->sync_folder(disk->self, file->folder);
    else
        (void)disk->remove(disk->self, from);
}

int atomic_file_end(struct atomic_file *file)
{
    CHECK(file->handle >= 0 || file->error != 0);
    if (file->handle >= 0) {
        finish_bytes(file);
        finish_name(file);
    }
    return file->error;
}

void atomic_file_abandon(struct atomic_file *file)
{
    if (file->error == 0)
        file->error = -ECANCELED;
    CHECK(atomic_file_end(file) != 0);
}
