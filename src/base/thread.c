#include "base/thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/memory.h"

struct errand {
    void *(*run)(void *argument);
    void *argument;
};

/* Without this function, the thread would have the locale of the process, which a host program may
 * have set. */
static void *run_in_c_locale(void *given)
{
    const struct errand errand = *(const struct errand *)given;
    free(given);
    c_locale_enter();
    void *result = errand.run(errand.argument);
    c_locale_leave();
    return result;
}

void thread_begin(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    CHECK(thread && run);
    struct errand *errand = memory_new(1, sizeof *errand);
    *errand = (struct errand){.run = run, .argument = argument};
    const int error = pthread_create(thread, NULL, run_in_c_locale, errand);
    if (error != 0)
        fatal("out of memory or threads: the system does not give one more thread: %s; give this "
              "process more of them (ulimit -u, TasksMax= of its unit) or more memory",
              strerror(error));
}
