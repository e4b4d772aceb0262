#include "state/swarm_key_files.h"

#include <errno.h>
#include <string.h>

#include "state/atomic_file.h"

static enum error load(const char *folder, const char *name, uint8_t key[static KEY_BYTES],
                       struct problem *problem)
{
    char path[DISK_PATH_MAX];
    if (disk_path(path, folder, name, "") != 0)
        return problem_set(problem, FAILED, "%.300s: the path of the state folder is too long",
                           folder);
    return swarm_key_load(key, path, problem);
}

static enum error save(const struct disk *disk, const char *folder, const char *name,
                       const uint8_t key[static KEY_BYTES], struct problem *problem)
{
    char line[SWARM_KEY_LINE_BYTES];
    struct atomic_file file;
    swarm_key_line(line, key);
    atomic_file_begin(&file, disk, folder, name, ATOMIC_FILE_PRIVATE);
    atomic_file_write(&file, line, sizeof line);
    secret_wipe(line, sizeof line);
    const int error = atomic_file_end(&file);
    if (error == 0)
        return OK;
    return problem_set(
        problem, FAILED,
        "%.300s/%s: cannot be written: %s; check the folder's permissions and the free disk space",
        folder, name, strerror(-error));
}

static void drop(const struct disk *disk, const char *folder, const char *name)
{
    char path[DISK_PATH_MAX];
    if (disk_path(path, folder, name, "") == 0)
        (void)disk->remove(disk->self, path);
}

enum error swarm_key_files_load(const char *folder, uint8_t *out, size_t *bytes,
                                struct problem *problem)
{
    static const char *const NAMES[] = {SWARM_KEY_FILE, SWARM_KEY_OLDER_FILE};
    *bytes = 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const enum error error = load(folder, NAMES[i], out + *bytes, problem);
        if (error != OK && error != MISSING)
            return error;
        *bytes += error == OK ? KEY_BYTES : 0;
    }
    CHECK(*bytes <= NODE_SWARM_KEYS_MAX);
    return OK;
}

/* Saves the older key first: after a crash between the writes both files have the older key, which
 * is not lost. */
enum error swarm_key_files_save(const struct disk *disk, const char *folder, const uint8_t *keys,
                                size_t bytes, struct problem *problem)
{
    enum error error = OK;
    CHECK(bytes >= KEY_BYTES && bytes <= NODE_SWARM_KEYS_MAX);
    if (bytes > KEY_BYTES)
        error = save(disk, folder, SWARM_KEY_OLDER_FILE, keys + KEY_BYTES, problem);
    if (error == OK)
        error = save(disk, folder, SWARM_KEY_FILE, keys, problem);
    if (error == OK && bytes == KEY_BYTES)
        drop(disk, folder, SWARM_KEY_OLDER_FILE);
    return error;
}

enum error swarm_key_files_hand_over(const struct disk *disk, const char *folder,
                                     const uint8_t key[static KEY_BYTES], struct problem *problem)
{
    return save(disk, folder, SWARM_KEY_NEXT_FILE, key, problem);
}

enum error swarm_key_files_next(const char *folder, uint8_t key[static KEY_BYTES],
                                struct problem *problem)
{
    return load(folder, SWARM_KEY_NEXT_FILE, key, problem);
}

void swarm_key_files_taken(const struct disk *disk, const char *folder)
{
    drop(disk, folder, SWARM_KEY_NEXT_FILE);
}
