#include "support/state/memory_disk.h"

static int *memory_find(struct memory_names *names, const char *name)
{
    for (int i = 0; i < NAMES_MAX; i++)
        if (strcmp(names->name[i], name) == 0)
            return &names->file[i];
    return NULL;
}

static void memory_unname(struct memory_names *names, const char *name)
{
    for (int i = 0; i < NAMES_MAX && name[0]; i++)
        if (strcmp(names->name[i], name) == 0)
            names->name[i][0] = '\0';
}

static void memory_name(struct memory_names *names, const char *name, int file)
{
    int i = 0;
    memory_unname(names, name);
    while (i < NAMES_MAX && names->name[i][0])
        i++;
    CHECK(i < NAMES_MAX && strlen(name) < NAME_MAX_);
    memmove(names->name[i], name, strlen(name) + 1);
    names->file[i] = file;
}

static void memory_apply(struct memory_names *names, const struct memory_change *change)
{
    memory_unname(names, change->from);
    if (change->to[0])
        memory_name(names, change->to, change->file);
}

static void memory_change(struct memory_disk *disk, const char *from, const char *to, int file)
{
    CHECK(disk->pending_count < PENDING_MAX);
    struct memory_change *change = &disk->pending[disk->pending_count++];
    *change = (struct memory_change){.file = file};
    memmove(change->from, from, strlen(from) + 1);
    memmove(change->to, to, strlen(to) + 1);
    memory_apply(&disk->now, change);
}

static const char *memory_base_name(const char *path)
{
    CHECK(strncmp(path, FOLDER "/", sizeof FOLDER) == 0);
    return path + sizeof FOLDER;
}

/* Counts the operation. Returns the error with which it must fail, or 0. */
static int memory_begin(struct memory_disk *disk, enum operation operation)
{
    const int at = disk->operations++;
    const bool is_cut = disk->cut_at != NEVER && at >= disk->cut_at;
    const bool fails =
        disk->fail_at != NEVER && (at == disk->fail_at || (disk->fail_on && at > disk->fail_at));
    if ((is_cut || fails) && !disk->has_failed) {
        disk->has_failed = true;
        disk->failed_in = operation;
    }
    if (fails && disk->fail_short && operation == WRITE && at == disk->fail_at) {
        disk->fail_at++;
        disk->fail_short = false;
        return 0;
    }
    return is_cut ? -EIO : fails ? -disk->fail_error : 0;
}

static int memory_open_file(struct memory_disk *disk, int file)
{
    CHECK(disk->handle_file == NEVER);
    disk->handle_file = file;
    disk->handle_at = 0;
    return 3;
}

static int memory_create(void *self, const char *path, int mode)
{
    (void)mode;
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, CREATE);
    if (error != 0)
        return error;
    if (memory_find(&disk->now, memory_base_name(path)))
        return -EEXIST;
    CHECK(disk->file_count < FILES_MAX);
    const int file = disk->file_count++;
    disk->files[file].size = disk->files[file].synced = disk->files[file].last = 0;
    memory_change(disk, "", memory_base_name(path), file);
    return memory_open_file(disk, file);
}

static int memory_open(void *self, const char *path)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, OPEN);
    const int *file = memory_find(&disk->now, memory_base_name(path));
    return error != 0 ? error : file ? memory_open_file(disk, *file) : -ENOENT;
}

static int64_t memory_read(void *self, int handle, void *to, size_t bytes)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, READ);
    CHECK(handle == 3 && disk->handle_file != NEVER);
    if (error != 0)
        return error;
    const struct memory_file *file = &disk->files[disk->handle_file];
    const size_t left = file->size - disk->handle_at;
    const size_t got = bytes < left ? bytes : left;
    memcpy(to, file->bytes + disk->handle_at, got);
    disk->handle_at += got;
    return (int64_t)got;
}

static int64_t memory_write(void *self, int handle, const void *from, size_t bytes)
{
    struct memory_disk *disk = self;
    const bool is_short = disk->fail_short && disk->operations == disk->fail_at;
    const int error = memory_begin(disk, WRITE);
    CHECK(handle == 3 && disk->handle_file != NEVER);
    if (error != 0)
        return error;
    struct memory_file *file = &disk->files[disk->handle_file];
    const size_t wrote = is_short ? bytes / 2 + 1 : bytes;
    CHECK(wrote <= FILE_MAX - file->size);
    memcpy(file->bytes + file->size, from, wrote);
    file->last = file->size;
    file->size += wrote;
    return (int64_t)wrote;
}

static int memory_sync(void *self, int handle)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, SYNC);
    CHECK(handle == 3 && disk->handle_file != NEVER);
    if (error == 0)
        disk->files[disk->handle_file].synced = disk->files[disk->handle_file].size;
    return error;
}

