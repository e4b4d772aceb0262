#include "commands/operator/order_command.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int order_command_run(const struct command *command, void *self, int argc, char **argv,
                      enum error (*give)(void *self, struct order_giver *giver,
                                         struct problem *problem))
{
    const struct order_options *options = self;
    struct config config;
    struct problem problem;
    struct order_giver giver;
    const int code = command_read(command, self, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (config_options_read(&config, &options->config, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    if (order_giver_begin(&giver, config.node.state_dir,
                          options->key ? options->key : "operator.key", &problem) != OK)
        return command_complain(&problem, EXIT_FAILED);
    giver.as_json = options->config.json;
    const enum error error = give(self, &giver, &problem);
    order_giver_end(&giver);
    return error == OK ? EXIT_OK : command_complain(&problem, EXIT_FAILED);
}
