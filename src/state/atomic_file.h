/* Writes a file that appears under its name completely and durably, or not at all.
 *
 *   begin: NAME.new ─► write … ─► end: sync, close, rename to NAME, sync of the folder
 *                              └► abandon: close, remove
 *
 * Until end has returned 0, a crash at any moment leaves the name with its old content or with the
 * whole new file. The first failure ends the work: NAME.new is removed if possible, nothing is
 * retried, and end returns that failure. Only if the sync of the folder fails is the new file
 * already in place, and a crash may undo that. Held by tests/unit/state/test_checkpoint.c and
 * tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_ATOMIC_FILE_H
#define HEARSAY_STATE_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "state/disk.h"

#define ATOMIC_FILE_SUFFIX  ".new"
#define ATOMIC_FILE_PRIVATE 0600 /* mode: readable only by the owner */
#define ATOMIC_FILE_PUBLIC  0644

struct atomic_file {
    const struct disk *disk; /* the disk; borrowed until end */
    const char *folder;      /* folder; borrowed until end */
    const char *name;        /* name; borrowed until end */
    int handle;              /* handle of NAME.new while it is open; negative otherwise */
    int error;               /* negative errno of the first failure; 0 = none so far */
};

/* Splits a path into folder and name: "." and "x" for "x". Returns false if it is too long. */
bool atomic_file_split(const char *path, char folder[DISK_PATH_MAX], const char **name);

/* Removes the NAME.new that a crash may have left, and creates it with these permissions. */
void atomic_file_begin(struct atomic_file *file, const struct disk *disk, const char *folder,
                       const char *name, int mode);
/* Writes bytes. Does nothing after a failure. */
void atomic_file_write(struct atomic_file *file, const void *from, size_t bytes);
/* Makes the file durable under its name. Returns 0, or the negative errno of the first failure. */
int atomic_file_end(struct atomic_file *file) MUST_USE;
/* Use it instead of end: NAME keeps its contents. */
void atomic_file_abandon(struct atomic_file *file);

#endif
