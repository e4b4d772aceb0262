#include "web/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct metric {
    const char *name; /* name of the metric without its prefix */
    const char *type, *help;
    const char *key; /* field of the status JSON; "a.b" = field b of object a */
};

#define COUNTER "counter"
#define GAUGE   "gauge"

static const struct metric OF_NODE[] = {
    {"uptime_seconds", GAUGE, "Since the process began.", "uptime_s"},
    {"ready", GAUGE, "1: it trains or passes on, and is not alone; as hearsay status exits 0.",
     "healthy"},
    {"alone_seconds", GAUGE, "Since it had its last neighbour; not there while it has one.",
     "alone_s"},
    {"steps_total", COUNTER, "Local steps of this node.", "steps"},
    {"samples_total", COUNTER, "Samples learned here.", "samples"},
    {"swarm_samples", GAUGE, "Samples that all have learned, as schedules count them.",
     "swarm_samples"},
    {"samples_per_second", GAUGE, "How fast this node learns, lately.", "samples_per_second"},
    {"loss", GAUGE, "Of what was learned in the last second.", "loss"},
    {"evaluation_loss", GAUGE, "Of the shared model, in its last evaluation.", "evaluation.loss"},
    {"evaluation_accuracy", GAUGE, "Of the shared model, in its last evaluation; 0 to 1.",
     "evaluation.accuracy"},
    {"evaluation_age_seconds", GAUGE, "Since that evaluation.", "evaluation.age_s"},
    {"averaged_loss", GAUGE, "Of the averaged shared model, in that evaluation.", "averaged.loss"},
    {"averaged_accuracy", GAUGE, "Of the averaged shared model, in that evaluation; 0 to 1.",
     "averaged.accuracy"},
    {"best_accuracy", GAUGE, "The highest of those accuracies; 0 to 1.", "training.best_accuracy"},
    {"training_well", GAUGE,
     "1; or 0: loss or score have become worse, and hearsay status says what "
     "to do.",
     "training.is_well"},
    {"training_rate_factor", GAUGE,
     "Times the scheduled rate: less than 1 after the guard halved it.", "training.rate_factor"},
    {"weight_norm", GAUGE, "Euclidean norm of the weights, as of the last evaluation.",
     "training.weight_norm"},
    {"gradient_norm", GAUGE, "Of a gradient, then.", "training.gradient_norm"},
    {"idle_units", GAUGE, "Part of the units that no sample of a step moved, then; 0 to 1.",
     "training.idle_units"},
    {"diverged_total", COUNTER, "How often training diverged and was reset to the base.",
     "diverged"},
    {"saturated_entries", GAUGE,
     "Weights beyond what the swarm shares, of which the rest stays on this node.", "saturated"},
    {"step_time_seconds_total", COUNTER, "Time spent in local steps.", "spent.steps_s"},
    {"exchange_time_seconds_total", COUNTER, "Time that the learner spent in the exchange.",
     "spent.exchange_s"},
    {"share", GAUGE, "Weight of this node's last publication among all.", "share"},
    {"gain", GAUGE, "Weight of everybody's progress together.", "gain"},
    {"publish_interval_seconds", GAUGE, "Between two publications.", "interval_s"},
    {"lag_seconds", GAUGE, "For how long something that others know has been missing here.",
     "lag_s"},
    {"rumors_known", GAUGE, "Rumors in the version of this node; equal on nodes in step.",
     "rumors_known"},
    {"rumors_waiting", GAUGE, "Rumors known here and not yet applied.", "waiting"},
    {"rumors_published_total", COUNTER, "Rumors of this node.", "rumors_published"},
    {"rumors_received_total", COUNTER, "Rumors of others, each once.", "rumors_received"},
    {"rumors_duplicate_total", COUNTER, "Rumors that came again.", "duplicates"},
    {"rumor_published_bytes_total", COUNTER, "Of this node's own rumors, each once.",
     "rumor_bytes_published"},
    {"rumor_received_bytes_total", COUNTER, "Of others' rumors, each once.",
     "rumor_bytes_received"},
    {"sent_bytes_total", COUNTER, "Everything that was sent.", "sent_bytes"},
    {"received_bytes_total", COUNTER, "Everything that came.", "received_bytes"},
    {"publish_budget_bytes_per_second", GAUGE, "Of rumors that this node may publish.",
     "budget_bytes_per_s"},
    {"log_bytes", GAUGE, "Of rumors kept for neighbours.", "log_bytes"},
    {"neighbours", GAUGE, "Open conversations.", "neighbours"},
    {"base_blocks", GAUGE, "Blocks of the shared model.", "blocks"},
    {"base_blocks_held", GAUGE, "Of those, here; less while the model is taken over.",
     "blocks_held"},
    {"checkpoint_age_seconds", GAUGE, "Since the last checkpoint of this run.", "checkpoint_age_s"},
    {"state_free_bytes", GAUGE, "Free where checkpoints are kept.", "state_free_bytes"},
    {"resident_memory_bytes", GAUGE, "Resident memory of the process.", "rss_bytes"},
    {"parameters", GAUGE, "Of the model.", "parameters"},
    {"device_memory_bytes", GAUGE, "Memory of the GPU.", "device.memory_bytes"},
    {"device_memory_free_bytes", GAUGE, "Free memory of the GPU.", "device.memory_free_bytes"},
    {"device_hung", GAUGE, "1: the GPU has not answered for ten times the usual time of a step.",
     "device.is_hung"},
    {"model_flops_per_second", GAUGE,
     "Floating-point operations of the model; a step counts as three forward passes.",
     "device.model_flops_per_s"},
    {"model_flops_part", GAUGE, "Part of the GPU's peak that these are; 0 to 1.",
     "device.peak_part"},
};

