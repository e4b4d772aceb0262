/* Runs a function in a child process. For functions that end their process, for example by a failed
 * CHECK. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_CHILD_H
#define HEARSAY_TESTS_SUPPORT_BASE_CHILD_H

#include <stddef.h>

/* Runs `act` in a child process, which exits with 0 if `act` returns. Returns the wait status.
 * said: receives what the child wrote to standard error, cut to capacity - 1 bytes. */
int child_run(void (*act)(void), char *said, size_t capacity);

#endif
