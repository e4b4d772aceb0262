#include "commands/rekey.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "commands/config_options.h"
#include "commands/order_giver.h"
#include "commands/status/status.h"
#include "state/incarnation.h"
#include "state/swarm_key_files.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define BOTH_HOURS     168   /* a week */
#define BOTH_HOURS_MAX 87600 /* ten years */
#define HOUR_MS        3600000.0
#define WAIT_MS        5000 /* for a page of the node */

static const char usage[] =
    "hearsay rekey [options]: give the swarm another key, while it trains\n"
    "\n"
    "The new key goes from member to member, and not to those who have been put out. Run it in "
    "the\n"
    "folder of a node that runs, and has the public half of your key as node.operator, as all "
    "nodes\n"
    "have.\n"
    "\n"
    "  --both HOURS            for so long older keys let in, too (default 168, a week; 0: not at\n"
    "                          all): who is away for longer is to be given the new key as a file\n"
    "  --reason TEXT           what all are told, at most 64 printable characters\n"
    "  --anyone                give the new key to whoever comes with an old one meanwhile, where\n"
    "                          neither a list nor admissions say who may be in\n"
    "  --key FILE              the operator's key (default operator.key)\n"
    "  --state DIR             the node's state folder (default state)\n"
    "  --config FILE           or: the node's configuration, which names the folder\n"
    "  --set SECTION.KEY=VALUE set one key, as hearsay node takes it; may be repeated\n"
    "  --help                  print this\n"
    "\n"
    "Exit codes: 0 the node has the key and passes it on, 1 it has not, 2 wrong usage.\n";

struct options {
    struct config_options config; /* where the node is */
    const char *reason;
    const char *key; /* the operator's key file */
    double both_hours;
    bool anyone;
    bool help;
};

static enum error take_hours(struct options *options, const char *text, struct problem *problem)
{
    char *end;
    options->both_hours = strtod(text, &end);
    if (end != text && *end == '\0' && options->both_hours >= 0 &&
        options->both_hours <= BOTH_HOURS_MAX)
        return OK;
    return problem_set(problem, MALFORMED,
                       "--both %.40s: give hours, from 0 to %d, such as 168 for a week", text,
                       BOTH_HOURS_MAX);
}

