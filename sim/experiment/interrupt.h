/* Handles Ctrl+C and SIGTERM during a scenario.
 *
 *   first signal  ─► interrupt_signal() returns its number; the play ends early
 *   second signal ─► the process ends at once with 128 + its number
 *
 * Signals belong to the process, so there is one watch for each process. A signal that was ignored
 * when the program started (nohup, a background job) stays ignored. Tests:
 * tests/process/test_sim.sh.
 */
#ifndef HEARSAY_SIM_EXPERIMENT_INTERRUPT_H
#define HEARSAY_SIM_EXPERIMENT_INTERRUPT_H

void interrupt_watch(void);

/* Returns the number of the first signal received, or 0. */
int interrupt_signal(void);

/* Sets the folder that a second signal removes if it is empty; NULL = none. The caller keeps the
 * text valid until the next call. */
void interrupt_remove(const char *folder);

#endif
