/* A seccomp filter that refuses system calls that no node needs: starting programs, namespaces,
 * mounts, modules, memory of other processes, changes of user, unusual sockets, typing into a
 * terminal. A refused call fails with EPERM; only clone3 fails with ENOSYS.
 *
 * Tests: tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_DAEMON_CALL_FILTER_H
#define HEARSAY_DAEMON_CALL_FILTER_H

#include <stdbool.h>

/* Installs the filter for all threads of this process, permanently. Returns false, with errno, on
 * failure. */
bool call_filter_enter(void);

#endif
