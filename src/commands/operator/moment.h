/* Finds the first rumor of a member since a given time, for an order that takes out the later ones.
 * The node's status has arrival times of rumors (node_arrivals in node/expulsion_api.h).
 *
 *   "14:30" ─► moment_parse ─► moment ─► its age ─┬─► moment_keep ─► number of rumors that stay
 *   status.sock ─► page: marks, reach_s ─────────┘
 *
 * Held by tests/unit/commands/test_moment.c. */
#ifndef HEARSAY_COMMANDS_OPERATOR_MOMENT_H
#define HEARSAY_COMMANDS_OPERATOR_MOMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Parses a time into milliseconds since 1970: an age ("90s", "2h30m", "3d"), the latest such time
 * of day ("14:30", "14:30:05"), or one on a given day ("2026-11-25 14:30"), in UTC, with or without
 * the word "UTC". MALFORMED: the text is none of these, or in the future. */
enum error moment_parse(const char *text, uint64_t now_ms, uint64_t *moment_ms,
                        struct problem *problem) MUST_USE;

/* Finds how many rumors of an origin had arrived age_s seconds ago. row: its row of the status
 * page; reach_s: seconds that the node's log reaches back. Counts by the marks, so *keep is never
 * too large. Returns false if neither marks nor log reach so far back; *keep is then unset.
 * *origin_s: seconds that this origin's marks reach back. */
bool moment_keep(const json_t *row, double reach_s, double age_s, uint64_t *keep, double *origin_s);

#endif
