/* hearsay top: the status of the node of this machine, live, on a whole terminal.
 *
 * Held by tests/process/test_status.sh; what it draws is top_view.h.
 */
#ifndef HEARSAY_COMMANDS_STATUS_TOP_H
#define HEARSAY_COMMANDS_STATUS_TOP_H

/* argv[0] is "hearsay top". Returns the exit code: 0 ended by q or a signal, 1 no terminal, 2 wrong
 * usage. */
int top_run(int argc, char **argv);

#endif
