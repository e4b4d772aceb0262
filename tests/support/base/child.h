/* Runs a function in a process of its own, for functions that must end it: a failed CHECK. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_CHILD_H
#define HEARSAY_TESTS_SUPPORT_BASE_CHILD_H

#include <stddef.h>

/* Runs `act` in a child process. The exit code is 0 if `act` returns; SIGABRT ends the child.
 * Returns the wait status. said: what the child wrote to standard error, cut to capacity - 1 bytes.
 */
int child_run(void (*act)(void), char *said, size_t capacity);

#endif
