/* A disk in memory that fails, tears writes and loses data on request.
 *
 *   written ── sync ──► stays          named, renamed, removed ── sync_folder ──► stays
 *
 * A crash may lose any unsynced bytes of a file and any unsynced changes of the folder. Operations
 * are counted, so that a test can make any of them fail, or cut the power before it. The disk has
 * one folder.
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
    size_t synced;
    size_t last; /* offset of the last write */
    uint8_t bytes[FILE_MAX];
};

struct memory_names {
    char name[NAMES_MAX][NAME_MAX_]; /* "" = an unused entry */
    int file[NAMES_MAX];
};

/* An unsynced change of the folder: the name `from` is removed, and the name `to` gets the file;
 * "" = no name. */
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
    int handle_file; /* index of the open file, at most one; NEVER = none */
    size_t handle_at;

    int operations;
    int fail_at;     /* number of the operation that fails with -fail_error; NEVER = none */
    int fail_error;  /* error of the failing operation; 0 = the write is only cut short */
    bool fail_short; /* the failing write is cut in half, and the next operation fails */
    bool fail_on;    /* all later operations also fail */
    int cut_at;      /* number of the operation from which on nothing is performed; NEVER = none */
    enum operation failed_in; /* kind of the operation that was the first to fail or to be cut */
    bool has_failed;
};

/* Makes all later operations succeed, and counts them from 0. */
void memory_disk_heal(struct memory_disk *disk);
void memory_disk_init(struct memory_disk *disk);
void memory_disk_copy(struct memory_disk *to, const struct memory_disk *from);

/* Sets *after to the disk after a crash. kind: what remains of unsynced bytes, 0 .. CRASH_KINDS -
 * 1; 1 = all. names: which unsynced changes of the folder survive, one bit each. */
void memory_disk_crash(struct memory_disk *after, const struct memory_disk *before, int kind,
                       unsigned names);
struct memory_file *memory_disk_file(struct memory_disk *disk, const char *name);

/* Adds a synced file, or replaces the file with that name. */
struct memory_file *memory_disk_put(struct memory_disk *disk, const char *name, const void *bytes,
                                    size_t size);

#endif
