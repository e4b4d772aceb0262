#include "commands/plot/plot_json.h"

#include <jansson.h>

/* Returns the text as a JSON string; a text that is not UTF-8 becomes "?". */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_string("?");
}

static json_t *numbers_json(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        CHECK(json_array_append_new(list, json_real(values[i])) == 0);
    return list;
}

void plot_json_write(FILE *out, const struct series_set *set, const char *by)
{
    json_t *curves = json_array();
    for (size_t k = 0; k < set->count; k++) {
        const struct series *series = &set->item[k];
        json_t *curve = json_pack("{s:o, s:o, s:o}", "name", text_json(series->name), "x",
                                  numbers_json(series->x, series->count), "y",
                                  numbers_json(series->y, series->count));
        CHECK(curve && json_array_append_new(curves, curve) == 0);
    }
    json_t *page =
        json_pack("{s:o, s:s, s:o}", "what", text_json(set->what), "by", by, "curves", curves);
    CHECK(page && json_dumpf(page, out, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0);
    (void)fputc('\n', out);
    json_decref(page);
}
