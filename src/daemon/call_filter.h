/* The system calls that a node gives up with seccomp: programs, namespaces, mounts, modules, other
 * processes' memory, other users, odd sockets, typing into a terminal. A call that is refused fails
 * with EPERM, and clone3 with ENOSYS: the C library then makes its threads with clone.
 *
 * Held by tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_DAEMON_CALL_FILTER_H
#define HEARSAY_DAEMON_CALL_FILTER_H

#include <stdbool.h>

/* For all threads of this process, for good. False, with errno: the kernel refuses the filter. */
bool call_filter_enter(void);

#endif
