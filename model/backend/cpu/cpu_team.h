/* The threads of a backend, which work on one call at a time. The caller of team_run is the first
 * thread; the others sleep between calls. A team of one has no threads. */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_TEAM_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_TEAM_H

struct team;

/* Creates a team. threads: at least 1, the caller included. Free it with team_free when no call is
 * running. */
struct team *team_new(int threads);
void team_free(struct team *team);

int team_threads(const struct team *team);

/* Calls work(state, thread) for each thread from 0 to before team_threads, on all threads at once;
 * returns when all are done. Only one thread at a time may call it. */
void team_run(struct team *team, void (*work)(void *state, int thread), void *state);

#endif
