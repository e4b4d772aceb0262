/* Writes summary.json: content of all tables, and the settings. Unknown values are null. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config_key.h"
#include "config/config_value.h"
#include "node/notes.h"
#include "report/escape.h"
#include "report/report_private.h"
#include "scenario/strategy_keys.h"

static void put(json_t *object, const char *key, json_t *value)
{
    CHECK(value && json_object_set_new(object, key, value) == 0);
}

static void put_real(json_t *object, const char *key, double value)
{
    put(object, key, isfinite(value) ? json_real(value) : json_null());
}

static void put_count(json_t *object, const char *key, uint64_t value)
{
    put(object, key, json_integer((json_int_t)value));
}

static void put_seconds(json_t *object, const char *key, uint64_t ns)
{
    put_real(object, key, (double)ns * 1e-9);
}

static void put_text(json_t *object, const char *key, const char *value)
{
    const size_t bytes = strlen(value) + 1;
    char *clean = memory_new(bytes, 1);
    escape_clean(clean, bytes, value);
    put(object, key, json_string(clean));
    free(clean);
}

/* A digest is a text, because readers of JSON may round 64-bit numbers. */
static void put_digest(json_t *object, const char *key, uint64_t value)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, value);
    put_text(object, key, text);
}

static void append(json_t *list, json_t *value)
{
    CHECK(value && json_array_append_new(list, value) == 0);
}

static json_t *rate_json(const struct rate *rate)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i <= rate->changes; i++) {
        json_t *part = json_object();
        const uint64_t limit = i ? rate->change[i - 1].bytes_per_s : rate->bytes_per_s;
        put_seconds(part, "from_s", i ? rate->change[i - 1].at_ns : 0);
        put(part, "bytes_per_s", limit ? json_integer((json_int_t)limit) : json_null());
        append(list, part);
    }
    return list;
}

static json_t *group_json(const struct group *group)
{
    json_t *object = json_object(), *sets = json_array();
    put_text(object, "name", group->name);
    put_count(object, "count", group->count);
    put_text(object, "region", group->region);
    put_real(object, "samples_per_s", group->samples_per_s);
    put(object, "up", rate_json(&group->up));
    put(object, "down", rate_json(&group->down));
    put_seconds(object, "start_s", group->start_ns);
    put(object, "stop_s", group->stop_ns ? json_real((double)group->stop_ns * 1e-9) : json_null());
    put_seconds(object, "stall_s", group->stall_ns);
    put_seconds(object, "stall_every_s", group->stall_every_ns);
    put_count(object, "memory_bytes", group->memory_bytes);
    put_real(object, "data", group->data);
    put(object, "dials_only", json_boolean(group->dials_only));
    for (uint32_t i = 0; i < group->sets; i++) {
        char clean[sizeof group->set[0]];
        escape_clean(clean, sizeof clean, group->set[i]);
        append(sets, json_string(clean));
    }
    put(object, "set", sets);
    return object;
}

static json_t *path_json(const struct scenario *scenario, uint32_t from, uint32_t to)
{
    const struct path *path = &scenario->paths[from][to];
    json_t *object = json_object();
    put_text(object, "from", scenario->regions[from]);
    put_text(object, "to", scenario->regions[to]);
    put_seconds(object, "delay_s", path->delay_ns);
    put_seconds(object, "jitter_s", path->jitter_ns);
    put_real(object, "loss", path->loss);
    put(object, "rate", rate_json(&path->rate));
    return object;
}

static json_t *fault_json(const struct scenario *scenario, const struct fault *fault)
{
    char text[REPORT_TEXT_BYTES];
    json_t *object = json_object();
    report_fault_text(scenario, fault, text);
    put_text(object, "fault", text);
    put_seconds(object, "from_s", fault->from_ns);
    put_seconds(object, "to_s", fault->to_ns);
    put_seconds(object, "every_s", fault->every_ns);
    put_seconds(object, "away_s", fault->away_ns);
    put_real(object, "value", fault->value);
    return object;
}

