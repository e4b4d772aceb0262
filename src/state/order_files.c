#include "state/order_files.h"

#include <errno.h>
#include <string.h>

#include "state/atomic_file.h"

/* Returns the size of the file, or `most` + 1 if it is larger than `most`, or a negative errno. */
static int64_t read_file(const struct disk *disk, const char *path, uint8_t *out, size_t most)
{
    const int handle = disk->open(disk->self, path);
    if (handle < 0)
        return handle;
    int64_t got = disk_read_all(disk, handle, out, most);
    uint8_t more;
    const int64_t beyond =
        got == (int64_t)most ? disk_read_all(disk, handle, &more, sizeof more) : 0;
    (void)disk->close(disk->self, handle);
    return beyond < 0 ? beyond : got < 0 ? got : got + beyond;
}

static enum error load(const struct disk *disk, const char *folder, const char *name, size_t most,
                       uint8_t *out, size_t *bytes, struct problem *problem)
{
    char path[DISK_PATH_MAX];
    int64_t got = disk_path(path, folder, name, "");
    if (got == 0)
        got = read_file(disk, path, out, most);
    if (got == -ENOENT)
        return MISSING;
    if (got < 0)
        return problem_set(problem, FAILED, "%.300s/%s: cannot be read: %s; check its permissions",
                           folder, name, strerror((int)-got));
    if ((size_t)got > most)
        return problem_set(problem, TOO_BIG,
                           "%.300s/%s: is larger than a node ever writes; remove it", folder, name);
    *bytes = (size_t)got;
    return OK;
}

static enum error save(const struct disk *disk, const char *folder, const char *name,
                       const uint8_t *from, size_t bytes, struct problem *problem)
{
    struct atomic_file file;
    atomic_file_begin(&file, disk, folder, name, ATOMIC_FILE_SHARED);
    atomic_file_write(&file, from, bytes);
    const int error = atomic_file_end(&file);
    if (error == 0)
        return OK;
    return problem_set(
        problem, FAILED,
        "%.300s/%s: cannot be written: %s; check the folder's permissions and the free disk space",
        folder, name, strerror(-error));
}

enum error order_files_load(const struct disk *disk, const char *folder, uint8_t *out,
                            size_t *bytes, struct problem *problem)
{
    *bytes = 0;
    const enum error error = load(disk, folder, ORDERS_FILE, NODE_ORDERS_MAX, out, bytes, problem);
    return error == MISSING ? OK : error;
}

enum error order_files_save(const struct disk *disk, const char *folder, const uint8_t *orders,
                            size_t bytes, struct problem *problem)
{
    CHECK(bytes <= NODE_ORDERS_MAX);
    return save(disk, folder, ORDERS_FILE, orders, bytes, problem);
}

enum error order_files_load_proofs(const struct disk *disk, const char *folder, uint8_t *out,
                                   size_t *bytes, struct problem *problem)
{
    *bytes = 0;
    const enum error error = load(disk, folder, PROOFS_FILE, NODE_PROOFS_MAX, out, bytes, problem);
    return error == MISSING ? OK : error;
}

enum error order_files_save_proofs(const struct disk *disk, const char *folder,
                                   const uint8_t *proofs, size_t bytes, struct problem *problem)
{
    CHECK(bytes <= NODE_PROOFS_MAX);
    return save(disk, folder, PROOFS_FILE, proofs, bytes, problem);
}

enum error order_files_load_votes(const struct disk *disk, const char *folder, uint8_t *out,
                                  size_t *bytes, struct problem *problem)
{
    *bytes = 0;
    const enum error error = load(disk, folder, VOTES_FILE, NODE_VOTES_MAX, out, bytes, problem);
    return error == MISSING ? OK : error;
}

enum error order_files_save_votes(const struct disk *disk, const char *folder, const uint8_t *votes,
                                  size_t bytes, struct problem *problem)
{
    CHECK(bytes <= NODE_VOTES_MAX);
    return save(disk, folder, VOTES_FILE, votes, bytes, problem);
}

enum error order_files_hand_over(const struct disk *disk, const char *folder, const uint8_t *order,
                                 size_t bytes, struct problem *problem)
{
    CHECK(bytes <= ORDERS_HANDED_MAX);
    return save(disk, folder, ORDER_FILE, order, bytes, problem);
}

enum error order_files_handed(const struct disk *disk, const char *folder, uint8_t *out,
                              size_t *bytes, struct problem *problem)
{
    return load(disk, folder, ORDER_FILE, ORDERS_HANDED_MAX, out, bytes, problem);
}

void order_files_taken(const struct disk *disk, const char *folder)
{
    char path[DISK_PATH_MAX];
    if (disk_path(path, folder, ORDER_FILE, "") == 0)
        (void)disk->remove(disk->self, path);
}
