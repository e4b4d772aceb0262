#include "comparison/record.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define FORMAT 1

static double mean_computing(const struct outcome *outcome)
{
    double made = 0, possible = 0;
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        made += (double)outcome->nodes[i].steps;
        possible += (double)outcome->nodes[i].steps_possible;
    }
    return possible > 0 ? fmin(made / possible, 1) : NAN;
}

static void measure_links(const struct outcome *outcome, struct record *record)
{
    uint32_t count;
    struct link_use *uses = outcome_uses(outcome, &count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += uses[i].use;
    record->link_use = count > 0 ? sum / count : NAN;
    record->busiest_use = count > 0 ? uses[0].use : NAN;
    free(uses);
}

void record_of(const struct outcome *outcome, struct record *record)
{
    const double nodes = outcome->scenario->nodes_count;
    *record = (struct record){
        .points = memory_new(outcome->moments_count + 1, sizeof *record->points),
        .computing = mean_computing(outcome),
    };
    for (uint32_t i = 0; i < outcome->moments_count; i++) {
        const struct moment *moment = &outcome->moments[i];
        if (moment->at_s > seconds_of(outcome->scenario->span_ns))
            /* After training only gossip still exchanges updates, so plays are not comparable. */
            break;
        record->sent_bytes = (double)moment->sent_bytes / nodes;
        if (isfinite(moment->accuracy))
            record->points[record->count++] =
                (struct record_point){.at_s = moment->at_s,
                                      .accuracy = moment->accuracy,
                                      .loss = moment->loss,
                                      .sent_bytes = record->sent_bytes,
                                      .distance = moment->distance};
    }
    record->accuracy = outcome->trained_accuracy;
    record->loss = outcome->trained_loss;
    measure_links(outcome, record);
}

void record_free(struct record *record)
{
    free(record->points);
    *record = (struct record){0};
}

static void put_number(json_t *object, const char *key, double value)
{
    CHECK(json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null()) == 0);
}

static double get_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static json_t *point_json(const struct record_point *point)
{
    json_t *object = json_object();
    put_number(object, "at_s", point->at_s);
    put_number(object, "accuracy", point->accuracy);
    put_number(object, "loss", point->loss);
    put_number(object, "sent_bytes", point->sent_bytes);
    put_number(object, "distance", point->distance);
    return object;
}

static json_t *record_json(const struct record *record, const char *fingerprint)
{
    json_t *root = json_pack("{s:i, s:s}", "format", FORMAT, "fingerprint", fingerprint);
    json_t *points = json_array();
    CHECK(root && points);
    put_number(root, "accuracy", record->accuracy);
    put_number(root, "loss", record->loss);
    put_number(root, "sent_bytes", record->sent_bytes);
    put_number(root, "computing", record->computing);
    put_number(root, "link_use", record->link_use);
    put_number(root, "busiest_use", record->busiest_use);
    for (uint32_t i = 0; i < record->count; i++)
        CHECK(json_array_append_new(points, point_json(&record->points[i])) == 0);
    CHECK(json_object_set_new(root, "points", points) == 0);
    return root;
}

/* Writes another file and renames it, so an interrupted write leaves no incomplete file `path`. */
enum error record_write(const struct record *record, const char *path, const char *fingerprint,
                        struct problem *problem)
{
    char draft[CONFIG_PATH_BYTES + 128];
    (void)snprintf(draft, sizeof draft, "%s.new", path);
    json_t *root = record_json(record, fingerprint);
    const int failed = json_dump_file(root, draft, JSON_INDENT(1)) != 0 || rename(draft, path) != 0;
    const int why = errno;
    json_decref(root);
    if (!failed)
        return OK;
    (void)remove(draft);
    return problem_set(problem, FAILED, "cannot write %.300s: %s", path, strerror(why));
}

static bool take_record(struct record *record, const json_t *root)
{
    const json_t *points = json_object_get(root, "points");
    *record = (struct record){
        .points = memory_new(json_array_size(points) + 1, sizeof *record->points),
        .accuracy = get_number(root, "accuracy"),
        .loss = get_number(root, "loss"),
        .sent_bytes = get_number(root, "sent_bytes"),
        .computing = get_number(root, "computing"),
        .link_use = get_number(root, "link_use"),
        .busiest_use = get_number(root, "busiest_use"),
    };
    size_t i;
    json_t *point;
    json_array_foreach(points, i, point)
    {
        record->points[record->count++] =
            (struct record_point){.at_s = get_number(point, "at_s"),
                                  .accuracy = get_number(point, "accuracy"),
                                  .loss = get_number(point, "loss"),
                                  .sent_bytes = get_number(point, "sent_bytes"),
                                  .distance = get_number(point, "distance")};
    }
    return json_is_array(points);
}

bool record_read(struct record *record, const char *path, const char *fingerprint)
{
    json_t *root = json_load_file(path, 0, NULL);
    const char *found = json_string_value(json_object_get(root, "fingerprint"));
    const bool is_it = found && strcmp(found, fingerprint) == 0 &&
                       json_integer_value(json_object_get(root, "format")) == FORMAT;
    const bool is_read = is_it && take_record(record, root);
    if (is_it && !is_read)
        record_free(record);
    json_decref(root);
    return is_read;
}
