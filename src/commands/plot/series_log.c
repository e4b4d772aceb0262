/* Reads a node's log. If the node was restarted, its seconds and counters begin at 0 again; the
 * reader adds them to the earlier ones. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands/plot/series_file.h"
#include "commands/progress.h"

struct counted {
    double before; /* sum of the counter's last values before each restart */
    double now;    /* value of the counter since the last restart */
};

static void count_on(struct counted *counted, double value)
{
    if (!isfinite(value))
        return;
    if (value < counted->now)
        counted->before += counted->now;
    counted->now = value;
}

static double number_of(const json_t *line, const char *field)
{
    const json_t *value = json_object_get(line, field);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Returns the name of the log field that has the requested value; NULL if this kind of line lacks
 * it. In a status line "loss" is the training loss; in other lines it is the test loss. */
static const char *field_of(const char *what, bool is_status, const json_t *line)
{
    const char *name;
    json_t *value;
    if (series_is_name(what, "test_loss"))
        return is_status ? NULL : "loss";
    if (series_is_name(what, "loss") && !is_status)
        return NULL;
    json_object_foreach((json_t *)line, name, value) if (series_is_name(what, name)) return name;
    return NULL;
}

static void note_names(struct series_names *names, bool is_status, const json_t *line)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)line, name, value)
    {
        if (!is_status && strcmp(name, "loss") == 0)
            series_names_add(names, "test_loss");
        else if (json_is_number(value) && strcmp(name, "t") != 0)
            series_names_add(names, name);
    }
}

struct log_reader {
    const struct series_set *set;
    struct series *series;
    struct series_names names;
    struct counted along[3]; /* counters for the three x axes, by enum series_by */
};

static void take_line(struct log_reader *reader, const json_t *line)
{
    const char *note = json_string_value(json_object_get(line, "note"));
    const bool is_status = note && strcmp(note, "status") == 0;
    if (!is_status && (!note || (strcmp(note, "evaluated") != 0 && strcmp(note, "final") != 0)))
        return;
    count_on(&reader->along[BY_TIME], number_of(line, "t"));
    count_on(&reader->along[BY_SAMPLES], number_of(line, "samples"));
    count_on(&reader->along[BY_BYTES], number_of(line, "bytes_sent"));
    note_names(&reader->names, is_status, line);
    const char *field = field_of(reader->set->what, is_status, line);
    const struct counted *x = &reader->along[reader->set->by], *at = &reader->along[BY_TIME];
    if (field)
        series_add(reader->series, at->before + at->now, x->before + x->now,
                   number_of(line, field));
}

enum error series_read_log(struct series_set *set, FILE *file, const char *path, const char *label,
                           struct problem *problem)
{
    struct log_reader reader = {.set = set, .series = series_of(set, label)};
    char *line = NULL;
    size_t room = 0;
    if (!reader.series)
        return series_too_many(problem);
    const size_t before = reader.series->count;
    struct progress progress;
    const double bytes = series_file_bytes(file);
    double done = 0;
    progress_begin(&progress, "reading");
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        json_t *object = json_loadb(line, (size_t)length, 0, NULL);
        /* The object is NULL for an incomplete line, as of a node that was killed. */
        take_line(&reader, object);
        json_decref(object);
        done += (double)length;
        progress_at(&progress, bytes > 0 ? done / bytes : 0);
    }
    progress_end(&progress);
    free(line);
    if (reader.series->count == before)
        return series_lacks(set, path, &reader.names, problem);
    return OK;
}
