/* Lets a child that the host program forks end by exit().
 *
 * libuv joins the threads of its pool when a process ends. A forked child has the pool's data but
 * none of its threads. Without this file, a signal would kill the child at its end.
 */
#ifndef HEARSAY_DAEMON_FORK_EXIT_H
#define HEARSAY_DAEMON_FORK_EXIT_H

/* Call before this process first uses libuv's pool. Only the first call has an effect. */
void fork_exit_watch(void);

#endif
