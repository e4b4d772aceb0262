/* Lexer of a scenario's lines: comma-separated clauses of words and numbers with units.
 *
 *   "2 desk, 400 samples/s, up 10 Mbit/s, at 60 s up 5 Mbit/s"
 *     └ first   └ clause ...
 *
 * Reading consumes a clause from its front. The error of every function is MALFORMED, with a
 * sentence that tells what is wrong. It quotes the clause, unless the clause is empty. Outputs are
 * written only on OK. Tests: tests/unit/sim/test_scenario*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_CLAUSE_H
#define HEARSAY_SIM_SCENARIO_CLAUSE_H

#include <stddef.h>

#include "scenario/scenario.h"

#define CLAUSE_BYTES 192

struct clause {
    char text[CLAUSE_BYTES];
    size_t at; /* index of the next character to read */
};

/* Splits the next clause off *line. After the last clause, *line is NULL. */
enum error clause_next(struct clause *clause, const char **line, struct problem *problem) MUST_USE;

/* Consume these words ("back at") or this sign (">="). Return false if other text follows. */
bool clause_take(struct clause *clause, const char *words);
bool clause_take_sign(struct clause *clause, const char *sign);

bool clause_is_empty(const struct clause *clause);

/* Reads a name: a letter, then letters, digits, - and _. */
enum error clause_name(struct clause *clause, char name[static SCENARIO_NAME_BYTES],
                       struct problem *problem) MUST_USE;

/* Reads a whole number from min to max. what: names it in errors, such as "a count of nodes". */
enum error clause_count(struct clause *clause, const char *what, uint32_t min, uint32_t max,
                        uint32_t *value, struct problem *problem) MUST_USE;

/* Reads a number from min to max. what: names it in errors. */
enum error clause_number(struct clause *clause, const char *what, double min, double max,
                         double *value, struct problem *problem) MUST_USE;

enum error clause_time(struct clause *clause, uint64_t *ns, struct problem *problem) MUST_USE;
/* Reads a time of at least 1 ns. */
enum error clause_duration(struct clause *clause, uint64_t *ns, struct problem *problem) MUST_USE;
/* Reads a time with either sign. */
enum error clause_shift(struct clause *clause, double *seconds, struct problem *problem) MUST_USE;
enum error clause_speed(struct clause *clause, double *samples_per_s,
                        struct problem *problem) MUST_USE;
enum error clause_size(struct clause *clause, uint64_t *bytes, struct problem *problem) MUST_USE;
enum error clause_percent(struct clause *clause, double *fraction,
                          struct problem *problem) MUST_USE;

/* Reads a rate. The word `unlimited` gives 0. */
enum error clause_rate(struct clause *clause, uint64_t *bytes_per_s,
                       struct problem *problem) MUST_USE;

/* Appends a change that applies from at_ns on. Returns MALFORMED if at_ns is not after the previous
 * change, or after SCENARIO_CHANGES_MAX changes. */
enum error clause_rate_change(const struct clause *clause, struct rate *rate, uint64_t at_ns,
                              uint64_t bytes_per_s, struct problem *problem) MUST_USE;

/* Returns MALFORMED if a part of the clause was not read. */
enum error clause_end(const struct clause *clause, struct problem *problem) MUST_USE;

/* Returns MALFORMED with a sentence such as "\"rrt 80 ms\": unknown word rrt; did you mean rtt?".
 * If none of words[count] is similar, the sentence lists them. */
enum error clause_unknown(const struct clause *clause, const char *const *words, size_t count,
                          struct problem *problem) MUST_USE;

/* Returns MALFORMED with a sentence that begins with the clause, such as "\"rrt 80 ms\": ", and
 * continues with the formatted text. */
enum error clause_fail(const struct clause *clause, struct problem *problem, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

#endif
