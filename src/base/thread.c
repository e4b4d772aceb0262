#include "base/thread.h"

#include <string.h>

#include "base/error.h"

void thread_begin(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    CHECK(thread && run);
    const int error = pthread_create(thread, NULL, run, argument);
    if (error != 0)
        fatal("out of memory or threads: the system does not give one more thread: %s; give this "
              "process more of them (ulimit -u, TasksMax= of its unit) or more memory",
              strerror(error));
}
