/* hearsay status: how the node of this machine is, for people, scripts and health probes.
 *
 *   status.sock ~ JSON (status_watch.h) ─► status_ask ─► status_print_... ─► lines; or the JSON
 *
 * Held by tests/unit/commands/test_status_text.c, tests/unit/commands/test_answer.c (the asking)
 * and tests/process/test_status.sh.
 */
#ifndef HEARSAY_COMMANDS_STATUS_STATUS_H
#define HEARSAY_COMMANDS_STATUS_STATUS_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"

#define STATUS_COLUMNS 80

/* argv[0] is "hearsay status". Returns the exit code: 0 it trains, or relays; 1 no node answers;
 * 2 wrong usage; 3 it answers and is not ready: it joins, catches up, or is alone. */
int status_run(int argc, char **argv);

/* The page of the node of a state folder (status_watch.h), to be released with json_decref; the
 * node may be silent for wait_ms at most. A field may be missing, where the node is of another
 * version: it is taken as not known. MISSING: no node answers there, FAILED: it is there and does
 * not answer, MALFORMED: what came is no page; the sentence says what to do. */
enum error status_ask(const char *dir, int wait_ms, json_t **page,
                      struct problem *problem) MUST_USE;

/* A page for people, in lines of at most STATUS_COLUMNS: the node itself; its links; the members.
 * Each line ends with a line feed, tables begin with their heading. An empty table is one line that
 * says so. */
void status_print_node(FILE *out, const json_t *page);
void status_print_links(FILE *out, const json_t *page);
void status_print_members(FILE *out, const json_t *page);
/* The members by what they are and gave (members.h). */
void status_print_contributions(FILE *out, const json_t *page);

#endif
