/* A table of the file system operations for saving, so that tests can use a simulated disk.
 *
 *   checkpoint, incarnation, export ─► atomic file, checksummed stream ─► struct disk
 *   older bases ──────────────────────────────────────────────────────────►
 *       struct disk: the real one (disk.c), or a simulated one that fails and loses
 *                    writes (tests/support/state/memory_disk.h)
 *
 * After a crash only two things are certain: the bytes of a file at its last sync, and the names of
 * a folder at its last sync_folder. Later changes may or may not have happened, in any order.
 *
 * Every operation returns a negative errno on failure. Operations of the real disk share no data,
 * so any thread may call them. Tests: tests/unit/state/test_disk.c.
 */
#ifndef HEARSAY_STATE_DISK_H
#define HEARSAY_STATE_DISK_H

#include <stddef.h>
#include <stdint.h>

struct disk {
    void *self;

    /* Creates a file for writing and returns a handle >= 0; -EEXIST if the name is taken. The umask
     * does not change mode. */
    int (*create)(void *self, const char *path, int mode);
    /* Opens a file for reading and returns a handle >= 0. */
    int (*open)(void *self, const char *path);
    /* Returns the number of bytes read, perhaps fewer than requested; 0 at the end. */
    int64_t (*read)(void *self, int handle, void *to, size_t bytes);
    /* Returns the number of bytes written, perhaps fewer than requested. */
    int64_t (*write)(void *self, int handle, const void *from, size_t bytes);
    /* Makes content and size of the file durable. After a failure they are unknown. */
    int (*sync)(void *self, int handle);
    /* The handle is closed even if this returns an error. */
    int (*close)(void *self, int handle);
    /* Renames a file within a folder. Replaces a file that already has the new name. */
    int (*rename)(void *self, const char *from, const char *to);
    /* Creates a hard link within a folder; -EEXIST if the name is taken. */
    int (*link)(void *self, const char *from, const char *to);
    int (*remove)(void *self, const char *path);
    /* Makes the names in the folder durable. */
    int (*sync_folder)(void *self, const char *folder);
    /* Calls `found` for every name, in any order. `found` must not change the folder. */
    int (*list)(void *self, const char *folder, void (*found)(void *context, const char *name),
                void *context);
};

const struct disk *disk_real(void);

/* Writes all bytes. Returns 0 or a negative errno. */
int disk_write_all(const struct disk *disk, int handle, const void *from, size_t bytes);
/* Returns the number of bytes, fewer than requested only at the end of the file, or a negative
 * errno. */
int64_t disk_read_all(const struct disk *disk, int handle, void *to, size_t bytes);

#define DISK_PATH_MAX 4096
/* Writes "FOLDER/NAMESUFFIX" to path. Returns 0 or -ENAMETOOLONG. */
int disk_path(char path[DISK_PATH_MAX], const char *folder, const char *name, const char *suffix);

/* Returns the free bytes for users without privileges; 0 also if unknown. */
uint64_t disk_free_bytes(const char *folder);

#endif
