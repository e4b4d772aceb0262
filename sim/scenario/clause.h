/* Lexer of a scenario's lines: comma-separated clauses of words and numbers with units.
 *
 *   "2 desk, 400 samples/s, up 10 Mbit/s, at 60 s up 5 Mbit/s"
 *     └ first   └ clause ...
 *
 * Reading consumes a clause from its front. An error is MALFORMED with a sentence that quotes the
 * clause and names what is allowed. Outputs are written only on OK. Tests:
 * tests/unit/sim/test_scenario*.c.
 */
#ifndef HEARSAY_SIM_SCENARIO_CLAUSE_H
#define HEARSAY_SIM_SCENARIO_CLAUSE_H

#include <stddef.h>

#include "scenario/scenario.h"

#define CLAUSE_BYTES 192

struct clause {
    char text[CLAUSE_BYTES]; /* text of the whole clause */
    size_t at;               /* index of the next character to read */
};

/* Splits the next clause off *line. After the last clause, *line is NULL. */
enum error clause_next(struct clause *clause, const char **line, struct problem *problem) MUST_USE;

/* Consume these words ("back at") or this sign (">=") and return true, if they follow. */
bool clause_take(struct clause *clause, const char *words);
bool clause_take_sign(struct clause *clause, const char *sign);

bool clause_is_empty(const struct clause *clause);

/* Reads a name: a letter, then letters, digits, - and _. */
enum error clause_name(struct clause *clause, char name[static SCENARIO_NAME_BYTES],
                       struct problem *problem) MUST_USE;

/* Reads a whole number from min to max. what: name of the number in an error message, such as "a
 * count of nodes". */
enum error clause_count(struct clause *clause, const char *what, uint32_t min, uint32_t max,
                        uint32_t *value, struct problem *problem) MUST_USE;

/* Reads a number from min to max. what: name of the number in an error message. */
enum error clause_number(struct clause *clause, const char *what, double min, double max,
                         double *value, struct problem *problem) MUST_USE;

enum error clause_time(struct clause *clause, uint64_t *ns, struct problem *problem) MUST_USE;
/* Reads a time above 0. */
enum error clause_duration(struct clause *clause, uint64_t *ns, struct problem *problem) MUST_USE;
/* Reads a number of seconds with either sign. */
enum error clause_shift(struct clause *clause, double *seconds, struct problem *problem) MUST_USE;
enum error clause_speed(struct clause *clause, double *samples_per_s,
                        struct problem *problem) MUST_USE;
enum error clause_size(struct clause *clause, uint64_t *bytes, struct problem *problem) MUST_USE;
enum error clause_percent(struct clause *clause, double *fraction,
                          struct problem *problem) MUST_USE;

/* Reads a rate. The word `unlimited` gives 0. */
enum error clause_rate(struct clause *clause, uint64_t *bytes_per_s,
                       struct problem *problem) MUST_USE;

/* Appends a change of a rate, which applies from at_ns on. Returns MALFORMED unless at_ns is
 * later than the previous change, or if there are too many changes. */
enum error clause_rate_change(const struct clause *clause, struct rate *rate, uint64_t at_ns,
                              uint64_t bytes_per_s, struct problem *problem) MUST_USE;

/* Returns OK if the whole clause was read, otherwise MALFORMED. */
enum error clause_end(const struct clause *clause, struct problem *problem) MUST_USE;

/* Returns MALFORMED with a sentence such as "\"rrt 80 ms\": unknown word rrt; did you mean rtt?".
 * If no word is similar, the sentence lists the known words. */
enum error clause_unknown(const struct clause *clause, const char *const *words, size_t count,
                          struct problem *problem) MUST_USE;

/* Returns MALFORMED with a sentence that begins with the clause, such as "\"rrt 80 ms\": ", and
 * continues with the formatted text. */
enum error clause_fail(const struct clause *clause, struct problem *problem, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));

/* Writes a list such as "west, east". names: the first of `count` texts, which lie `stride` bytes
 * apart. The list is cut after `room` bytes. */
void clause_list(char *out, size_t room, const char *names, size_t stride, size_t count);

#endif
