#include <string.h>

#include "base/words.h"
#include "config/config_key.h"
#include "config/config_value.h"
#include "scenario/scenario_parts.h"

#define AT(member)                                                                                 \
    .section = "scenario", .offset = offsetof(struct scenario_keys, member),                       \
    .bytes = sizeof((struct scenario_keys *)0)->member

static const struct config_key keys_of[] = {
    {.name = "about",
     .type = CONFIG_TEXT,
     AT(about),
     .initial = "",
     .help = "The scenario in one sentence."},
    {.name = "source",
     .type = CONFIG_TEXT,
     AT(source),
     .initial = "",
     .help = "Source of its numbers."},
    {.name = "seconds",
     .type = CONFIG_REAL,
     AT(seconds),
     .initial = "120",
     .min = 0.1,
     .max = 864000,
     .unit = "s",
     .help = "Virtual time at which training ends."},
    {.name = "seed",
     .type = CONFIG_U64,
     AT(seed),
     .initial = "1",
     .max = CONFIG_NO_MAX,
     .help = "Seed of all random draws."},
    {.name = "strategy",
     .type = CONFIG_CHOICE,
     AT(strategy),
     .initial = "gossip",
     .words = STRATEGY_WORDS,
     .help = "Training strategy of the nodes."},
    {.name = "updates",
     .type = CONFIG_CHOICE,
     AT(updates),
     .initial = "learned",
     .words = "learned|made up",
     .help = "made up: no data, no gradients."},
    {.name = "parameters",
     .type = CONFIG_U32,
     AT(parameters),
     .initial = "1000",
     .min = 16,
     .max = 10000000,
     .unit = "parameters",
     .help = "Size of a made up model."},
    {.name = "skew",
     .type = CONFIG_REAL,
     AT(skew),
     .initial = "0",
     .max = 1000,
     .help = "Alpha of the labels' Dirichlet distribution; 0: iid shards."},
    {.name = "evaluate_s",
     .type = CONFIG_REAL,
     AT(evaluate_s),
     .initial = "5",
     .max = 864000,
     .unit = "s",
     .help = "Period of evaluations of the base; 0: only at the end."},
    {.name = "evaluate_samples",
     .type = CONFIG_U32,
     AT(evaluate_samples),
     .initial = "2000",
     .min = 1,
     .max = 1000000,
     .unit = "samples",
     .help = "Test samples of each evaluation before the end."},
    {.name = "settle_s",
     .type = CONFIG_REAL,
     AT(settle_s),
     .initial = "60",
     .max = 864000,
     .unit = "s",
     .help = "Time after training in which all nodes may reach one version."},
    {.name = "quarantine",
     .type = CONFIG_BOOL,
     AT(quarantine),
     .initial = "no",
     .help = "All nodes are on one list of members, and expel a harmful one by votes "
             "(node.quarantine)."},
};

#define KEYS (sizeof keys_of / sizeof keys_of[0])

void scenario_keys_defaults(struct scenario_keys *keys)
{
    struct problem problem;
    memset(keys, 0, sizeof *keys);
    for (size_t i = 0; i < KEYS; i++)
        CHECK(config_value_set(keys, &keys_of[i], keys_of[i].initial, &problem) == OK);
}

static enum error unknown(const char *name, struct problem *problem)
{
    const char *words[KEYS + 4] = {"nodes", "link", "fault", "expect"};
    for (size_t i = 0; i < KEYS; i++)
        words[4 + i] = keys_of[i].name;
    return problem_set(problem, MALFORMED, "unknown key [scenario] %.60s; %s", name,
                       words_hint(name, words, KEYS + 4).text);
}

enum error scenario_keys_set(struct scenario_keys *keys, const char *name, const char *value,
                             int line, struct problem *problem)
{
    size_t i = 0;
    while (i < KEYS && strcmp(keys_of[i].name, name) != 0)
        i++;
    if (i == KEYS)
        return unknown(name, problem);
    CHECK(i < SCENARIO_KEYS_MAX);
    enum error error = config_value_set(keys, &keys_of[i], value, problem);
    if (error == OK && line > 0)
        error = config_key_once(&keys_of[i], &keys->line_of[i], line, problem);
    return error;
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

void scenario_keys_apply(const struct scenario_keys *keys, struct scenario *scenario)
{
    memcpy(scenario->about, keys->about, sizeof scenario->about);
    memcpy(scenario->source, keys->source, sizeof scenario->source);
    scenario->seed = keys->seed;
    scenario->span_ns = nanoseconds(keys->seconds);
    scenario->settle_ns = nanoseconds(keys->settle_s);
    scenario->strategy = (enum strategy_kind)keys->strategy;
    scenario->made_up = keys->updates == 1;
    scenario->parameters = keys->parameters;
    scenario->skew = keys->skew;
    scenario->evaluate_ns = nanoseconds(keys->evaluate_s);
    scenario->evaluate_samples = keys->evaluate_samples;
    scenario->quarantines = keys->quarantine;
}

/* Returns true if the key is [train] device, and the value names one device for all learners. */
static bool is_one_device(const char *section, const char *name, const char *value)
{
    return strcmp(section, "train") == 0 && strcmp(name, "device") == 0 && device_is_word(value) &&
           strcmp(value, "auto") != 0 && strcmp(value, "cuda:all") != 0 &&
           strchr(value, ',') == NULL;
}

/* Keys of a node's configuration that the simulator sets itself. how: explains it in the error
 * message; NULL = a scenario may set the key. name: NULL = all keys of the section. The first
 * matching entry counts. */
static const struct {
    const char *section;
    const char *name;
    const char *value; /* if `how` is set: the only value that a scenario may give; NULL = none */
    const char *how;
} given[] = {
    {"node", "grace_s", NULL, NULL},
    {"node", "save_s", NULL, NULL},
    {"node", "seed", "0", "draws all from [scenario] seed"},
    {"node", "listen", NULL,
     "connects the nodes; write dials only for a group that accepts no calls"},
    {"node", NULL, NULL, "makes the nodes; see the nodes lines of [scenario]"},
    {"data", "shard", NULL, "cuts the shards; for unequal ones: data 2 in a nodes line"},
    {"train", "enabled", NULL,
     "goes by the speed in a nodes line; without one a group only passes on"},
    {"train", "device", NULL,
     "computes all nodes on one device: cpu (default), cuda:N or cuda:GPU-…"},
    {"train", "threads", "1", "plays in one thread"},
    {"train", "evaluate_s", "60", "measures by [scenario] evaluate_s"},
    {"train", "evaluate_part", "auto", "measures by [scenario] evaluate_samples"},
};

enum error scenario_keys_allowed(const char *section, const char *name, const char *value,
                                 struct problem *problem)
{
    if (is_one_device(section, name, value))
        return OK;
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        bool fits = strcmp(given[i].section, section) == 0 &&
                    (!given[i].name || strcmp(given[i].name, name) == 0);
        if (!fits)
            continue;
        if (!given[i].how || (given[i].value && strcmp(given[i].value, value) == 0))
            return OK;
        if (!config_key_find(section, name))
            return config_key_unknown(section, name, problem);
        return problem_set(problem, MALFORMED, "[%s] %.60s is given by the simulator: it %s",
                           section, name, given[i].how);
    }
    return OK;
}
