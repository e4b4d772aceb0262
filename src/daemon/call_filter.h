/* The system calls that a node gives up with seccomp: starting programs, namespaces, mounts,
 * modules, memory of other processes, changes of user, unusual sockets, typing into a terminal. A
 * call that is refused fails with EPERM, and clone3 with ENOSYS: the C library then makes its
 * threads with clone.
 *
 * Held by tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_DAEMON_CALL_FILTER_H
#define HEARSAY_DAEMON_CALL_FILTER_H

#include <stdbool.h>

/* Installs the filter for all threads of this process, permanently. Returns false with errno if the
 * kernel refuses it. */
bool call_filter_enter(void);

#endif
