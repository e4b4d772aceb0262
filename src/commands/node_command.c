#include "commands/node_command.h"

#include <stdio.h>

#include "commands/config_options.h"
#include "config/setup.h"
#include "daemon/daemon.h"

enum { EXIT_OK = 0, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay node [options]: train with the others, until SIGTERM or Ctrl+C\n"
    "\n"
    "  --config FILE           the configuration; without it, all keys have defaults\n"
    "  --set SECTION.KEY=VALUE set one key, after the file was read; may be repeated\n"
    "  --log FILE              write notes there, one JSON object per line (-: stdout)\n"
    "  --alone                 train even if the peers have another swarm or model\n"
    "  --print-config          print the resulting configuration, as a file, and end\n"
    "  --help                  print this\n"
    "\n"
    "A second signal, when it comes a second later or more, ends the node at once.\n"
    "A node needs its identity (hearsay keygen) and the swarm key (hearsay swarmkey).\n"
    "Exit codes: 0 left the swarm and saved the model, 1 failed (also when what the\n"
    "configuration names is not there or does not fit: keys, data, layers for them, a port,\n"
    "a folder; or training diverged three times in an hour), 2 wrong usage or configuration,\n"
    "3 no peer took it in, since swarm, model or protocol are not the same,\n"
    "4 the operator, a proof or votes expelled it, 5 no node that it called has it as a\n"
    "member, 6 another process runs with its identity key.\n"
    "SIGHUP (a closed terminal) ends it as SIGTERM does; where it has a list of members\n"
    "(node.members), it reads that list again instead. Under nohup it goes on.\n";

int node_command_run(int argc, char **argv)
{
    struct config_options options;
    struct problem problem;
    struct config config;
    if (config_options_parse(&options, TAKES_LOG | TAKES_PRINT_CONFIG | TAKES_ALONE, argc, argv,
                             &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    if (config_options_read(&config, &options, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (!options.print_config)
        return daemon_run(&config, options.alone);
    config.train.precision = setup_precision(&config);
    config_print(&config, stdout);
    return EXIT_OK;
}
