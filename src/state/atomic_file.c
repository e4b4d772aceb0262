#include "state/atomic_file.h"

void atomic_file_begin(struct atomic_file *atomic_file, const struct disk *disk, const char *folder,
                       const char *name, int mode)
{
    char path[DISK_PATH_MAX];
    *atomic_file = (struct atomic_file){.disk = disk, .folder = folder, .name = name, .handle = -1};
    atomic_file->error = disk_path(path, folder, name, ATOMIC_FILE_SUFFIX);
    if (atomic_file->error != 0)
        return;
    (void)disk->remove(disk->self, path); /* if it is there and stays, create says so */
    atomic_file->handle = disk->create(disk->self, path, mode);
    if (atomic_file->handle < 0)
        atomic_file->error = atomic_file->handle;
}

void atomic_file_write(struct atomic_file *atomic_file, const void *from, size_t bytes)
{
    if (atomic_file->error == 0)
        atomic_file->error = disk_write_all(atomic_file->disk, atomic_file->handle, from, bytes);
}

/* The file itself is on the disk, or never will be. */
static void finish_file(struct atomic_file *atomic_file)
{
    const struct disk *disk = atomic_file->disk;
    if (atomic_file->error == 0)
        atomic_file->error = disk->sync(disk->self, atomic_file->handle);
    const int error = disk->close(disk->self, atomic_file->handle);
    if (atomic_file->error == 0)
        atomic_file->error = error;
}

static void give_name(struct atomic_file *atomic_file)
{
    const struct disk *disk = atomic_file->disk;
    char from[DISK_PATH_MAX], to[DISK_PATH_MAX];
    (void)disk_path(from, atomic_file->folder, atomic_file->name, ATOMIC_FILE_SUFFIX);
    (void)disk_path(to, atomic_file->folder, atomic_file->name, "");
    if (atomic_file->error == 0)
        atomic_file->error = disk->rename(disk->self, from, to);
    if (atomic_file->error == 0)
        atomic_file->error = disk->sync_folder(disk->self, atomic_file->folder);
    else
        (void)disk->remove(disk->self, from);
}

int atomic_file_end(struct atomic_file *atomic_file)
{
    if (atomic_file->handle >= 0) {
        finish_file(atomic_file);
        give_name(atomic_file);
    }
    return atomic_file->error;
}
