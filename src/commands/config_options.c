#include "commands/config_options.h"

#include <stdio.h>

#include "config/config_read.h"

enum error config_options_add_set(void *self, const struct command_option *option,
                                  const char *assignment, struct problem *problem)
{
    struct config_options *options = self;
    (void)option;
    CHECK(options->sets >= 0);
    if (options->sets == CONFIG_SETS_MAX)
        return problem_set(
            problem, TOO_BIG,
            "--set is given more than %d times; write the keys to a file and name it with --config",
            CONFIG_SETS_MAX);
    options->set[options->sets++] = assignment;
    return OK;
}

enum error config_options_set_state(void *self, const struct command_option *option,
                                    const char *dir, struct problem *problem)
{
    struct config_options *options = self;
    (void)option, (void)problem;
    options->state = dir;
    options->states++;
    return OK;
}

enum error config_options_check(void *self, int count, char **operands, struct problem *problem)
{
    const struct config_options *options = self;
    (void)count, (void)operands;
    if (options->states > 1 || (options->state && (options->file || options->sets > 0)))
        return problem_set(
            problem, MALFORMED,
            "give either --state once, or --config and --set: both name the same folder");
    return OK;
}

static enum error set_node_key(struct config_load *load, const char *name, const char *value,
                               struct problem *problem)
{
    char assignment[CONFIG_LINE_BYTES];
    CHECK(config_key_find("node", name));
    (void)snprintf(assignment, sizeof assignment, "node.%s=%s", name, value);
    return config_load_set(load, assignment, problem);
}

enum error config_options_read(struct config *config, const struct config_options *options,
                               struct problem *problem)
{
    struct config_load load = {0};
    enum error error = OK;
    config_defaults(&load.config);
    if (options->file)
        error = config_load_file(&load, options->file, problem);
    for (int i = 0; error == OK && i < options->sets; i++)
        error = config_load_set(&load, options->set[i], problem);
    if (error == OK && options->log)
        error = set_node_key(&load, "log", options->log, problem);
    if (error == OK && options->state)
        error = set_node_key(&load, "state_dir", options->state, problem);
    if (error == OK)
        error = config_load_check(&load, options->file, problem);
    if (error == OK)
        *config = load.config;
    return error;
}
