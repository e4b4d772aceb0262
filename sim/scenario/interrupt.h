/* Ctrl+C and SIGTERM while a scenario is played.
 *
 *   first signal  ─► interrupt_signal() is its number; the play ends at the next event
 *   second signal ─► the process ends at once with 128 + its number
 *
 * Signals are the state of a process, so there is one watch per process. A signal that was ignored
 * when the program started (nohup, a background job) stays ignored.
 * Held by tests/process/test_sim.sh.
 */
#ifndef HEARSAY_SIM_SCENARIO_INTERRUPT_H
#define HEARSAY_SIM_SCENARIO_INTERRUPT_H

void interrupt_watch(void);

/* The number of the signal that came, 0: none has. */
int interrupt_signal(void);

/* Remove this folder, if it is empty, when a second signal ends the process; NULL: none. The text
 * must stay where it is until the next call. */
void interrupt_remove(const char *folder);

#endif
