/* hearsay top: shows the status of the node on this machine on the whole terminal and refreshes it
 * each second. top_view.h draws the screen. Tests: tests/process/test_status.sh.
 */
#ifndef HEARSAY_COMMANDS_STATUS_TOP_H
#define HEARSAY_COMMANDS_STATUS_TOP_H

/* Runs the command. argv[0] is "hearsay top". Returns the exit code: 0 ended by q or a signal, 1 no
 * terminal, 2 wrong usage. */
int top_run(int argc, char **argv);

#endif
