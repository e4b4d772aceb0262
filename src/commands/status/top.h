/* hearsay top: the status of the node of this machine, live, on a whole terminal.
 *
 * Held by tests/unit/commands/test_top.c.
 */
#ifndef HEARSAY_COMMANDS_STATUS_TOP_H
#define HEARSAY_COMMANDS_STATUS_TOP_H

#include "commands/status/status.h"

/* One screen of at most rows lines of at most columns characters: the node, its links, the members,
 * cut to what fits, each cut saying how much is missing. */
void top_draw(FILE *out, const json_t *page, int rows, int columns);

/* argv[0] is "hearsay top". Returns the exit code: 0 ended by q or a signal, 1 no terminal, 2 wrong
 * usage. */
int top_run(int argc, char **argv);

#endif
