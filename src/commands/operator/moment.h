/* Finds a member's rumors since a given time, for an order that retracts them. The node's status
 * page has arrival times of rumors (node_arrivals in node/expulsion_api.h).
 *
 *   "14:30" ─► moment_parse ─► moment ─► its age ─┬─► moment_keep ─► number of rumors that stay
 *   status.sock ─► page: arrivals, log_horizon_s ───┘
 *
 * Tests: tests/unit/commands/test_moment.c. */
#ifndef HEARSAY_COMMANDS_OPERATOR_MOMENT_H
#define HEARSAY_COMMANDS_OPERATOR_MOMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Parses a time in UTC into milliseconds since 1970: an age ("90s", "2h30m", "3d"), a time of
 * day ("14:30", "14:30:05"; its latest occurrence), or a date and time ("2026-11-25 14:30"). "Z"
 * or " UTC" may follow. Returns MALFORMED for any other text and for a time in the future. */
enum error moment_parse(const char *text, uint64_t now_ms, uint64_t *moment_ms,
                        struct problem *problem) MUST_USE;

/* Sets *keep to the number of an origin's rumors that had arrived age_s seconds ago, or to a
 * smaller number, since `row` has the arrival times of only some rumors. row: the origin's row of
 * the status page. horizon_s: age of the oldest rumor in the node's log. Sets *origin_s to the
 * largest possible age_s: INFINITY if the log has all rumors of the origin, else the age of the
 * oldest listed one, or horizon_s if none is listed. Returns false, without *keep, if age_s is
 * larger. */
bool moment_keep(const json_t *row, double horizon_s, double age_s, uint64_t *keep,
                 double *origin_s);

#endif
