/* A file that comes under its name whole and to stay, or not at all.
 *
 *   begin: NAME.new ─► write … ─► end: sync, close, rename to NAME, sync of the folder
 *
 * Until end has returned 0 the name holds, after any crash, what it held before or the new file,
 * whole. The first thing that fails ends it: NAME.new is removed (if that works), nothing of it is
 * tried again, and end returns what it was. Only if that is the folder's sync does the name already
 * hold the new file, which a crash may undo.
 * Held by tests/unit/state/test_checkpoint.c and tests/unit/state/test_incarnation.c.
 */
#ifndef HEARSAY_STATE_ATOMIC_FILE_H
#define HEARSAY_STATE_ATOMIC_FILE_H

#include <stddef.h>

#include "state/disk.h"
#include "base/error.h"

#define ATOMIC_FILE_SUFFIX ".new"

struct atomic_file {
    const struct disk *disk;
    const char *folder; /* this and the next are the caller's, until end */
    const char *name;
    int handle;
    int error; /* the first, a negative errno; 0 so far */
};

#define ATOMIC_FILE_PRIVATE 0600 /* readable by its owner alone */
#define ATOMIC_FILE_PUBLIC  0644

/* A NAME.new that a crash has left is removed. mode: its permissions. */
void atomic_file_begin(struct atomic_file *atomic_file, const struct disk *disk, const char *folder,
                       const char *name, int mode);
/* Nothing once something has failed. */
void atomic_file_write(struct atomic_file *atomic_file, const void *from, size_t bytes);
/* 0, or the negative errno of the first thing that failed. */
int atomic_file_end(struct atomic_file *atomic_file) MUST_USE;

#endif
