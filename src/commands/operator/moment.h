/* From which of a member's rumors on is an order about what it published since some moment? The
 * node that is asked says on its page when rumors came (node_marks in node/put_out.h).
 *
 *   "14:30" ─► moment_parse ─► moment ─► its age ─┬─► moment_keep ─► so many rumors stay
 *   status.sock ─► page: marks, reach_s ─────────┘
 *
 * Held by tests/unit/commands/test_moment.c. */
#ifndef HEARSAY_COMMANDS_OPERATOR_MOMENT_H
#define HEARSAY_COMMANDS_OPERATOR_MOMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Milliseconds since 1970 of a moment that a person names: so long ago ("90s", "2h30m", "3d"), a
 * time of day, the latest there was ("14:30", "14:30:05"), or that of a day ("2026-11-25 14:30"),
 * as the program shows them: UTC, which may be said. MALFORMED: it is none of these, or to come. */
enum error moment_parse(const char *text, uint64_t now_ms, uint64_t *moment_ms,
                        struct problem *problem) MUST_USE;

/* Of the origin in this row of the page, whose log reaches back reach_s: so many of its rumors had
 * come age_s ago, as far as the marks tell, which never name too many. False: neither do they reach
 * back so far, nor does the log; *keep is then unset. *origin_s is how far they reach, in seconds.
 */
bool moment_keep(const json_t *row, double reach_s, double age_s, uint64_t *keep, double *origin_s);

#endif
