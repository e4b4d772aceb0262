#ifndef HEARSAY_BASE_THREAD_H
#define HEARSAY_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that uses the C locale (base/c_locale.h); the caller joins it. If the system has
 * no thread left, ends the program with a sentence (fatal). */
void thread_begin(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
