/* A register of files that a forked child closes before fork() returns in the child.
 *
 * A program that embeds a node may fork at any time (workers of a data loader). Files opened with
 * O_CLOEXEC stay open in a child that calls no exec, and such a child would hold the node's lock,
 * port and connections after the node has ended. So the owner of such a file registers it here for
 * as long as it is open. Any thread may call these functions. Tests:
 * tests/unit/base/test_fork_files.c and tests/unit/library/test_forked.c.
 */
#ifndef HEARSAY_BASE_FORK_FILES_H
#define HEARSAY_BASE_FORK_FILES_H

/* A second registration of a file has no effect. */
void fork_files_add(int file);

/* Does nothing if the file is not registered. Call it before close(), because another thread may
 * open a file with the same number right after. */
void fork_files_remove(int file);

#endif
