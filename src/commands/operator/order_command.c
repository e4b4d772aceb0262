#include "commands/operator/order_command.h"

#include <stdio.h>

#include "commands/config_options.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char where_to_run[] =
    "\n"
    "Run it in the folder of a node that runs, and has the public half of your key as\n"
    "node.operator, as all nodes have.\n"
    "\n";

static const char help_of_all[] =
    "  --key FILE              the operator's key (default operator.key)\n"
    "  --state DIR             the node's state folder (default state)\n"
    "  --config FILE           or: the node's configuration, which names the folder\n"
    "  --set SECTION.KEY=VALUE set one key, as hearsay node takes it; may be repeated\n"
    "  --json                  print one JSON object: the orders that were given\n"
    "  --help                  print this\n"
    "\n";

static const struct option options_of_all[] = {
    {"key", required_argument, NULL, 'k'},    {"state", required_argument, NULL, 'd'},
    {"config", required_argument, NULL, 'c'}, {"set", required_argument, NULL, 's'},
    {"json", no_argument, NULL, 'j'},         {"help", no_argument, NULL, 'h'}};

#define OF_ALL (sizeof options_of_all / sizeof *options_of_all)

/* Values of the options that all operator's commands have. */
struct given {
    struct config_options config; /* the node's state folder, and whether help was requested */
    const char *key;              /* path of the operator's key file */
};

/* Fills in the options for getopt_long, terminated by zeros. */
static void known_options(const struct order_command *command,
                          struct option known[static ORDER_OPTIONS_MAX + OF_ALL + 1])
{
    size_t count = 0;
    for (const struct option *own = command->options; own->name; own++) {
        CHECK(count < ORDER_OPTIONS_MAX);
        known[count++] = *own;
    }
    for (size_t i = 0; i < OF_ALL; i++)
        known[count++] = options_of_all[i];
    known[count] = (struct option){0};
}

static enum error take_option(const struct order_command *command, void *self, struct given *given,
                              int letter, const char *name, struct problem *problem)
{
    switch (letter) {
    case 'k':
        given->key = optarg;
        return OK;
    case 'd':
        given->config.state = optarg;
        return OK;
    case 'c':
        given->config.file = optarg;
        return OK;
    case 's':
        return config_options_add_set(&given->config, optarg, problem);
    case 'j':
        given->config.json = true;
        return OK;
    case 'h':
        given->config.help = true;
        return OK;
    case '?':
        return problem_set(problem, MALFORMED, "see: %s --help", name);
    default:
        return command->take_option(self, letter, optarg, problem);
    }
}

/* Parses the arguments. Stops at --help. */
static enum error parse(const struct order_command *command, void *self, struct given *given,
                        int argc, char **argv, struct problem *problem)
{
    struct option known[ORDER_OPTIONS_MAX + OF_ALL + 1];
    int letter;
    known_options(command, known);
    while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum error error = take_option(command, self, given, letter, argv[0], problem);
        if (error != OK || given->config.help)
            return error;
    }
    return command->take_arguments(self, argc - optind, argv + optind, problem);
}

int order_command_run(const struct order_command *command, void *self, int argc, char **argv)
{
    struct given given = {.key = "operator.key"};
    struct config config;
    struct problem problem;
    struct order_giver giver;
    if (parse(command, self, &given, argc, argv, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (given.config.help) {
        (void)printf("%s%s%s%s%s", command->about, where_to_run, command->own_help, help_of_all,
                     command->exit_codes);
        return EXIT_OK;
    }
    if (config_options_read(&config, &given.config, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (order_giver_begin(&giver, config.node.state_dir, given.key, &problem) != OK)
        return config_options_complain(&problem, EXIT_FAILED);
    giver.as_json = given.config.json;
    const enum error error = command->give(self, &giver, &problem);
    order_giver_end(&giver);
    return error == OK ? EXIT_OK : config_options_complain(&problem, EXIT_FAILED);
}