static enum error take_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'b':
        return take_hours(options, optarg, problem);
    case 'r':
        options->reason = optarg;
        return OK;
    case 'a':
        options->anyone = true;
        return OK;
    case 'k':
        options->key = optarg;
        return OK;
    case 'd':
        options->config.state = optarg;
        return OK;
    case 'c':
        options->config.file = optarg;
        return OK;
    case 's':
        return config_options_add_set(&options->config, optarg, problem);
    case 'h':
        options->help = true;
        return OK;
    default:
        return problem_set(problem, MALFORMED, "see: hearsay rekey --help");
    }
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {{"both", required_argument, NULL, 'b'},
                                          {"reason", required_argument, NULL, 'r'},
                                          {"anyone", no_argument, NULL, 'a'},
                                          {"key", required_argument, NULL, 'k'},
                                          {"state", required_argument, NULL, 'd'},
                                          {"config", required_argument, NULL, 'c'},
                                          {"set", required_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    *options = (struct options){
        .key = "operator.key", .reason = "the operator renews it", .both_hours = BOTH_HOURS};
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum error error = take_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    if (argc != optind)
        return problem_set(problem, MALFORMED,
                           "\"%.40s\" is one argument too many: the new key is made here, and "
                           "concerns all; see: hearsay rekey --help",
                           argv[optind]);
    if (!order_is_reason(options->reason))
        return problem_set(problem, MALFORMED,
                           "the --reason, which all nodes show, has 1 to %d printable ASCII "
                           "characters",
                           ORDER_REASON_BYTES);
    return OK;
}

static const json_t *swarm_key_of(const json_t *page)
{
    return json_object_get(json_object_get(page, "operator"), "swarm_key");
}

/* Nothing but the key says who is a member. */
static bool is_open_to_all(const json_t *page)
{
    const json_t *members = json_object_get(page, "members");
    for (size_t i = 0; i < json_array_size(members); i++)
        if (strcmp(page_text(json_array_get(members, i), "admitted_by"), "key") == 0)
            return true;
    return false;
}

static enum error check_page(const json_t *page, const struct options *options, struct order *order,
                             struct problem *problem)
{
    if (key_from_hex(order->before, page_text(swarm_key_of(page), "hash")) != OK)
        return problem_set(problem, MALFORMED,
                           "the node does not say which swarm key it has: it is of another "
                           "version");
    if (is_open_to_all(page) && !options->anyone)
        return problem_set(problem, MISMATCH,
                           "whoever has the old key could come in meanwhile and be given the new "
                           "one, also one who was put out and takes another name: first say who "
                           "is in (hearsay admit --present), or give --anyone");
    return OK;
}

/* The node has shown that it obeys the order: has it found the key? */
static enum error check_taken(const char *dir, const struct order *order, struct problem *problem)
{
    json_t *page;
    char hash[KEY_HEX_BYTES];
    const enum error error = status_ask(dir, WAIT_MS, &page, problem);
    if (error != OK)
        return error;
    key_hex(hash, order->subject);
    const bool is_taken = strcmp(page_text(swarm_key_of(page), "hash"), hash) == 0;
    json_decref(page);
    return is_taken ? OK
                    : problem_set(problem, FAILED,
                                  "the node has the order, and not the key: its notes say why; "
                                  "nobody is cut off, and another hearsay rekey gives another key");
}

static enum error give(struct order_giver *giver, struct order *order, struct problem *problem)
{
    uint8_t key[KEY_BYTES];
    struct entropy entropy;
    entropy_from_system(&entropy);
    entropy_bytes(&entropy, key, sizeof key);
    secret_wipe(&entropy, sizeof entropy);
    swarm_key_hash(order->subject, key);
    enum error error = swarm_key_files_hand_over(disk_real(), giver->dir, key, problem);
    secret_wipe(key, sizeof key);
    if (error == OK)
        error = order_giver_give(giver, order, 1, problem);
    return error == OK ? check_taken(giver->dir, order, problem) : error;
}

static void print_order(const char *dir, const struct options *options, const struct order *order)
{
    (void)printf("order %u: the swarm gets a new key: %s\n", (unsigned)order->number,
                 order->reason);
    if (options->both_hours > 0)
        (void)printf("older keys let in until %s; who is away until then needs the new key as a "
                     "file,\n",
                     amount_moment(order->until_ms).text);
    else
        (void)printf("older keys let in nobody from now on; who is away needs the new key as a "
                     "file,\n");
    (void)printf("which is %s/" SWARM_KEY_FILE
                 " here, and in the state folder of each node that has it\n",
                 dir);
}

static enum error rekey(struct order_giver *giver, const struct options *options,
                        struct problem *problem)
{
    struct order order = {.kind = ORDER_REKEY, .issued_ms = incarnation_wall_ms()};
    order.until_ms = order.issued_ms + (uint64_t)(options->both_hours * HOUR_MS);
    (void)snprintf(order.reason, sizeof order.reason, "%s", options->reason);
    enum error error = check_page(giver->page, options, &order, problem);
    if (error == OK)
        error = give(giver, &order, problem);
    if (error == OK)
        print_order(giver->dir, options, &order);
    return error;
}

int rekey_run(int argc, char **argv)
{
    struct options options;
    struct config config;
    struct problem problem;
    struct order_giver giver;
    if (parse_options(&options, argc, argv, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    if (config_options_read(&config, &options.config, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (order_giver_begin(&giver, config.node.state_dir, options.key, &problem) != OK)
        return config_options_complain(&problem, EXIT_FAILED);
    const enum error error = rekey(&giver, &options, &problem);
    order_giver_end(&giver);
    return error == OK ? EXIT_OK : config_options_complain(&problem, EXIT_FAILED);
}
