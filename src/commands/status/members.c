#include "commands/status/members.h"

#include "commands/config_options.h"
#include "commands/json_output.h"
#include "commands/status/status.h"

#define WAIT_MS 5000

enum { EXIT_OK = 0, EXIT_NO_ANSWER = 1, EXIT_USAGE = 2 };

static void print(const json_t *page, bool as_json)
{
    if (!as_json)
        status_print_contributions(stdout, page);
    else
        json_output(json_pack("{s:O}", "members", json_object_get(page, "members")));
}

static int run(int argc, char **argv)
{
    struct config_options options = {0};
    struct config config;
    struct problem problem;
    json_t *page;
    const int code = command_read(&members_command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    if (config_options_read(&config, &options, &problem) != OK)
        return command_complain(&problem, EXIT_USAGE);
    if (status_ask(config.node.state_dir, WAIT_MS, &page, &problem) != OK)
        return command_complain(&problem, EXIT_NO_ANSWER);
    print(page, options.json);
    json_decref(page);
    return EXIT_OK;
}

const struct command members_command = {
    .name = "members",
    .summary = "list the members, their admission and their contribution",
    .forms = {{"hearsay members [options]",
               "list the members of the swarm, their admission and contribution"}},
    .options = (const struct command_option[]){CONFIG_OPTIONS_OF_NODE,
                                               CONFIG_OPTION_JSON(
                                                   "print one JSON object, with everything"),
                                               {0}},
    .column = 26,
    .notes = "BY: how the member was admitted: the swarm's key, the node's list (node.members), or "
             "an order\nof the operator. MET, SEEN: time since the member's first and last record. "
             "RUMORS, SAMPLES,\nSHARE: the member's part of the base. BYTES: its rumors since this "
             "node started.",
    .exit_codes = "0 shown, 1 no node answers, 2 wrong usage.",
    .finish = config_options_check,
    .run = run,
};
