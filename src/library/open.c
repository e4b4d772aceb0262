/* Implements hearsay_open: checks the caller's arguments and starts a node. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/memory.h"
#include "config/config_read.h"
#include "config/config_resolve.h"
#include "daemon/fork_exit.h"
#include "hearsay.h"
#include "library/engine.h"
#include "library/handle.h"

#define SETTINGS_COUNT_MAX 1024

/* Returns true if the name has 1 to HEARSAY_RUN_MAX letters, digits and characters of -_.:/. A
 * comma is not allowed, because commas separate the parts of the model's description. */
static bool is_run(const char *run)
{
    if (!run[0] || strnlen(run, HEARSAY_RUN_MAX + 1) > HEARSAY_RUN_MAX)
        return false;
    for (const char *at = run; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.:/", *at))
            return false;
    return true;
}

/* The program makes the steps itself. So the node uses only three keys of [train], and those that
 * members compare. */
static bool is_unused(const struct config_key *key)
{
    return strcmp(key->section, "train") == 0 && key->shared == CONFIG_OWN &&
           strcmp(key->name, "enabled") != 0 && strcmp(key->name, "optimizer") != 0 &&
           strcmp(key->name, "momentum") != 0;
}

/* Warns of unused keys that have other values than the defaults. */
static void warn_of_unused(struct note_queue *notes, const struct config *config)
{
    struct note note = {.kind = NOTE_SETTINGS, .level = LEVEL_WARNING};
    struct config *defaults = memory_new(1, sizeof *defaults);
    char list[160] = "";
    config_defaults(defaults);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        const size_t used = strlen(list);
        if (is_unused(key) && memcmp((const char *)config + key->offset,
                                     (const char *)defaults + key->offset, key->bytes) != 0)
            (void)snprintf(list + used, sizeof list - used, "%s%s.%s", used > 0 ? ", " : "",
                           key->section, key->name);
    }
    (void)snprintf(note.text, sizeof note.text,
                   "no effect of the configuration's %s: the program trains the model itself; "
                   "choose its device, batch and optimizer in the program",
                   list);
    if (list[0])
        note_queue_put(notes, &note);
    free(defaults);
}

static enum error load(struct config_load *load, const struct hearsay_options *options,
                       struct note_queue *notes, struct problem *problem)
{
    enum error error = OK;
    config_defaults(&load->config);
    if (options->config)
        error = config_load_file(load, options->config, problem);
    for (uint32_t i = 0; error == OK && i < options->settings_count; i++)
        error = options->settings[i] ? config_load_set(load, options->settings[i], problem)
                                     : problem_set(problem, MALFORMED, "setting %u is NULL", i);
    if (error == OK)
        warn_of_unused(notes, &load->config);
    /* The host program has its own optimizer, but members compare train.rate and its schedule. So
     * the default is that of a daemon with the same data and no settings. */
    if (error == OK)
        config_resolve_rate(&load->config.train, config_usual_optimizer(&load->config));
    if (error == OK)
        error = config_load_check(load, options->config, problem);
    if (error == OK && strcmp(load->config.node.log, "-") == 0)
        return problem_set(problem, MALFORMED,
                           "[node] log = - would write to the program's output; name a file");
    return error;
}

/* Checks that about as much memory as learner and node need can be allocated. A later allocation
 * that fails would end the process (base/memory.h). */
static enum error check_memory(size_t parameters, struct problem *problem)
{
    const size_t bytes = parameters * 5 * sizeof(float) + ((size_t)128 << 20);
    void *probe = malloc(bytes);
    free(probe);
    return probe
               ? OK
               : problem_set(problem, FAILED, "cannot allocate memory for %zu numbers", parameters);
}

