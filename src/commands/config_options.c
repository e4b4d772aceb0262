#include "commands/config_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config/config_read.h"

#define KNOWN_MAX 9

enum error config_options_add_set(struct config_options *options, const char *assignment,
                                  struct problem *problem)
{
    CHECK(options->sets >= 0);
    if (options->sets == CONFIG_SETS_MAX)
        return problem_set(problem, TOO_BIG, "more than %d times --set; use a file",
                           CONFIG_SETS_MAX);
    options->set[options->sets++] = assignment;
    return OK;
}

/* Fills in the options for getopt_long, terminated by zeros. */
static void known_options(struct option known[static KNOWN_MAX], unsigned takes)
{
    static const struct {
        /* Bit of `takes` that a command must have; 0 = every command has the option. */
        unsigned needs;
        struct option option;
    } ALL[] = {
        {0, {"config", required_argument, NULL, 'c'}},
        {0, {"set", required_argument, NULL, 's'}},
        {0, {"help", no_argument, NULL, 'h'}},
        {TAKES_LOG, {"log", required_argument, NULL, 'l'}},
        {TAKES_STATE, {"state", required_argument, NULL, 'd'}},
        {TAKES_JSON, {"json", no_argument, NULL, 'j'}},
        {TAKES_PRINT_CONFIG, {"print-config", no_argument, NULL, 'p'}},
        {TAKES_ALONE, {"alone", no_argument, NULL, 'a'}},
    };
    _Static_assert(sizeof ALL / sizeof ALL[0] < KNOWN_MAX, "room for the zeros");
    memset(known, 0, KNOWN_MAX * sizeof *known);
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++)
        if ((takes & ALL[i].needs) == ALL[i].needs)
            *known++ = ALL[i].option;
}

static enum error take_option(struct config_options *options, int option, const char *command,
                              struct problem *problem)
{
    switch (option) {
    case 'c':
        options->file = optarg;
        return OK;
    case 's':
        return config_options_add_set(options, optarg, problem);
    case 'l':
        options->log = optarg;
        return OK;
    case 'd':
        options->state = optarg;
        return OK;
    case 'j':
        options->json = true;
        return OK;
    case 'p':
        options->print_config = true;
        return OK;
    case 'a':
        options->alone = true;
        return OK;
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: %s --help", command);
    }
}

enum error config_options_parse(struct config_options *options, unsigned takes, int argc,
                                char **argv, struct problem *problem)
{
    struct option known[KNOWN_MAX];
    int option;
    CHECK(argc > 0);
    known_options(known, takes);
    *options = (struct config_options){0};
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const bool again = option == 'd' && options->state;
        const enum error error = take_option(options, option, argv[0], problem);
        if (error != OK || options->help)
            return error;
        if (options->state && (again || options->file || options->sets > 0))
            return problem_set(problem, MALFORMED,
                               "either --state, once, or --config and --set, which name the same "
                               "folder; see: %s --help",
                               argv[0]);
    }
    if (optind < argc)
        return problem_set(problem, MALFORMED,
                           "%s takes no argument \"%.80s\"; a configuration file is given with "
                           "--config",
                           argv[0], argv[optind]);
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

int config_options_complain(const struct problem *problem, int code)
{
    (void)fprintf(stderr, "hearsay: %s\n", problem->text);
    return code;
}