static int memory_close(void *self, int handle)
{
    struct memory_disk *disk = self;
    CHECK(handle == 3 && disk->handle_file != NEVER);
    disk->handle_file = NEVER;
    return memory_begin(disk, CLOSE);
}

static int memory_rename(void *self, const char *from, const char *to)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, RENAME);
    const int *file = memory_find(&disk->now, memory_base_name(from));
    if (error != 0 || !file)
        return error != 0 ? error : -ENOENT;
    memory_change(disk, memory_base_name(from), memory_base_name(to), *file);
    return 0;
}

static int memory_link(void *self, const char *from, const char *to)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, LINK);
    const int *file = memory_find(&disk->now, memory_base_name(from));
    if (error != 0 || !file)
        return error != 0 ? error : -ENOENT;
    if (memory_find(&disk->now, memory_base_name(to)))
        return -EEXIST;
    memory_change(disk, "", memory_base_name(to), *file);
    return 0;
}

static int memory_remove(void *self, const char *path)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, REMOVE);
    if (error != 0 || !memory_find(&disk->now, memory_base_name(path)))
        return error != 0 ? error : -ENOENT;
    memory_change(disk, memory_base_name(path), "", NEVER);
    return 0;
}

static int memory_sync_folder(void *self, const char *folder)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, SYNC_FOLDER);
    CHECK(strcmp(folder, FOLDER) == 0);
    if (error != 0)
        return error;
    disk->lasting = disk->now;
    disk->pending_count = 0;
    return 0;
}

static int memory_list(void *self, const char *folder,
                       void (*found)(void *context, const char *name), void *context)
{
    struct memory_disk *disk = self;
    const int error = memory_begin(disk, LIST);
    CHECK(strcmp(folder, FOLDER) == 0);
    for (int i = 0; i < NAMES_MAX && error == 0; i++)
        if (disk->now.name[i][0])
            found(context, disk->now.name[i]);
    return error;
}

void memory_disk_heal(struct memory_disk *disk)
{
    disk->operations = 0;
    disk->fail_at = disk->cut_at = NEVER;
    disk->fail_short = disk->fail_on = disk->has_failed = false;
}

void memory_disk_init(struct memory_disk *disk)
{
    memset(disk, 0, sizeof *disk);
    disk->table = (struct disk){
        .self = disk,
        .create = memory_create,
        .open = memory_open,
        .read = memory_read,
        .write = memory_write,
        .sync = memory_sync,
        .close = memory_close,
        .rename = memory_rename,
        .link = memory_link,
        .remove = memory_remove,
        .sync_folder = memory_sync_folder,
        .list = memory_list,
    };
    disk->handle_file = NEVER;
    memory_disk_heal(disk);
}

void memory_disk_copy(struct memory_disk *to, const struct memory_disk *from)
{
    *to = *from;
    to->table.self = to;
}

/* Changes a file's unsynced bytes as a crash might. kind: as in memory_disk_crash. */
static void memory_crash_file(struct memory_file *file, int kind)
{
    const size_t at_risk = file->size - file->synced, tear = file->size - file->last;
    const size_t torn = kind >= 4 ? (size_t)(kind - 4) * tear / (CRASH_TEARS - 1) : 0;
    if (kind == 0) /* all unsynced bytes are lost */
        file->size = file->synced;
    else if (kind == 2) /* the length is kept, the bytes are lost */
        memset(file->bytes + file->synced, 0, at_risk);
    else if (kind == 3) /* later bytes are kept, earlier ones lost */
        memset(file->bytes + file->synced, 0, at_risk / 2);
    else if (kind > 3 && file->last + torn > file->synced) /* the last write is torn */
        file->size = file->last + torn;
}

void memory_disk_crash(struct memory_disk *after, const struct memory_disk *before, int kind,
                       unsigned names)
{
    memory_disk_copy(after, before);
    memory_disk_heal(after);
    for (int i = 0; i < after->pending_count; i++)
        if (names >> i & 1)
            memory_apply(&after->lasting, &after->pending[i]);
    after->now = after->lasting;
    after->pending_count = 0;
    after->handle_file = NEVER;
    for (int i = 0; i < after->file_count; i++) {
        memory_crash_file(&after->files[i], kind);
        after->files[i].synced = after->files[i].last = after->files[i].size;
    }
}

struct memory_file *memory_disk_file(struct memory_disk *disk, const char *name)
{
    const int *file = memory_find(&disk->now, name);
    return file ? &disk->files[*file] : NULL;
}

struct memory_file *memory_disk_put(struct memory_disk *disk, const char *name, const void *bytes,
                                    size_t size)
{
    CHECK(disk->file_count < FILES_MAX && size <= FILE_MAX && disk->pending_count == 0);
    struct memory_file *file = &disk->files[disk->file_count];
    memcpy(file->bytes, bytes, size);
    file->size = file->synced = file->last = size;
    memory_name(&disk->now, name, disk->file_count++);
    disk->lasting = disk->now;
    return file;
}
