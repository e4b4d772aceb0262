#include "commands/node_command.h"

#include <getopt.h>
#include <stdio.h>

#include "commands/config_options.h"
#include "daemon/daemon.h"

enum { EXIT_OK = 0, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay node [options]: train with the others, until SIGTERM or Ctrl+C\n"
    "\n"
    "  --config FILE           the configuration; without it, all keys have defaults\n"
    "  --set SECTION.KEY=VALUE set one key, after the file was read; may be repeated\n"
    "  --log FILE              write notes there, one JSON object per line (-: stdout)\n"
    "  --print-config          print the resulting configuration, as a file, and end\n"
    "  --help                  print this\n"
    "\n"
    "A node needs its identity (hearsay keygen) and the swarm key (hearsay swarmkey).\n"
    "Exit codes: 0 left the swarm and saved the model, 1 failed (also when what the\n"
    "configuration names is not there or does not fit: keys, data, layers for them, a port,\n"
    "a folder), 2 wrong usage or configuration.\n";

/* What `hearsay node` was asked to do. */
struct node_options {
    struct config_options config;
    bool print_config;
    bool help;
};

static enum error parse_option(struct node_options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'c':
        options->config.file = optarg;
        return OK;
    case 's':
        return config_options_set(&options->config, optarg, problem);
    case 'l':
        options->config.log = optarg;
        return OK;
    case 'p':
        options->print_config = true;
        return OK;
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay node --help");
    }
}

static enum error parse_options(struct node_options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'}, {"set", required_argument, NULL, 's'},
        {"log", required_argument, NULL, 'l'},    {"print-config", no_argument, NULL, 'p'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        enum error error = parse_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    if (optind < argc)
        return problem_set(problem, MALFORMED,
                           "node takes no argument \"%.80s\"; a configuration file is given with "
                           "--config",
                           argv[optind]);
    return OK;
}

static int complain(const struct problem *problem)
{
    (void)fprintf(stderr, "hearsay: %s\n", problem->text);
    return EXIT_USAGE;
}

int node_command_run(int argc, char **argv)
{
    struct node_options options = {0};
    struct problem problem;
    struct config config;
    if (parse_options(&options, argc, argv, &problem) != OK)
        return complain(&problem);
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    if (config_options_read(&config, &options.config, &problem) != OK)
        return complain(&problem);
    if (!options.print_config)
        return daemon_run(&config);
    config_print(&config, stdout);
    return EXIT_OK;
}
