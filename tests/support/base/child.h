/* A function run in a process of its own, for what must end one: a failed CHECK. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_CHILD_H
#define HEARSAY_TESTS_SUPPORT_BASE_CHILD_H

#include <stddef.h>

/* Runs `act`, which ends with exit code 0 if it returns; SIGABRT ends it. Returns the wait status;
 * `said` is what it wrote to standard error, as text, of which the first capacity - 1 bytes are
 * kept. */
int child_run(void (*act)(void), char *said, size_t capacity);

#endif
