/* A list of the latest changes, for a person who watches a terminal: a few lines, newest first.
 *
 *   12 s ago: node 3 left
 *
 * Tests: tests/unit/commands/test_changes.c.
 */
#ifndef HEARSAY_COMMANDS_LATELY_H
#define HEARSAY_COMMANDS_LATELY_H

#include <stddef.h>

#define LATELY_LINES      4
#define LATELY_TEXT_BYTES 96

struct lately {
    struct {
        double at_s;
        char text[LATELY_TEXT_BYTES];
    } item[LATELY_LINES]; /* [count] changes, newest first */
    size_t count;
};

/* Adds a change that happened at at_s, with a text formatted as by printf. If the list is full,
 * drops the oldest change. */
void lately_note(struct lately *lately, double at_s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Formats change i (0 = the newest) as a line without a line feed, and returns `out`. */
const char *lately_line(const struct lately *lately, size_t i, double now_s,
                        char out[static LATELY_TEXT_BYTES + 24]);

#endif
