#include "commands/status/members.h"

#include "commands/config_options.h"
#include "commands/json_output.h"
#include "commands/status/status.h"

#define WAIT_MS 5000

enum { EXIT_OK = 0, EXIT_NO_ANSWER = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay members [options]: who is in the swarm of this machine's node, and what each gave\n"
    "\n"
    "  --state DIR             the node's state folder (default state)\n"
    "  --config FILE           or: the node's configuration, which names the folder\n"
    "  --set SECTION.KEY=VALUE set one key, as hearsay node takes it; may be repeated\n"
    "  --json                  print one JSON object, with everything\n"
    "  --help                  print this\n"
    "\n"
    "BY: by what it is a member: the swarm's key, the node's list (node.members), or an order of\n"
    "the operator. MET, SEEN: so long ago this node first and last heard of it. RUMORS, SAMPLES,\n"
    "SHARE: of all that the base has of it; BYTES: of its rumors since this node began.\n"
    "Exit codes: 0 shown, 1 no node answers, 2 wrong usage.\n";

static void print(const json_t *page, bool as_json)
{
    if (!as_json)
        status_print_contributions(stdout, page);
    else
        json_output(json_pack("{s:O}", "members", json_object_get(page, "members")));
}

int members_run(int argc, char **argv)
{
    struct config_options options;
    struct config config;
    struct problem problem;
    json_t *page;
    if (config_options_parse(&options, TAKES_STATE | TAKES_JSON, argc, argv, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    if (config_options_read(&config, &options, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (status_ask(config.node.state_dir, WAIT_MS, &page, &problem) != OK)
        return config_options_complain(&problem, EXIT_NO_ANSWER);
    print(page, options.json);
    json_decref(page);
    return EXIT_OK;
}