static json_t *scenario_json(const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    json_t *object = json_object();
    put_text(object, "about", scenario->about);
    put_text(object, "source", scenario->source);
    put_count(object, "seed", scenario->seed);
    put_seconds(object, "seconds", scenario->span_ns);
    put_seconds(object, "settle_s", scenario->settle_ns);
    put_text(object, "strategy", scenario_strategy_name(outcome->scenario->strategy));
    put_text(object, "updates", scenario->made_up ? "made up" : "learned");
    put_count(object, "parameters", scenario->parameters);
    put_real(object, "skew", scenario->skew);
    put_seconds(object, "evaluate_s", scenario->evaluate_ns);
    put_count(object, "evaluate_samples", scenario->evaluate_samples);
    return object;
}

/* Writes the value as in a configuration file. */
static void put_setting(json_t *section, const void *record, const struct config_key *key)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        memory_missing(BUFSIZ);
    config_value_print(record, key, out);
    CHECK(fclose(out) == 0);
    put_text(section, key->name, text);
    free(text);
}

static json_t *strategy_json(const struct strategy_settings *settings)
{
    json_t *object = json_object();
    for (size_t i = 0; i < strategy_key_count(); i++)
        put_setting(object, settings, strategy_key_at(i));
    return object;
}

/* Leaves out section [node], which the simulator sets. */
static void put_config(json_t *settings, const struct config *config)
{
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        if (strcmp(key->section, "node") == 0)
            continue;
        if (!json_object_get(settings, key->section))
            put(settings, key->section, json_object());
        put_setting(json_object_get(settings, key->section), config, key);
    }
}

static json_t *settings_json(const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    json_t *object = json_object(), *groups = json_array(), *paths = json_array();
    json_t *faults = json_array();
    put(object, "scenario", scenario_json(outcome));
    put(object, "strategy", strategy_json(&scenario->settings));
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        append(groups, group_json(&scenario->groups[i]));
    for (uint32_t from = 0; from < scenario->regions_count; from++)
        for (uint32_t to = 0; to < scenario->regions_count; to++)
            append(paths, path_json(scenario, from, to));
    for (uint32_t i = 0; i < scenario->faults_count; i++)
        append(faults, fault_json(scenario, &scenario->faults[i]));
    put(object, "nodes", groups);
    put(object, "links", paths);
    put(object, "faults", faults);
    put_config(object, &scenario->config);
    return object;
}

static json_t *warnings_json(uint64_t warnings)
{
    json_t *kinds = json_array();
    for (int kind = 0; kind < NOTE_KINDS; kind++)
        if (warnings >> kind & 1)
            append(kinds, json_string(note_kind_name((enum note_kind)kind)));
    return kinds;
}

static json_t *node_json(const struct node_total *node)
{
    json_t *object = json_object();
    put_text(object, "name", node->name);
    put(object, "running", json_boolean(node->running));
    put_count(object, "steps", node->steps);
    put_count(object, "steps_possible", node->steps_possible);
    put_count(object, "samples", node->samples);
    put_real(object, "share", node->share);
    put_count(object, "rumors_published", node->rumors_published);
    put_count(object, "rumors_received", node->rumors_received);
    put_count(object, "duplicates", node->duplicates);
    put_count(object, "rumor_bytes_published", node->rumor_bytes_published);
    put_count(object, "rumor_bytes_received", node->rumor_bytes_received);
    put_count(object, "sent_bytes", node->sent_bytes);
    put_count(object, "received_bytes", node->received_bytes);
    put_count(object, "neighbours", node->neighbours);
    put_real(object, "up_use", node->up_use);
    put_real(object, "down_use", node->down_use);
    put_real(object, "accuracy", node->accuracy);
    put(object, "warnings", warnings_json(node->warnings));
    return object;
}

