#include "daemon/fork_exit.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"

static pid_t opener; /* process that has the threads of libuv's pool */

static void do_nothing(uv_work_t *work)
{
    (void)work;
}

/* Runs at the end of a process, before libuv joins the threads of its pool. In a forked child,
 * libuv has forgotten that it started the pool. So this one use of the pool starts threads that
 * libuv can join. */
static void begin_pool_in_child(void)
{
    uv_loop_t loop;
    uv_work_t work;
    if (getpid() == opener || uv_loop_init(&loop) != 0)
        return;
    if (uv_queue_work(&loop, &work, do_nothing, NULL) == 0)
        (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
}

static void watch(void)
{
    opener = getpid();
    (void)atexit(begin_pool_in_child);
}

void fork_exit_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(pthread_once(&once, watch) == 0);
}
