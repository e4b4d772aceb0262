#include "commands/config_options.h"

#include <stdio.h>

#include "config/config_read.h"

enum error config_options_set(struct config_options *options, const char *assignment,
                              struct problem *problem)
{
    if (options->sets == CONFIG_SETS_MAX)
        return problem_set(problem, TOO_BIG, "more than %d times --set; use a file",
                           CONFIG_SETS_MAX);
    options->set[options->sets++] = assignment;
    return OK;
}

static enum error set_log(struct config_load *load, const char *path, struct problem *problem)
{
    char assignment[CONFIG_LINE_BYTES];
    (void)snprintf(assignment, sizeof assignment, "node.log=%s", path);
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
        error = set_log(&load, options->log, problem);
    if (error == OK)
        error = config_load_check(&load, options->file, problem);
    if (error == OK)
        *config = load.config;
    return error;
}
