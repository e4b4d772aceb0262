#include "web/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

struct metric {
    const char *name; /* without the prefix hearsay_ */
    const char *type, *help;
    const char *key; /* field of the status JSON; "a.b" = field b of the object a */
};

#define COUNTER "counter"
#define GAUGE   "gauge"

static const struct metric OF_NODE[] = {
    {"uptime_seconds", GAUGE, "Seconds since the process started.", "uptime_s"},
    {"ready", GAUGE,
     "1 if the node trains or relays and has a neighbour (hearsay status exits with 0), else 0.",
     "healthy"},
    {"alone_seconds", GAUGE,
     "Seconds since the node lost its last neighbour; absent while it has one.", "alone_s"},
    {"steps_total", COUNTER, "Local steps of this node.", "steps"},
    {"samples_total", COUNTER, "Samples that this node learned.", "samples"},
    {"swarm_samples", GAUGE, "Samples that the whole swarm has learned; schedules count them.",
     "swarm_samples"},
    {"samples_per_second", GAUGE, "Current learning speed of this node.", "samples_per_second"},
    {"loss", GAUGE, "Training loss over the last second.", "loss"},
    {"evaluation_loss", GAUGE, "Loss of the shared model in its last evaluation.",
     "evaluation.loss"},
    {"evaluation_accuracy", GAUGE, "Accuracy of the shared model in its last evaluation; 0 to 1.",
     "evaluation.accuracy"},
    {"evaluation_age_seconds", GAUGE, "Seconds since the last evaluation.", "evaluation.age_s"},
    {"averaged_loss", GAUGE, "Loss of the averaged shared model in the last evaluation.",
     "averaged.loss"},
    {"averaged_accuracy", GAUGE,
     "Accuracy of the averaged shared model in the last evaluation; 0 to 1.", "averaged.accuracy"},
    {"best_accuracy", GAUGE, "Highest evaluation accuracy of the shared model; 0 to 1.",
     "training.best_accuracy"},
    {"training_well", GAUGE,
     "0 if the loss or the score has become worse, or labels contradict the shared model (hearsay "
     "status shows the remedy), else 1.",
     "training.is_well"},
    {"training_rate_factor", GAUGE,
     "Factor on the scheduled learning rate; below 1 after the guard halved it.",
     "training.rate_factor"},
    {"weight_norm", GAUGE, "Euclidean norm of the weights at the last evaluation.",
     "training.weight_norm"},
    {"gradient_norm", GAUGE, "Euclidean norm of a gradient at the last evaluation.",
     "training.gradient_norm"},
    {"idle_units", GAUGE,
     "Part of the units that were inactive for all samples of a step, at the last evaluation; 0 to "
     "1.",
     "training.idle_units"},
    {"diverged_total", COUNTER, "Number of times that training diverged and was reset to the base.",
     "diverged"},
    {"saturated_entries", GAUGE,
     "Number of weights outside the range that the swarm shares; the excess stays on this node.",
     "saturated"},
    {"step_time_seconds_total", COUNTER, "Time that the learner spent in local steps.",
     "spent.steps_s"},
    {"exchange_time_seconds_total", COUNTER, "Time that the learner spent in the exchange.",
     "spent.exchange_s"},
    {"share", GAUGE, "Weight of this node's last publication among those of all nodes.", "share"},
    {"gain", GAUGE, "Outer step size for the progress of all nodes together.", "gain"},
    {"publish_interval_seconds", GAUGE, "Time between two publications.", "interval_s"},
    {"lag_seconds", GAUGE, "Time for which a rumor has been missing here; 0 if none is missing.",
     "lag_s"},
    {"rumors_known", GAUGE, "Rumors in the version of this node; equal on synchronized nodes.",
     "rumors_known"},
    {"rumors_waiting", GAUGE, "Rumors received but not yet applied.", "waiting"},
    {"rumors_published_total", COUNTER, "Rumors that this node published.", "rumors_published"},
    {"rumors_received_total", COUNTER, "Rumors received from other nodes, without duplicates.",
     "rumors_received"},
    {"rumors_duplicate_total", COUNTER, "Duplicate rumors received.", "duplicates"},
    {"rumor_published_bytes_total", COUNTER,
     "Bytes of rumors that this node published, without copies.", "rumor_bytes_published"},
    {"rumor_received_bytes_total", COUNTER,
     "Bytes of rumors received from other nodes, without duplicates.", "rumor_bytes_received"},
    {"sent_bytes_total", COUNTER, "Bytes sent in all messages.", "sent_bytes"},
    {"received_bytes_total", COUNTER, "Bytes received in all messages.", "received_bytes"},
    {"publish_budget_bytes_per_second", GAUGE, "Rumor bytes per second that this node may publish.",
     "budget_bytes_per_s"},
    {"log_bytes", GAUGE, "Memory of rumors kept for neighbours.", "log_bytes"},
    {"neighbours", GAUGE, "Open connections to neighbours.", "neighbours"},
    {"base_blocks", GAUGE, "Blocks of the shared model.", "blocks"},
    {"base_blocks_held", GAUGE, "Blocks present on this node; fewer while it receives the model.",
     "blocks_held"},
    {"checkpoint_age_seconds", GAUGE, "Seconds since the last checkpoint of this run.",
     "checkpoint_age_s"},
    {"state_free_bytes", GAUGE, "Free disk space for checkpoints (node.state_dir).",
     "state_free_bytes"},
    {"resident_memory_bytes", GAUGE, "Resident memory of the process.", "rss_bytes"},
    {"parameters", GAUGE, "Parameters of the model.", "parameters"},
    {"device_memory_bytes", GAUGE, "Memory of the GPU.", "device.memory_bytes"},
    {"device_memory_free_bytes", GAUGE, "Free memory of the GPU.", "device.memory_free_bytes"},
    {"device_hung", GAUGE,
     "1 if the GPU has not answered for ten times the usual duration of a step, else 0.",
     "device.is_hung"},
    {"model_flops_per_second", GAUGE,
     "Floating-point operations of the model per second; a step counts as three forward passes.",
     "device.model_flops_per_s"},
    {"model_flops_part", GAUGE,
     "Part of the GPU's peak that hearsay_model_flops_per_second reaches; 0 to 1.",
     "device.peak_part"},
};

