/* hearsay status: shows the state of the node on this machine, for people, scripts and health
 * probes.
 *
 *   status.sock ~ JSON (status_watch.h) ─► status_ask ─► status_print_... ─► lines; or the JSON
 *
 * Tests: tests/unit/commands/test_status_text.c, tests/unit/commands/test_answer.c (status_ask)
 * and tests/process/test_status.sh.
 */
#ifndef HEARSAY_COMMANDS_STATUS_STATUS_H
#define HEARSAY_COMMANDS_STATUS_STATUS_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "config/command.h"

#define STATUS_COLUMNS 80

extern const struct command status_command;

/* Requests the status page of the node with this state folder (status_watch.h); the caller frees it
 * with json_decref. Waits at most wait_ms for each read or write. Fields that a node of another
 * version leaves out count as unknown. Returns MISSING if no node runs there, FAILED if the node
 * cannot be reached, ends, or does not answer in time, and MALFORMED if the answer is not a status
 * page. */
enum error status_ask(const char *dir, int wait_ms, json_t **page,
                      struct problem *problem) MUST_USE;

/* Print parts of a status page for people: the node itself, its links, or the members. Each line
 * ends with a line feed. Only a line with a huge loss may have more than STATUS_COLUMNS columns. A
 * node without links has one line that says so. */
void status_print_node(FILE *out, const json_t *page);
void status_print_links(FILE *out, const json_t *page);
void status_print_members(FILE *out, const json_t *page);
/* Prints the members with their admission and their contributions (members.h). */
void status_print_contributions(FILE *out, const json_t *page);

#endif
