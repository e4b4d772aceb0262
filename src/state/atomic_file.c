#include "state/atomic_file.h"

void draft_begin(struct draft *draft, const struct disk *disk, const char *folder, const char *name,
                 int mode)
{
    char path[DISK_PATH_MAX];
    *draft = (struct draft){.disk = disk, .folder = folder, .name = name, .handle = -1};
    draft->error = disk_path(path, folder, name, DRAFT_SUFFIX);
    if (draft->error != 0)
        return;
    (void)disk->remove(disk->self, path); /* if it is there and stays, create says so */
    draft->handle = disk->create(disk->self, path, mode);
    if (draft->handle < 0)
        draft->error = draft->handle;
}

void draft_write(struct draft *draft, const void *from, size_t bytes)
{
    if (draft->error == 0)
        draft->error = disk_write_all(draft->disk, draft->handle, from, bytes);
}

/* The file itself is on the disk, or never will be. */
static void finish_file(struct draft *draft)
{
    const struct disk *disk = draft->disk;
    if (draft->error == 0)
        draft->error = disk->sync(disk->self, draft->handle);
    const int error = disk->close(disk->self, draft->handle);
    if (draft->error == 0)
        draft->error = error;
}

static void give_name(struct draft *draft)
{
    const struct disk *disk = draft->disk;
    char from[DISK_PATH_MAX], to[DISK_PATH_MAX];
    (void)disk_path(from, draft->folder, draft->name, DRAFT_SUFFIX);
    (void)disk_path(to, draft->folder, draft->name, "");
    if (draft->error == 0)
        draft->error = disk->rename(disk->self, from, to);
    if (draft->error == 0)
        draft->error = disk->sync_folder(disk->self, draft->folder);
    else
        (void)disk->remove(disk->self, from);
}

int draft_end(struct draft *draft)
{
    if (draft->handle >= 0) {
        finish_file(draft);
        give_name(draft);
    }
    return draft->error;
}