static enum error open_device(struct engine *engine, struct problem *problem)
{
    struct caller_tensors *tensors = &engine->tensors;
    struct backend *backend = NULL;
    char word[DEVICE_NAME_MAX];
    enum error error = OK;
    if (tensors->device == HEARSAY_CPU) {
        backend = backend_cpu(0);
        (void)snprintf(engine->device, sizeof engine->device,
                       "the CPU, inside the program's calls");
    } else {
        (void)snprintf(word, sizeof word, "cuda:%u", (unsigned)tensors->device_index);
        error = device_open(word, 0, PRECISION_FP32, &backend, engine->device, problem);
    }
    if (error == OK)
        caller_tensors_use(tensors, backend);
    return error;
}

static int read_config(struct hearsay *node, const struct hearsay_options *options)
{
    struct problem problem;
    if (options->settings_count > SETTINGS_COUNT_MAX ||
        (options->settings_count > 0 && !options->settings))
        return handle_fail(node, HEARSAY_ARGUMENT, "settings is NULL, or has more than %d",
                           SETTINGS_COUNT_MAX);
    struct config_load *loaded = memory_new(1, sizeof *loaded);
    const enum error error = load(loaded, options, &node->notes, &problem);
    node->engine->config = loaded->config;
    free(loaded);
    return error == OK ? HEARSAY_OK : handle_fail(node, HEARSAY_CONFIG, "%s", problem.text);
}

static int check_options(struct hearsay *node, const struct hearsay_options *options)
{
    if (!options)
        return handle_fail(node, HEARSAY_ARGUMENT, "options is NULL");
    if (options->abi != HEARSAY_ABI)
        return handle_fail(node, HEARSAY_ABI_UNKNOWN,
                           "options->abi is %u, but this library has %d; compile the program again",
                           (unsigned)options->abi, HEARSAY_ABI);
    if (options->run && !is_run(options->run))
        return handle_fail(
            node, HEARSAY_ARGUMENT,
            "run must be NULL, or a name of 1 to %d letters, digits and -_.:/, equal on all nodes",
            HEARSAY_RUN_MAX);
    return HEARSAY_OK;
}

static int open_it(struct hearsay *node, const struct hearsay_options *options)
{
    struct engine *engine = node->engine;
    struct problem problem;
    enum error error =
        caller_tensors_init(&engine->tensors, options->tensors, options->tensors_count, &problem);
    if (error != OK)
        return handle_fail(node, error == MISMATCH ? HEARSAY_UNSUPPORTED : HEARSAY_ARGUMENT, "%s",
                           problem.text);
    const int wrong = read_config(node, options);
    if (wrong != HEARSAY_OK)
        return wrong;
    if (options->run)
        memcpy(engine->run, options->run, strlen(options->run) + 1);
    engine->caller.copies = (struct caller_copies){options->fetch, options->store, options->self};
    if (options->run && options->fetch)
        c_locale_call(options->fetch, options->self); /* reads the initial weights */
    if (open_device(engine, &problem) != OK)
        return handle_fail(node, HEARSAY_UNSUPPORTED, "%s", problem.text);
    error = check_memory(engine->tensors.parameters, &problem);
    if (error == OK)
        error = engine_open(engine, &problem);
    if (error != OK)
        return handle_fail(node,
                           engine->has_bad_tensors  ? HEARSAY_ARGUMENT
                           : error == WRONG_SETTING ? HEARSAY_CONFIG
                                                    : HEARSAY_FAILED,
                           "%s", problem.text);
    engine_begin(engine);
    return HEARSAY_OK;
}

static int open_new(struct hearsay *node, const struct hearsay_options *options)
{
    int error = check_options(node, options);
    if (error != HEARSAY_OK)
        return error;
    node->engine = engine_new();
    node->engine->notes = &node->notes;
    error = open_it(node, options);
    if (error != HEARSAY_OK) {
        engine_free(node->engine);
        node->engine = NULL;
    }
    return error;
}

int hearsay_open(const struct hearsay_options *options, struct hearsay **out)
{
    if (!out)
        return HEARSAY_ARGUMENT;
    fork_exit_watch();
    c_locale_enter();
    *out = handle_new();
    const int error = open_new(*out, options);
    c_locale_leave();
    return error;
}
