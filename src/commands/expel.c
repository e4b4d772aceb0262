#include "commands/expel.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/config_options.h"
#include "commands/order_giver.h"
#include "state/incarnation.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay expel [options] ID --reason TEXT: put a member out of the swarm\n"
    "\n"
    "ID: the first digits of the member's id, as hearsay status shows it. Run it in the folder of "
    "a\n"
    "node that runs, and has the public half of your key as node.operator, as all nodes have.\n"
    "\n"
    "  --reason TEXT           what all are told, at most 64 printable characters\n"
    "  --all                   take out all that it ever published; without this, what the logs "
    "of\n"
    "                          the nodes may have lost stays\n"
    "  --key FILE              the operator's key (default operator.key)\n"
    "  --state DIR             the node's state folder (default state)\n"
    "  --config FILE           or: the node's configuration, which names the folder\n"
    "  --set SECTION.KEY=VALUE set one key, as hearsay node takes it; may be repeated\n"
    "  --help                  print this\n"
    "\n"
    "Exit codes: 0 the node obeys and passes it on, 1 it does not, 2 wrong usage.\n";

struct options {
    struct config_options config; /* where the node is */
    const char *id;               /* the first digits */
    const char *reason;
    const char *key; /* the operator's key file */
    bool all;
    bool help;
};

static enum error take_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'r':
        options->reason = optarg;
        return OK;
    case 'a':
        options->all = true;
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
        return problem_set(problem, MALFORMED, "see: hearsay expel --help");
    }
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {
        {"reason", required_argument, NULL, 'r'}, {"all", no_argument, NULL, 'a'},
        {"key", required_argument, NULL, 'k'},    {"state", required_argument, NULL, 'd'},
        {"config", required_argument, NULL, 'c'}, {"set", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    int option;
    *options = (struct options){.key = "operator.key"};
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum error error = take_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    if (argc - optind != 1)
        return problem_set(problem, MALFORMED,
                           "name one member by its id, as in: hearsay expel 1a2b3c4d --reason "
                           "\"publishes noise\"; see: hearsay expel --help");
    options->id = argv[optind];
    if (!order_giver_is_id(options->id))
        return problem_set(problem, MALFORMED,
                           "\"%.80s\" is not the beginning of an id, which has 64 hex digits",
                           options->id);
    if (!options->reason || !order_is_reason(options->reason))
        return problem_set(problem, MALFORMED,
                           "give a --reason, which all nodes show: 1 to %d printable ASCII "
                           "characters",
                           ORDER_REASON_BYTES);
    return OK;
}

static int by_incarnation(const void *a, const void *b)
{
    const struct order_pair *x = a, *y = b;
    return (x->incarnation > y->incarnation) - (x->incarnation < y->incarnation);
}

/* How much of the subject's rumors stays, and how much goes. */
struct outcome {
    uint64_t kept;
    uint64_t taken_out;
};

/* What the log will have for a while is taken out, and what came before stays; or all goes. */
static struct outcome choose_pairs(const json_t *page, bool all, struct order *order)
{
    struct outcome outcome = {0};
    char id[KEY_HEX_BYTES];
    const json_t *rows = page_origins(page);
    key_hex(id, order->subject);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(page_text(row, "id"), id) != 0)
            continue;
        const uint64_t next = page_number(row, "rumors"), reach = page_number(row, "reach");
        const bool is_kept = !all && reach > 0 && order->pairs_count < ORDER_PAIRS_MAX;
        if (is_kept)
            order->pairs[order->pairs_count++] = (struct order_pair){
                .incarnation = page_number(row, "incarnation"), .keep = (uint32_t)reach};
        outcome.kept += is_kept ? reach : 0;
        outcome.taken_out += next - (is_kept ? reach : 0);
    }
    qsort(order->pairs, order->pairs_count, sizeof *order->pairs, by_incarnation);
    return outcome;
}

/* The order that is to be given. */
static enum error make_order(const struct order_giver *giver, const struct options *options,
                             struct order *order, struct outcome *outcome, struct problem *problem)
{
    char id[KEY_HEX_BYTES];
    *order = (struct order){.kind = ORDER_EXPEL, .issued_ms = incarnation_wall_ms()};
    (void)snprintf(order->reason, sizeof order->reason, "%s", options->reason);
    const enum error error = order_giver_find(giver, options->id, order->subject, problem);
    if (error != OK)
        return error;
    key_hex(id, order->subject);
    if (strcmp(id, page_text(giver->page, "id")) == 0)
        return problem_set(problem, MISMATCH,
                           "%.8s is this node itself: to put it out, ask another one", id);
    *outcome = choose_pairs(giver->page, options->all, order);
    return OK;
}

static void print_order(const struct order *order, const struct outcome *outcome)
{
    char id[ID_TEXT_BYTES];
    identity_text(id, order->subject);
    (void)printf("order %" PRIu64 ": %s is put out of the swarm: %s\n", order->number, id,
                 order->reason);
    (void)printf("of its rumors that are known here %" PRIu64
                 " are taken out of the base, and %" PRIu64 " stay%s\n",
                 outcome->taken_out, outcome->kept,
                 outcome->kept
                     ? ", which the logs may have lost (--all takes them out, too, where a "
                       "node has a base without them)"
                     : "");
}

static enum error expel(struct order_giver *giver, const struct options *options,
                        struct problem *problem)
{
    struct order order;
    struct outcome outcome = {0};
    enum error error = make_order(giver, options, &order, &outcome, problem);
    if (error == OK)
        error = order_giver_give(giver, &order, 1, problem);
    if (error == OK)
        print_order(&order, &outcome);
    return error;
}

int expel_run(int argc, char **argv)
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
    const enum error error = expel(&giver, &options, &problem);
    order_giver_end(&giver);
    return error == OK ? EXIT_OK : config_options_complain(&problem, EXIT_FAILED);
}