static json_t *link_json(const struct link_total *link)
{
    json_t *object = json_object();
    put_text(object, "from", link->from);
    put_text(object, "to", link->to);
    put_count(object, "bytes", link->bytes);
    put_real(object, "rate_bytes_per_s", link->rate_bytes_per_s > 0 ? link->rate_bytes_per_s : NAN);
    put_real(object, "use", link->use);
    put_real(object, "delay_s", link->delay_s);
    put_count(object, "resent", link->resent);
    return object;
}

static json_t *verdict_json(const struct outcome *outcome, uint32_t i)
{
    const struct expect *expect = &outcome->scenario->expects[i];
    const struct verdict *verdict = &outcome->verdicts[i];
    json_t *object = json_object();
    put_text(object, "expect", expect->text);
    put(object, "met", outcome_is_stopped(outcome) ? json_null() : json_boolean(verdict->met));
    put_real(object, "found", verdict->value);
    put_text(object, "text", verdict->text);
    return object;
}

static void put_lists(json_t *root, const struct outcome *outcome)
{
    json_t *nodes = json_array(), *links = json_array(), *verdicts = json_array();
    for (uint32_t i = 0; i < outcome->scenario->expects_count; i++)
        append(verdicts, verdict_json(outcome, i));
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++)
        append(nodes, node_json(&outcome->nodes[i]));
    for (uint32_t i = 0; i < outcome->links_count; i++)
        append(links, link_json(&outcome->links[i]));
    put(root, "expectations", verdicts);
    put(root, "nodes", nodes);
    put(root, "links", links);
}

static void put_end(json_t *root, const struct outcome *outcome)
{
    const struct moment none = {.at_s = 0}, *last = report_last(outcome);
    const struct moment *end = last ? last : &none;
    put_real(root, "interrupted_s", outcome->stopped_s);
    put_real(root, "accuracy", outcome->accuracy);
    put_real(root, "loss", outcome->loss);
    put_count(root, "tested", outcome->tested);
    put_real(root, "averaged_accuracy", evaluation_accuracy(&outcome->averaged));
    put_real(root, "averaged_loss",
             outcome->averaged.samples ? outcome->averaged.loss : (double)NAN);
    put_real(root, "seconds", end->at_s);
    put_count(root, "samples", end->samples);
    put_count(root, "rumors", end->rumors);
    put_count(root, "rumor_bytes_published", end->rumor_bytes_published);
    put_count(root, "sent_bytes", end->sent_bytes);
    put_count(root, "control_bytes", end->control_bytes);
    put_real(root, "one_version_s", outcome->one_version_s);
    put_real(root, "copies", outcome->copies);
    put_real(root, "control_bytes_per_s", outcome->control_bytes_per_s);
    put_real(root, "origins", outcome->origins);
    put_count(root, "alarms", outcome->alarms);
    put_text(root, "alarm", outcome->alarm_text);
    put_digest(root, "trace", outcome->trace);
    put_count(root, "events", outcome->events);
    put_real(root, "cpu_s", outcome->cpu_s);
    put_real(root, "gradient_cpu_s", outcome->gradient_cpu_s);
    put_real(root, "evaluate_cpu_s", outcome->evaluate_cpu_s);
    put_count(root, "rss_bytes_max", outcome->rss_bytes_max);
}

void report_json(FILE *out, const struct outcome *outcome)
{
    char command[CONFIG_LINE_BYTES];
    json_t *root = json_object();
    report_command(outcome, command, sizeof command);
    put_text(root, "name", outcome->scenario->name);
    put_text(root, "version", HEARSAY_VERSION);
    put_text(root, "command", command);
    put_text(root, "strategy", scenario_strategy_name(outcome->scenario->strategy));
    put_count(root, "seed", outcome->scenario->seed);
    put(root, "met", json_boolean(outcome_is_met(outcome)));
    put(root, "violation", json_null());
    if (outcome->violation[0])
        put_text(root, "violation", outcome->violation);
    put_end(root, outcome);
    put_lists(root, outcome);
    put(root, "settings", settings_json(outcome));
    (void)json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    (void)fputc('\n', out);
    json_decref(root);
}
