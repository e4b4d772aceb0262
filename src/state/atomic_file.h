/* A file that appears under its name whole and durable, or not at all.
 *
 *   begin: NAME.new ─► write … ─► end: sync, close, rename to NAME, sync of the folder
 *                              └► abandon: close, remove
 *
 * Until end has returned 0, a crash at any moment leaves the name with its old content or with the
 * whole new file. The first failure ends the work: NAME.new is removed if possible, nothing is
 * retried, and end returns that failure. Only where the folder's sync fails does the name already
 * hold the new file, which a crash may undo.
 * Held by tests/unit/state/test_checkpoint.c and tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_ATOMIC_FILE_H
#define HEARSAY_STATE_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "state/disk.h"

#define ATOMIC_FILE_SUFFIX  ".new"
#define ATOMIC_FILE_PRIVATE 0600 /* readable by its owner alone */
#define ATOMIC_FILE_PUBLIC  0644

struct atomic_file {
    const struct disk *disk; /* the caller's, until end */
    const char *folder;      /* the caller's, until end */
    const char *name;        /* the caller's, until end */
    int handle;              /* of NAME.new while it is open, else negative */
    int error;               /* the first failure, a negative errno; 0: none so far */
};

/* Folder and name of a path: "." and "x" of "x". False: it is too long. */
bool atomic_file_split(const char *path, char folder[DISK_PATH_MAX], const char **name);

/* Removes the NAME.new that a crash may have left, and creates it with these permissions. */
void atomic_file_begin(struct atomic_file *file, const struct disk *disk, const char *folder,
                       const char *name, int mode);
/* Does nothing after a failure. */
void atomic_file_write(struct atomic_file *file, const void *from, size_t bytes);
/* Returns 0, or the negative errno of the first failure. */
int atomic_file_end(struct atomic_file *file) MUST_USE;
/* Instead of the end: NAME keeps what it holds. */
void atomic_file_abandon(struct atomic_file *file);

#endif
