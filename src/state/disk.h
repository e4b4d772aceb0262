/* The file system as saving uses it: a table of operations.
 *
 *   checkpoint, incarnation, export ─► atomic file, checksummed stream ─► struct disk
 *   older bases ──────────────────────────────────────────────────────────►
 *       struct disk: the real one (disk.c), or one that fails, tears and forgets
 *                    (tests/support/state/memory_disk.h)
 *
 * After a crash only this can be relied on: the bytes of a file as they were at its sync, and the
 * names of a folder as they were at its sync_folder. Changes since then may be there or not, in any
 * order.
 *
 * Every operation returns a negative errno on failure. Nothing is shared: any thread may use the
 * real disk. Held by tests/unit/state/test_disk.c.
 */
#ifndef HEARSAY_STATE_DISK_H
#define HEARSAY_STATE_DISK_H

#include <stddef.h>
#include <stdint.h>

struct disk {
    void *self; /* passed to every operation */

    /* Creates a file for writing and returns a handle >= 0; -EEXIST if the name is taken. The
     * permissions are mode, whatever the umask. */
    int (*create)(void *self, const char *path, int mode);
    /* Opens a file for reading and returns a handle >= 0. */
    int (*open)(void *self, const char *path);
    /* Returns how many bytes were read, perhaps fewer than asked for; 0 at the end. */
    int64_t (*read)(void *self, int handle, void *to, size_t bytes);
    /* Returns how many bytes were written, perhaps fewer than asked for. */
    int64_t (*write)(void *self, int handle, const void *from, size_t bytes);
    /* Makes bytes and length of the file durable. After a failure nothing is known about them. */
    int (*sync)(void *self, int handle);
    /* Ends the handle, even if it fails. */
    int (*close)(void *self, int handle);
    /* Renames within a folder, over what had the name. */
    int (*rename)(void *self, const char *from, const char *to);
    /* Creates a hard link within a folder; -EEXIST if the name is taken. */
    int (*link)(void *self, const char *from, const char *to);
    int (*remove)(void *self, const char *path);
    /* Makes the names of the folder durable. */
    int (*sync_folder)(void *self, const char *folder);
    /* Calls found for every name in the folder, in any order. found changes nothing there. */
    int (*list)(void *self, const char *folder, void (*found)(void *context, const char *name),
                void *context);
};

const struct disk *disk_real(void);

/* Writes all bytes: 0, or the failure. */
int disk_write_all(const struct disk *disk, int handle, const void *from, size_t bytes);
/* Reads until all bytes are there or the file ends: how many were read, or the failure. */
int64_t disk_read_all(const struct disk *disk, int handle, void *to, size_t bytes);

/* Writes FOLDER/NAMESUFFIX to path[DISK_PATH_MAX]: 0, or -ENAMETOOLONG. */
#define DISK_PATH_MAX 4096
int disk_path(char path[DISK_PATH_MAX], const char *folder, const char *name, const char *suffix);

/* Bytes that may still be written where this folder is; 0: none, or not known. */
uint64_t disk_free_bytes(const char *folder);

#endif
