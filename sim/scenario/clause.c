#include "scenario/clause.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

#define TIME_MAX_NS 1e15 /* 11.6 days */

struct unit {
    const char *name;
    double factor;
};

/* A kind of quantity. what, example and bounds are text for error messages. */
struct measure {
    const char *what;
    const char *example;
    const struct unit *units; /* terminated by a unit without a name */
    double min;               /* least value, in the unit of factor 1 */
    double max;               /* largest value, in the unit of factor 1 */
    const char *bounds;
};

static const struct unit times[] = {
    {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"min", 60e9}, {"h", 3600e9}, {NULL, 0},
};
static const struct unit sizes[] = {{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {NULL, 0}};
static const struct unit speeds[] = {{"samples/s", 1}, {NULL, 0}};
static const struct unit parts[] = {{"%", 0.01}, {NULL, 0}};
static const struct unit rates[] = {
    {"kbit/s", 125}, {"Mbit/s", 125e3}, {"Gbit/s", 125e6}, {"B/s", 1},
    {"kB/s", 1e3},   {"MB/s", 1e6},     {NULL, 0},
};

static const struct measure moment = {
    "a time", "80 ms or 5 s", times, 0, TIME_MAX_NS, "0 to 11 days",
};
static const struct measure duration = {
    "a duration", "80 ms or 5 s", times, 1, TIME_MAX_NS, "above 0, to 11 days",
};
static const struct measure shift = {
    "a jump", "-30 s or 5 min", times, -TIME_MAX_NS, TIME_MAX_NS, "-11 to 11 days",
};
static const struct measure size = {
    "a size", "2 GB", sizes, 1, 1e15, "1 byte to 1,000,000 GB",
};
static const struct measure speed = {
    "a speed", "400 samples/s", speeds, 1e-3, 1e9, "0.001 to 1,000,000,000 samples/s",
};
static const struct measure percent = {
    "a part", "0.1 %", parts, 0, 1, "0 to 100 %",
};
static const struct measure flow = {
    "a rate", "10 Mbit/s", rates, 1, 1e12, "1 B/s to 8,000 Gbit/s, or unlimited",
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

static const char *rest_of(const struct clause *clause)
{
    const char *rest = clause->text + clause->at;
    return rest + strspn(rest, " \t");
}

static void read_up_to(struct clause *clause, const char *end)
{
    clause->at = (size_t)(end - clause->text);
}

enum error clause_fail(const struct clause *clause, struct problem *problem, const char *format,
                       ...)
{
    char why[384];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return problem_set(problem, MALFORMED, "\"%.60s%s\": %s", clause->text,
                       strlen(clause->text) > 60 ? "..." : "", why);
}

enum error clause_next(struct clause *clause, const char **line, struct problem *problem)
{
    const char *from = *line + strspn(*line, " \t");
    size_t length = strcspn(from, ",");
    const char *rest = from[length] ? from + length + 1 : NULL;
    while (length > 0 && is_blank(from[length - 1]))
        length--;
    if (length == 0)
        return problem_set(problem, MALFORMED, "a clause is missing %s",
                           rest ? "before a comma" : "at the end");
    if (length >= sizeof clause->text)
        return problem_set(problem, MALFORMED, "\"%.40s...\" is longer than %zu characters", from,
                           sizeof clause->text - 1);
    memcpy(clause->text, from, length);
    clause->text[length] = '\0';
    clause->at = 0;
    *line = rest;
    return OK;
}

bool clause_take(struct clause *clause, const char *words)
{
    const char *text = rest_of(clause);
    while (*words) {
        size_t length = strcspn(words, " ");
        if (strncmp(text, words, length) != 0 || is_name(text[length]))
            return false;
        text += length + strspn(text + length, " \t");
        words += length + strspn(words + length, " ");
    }
    read_up_to(clause, text);
    return true;
}

bool clause_take_sign(struct clause *clause, const char *sign)
{
    const char *text = rest_of(clause);
    if (strncmp(text, sign, strlen(sign)) != 0)
        return false;
    read_up_to(clause, text + strlen(sign));
    return true;
}

bool clause_is_empty(const struct clause *clause)
{
    return *rest_of(clause) == '\0';
}

enum error clause_name(struct clause *clause, char name[static SCENARIO_NAME_BYTES],
                       struct problem *problem)
{
    const char *text = rest_of(clause);
    size_t length = 0;
    while (is_name(text[length]))
        length++;
    if (!isalpha((unsigned char)text[0]))
        return clause_fail(clause, problem,
                           "a name is missing; it has letters, digits, - and _, a letter first");
    if (length >= SCENARIO_NAME_BYTES)
        return clause_fail(clause, problem, "the name is longer than %d characters",
                           SCENARIO_NAME_BYTES - 1);
    memcpy(name, text, length);
    name[length] = '\0';
    read_up_to(clause, text + length);
    return OK;
}

/* Reads a decimal number. Returns false if none follows. */
static bool take_number(struct clause *clause, double *value)
{
    char digits[32];
    char *end;
    const char *text = rest_of(clause);
    size_t length = strspn(text, "0123456789.+-");
    if (length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    *value = strtod(digits, &end);
    if (*end)
        return false;
    read_up_to(clause, text + length);
    return true;
}

enum error clause_number(struct clause *clause, const char *what, double min, double max,
                         double *value, struct problem *problem)
{
    double number = 0;
    if (!take_number(clause, &number))
        return clause_fail(clause, problem, "%s is missing, a number from %.10g to %.10g", what,
                           min, max);
    if (number < min || number > max)
        return clause_fail(clause, problem, "%s is %.10g to %.10g", what, min, max);
    *value = number;
    return OK;
}

enum error clause_count(struct clause *clause, const char *what, uint32_t min, uint32_t max,
                        uint32_t *value, struct problem *problem)
{
    double number = 0;
    enum error error = clause_number(clause, what, min, max, &number, problem);
    if (error != OK)
        return error;
    if (number != floor(number))
        return clause_fail(clause, problem, "%s is a whole number", what);
    *value = (uint32_t)number;
    return OK;
}

/* Writes a list such as "s, ms or us". */
static void list_units(char *out, size_t room, const struct unit *units)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; units[i].name && used < room; i++) {
        const char *between = i == 0 ? "" : units[i + 1].name ? ", " : " or ";
        used += (size_t)snprintf(out + used, room - used, "%s%s", between, units[i].name);
    }
}

static enum error take_unit(struct clause *clause, const struct measure *measure, double *factor,
                            struct problem *problem)
{
    const char *text = rest_of(clause);
    size_t length = strcspn(text, " \t");
    for (const struct unit *unit = measure->units; unit->name; unit++) {
        if (strlen(unit->name) == length && strncmp(unit->name, text, length) == 0) {
            *factor = unit->factor;
            read_up_to(clause, text + length);
            return OK;
        }
    }
    char known[64];
    list_units(known, sizeof known, measure->units);
    if (length == 0)
        return clause_fail(clause, problem, "the unit is missing; %s is written in %s",
                           measure->what, known);
    return clause_fail(clause, problem, "unknown unit %.*s; %s is written in %s",
                       (int)size_min(length, 24), text, measure->what, known);
}

static enum error take_measure(struct clause *clause, const struct measure *measure, double *value,
                               struct problem *problem)
{
    double number = 0;
    double factor = 1;
    if (!take_number(clause, &number))
        return clause_fail(clause, problem, "%s is missing, such as %s", measure->what,
                           measure->example);
    enum error error = take_unit(clause, measure, &factor, problem);
    if (error != OK)
        return error;
    if (number * factor < measure->min || number * factor > measure->max)
        return clause_fail(clause, problem, "%s is %s", measure->what, measure->bounds);
    *value = number * factor;
    return OK;
}

static enum error take_whole(struct clause *clause, const struct measure *measure, uint64_t *value,
                             struct problem *problem)
{
    double number = 0;
    enum error error = take_measure(clause, measure, &number, problem);
    if (error == OK)
        *value = (uint64_t)llround(number);
    return error;
}

enum error clause_time(struct clause *clause, uint64_t *ns, struct problem *problem)
{
    return take_whole(clause, &moment, ns, problem);
}

enum error clause_duration(struct clause *clause, uint64_t *ns, struct problem *problem)
{
    return take_whole(clause, &duration, ns, problem);
}

enum error clause_shift(struct clause *clause, double *seconds, struct problem *problem)
{
    double ns = 0;
    enum error error = take_measure(clause, &shift, &ns, problem);
    if (error == OK)
        *seconds = ns / 1e9;
    return error;
}

enum error clause_speed(struct clause *clause, double *samples_per_s, struct problem *problem)
{
    return take_measure(clause, &speed, samples_per_s, problem);
}

enum error clause_size(struct clause *clause, uint64_t *bytes, struct problem *problem)
{
    return take_whole(clause, &size, bytes, problem);
}

enum error clause_percent(struct clause *clause, double *fraction, struct problem *problem)
{
    return take_measure(clause, &percent, fraction, problem);
}

enum error clause_rate(struct clause *clause, uint64_t *bytes_per_s, struct problem *problem)
{
    if (!clause_take(clause, "unlimited"))
        return take_whole(clause, &flow, bytes_per_s, problem);
    *bytes_per_s = 0;
    return OK;
}

enum error clause_rate_change(const struct clause *clause, struct rate *rate, uint64_t at_ns,
                              uint64_t bytes_per_s, struct problem *problem)
{
    if (rate->changes == SCENARIO_CHANGES_MAX)
        return clause_fail(clause, problem, "the rate changes more than %d times",
                           SCENARIO_CHANGES_MAX);
    if (rate->changes > 0 && rate->change[rate->changes - 1].at_ns >= at_ns)
        return clause_fail(clause, problem, "out of order: an earlier clause changes it at %.10g s",
                           (double)rate->change[rate->changes - 1].at_ns / 1e9);
    rate->change[rate->changes].at_ns = at_ns;
    rate->change[rate->changes].bytes_per_s = bytes_per_s;
    rate->changes++;
    return OK;
}

enum error clause_end(const struct clause *clause, struct problem *problem)
{
    const char *rest = rest_of(clause);
    if (*rest == '\0')
        return OK;
    return clause_fail(clause, problem, "\"%.40s\" is unexpected; a comma separates clauses", rest);
}

enum error clause_unknown(const struct clause *clause, const char *const *words, size_t count,
                          struct problem *problem)
{
    char typed[CLAUSE_BYTES];
    const char *rest = rest_of(clause);
    (void)snprintf(typed, sizeof typed, "%.*s", (int)strcspn(rest, " \t"), rest);
    return clause_fail(clause, problem, "unknown word %.40s; %s", typed,
                       words_hint(typed, words, count).text);
}
