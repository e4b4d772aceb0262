/* The threads of a backend, working on one thing at a time. The caller of team_run is the first of
 * them; the others sleep in between. A team of one has no threads. */
#ifndef HEARSAY_MODEL_BACKEND_CPU_CPU_TEAM_H
#define HEARSAY_MODEL_BACKEND_CPU_CPU_TEAM_H

struct team;

/* threads >= 1, the caller's included. Free with team_free, when nothing runs. */
struct team *team_new(int threads);
void team_free(struct team *team);

int team_threads(const struct team *team);

/* Calls work(state, thread) for each thread from 0 to before team_threads, on all of them at once;
 * returns when all are done. Only from one thread at a time. */
void team_run(struct team *team, void (*work)(void *state, int thread), void *state);

#endif