static const struct metric OF_LINKS[] = {
    {"neighbour_round_trip_seconds", GAUGE, "There and back, as measured.", "rtt_s"},
    {"neighbour_capacity_bytes_per_second", GAUGE, "What the link carries, at least.",
     "rate_bytes_per_s"},
    {"neighbour_backlog_seconds", GAUGE, "For how long what is sent waits on the way.",
     "backlog_s"},
    {"neighbour_queued_bytes", GAUGE, "That wait here to be sent.", "queued_bytes"},
    {"neighbour_sent_bytes", GAUGE, "In this conversation.", "sent_bytes"},
    {"neighbour_received_bytes", GAUGE, "In this conversation.", "received_bytes"},
};

static const struct metric OF_MEMBERS[] = {
    {"member_share", GAUGE, "Part of what all have learned that is this member's.", "base_share"},
    {"member_samples", GAUGE, "Samples that it has learned, as it says.", "samples"},
    {"member_lag_seconds", GAUGE, "For how long it has lacked what others know, as it says.",
     "lag_s"},
};

#define LABEL_DIGITS 8 /* number of hexadecimal digits of an id in a label */
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Returns field "a", or field "b" of object "a" for "a.b", as a number; NAN if unknown. */
static double number_at(const json_t *object, const char *key)
{
    char outer[32];
    const char *dot = strchr(key, '.');
    const json_t *value = json_object_get(object, dot ? dot + 1 : key);
    if (dot) {
        (void)snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
        value = json_object_get(json_object_get(object, outer), dot + 1);
    }
    if (json_is_boolean(value))
        return json_is_true(value) ? 1 : 0;
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void write_head(FILE *out, const char *name, const char *type, const char *help)
{
    (void)fprintf(out, "# HELP hearsay_%s %s\n# TYPE hearsay_%s %s\n", name, help, name, type);
}

static void write_value(FILE *out, const char *name, const char *labels, double value)
{
    (void)fprintf(out, "hearsay_%s%s %.15g\n", name, labels, value);
}

static void write_of_node(FILE *out, const json_t *page)
{
    for (size_t i = 0; i < COUNT(OF_NODE); i++) {
        const double value = number_at(page, OF_NODE[i].key);
        if (isnan(value))
            continue;
        write_head(out, OF_NODE[i].name, OF_NODE[i].type, OF_NODE[i].help);
        write_value(out, OF_NODE[i].name, "", value);
    }
}

/* Writes the first LABEL_DIGITS digits of an id to out, as the value of a label. Returns false if
 * there is no id. */
static bool label_of(const json_t *object, const char *name, char *out, size_t bytes)
{
    const char *id = json_string_value(json_object_get(object, "id"));
    if (!id)
        return false;
    (void)snprintf(out, bytes, "{%s=\"%.*s\"}", name, LABEL_DIGITS, id);
    return true;
}

static const char *id_of(const json_t *list, size_t i)
{
    const char *id = json_string_value(json_object_get(json_array_get(list, i), "id"));
    return id ? id : "";
}

/* Returns true if no earlier entry of the list has the label of entry i. A label repeats if a
 * neighbour has two connections, or if two ids begin with equal digits (which an attacker can
 * produce). Prometheus refuses the whole scrape if a series appears twice. */
static bool is_first(const json_t *list, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (strncmp(id_of(list, before), id_of(list, i), LABEL_DIGITS) == 0)
            return false;
    return true;
}

static void write_of_list(FILE *out, const json_t *list, const char *label,
                          const struct metric *metrics, size_t count)
{
    char labels[64];
    for (size_t m = 0; m < count; m++) {
        bool has_head = false;
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *object = json_array_get(list, i);
            const double value = number_at(object, metrics[m].key);
            if (isnan(value) || !label_of(object, label, labels, sizeof labels) ||
                !is_first(list, i))
                continue;
            if (!has_head)
                write_head(out, metrics[m].name, metrics[m].type, metrics[m].help);
            has_head = true;
            write_value(out, metrics[m].name, labels, value);
        }
    }
}

