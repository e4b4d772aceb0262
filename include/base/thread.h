/* Starts threads. If the system has none left, ends the program with a sentence (fatal). */
#ifndef HEARSAY_BASE_THREAD_H
#define HEARSAY_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that uses the C locale (base/c_locale.h). The caller joins it. */
void thread_begin(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
