/* Writes a file that appears under its name completely and durably, or not at all.
 *
 *   begin: NAME.new ─► write … ─► end: sync, close, rename to NAME, sync of the folder
 *                              └► abandon: close, remove
 *
 * Until end has returned 0, a crash at any moment leaves the name with its old content or with the
 * whole new file. After the first failure later writes do nothing; end removes NAME.new if possible
 * and returns the failure. NAME keeps its old content, with one exception: if the sync of the
 * folder fails, NAME is already the new file, and a crash may undo that. Tests:
 * tests/unit/state/test_checkpoint.c and tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_ATOMIC_FILE_H
#define HEARSAY_STATE_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "state/disk.h"

#define ATOMIC_FILE_SUFFIX  ".new"
#define ATOMIC_FILE_PRIVATE 0600 /* only the owner may read */
#define ATOMIC_FILE_SHARED  0640 /* the owner's group may also read */

struct atomic_file {
    /* borrowed, like folder and name, until the file is ended or abandoned */
    const struct disk *disk;
    const char *folder;
    const char *name;
    int handle; /* file descriptor of NAME.new while it is open; negative otherwise */
    int error;  /* negative errno of the first failure; 0 = none so far */
};

/* Splits a path into the folder and the name in it; the folder of "x" is ".". Returns false if the
 * path is too long. */
bool atomic_file_split(const char *path, char folder[DISK_PATH_MAX], const char **name);

/* Creates NAME.new with the permissions `mode`. First removes a NAME.new that a crash may have
 * left. */
void atomic_file_begin(struct atomic_file *file, const struct disk *disk, const char *folder,
                       const char *name, int mode);
void atomic_file_write(struct atomic_file *file, const void *from, size_t bytes);
/* Makes the file durable under its name. Returns 0, or the negative errno of the first failure. */
int atomic_file_end(struct atomic_file *file) MUST_USE;
/* Call it instead of atomic_file_end: removes NAME.new, so that NAME keeps its contents. */
void atomic_file_abandon(struct atomic_file *file);

#endif