static void write_states(FILE *out, const json_t *members)
{
    static const char *const STATES[] = {"live", "dead", "left", "out"};
    write_head(out, "members", GAUGE, "Members of the swarm by their state, with this node.");
    for (size_t s = 0; s < COUNT(STATES); s++) {
        char labels[32];
        unsigned count = 0;
        for (size_t i = 0; i < json_array_size(members); i++) {
            const json_t *state = json_object_get(json_array_get(members, i), "state");
            count += strcmp(json_string_value(state), STATES[s]) == 0;
        }
        (void)snprintf(labels, sizeof labels, "{state=\"%s\"}", STATES[s]);
        write_value(out, "members", labels, count);
    }
}

static void write_steps(FILE *out, const json_t *page)
{
    const json_t *bins = json_object_get(page, "step_seconds");
    const size_t count = json_array_size(bins);
    double steps = 0;
    write_head(out, "step_seconds", "histogram", "How long local steps took.");
    for (size_t i = 0; i < count; i++) {
        const json_t *bin = json_array_get(bins, i);
        const double bound = number_at(bin, "up_to_s");
        char labels[32];
        steps = number_at(bin, "steps");
        if (isnan(bound))
            (void)snprintf(labels, sizeof labels, "{le=\"+Inf\"}");
        else
            (void)snprintf(labels, sizeof labels, "{le=\"%g\"}", bound);
        write_value(out, "step_seconds_bucket", labels, steps);
    }
    write_value(out, "step_seconds_sum", "", number_at(page, "spent.steps_s"));
    write_value(out, "step_seconds_count", "", steps);
}

/* Writes the digest of the base as a metric: its lowest 48 bits, which a double represents
 * exactly. */
static void write_digest(FILE *out, const json_t *page)
{
    const char *digest = json_string_value(json_object_get(page, "digest"));
    if (!digest)
        return;
    write_head(out, "version_digest", GAUGE,
               "The lowest 48 bits of the digest of the shared model; equal on nodes in step.");
    write_value(out, "version_digest", "",
                (double)(strtoull(digest, NULL, 16) & 0xffffffffffffull));
}

static void write_build(FILE *out, const json_t *page)
{
    const char *program = json_string_value(json_object_get(page, "program"));
    const char *id = json_string_value(json_object_get(page, "id"));
    write_head(out, "build_info", GAUGE, "Always 1; which program, and which node.");
    (void)fprintf(out, "hearsay_build_info{version=\"%s\",node=\"%.8s\"} 1\n", program, id);
}

static void write_last_step(FILE *out, const json_t *page, double now_s)
{
    const double age_s = number_at(page, "last_step_age_s");
    if (isnan(age_s))
        return;
    write_head(out, "last_step_timestamp_seconds", GAUGE,
               "When this node made its last step, in seconds since 1970.");
    (void)fprintf(out, "hearsay_last_step_timestamp_seconds %.3f\n", now_s - age_s);
}

char *metrics_text(const json_t *page, double now_s, size_t *count)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, count);
    if (!out)
        memory_missing(BUFSIZ);
    write_build(out, page);
    write_of_node(out, page);
    write_head(out, "time_seconds", GAUGE, "The clock of this node, in seconds since 1970.");
    (void)fprintf(out, "hearsay_time_seconds %.3f\n", now_s);
    write_last_step(out, page, now_s);
    write_steps(out, page);
    write_digest(out, page);
    write_states(out, json_object_get(page, "members"));
    write_of_list(out, json_object_get(page, "links"), "peer", OF_LINKS, COUNT(OF_LINKS));
    write_of_list(out, json_object_get(page, "members"), "node", OF_MEMBERS, COUNT(OF_MEMBERS));
    CHECK(fclose(out) == 0);
    return text;
}