static const struct metric OF_LINKS[] = {
    {"neighbour_round_trip_seconds", GAUGE, "Measured round-trip time to the neighbour.", "rtt_s"},
    {"neighbour_capacity_bytes_per_second", GAUGE, "Lower bound of the link's capacity.",
     "rate_bytes_per_s"},
    {"neighbour_backlog_seconds", GAUGE, "Queueing delay on the path to the neighbour.",
     "backlog_s"},
    {"neighbour_queued_bytes", GAUGE, "Bytes queued for the neighbour.", "queued_bytes"},
    {"neighbour_sent_bytes", GAUGE, "Bytes sent on this connection.", "sent_bytes"},
    {"neighbour_received_bytes", GAUGE, "Bytes received on this connection.", "received_bytes"},
};

static const struct metric OF_MEMBERS[] = {
    {"member_share", GAUGE,
     "Part of the samples reported by all members that this member reported; 0 to 1.",
     "base_share"},
    {"member_samples", GAUGE, "Learned samples that the member reports.", "samples"},
    {"member_lag_seconds", GAUGE,
     "Lag that the member reports: time for which a rumor has been missing there.", "lag_s"},
};

#define LABEL_DIGITS 8 /* hexadecimal digits of an id */
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Returns NAN if the field is unknown. key: as in struct metric. */
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

/* Writes {name="first LABEL_DIGITS digits of the id"}. Returns false if there is no id. */
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
    write_head(out, "members", GAUGE, "Members of the swarm by state, including this node.");
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
    write_head(out, "step_seconds", "histogram", "Duration of local steps.");
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

/* Writes only the lowest 48 bits of the digest, because a double represents them exactly. */
static void write_digest(FILE *out, const json_t *page)
{
    const char *digest = json_string_value(json_object_get(page, "digest"));
    if (!digest)
        return;
    write_head(out, "version_digest", GAUGE,
               "Lowest 48 bits of the shared model's digest; equal on synchronized nodes.");
    write_value(out, "version_digest", "",
                (double)(strtoull(digest, NULL, 16) & 0xffffffffffffull));
}

static void write_build(FILE *out, const json_t *page)
{
    const char *program = json_string_value(json_object_get(page, "program"));
    const char *id = json_string_value(json_object_get(page, "id"));
    write_head(out, "build_info", GAUGE,
               "Always 1; the labels name the program version and the node.");
    (void)fprintf(out, "hearsay_build_info{version=\"%s\",node=\"%.8s\"} 1\n", program, id);
}

static void write_last_step(FILE *out, const json_t *page, double now_s)
{
    const double age_s = number_at(page, "last_step_age_s");
    if (isnan(age_s))
        return;
    write_head(out, "last_step_timestamp_seconds", GAUGE,
               "Time of this node's last step, in seconds since 1970.");
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
    write_head(out, "time_seconds", GAUGE, "Clock of this node, in seconds since 1970.");
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
