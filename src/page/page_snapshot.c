#include "page/page_snapshot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static void put(json_t *object, const char *key, json_t *value)
{
    CHECK(value && json_object_set_new(object, key, value) == 0);
}

static void append(json_t *list, json_t *value)
{
    CHECK(value && json_array_append_new(list, value) == 0);
}

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* If the text is invalid UTF-8, replaces all its bytes beyond ASCII: it may come from another
 * node. */
static json_t *text_of(const char *text)
{
    json_t *whole = json_string(text);
    if (whole)
        return whole;
    const size_t bytes = strlen(text) + 1;
    char *clean = memory_new(bytes, 1);
    for (size_t i = 0; i < bytes; i++)
        clean[i] = (char)(text[i] & 0x80 ? '?' : text[i]);
    whole = json_string(clean);
    free(clean);
    CHECK(whole);
    return whole;
}

/* Creates the list if it is missing. */
static json_t *list_of(json_t *snapshot, const char *key)
{
    json_t *list = json_object_get(snapshot, key);
    if (!list) {
        list = json_array();
        put(snapshot, key, list);
    }
    return list;
}

json_t *page_snapshot_new(const char *kind, const char *title, const char *about)
{
    json_t *snapshot = json_object();
    put(snapshot, "program", json_string("hearsay " HEARSAY_VERSION));
    put(snapshot, "kind", json_string(kind));
    put(snapshot, "title", text_of(title));
    put(snapshot, "about", text_of(about));
    return snapshot;
}

void page_snapshot_text(json_t *snapshot, const char *key, const char *text)
{
    put(snapshot, key, text_of(text));
}

static void add_pair(json_t *list, json_t *name, json_t *value)
{
    json_t *pair = json_array();
    append(pair, name);
    append(pair, value);
    append(list, pair);
}

void page_snapshot_fact(json_t *snapshot, const char *name, const char *value)
{
    add_pair(list_of(snapshot, "facts"), text_of(name), text_of(value));
}

void page_snapshot_spent(json_t *snapshot, const char *name, double part)
{
    add_pair(list_of(snapshot, "spent"), text_of(name), real(part));
}

void page_snapshot_badge(json_t *snapshot, bool is_good, const char *text)
{
    json_t *badge = json_object();
    put(badge, "is_good", json_boolean(is_good));
    put(badge, "text", text_of(text));
    put(snapshot, "badge", badge);
}

void page_snapshot_verdict(json_t *snapshot, const char *state, const char *text)
{
    json_t *verdict = json_object();
    put(verdict, "state", json_string(state));
    put(verdict, "text", text_of(text));
    append(list_of(snapshot, "verdicts"), verdict);
}

void page_snapshot_mark(json_t *snapshot, double from_s, double to_s, const char *text)
{
    json_t *mark = json_object();
    put(mark, "from_s", real(from_s));
    put(mark, "to_s", real(to_s));
    put(mark, "text", text_of(text));
    append(list_of(snapshot, "marks"), mark);
}

void page_snapshot_happened(json_t *snapshot, double at_s, const char *level, const char *text)
{
    json_t *event = json_object();
    put(event, "at_s", real(at_s));
    put(event, "level", json_string(level));
    put(event, "text", text_of(text));
    append(list_of(snapshot, "happened"), event);
}

static json_t *swarm_list(json_t *snapshot, const char *key)
{
    json_t *swarm = json_object_get(snapshot, "swarm");
    if (!swarm) {
        swarm = json_object();
        put(snapshot, "swarm", swarm);
        put(swarm, "nodes", json_array());
        put(swarm, "links", json_array());
    }
    return json_object_get(swarm, key);
}

void page_snapshot_node(json_t *snapshot, const struct page_snapshot_node *node)
{
    json_t *object = json_object();
    put(object, "name", text_of(node->name));
    put(object, "state", json_string(node->state));
    put(object, "share", real(node->share));
    put(object, "is_self", json_boolean(node->is_self));
    put(object, "dials_only", json_boolean(node->dials_only));
    append(swarm_list(snapshot, "nodes"), object);
}

void page_snapshot_link(json_t *snapshot, const struct page_snapshot_link *link)
{
    const size_t nodes = json_array_size(swarm_list(snapshot, "nodes"));
    json_t *object = json_object();
    CHECK(link->from < nodes && link->to < nodes);
    put(object, "from", json_integer(link->from));
    put(object, "to", json_integer(link->to));
    put(object, "rate_bytes_per_s", real(link->rate_bytes_per_s));
    put(object, "use", real(link->use));
    put(object, "trip_s", real(link->trip_s));
    append(swarm_list(snapshot, "links"), object);
}

json_t *page_snapshot_figure(json_t *snapshot, const struct page_snapshot_figure *figure)
{
    json_t *object = json_object();
    put(object, "name", json_string(figure->name));
    put(object, "title", json_string(figure->title));
    put(object, "about", json_string(figure->about));
    put(object, "x", json_string(figure->x));
    put(object, "y", json_string(figure->y));
    put(object, "is_log_x", json_boolean(figure->is_log_x));
    put(object, "from_zero", json_boolean(figure->from_zero));
    put(object, "series", json_array());
    append(list_of(snapshot, "figures"), object);
    return object;
}

json_t *page_snapshot_series(json_t *figure, const char *name, const char *style)
{
    json_t *series = json_object();
    put(series, "name", text_of(name));
    put(series, "style", json_string(style));
    put(series, "points", json_array());
    append(json_object_get(figure, "series"), series);
    return series;
}

void page_snapshot_point(json_t *series, double x, double y)
{
    add_pair(json_object_get(series, "points"), real(x), real(y));
}

void page_snapshot_point_between(json_t *series, double x, double y, double low, double high)
{
    json_t *points = json_object_get(series, "points");
    add_pair(points, real(x), real(y));
    json_t *point = json_array_get(points, json_array_size(points) - 1);
    append(point, real(low));
    append(point, real(high));
}

json_t *page_snapshot_table(json_t *snapshot, const char *title, const char *note,
                            const char *const *heads, uint32_t texts)
{
    json_t *table = json_object(), *names = json_array();
    put(table, "title", text_of(title));
    put(table, "note", text_of(note ? note : ""));
    put(table, "texts", json_integer(texts));
    for (uint32_t i = 0; heads[i]; i++)
        append(names, text_of(heads[i]));
    put(table, "heads", names);
    put(table, "rows", json_array());
    append(list_of(snapshot, "tables"), table);
    return table;
}

void page_snapshot_cell(json_t *table, const char *text)
{
    json_t *rows = json_object_get(table, "rows");
    const size_t columns = json_array_size(json_object_get(table, "heads"));
    json_t *row = json_array_get(rows, json_array_size(rows) - 1);
    if (!row || json_array_size(row) == columns) {
        row = json_array();
        append(rows, row);
    }
    append(row, text_of(text));
}
