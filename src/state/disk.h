/* The few things that saving asks of a file system, in a table.
 *
 *   chunk, draft, checkpoint, life ──► struct disk ──► the real one (disk.c)
 *                                                  └─► one that fails, tears and forgets
 *                                                      (tests/support/memory_disk.h)
 *
 * What may be relied on after a crash: what was written to a file before its sync, and the names
 * of a folder as they were at its sync_folder. Nothing else, and in no order.
 *
 * Every operation returns a negative errno where it failed. Nothing here is shared: each thread
 * may use the real disk.
 */
#ifndef HEARSAY_STATE_DISK_H
#define HEARSAY_STATE_DISK_H

#include <stddef.h>
#include <stdint.h>

struct disk {
    void *self; /* given to every operation */

    /* A handle >= 0: of a new file, for writing (-EEXIST if the name is taken; with these
     * permissions, whatever the umask), or of an old one, for reading. */
    int (*create)(void *self, const char *path, int mode);
    int (*open)(void *self, const char *path);
    /* How many bytes were read, 0 at the end, or written: perhaps fewer than asked for. */
    int64_t (*read)(void *self, int handle, void *to, size_t bytes);
    int64_t (*write)(void *self, int handle, const void *from, size_t bytes);
    /* Bytes and length of the file last. Once it has failed nothing is known about them. */
    int (*sync)(void *self, int handle);
    /* The handle is gone, even if it fails. */
    int (*close)(void *self, int handle);

    /* In the same folder; takes the place of what had the name. */
    int (*rename)(void *self, const char *from, const char *to);
    int (*remove)(void *self, const char *path);
    /* The folder's names last. */
    int (*sync_folder)(void *self, const char *folder);
    /* Calls found for every name in the folder, in any order; found changes nothing there. */
    int (*list)(void *self, const char *folder, void (*found)(void *context, const char *name),
                void *context);
};

const struct disk *disk_real(void);

/* Until all is written, or until `bytes` are read or the file ends. Returns 0, or how many were
 * read; or what failed. */
int disk_write_all(const struct disk *disk, int handle, const void *from, size_t bytes);
int64_t disk_read_all(const struct disk *disk, int handle, void *to, size_t bytes);

/* The whole path in path[DISK_PATH_MAX]: 0, or -ENAMETOOLONG. */
#define DISK_PATH_MAX 4096
int disk_path(char path[DISK_PATH_MAX], const char *folder, const char *name, const char *suffix);

#endif
