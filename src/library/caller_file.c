#include "library/caller_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame/bytes.h"
#include "state/atomic_file.h"
#include "state/checksummed_stream.h"
#include "state/disk.h"
#include "state/state_dir.h"

#define NAME            STATE_CALLER_FILE
#define MAGIC           "hearsayE"
#define SERIES          0
#define FILE_HEAD_BYTES 24

static enum error damaged(const char *folder, struct problem *problem)
{
    return problem_set(problem, MALFORMED,
                       "%.300s/" NAME " is damaged; remove it to start without the program's saved "
                       "data, or set another node.state_dir",
                       folder);
}

static enum error refused(const char *folder, const char *what, int error, struct problem *problem)
{
    return problem_set(problem, FAILED, "%.300s/" NAME " cannot be %s: %s", folder, what,
                       strerror(-error));
}

static enum error read_stream(struct checksummed_reader *reader, struct caller_file *file)
{
    uint8_t head[FILE_HEAD_BYTES];
    enum error error = checksummed_read(reader, head, sizeof head);
    if (error != OK)
        return error;
    file->start_digest = bytes_get(head + 8, 8);
    const uint64_t bytes = bytes_get(head + 16, 8);
    if (memcmp(head, MAGIC, 8) != 0 || bytes > SIZE_MAX / 2)
        return MALFORMED;
    file->bytes = (size_t)bytes;
    file->extra = bytes > 0 ? malloc(file->bytes) : NULL;
    if (bytes > 0 && !file->extra)
        return MALFORMED; /* the file is damaged, or too large for this machine's memory */
    error = checksummed_read(reader, file->extra, file->bytes);
    return error == OK ? checksummed_read_end(reader) : error;
}

enum error caller_file_load(const char *folder, struct caller_file *file, struct problem *problem)
{
    char path[DISK_PATH_MAX];
    const struct disk *disk = disk_real();
    struct caller_file found = {.extra = NULL};
    struct checksummed_reader reader;
    const int named = disk_path(path, folder, NAME, "");
    const int handle = named < 0 ? named : disk->open(disk->self, path);
    if (handle == -ENOENT)
        return problem_set(problem, MISSING, "%.300s has no " NAME, folder);
    if (handle < 0)
        return refused(folder, "read", handle, problem);
    checksummed_reader_init(&reader, disk, handle, SERIES);
    const enum error error = read_stream(&reader, &found);
    (void)disk->close(disk->self, handle);
    if (error == OK)
        *file = found;
    else
        free(found.extra);
    return error == OK       ? OK
           : error == FAILED ? refused(folder, "read", reader.error, problem)
                             : damaged(folder, problem);
}

enum error caller_file_save(const char *folder, const struct caller_file *file,
                            struct problem *problem)
{
    uint8_t head[FILE_HEAD_BYTES] = MAGIC;
    struct atomic_file out;
    struct checksummed_writer writer;
    CHECK(file->extra || file->bytes == 0);
    bytes_put(head + 8, file->start_digest, 8);
    bytes_put(head + 16, file->bytes, 8);
    atomic_file_begin(&out, disk_real(), folder, NAME, ATOMIC_FILE_PRIVATE);
    checksummed_writer_init(&writer, &out, SERIES);
    checksummed_write(&writer, head, sizeof head);
    if (file->bytes > 0)
        checksummed_write(&writer, file->extra, file->bytes);
    checksummed_write_end(&writer);
    const int error = atomic_file_end(&out);
    return error == 0 ? OK : refused(folder, "written", error, problem);
}

static void on_name(void *context, const char *name)
{
    static const char checkpoint[] = "checkpoint-";
    bool *has = context;
    if (strncmp(name, checkpoint, sizeof checkpoint - 1) == 0)
        *has = true;
}

enum error caller_file_has_checkpoint(const char *folder, bool *has, struct problem *problem)
{
    const struct disk *disk = disk_real();
    *has = false;
    const int error = disk->list(disk->self, folder, on_name, has);
    return error == 0 ? OK : refused(folder, "looked for", error, problem);
}
