#include "backend/cpu/cpu_team.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"

struct member {
    struct team *team;
    int thread; /* number of the thread, from 1 */
    pthread_t pthread;
};

struct team {
    int threads;
    struct member *members; /* [threads - 1] all threads except the caller's */
    pthread_mutex_t mutex;  /* guards all members below */
    pthread_cond_t begun;
    pthread_cond_t done;
    void (*work)(void *state, int thread);
    void *state;
    unsigned runs; /* number of calls of team_run so far */
    int busy; /* number of threads, without the caller's, that still work on the present call */
    bool is_over;
};

static void lock(struct team *team)
{
    CHECK(pthread_mutex_lock(&team->mutex) == 0);
}

static void unlock(struct team *team)
{
    CHECK(pthread_mutex_unlock(&team->mutex) == 0);
}

static void *member_main(void *argument)
{
    const struct member *member = argument;
    struct team *team = member->team;
    lock(team);
    for (unsigned seen = 0;; seen++) {
        while (team->runs == seen && !team->is_over)
            CHECK(pthread_cond_wait(&team->begun, &team->mutex) == 0);
        if (team->is_over)
            break;
        unlock(team);
        team->work(team->state, member->thread);
        lock(team);
        if (--team->busy == 0)
            CHECK(pthread_cond_signal(&team->done) == 0);
    }
    unlock(team);
    return NULL;
}

/* Starts a thread with all signals blocked, so that the program's own threads receive them. */
static void member_start(struct member *member)
{
    sigset_t all, before;
    CHECK(sigfillset(&all) == 0 && pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    thread_begin(&member->pthread, member_main, member);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

struct team *team_new(int threads)
{
    CHECK(threads >= 1);
    struct team *team = memory_new(1, sizeof *team);
    team->threads = threads;
    team->members = memory_new((size_t)threads, sizeof *team->members);
    CHECK(pthread_mutex_init(&team->mutex, NULL) == 0);
    CHECK(pthread_cond_init(&team->begun, NULL) == 0);
    CHECK(pthread_cond_init(&team->done, NULL) == 0);
    for (int i = 1; i < threads; i++) {
        team->members[i - 1] = (struct member){.team = team, .thread = i};
        member_start(&team->members[i - 1]);
    }
    return team;
}

void team_free(struct team *team)
{
    lock(team);
    team->is_over = true;
    CHECK(pthread_cond_broadcast(&team->begun) == 0);
    unlock(team);
    for (int i = 1; i < team->threads; i++)
        CHECK(pthread_join(team->members[i - 1].pthread, NULL) == 0);
    CHECK(pthread_cond_destroy(&team->begun) == 0);
    CHECK(pthread_cond_destroy(&team->done) == 0);
    CHECK(pthread_mutex_destroy(&team->mutex) == 0);
    free(team->members);
    free(team);
}

int team_threads(const struct team *team)
{
    return team->threads;
}

void team_run(struct team *team, void (*work)(void *state, int thread), void *state)
{
    if (team->threads == 1) {
        work(state, 0);
        return;
    }
    lock(team);
    CHECK(team->busy == 0);
    team->work = work;
    team->state = state;
    team->busy = team->threads - 1;
    team->runs++;
    CHECK(pthread_cond_broadcast(&team->begun) == 0);
    unlock(team);
    work(state, 0);
    lock(team);
    while (team->busy > 0)
        CHECK(pthread_cond_wait(&team->done, &team->mutex) == 0);
    unlock(team);
}
