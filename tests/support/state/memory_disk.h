/* A disk in memory that fails, tears and forgets on request.
 *
 *   written ── sync ──► stays          named, renamed, removed ── sync_folder ──► stays
 *
 * A crash may keep or lose what has not been synced: of a file's bytes any part, of the folder's
 * changes any selection. Every operation is counted, so that any of them can fail, or be the last
 * before the power goes. One folder; the whole disk can be copied by memory_disk_copy.
 */
#ifndef HEARSAY_TESTS_SUPPORT_STATE_MEMORY_DISK_H
#define HEARSAY_TESTS_SUPPORT_STATE_MEMORY_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "state/disk.h"

#define FOLDER       "state"
#define FILES_MAX    16
#define FILE_MAX     (68 * 1024)
#define NAMES_MAX    12
#define NAME_MAX_    48
#define PENDING_MAX  16
#define CRASH_TEARS  18
#define CRASH_KINDS  (4 + CRASH_TEARS)
#define NEVER        (-1)
#define OPERATION(c) (1u << (c))

enum operation { CREATE, OPEN, READ, WRITE, SYNC, CLOSE, RENAME, LINK, REMOVE, SYNC_FOLDER, LIST };

struct memory_file {
    size_t size;
    size_t synced; /* bytes that stay */
    size_t last;   /* where the last write began */
    uint8_t bytes[FILE_MAX];
};

struct memory_names {
    char name[NAMES_MAX][NAME_MAX_]; /* "": free */
    int file[NAMES_MAX];
};

/* A change of the folder, not yet synced: `to` becomes the file (or nothing), `from` goes. */
struct memory_change {
    char from[NAME_MAX_];
    char to[NAME_MAX_];
    int file;
};

struct memory_disk {
    struct disk table;
    struct memory_file files[FILES_MAX];
    int file_count;
    struct memory_names now;
    struct memory_names lasting;
    struct memory_change pending[PENDING_MAX];
    int pending_count;
    int handle_file; /* one file is open at a time; NEVER: none */
    size_t handle_at;

    int operations;           /* so far */
    int fail_at;              /* this one fails with -fail_error, NEVER: none */
    int fail_error;           /* 0: a write that is cut short is all that happens */
    bool fail_short;          /* a write is cut in half, and the next fails */
    bool fail_on;             /* and all after it */
    int cut_at;               /* from this one on nothing happens any more, NEVER: never */
    enum operation failed_in; /* what it was that failed or was cut first */
    bool has_failed;
};

/* Nothing fails from here on. */
void memory_disk_heal(struct memory_disk *disk);
void memory_disk_init(struct memory_disk *disk);
void memory_disk_copy(struct memory_disk *to, const struct memory_disk *from);

/* The disk as it is found after a crash: kind says what is left of the files (0 .. CRASH_KINDS - 1;
 * 1: all), names which of the changes of the folder that were not synced, one bit each. */
void memory_disk_crash(struct memory_disk *after, const struct memory_disk *before, int kind,
                       unsigned names);
struct memory_file *memory_disk_file(struct memory_disk *disk, const char *name);

/* A file that is there to stay; takes the place of one with that name. */
struct memory_file *memory_disk_put(struct memory_disk *disk, const char *name, const void *bytes,
                                    size_t size);

#endif
