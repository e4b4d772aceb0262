#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/config_key.h"
#include "config/config_read.h"
#include "config/config_resolve.h"
#include "node/node.h"

/* A wrong setting or a contradiction: its message, and the key that the message names first. */
struct finding {
    const struct config_key *key;
    struct problem *problem;
};

static enum error against(struct finding *finding, const char *section, const char *name,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

static enum error against(struct finding *finding, const char *section, const char *name,
                          const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    finding->key = config_key_find(section, name);
    CHECK(finding->key);
    return problem_set(finding->problem, MALFORMED, "[%s] %s%s", section, name, what);
}

static enum error check_node(const struct config_node *node, struct finding *finding)
{
    bool listens = node->listen.host[0];
    uint8_t ignored[KEY_BYTES];
    CHECK(node->peers.count <= CONFIG_PEERS_MAX);
    if (!listens && node->peers.count == 0)
        return against(finding, "node", "listen",
                       " is none and [node] peers is empty, so the node cannot reach any member; "
                       "set one of the two");
    if (!listens && node->advertise.host[0])
        return against(finding, "node", "advertise",
                       " is set, but listen is none; remove one of the two");
    if (node->http.host[0] && !address_is_loopback(&node->http) && !node->http_token[0])
        return against(finding, "node", "http",
                       " is open to other machines, so it needs a password: set http_token to a "
                       "file with one, or listen on 127.0.0.1");
    if (strcmp(node->identity, node->swarm_key) == 0)
        return against(finding, "node", "identity",
                       " and swarm_key are the same file; set two files");
    if (node->operator_id[0] && key_from_hex(ignored, node->operator_id) != OK)
        return against(
            finding, "node", "operator",
            " is not 64 hex digits; set the public key that hearsay operatorkey printed");
    if (node->quarantine && !node->members[0] && !node->operator_id[0])
        return against(finding, "node", "quarantine",
                       " = yes counts votes, so it needs a list of members; set members, or an "
                       "operator (hearsay admit)");
    return OK;
}

static enum error check_data(const struct config_data *data, struct finding *finding)
{
    const struct dataset_source_row *source = &dataset_sources[data->source];
    CHECK(data->shard.index < data->shard.count);
    if (dataset_is_sequences(data->source) && augment_is_wanted(&data->augment))
        return against(finding, "data",
                       data->augment.flip   ? "flip"
                       : data->augment.crop ? "crop"
                                            : "cutout",
                       " applies to images only; remove it with text and tokens");
    for (int i = 0; i < 2; i++)
        if (source->needs[i] && !config_data_text(data, source->needs[i])[0])
            return against(finding, "data", "source", " = %s needs %s", source->name,
                           source->example);
    if (data->source == DATASET_NPY && !data->test_x[0] != !data->test_y[0])
        return against(finding, "data", data->test_x[0] ? "test_x" : "test_y",
                       " is set without its counterpart; set both test_x and test_y, or neither");
    if (data->valid[0] && !dataset_is_sequences(data->source))
        return against(finding, "data", "valid",
                       " applies to source = text or tokens only; remove it");
    if (data->source == DATASET_GENERATED && data->train_count < data->shard.count)
        return against(finding, "data", "shard",
                       " has more parts (%u) than train_count has samples (%u); use fewer parts or "
                       "raise train_count",
                       data->shard.count, data->train_count);
    return OK;
}

static enum error check_rate(const struct config_train *train, struct finding *finding)
{
    const bool has_period =
        train->schedule == STEP || train->schedule == COSINE || train->schedule == DOWNHILL;
    if (!has_period)
        return OK;
    if (train->period_samples == 0)
        return against(finding, "train", "schedule", " needs period_samples, at least 1");
    if (train->warmup_samples >= train->period_samples)
        return against(
            finding, "train", "warmup_samples",
            " (%llu) is not below period_samples (%llu); lower it, or raise period_samples",
            (unsigned long long)train->warmup_samples, (unsigned long long)train->period_samples);
    return OK;
}

static enum error check_learning(const struct config *config, struct finding *finding)
{
    struct problem why;
    if (!config->model.layers[0] && !model_preset(config->model.name))
        return against(finding, "model", "name", " = %s: unknown model; %s", config->model.name,
                       model_preset_hint(config->model.name).text);
    if (model_line_check(config->model.layers, &why) != OK)
        return against(finding, "model", "layers", ": %s", why.text);
    if (config->train.nesterov && !optimizers[config->train.optimizer].adds_up)
        return against(finding, "train", "nesterov",
                       " applies to optimizer = " OPTIMIZERS_NESTEROV);
    const enum error error = check_data(&config->data, finding);
    return error == OK ? check_rate(&config->train, finding) : error;
}

static enum error check_limits(const struct config_limits *limits, struct finding *finding)
{
    if (limits->half_open_per_net > limits->half_open)
        return against(finding, "limits", "half_open_per_net",
                       " (%u) is more than half_open (%u); lower it", limits->half_open_per_net,
                       limits->half_open);
    if (limits->peers > limits->members)
        return against(finding, "limits", "peers",
                       " (%u) is more than members (%u); lower it, or raise members", limits->peers,
                       limits->members);
    const uint32_t most = node_incarnations_max(limits->send_queue_bytes);
    if (limits->incarnations > most)
        return against(finding, "limits", "incarnations",
                       " (%u) exceeds %u, the most that one message to a joining node can hold "
                       "with this send_queue_bytes; raise send_queue_bytes, or lower incarnations",
                       limits->incarnations, most);
    return OK;
}

static enum error check(const struct config *config, struct finding *finding)
{
    enum error error = check_node(&config->node, finding);
    if (error == OK)
        error = check_learning(config, finding);
    if (error == OK)
        error = check_limits(&config->limits, finding);
    return error;
}

enum error config_check(const struct config *config, struct problem *problem)
{
    struct finding finding = {.problem = problem};
    return check(config, &finding);
}

enum error config_load_check(struct config_load *load, const char *path, struct problem *problem)
{
    struct problem why;
    struct finding finding = {.problem = &why};
    config_resolve(&load->config);
    const enum error error = check(&load->config, &finding);
    if (error == OK)
        return OK;
    CHECK(finding.key);
    const int line = load->line_of[config_key_index(finding.key)];
    if (line == 0)
        return problem_set(problem, error, "%s", why.text);
    return problem_set(problem, error, "%.200s:%d: %.300s", path, line, why.text);
}
