/* Reads a play, one simulated run of a comparison (sim/comparison/record.h): {"points":
 * [{"at_s": …, "loss": …}, …]}. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "commands/plot/series_file.h"

static const char *const ALONG[] = {
    [BY_TIME] = "at_s", [BY_SAMPLES] = "samples", [BY_BYTES] = "sent_bytes"};

static double number_of(const json_t *point, const char *field)
{
    const json_t *value = json_object_get(point, field);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void take_point(const struct series_set *set, struct series *series,
                       struct series_names *names, json_t *point)
{
    const char *name;
    json_t *value;
    json_object_foreach(point, name, value)
    {
        if (strcmp(name, "at_s") != 0)
            series_names_add(names, name);
        if (series_is_name(set->what, name))
            series_add(series, number_of(point, ALONG[BY_TIME]), number_of(point, ALONG[set->by]),
                       number_of(point, name));
    }
}

enum error series_read_play(struct series_set *set, FILE *file, const char *path, const char *label,
                            struct problem *problem)
{
    struct series_names names = {""};
    json_error_t where;
    json_t *play = json_loadf(file, 0, &where), *points = json_object_get(play, "points"), *point;
    if (!json_is_array(points)) {
        json_decref(play);
        return problem_set(problem, MALFORMED,
                           "%.300s: unknown format; name a log of a node (node.log), a CSV file "
                           "with a heading or a play of a comparison (plays/*.json)",
                           path);
    }
    struct series *series = series_of(set, label);
    enum error error = series ? OK : series_too_many(problem);
    const size_t before = series ? series->count : 0;
    size_t i;
    json_array_foreach(points, i, point) if (series) take_point(set, series, &names, point);
    if (error == OK && series->count == before)
        error = series_lacks(set, path, &names, problem);
    json_decref(play);
    return error;
}
