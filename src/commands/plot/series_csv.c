/* Reads CSV (RFC 4180) with a heading. If it has a column of names (node, strategy …), each name
 * has a curve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/plot/series_file.h"

#define COLUMNS_MAX 256
#define ALONG_NAMES 4
#define NONE        COLUMNS_MAX

static const char *const ALONG[][ALONG_NAMES] = {
    [BY_TIME] = {"at_s", "t", "seconds", "time"},
    [BY_SAMPLES] = {"samples"},
    [BY_BYTES] = {"sent_bytes", "bytes_sent", "bytes"},
};
static const char *const NAMING[] = {"curve", "strategy", "contestant", "node"};

/* Splits a line into fields, each without its quotes and with a zero at its end. Returns the number
 * of fields. A line feed within quotes is not supported. */
static size_t split(char *line, char *field[static COLUMNS_MAX])
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *from = line, *to = line; count < COLUMNS_MAX; from++) {
        bool is_quoted = false;
        field[count++] = to = from;
        for (; *from && (is_quoted || *from != ','); from++) {
            if (*from == '"' && is_quoted && from[1] == '"')
                *to++ = *from++; /* two quotes within quotes are one quote */
            else if (*from == '"')
                is_quoted = !is_quoted;
            else
                *to++ = *from;
        }
        const bool is_last = !*from;
        *to = 0;
        if (is_last)
            break;
    }
    return count;
}

struct columns {
    size_t count;
    /* Indices of the columns with time, x, y and names of curves; NONE = absent. */
    size_t at, x, y, names;
};

/* Returns the index of the column with the first of the names that occurs; NONE if none does. */
static size_t find(char *const *field, size_t count, const char *const *names, size_t names_count)
{
    for (size_t k = 0; k < names_count && names[k]; k++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(field[i], names[k]) == 0)
                return i;
    return NONE;
}

/* Returns true if the heading has a column for any of the three x axes. */
static bool has_axis(char *const *field, size_t count)
{
    bool has = false;
    for (size_t by = 0; by < sizeof ALONG / sizeof *ALONG; by++)
        has = has || find(field, count, ALONG[by], ALONG_NAMES) != NONE;
    return has;
}

static enum error read_heading(const struct series_set *set, char *line, const char *path,
                               struct columns *columns, struct problem *problem)
{
    char *field[COLUMNS_MAX];
    struct series_names names = {""};
    *columns = (struct columns){.count = split(line, field), .y = NONE};
    columns->at = find(field, columns->count, ALONG[BY_TIME], ALONG_NAMES);
    columns->x = find(field, columns->count, ALONG[set->by], ALONG_NAMES);
    columns->names = find(field, columns->count, NAMING, sizeof NAMING / sizeof *NAMING);
    for (size_t i = 0; i < columns->count; i++) {
        series_names_add(&names, field[i]);
        if (series_is_name(set->what, field[i]))
            columns->y = i;
    }
    if (!has_axis(field, columns->count))
        return problem_set(problem, MALFORMED,
                           "%.300s: unknown format; name a log of a node (node.log), a CSV file "
                           "with a heading or a play of a comparison (plays/*.json)",
                           path);
    if (columns->x == NONE || columns->y == NONE)
        return series_lacks(set, path, &names, problem);
    return OK;
}

/* Returns the number in a field; NaN if it is empty or not a number. */
static double number_in(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    return end == text || *end ? NAN : value;
}

static enum error take_line(struct series_set *set, const struct columns *columns, char *line,
                            const char *label, struct problem *problem)
{
    char *field[COLUMNS_MAX], name[256];
    if (split(line, field) < columns->count)
        return OK; /* incomplete line at the end of the file */
    if (columns->names == NONE)
        (void)snprintf(name, sizeof name, "%s", label);
    else
        (void)snprintf(name, sizeof name, "%s%s%s", set->files > 1 ? label : "",
                       set->files > 1 ? " " : "", field[columns->names]);
    struct series *series = series_of(set, name);
    if (!series)
        return series_too_many(problem);
    series_add(series, columns->at == NONE ? 0 : number_in(field[columns->at]),
               number_in(field[columns->x]), number_in(field[columns->y]));
    return OK;
}

enum error series_read_csv(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem)
{
    const size_t before = set->count;
    struct columns columns;
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, file) <= 0) {
        free(line);
        return problem_set(problem, FAILED, "cannot read %.300s", path);
    }
    enum error error = read_heading(set, line, path, &columns, problem);
    while (error == OK && getline(&line, &room, file) > 0)
        error = take_line(set, &columns, line, label, problem);
    free(line);
    if (error == OK && set->count == before)
        return problem_set(problem, MISSING, "%.300s has a heading but no complete line below it",
                           path);
    return error;
}
