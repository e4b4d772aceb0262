/* The threads of a CPU backend, which together compute one call at a time. The caller of team_run
 * is thread 0; the other threads sleep between calls. */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_TEAM_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_TEAM_H

struct team;

/* Creates a team of `threads` threads, at least 1, the caller's included. Free it with team_free
 * while no call is running. */
struct team *team_new(int threads);
void team_free(struct team *team);

int team_threads(const struct team *team);

/* Calls work(state, thread) on all threads at once, with thread = 0 .. team_threads - 1. Returns
 * when all calls have returned. Only one thread at a time may call it. */
void team_run(struct team *team, void (*work)(void *state, int thread), void *state);

#endif
