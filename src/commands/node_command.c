#include "commands/node_command.h"

#include <stdio.h>

#include "commands/config_options.h"
#include "config/setup.h"
#include "daemon/daemon.h"

enum { EXIT_OK = 0, EXIT_USAGE = 2 };

struct options {
    struct config_options config;
    bool print_config;
    bool alone; /* train even if the peers have another swarm or model */
};
COMMAND_BEGINS_WITH(struct options, config);

static int run(int argc, char **argv)
{
    struct options options = {0};
    struct problem problem;
    struct config config;
    const int code = command_read(&node_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (config_options_read(&config, &options.config, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    if (!options.print_config)
        return daemon_run(&config, options.alone);
    config.train.precision = setup_precision(&config);
    config_print(&config, stdout);
    return EXIT_OK;
}

const struct command node_command = {
    .name = "node",
    .summary = "run a node: train, publish and receive",
    .forms = {{"hearsay node [options]", "train with the swarm, until SIGTERM or Ctrl+C"}},
    .options =
        (const struct command_option[]){
            {"--config", "FILE", "the configuration; without it, all keys have defaults",
             .member = offsetof(struct config_options, file)},
            CONFIG_OPTION_SET("set one key, overriding the file; may be repeated"),
            {"--log", "FILE", "write notes to this file, one JSON object per line (-: stdout)",
             .member = offsetof(struct config_options, log)},
            {"--alone", NULL, "train even if the peers have another swarm or model",
             .member = offsetof(struct options, alone)},
            {"--print-config", NULL, "print the resulting configuration as a file, and exit",
             .member = offsetof(struct options, print_config)},
            {0}},
    .column = 26,
    .notes =
        "A second signal, at least one second after the first, ends the node at once.\n"
        "SIGHUP (a closed terminal) ends the node as SIGTERM does; a node with a list of members\n"
        "(node.members) reads the list again instead. Under nohup the node continues.\n"
        "A node needs its identity (hearsay keygen) and the swarm key (hearsay swarmkey).",
    .exit_codes =
        "0 left the swarm and saved the model, 1 failed (also if a key,\n"
        "data, a port or a folder of the configuration is missing or unusable, or training "
        "diverged\n"
        "three times in an hour), 2 wrong usage or configuration,\n"
        "3 no peer accepted it, because its swarm, model or protocol differs,\n"
        "4 the operator, a proof or votes expelled it, 5 no node that it dialled has it as a\n"
        "member, 6 another process runs with its identity key.",
    .run = run,
};
