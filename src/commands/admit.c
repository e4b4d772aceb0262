#include "commands/admit.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "commands/config_options.h"
#include "commands/order_giver.h"
#include "state/incarnation.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "hearsay admit [options] ID [NAME]: the operator admits a member to the swarm\n"
    "hearsay admit [options] --present: first of all, everybody who is in it now\n"
    "\n"
    "ID: all 64 digits, as hearsay keygen shows them, or the first ones of an id that the node\n"
    "knows. NAME: for people, at most 64 printable characters. Run it in the folder of a node "
    "that\n"
    "runs, and has the public half of your key as node.operator, as all nodes have. From the "
    "first\n"
    "admission on only those who were admitted are members: the others are put out, and what they\n"
    "published stays.\n"
    "\n"
    "  --present               all whom the node takes for alive, and itself\n"
    "  --key FILE              the operator's key (default operator.key)\n"
    "  --state DIR             the node's state folder (default state)\n"
    "  --config FILE           or: the node's configuration, which names the folder\n"
    "  --set SECTION.KEY=VALUE set one key, as hearsay node takes it; may be repeated\n"
    "  --help                  print this\n"
    "\n"
    "Exit codes: 0 the node obeys and passes it on, 1 it does not, 2 wrong usage.\n";

struct options {
    struct config_options config; /* where the node is */
    const char *id;               /* whole, or the first digits; NULL: --present */
    const char *name;             /* NULL: none was given */
    const char *key;              /* the operator's key file */
    bool present;
    bool help;
};

static enum error take_option(struct options *options, int option, struct problem *problem)
{
    switch (option) {
    case 'p':
        options->present = true;
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
        return problem_set(problem, MALFORMED, "see: hearsay admit --help");
    }
}

static enum error check_arguments(const struct options *options, int count, struct problem *problem)
{
    if (options->present ? count != 0 : count < 1 || count > 2)
        return problem_set(
            problem, MALFORMED,
            "name one member by its id, as in: hearsay admit 1a2b3c4d \"ward 3\", or "
            "say --present; see: hearsay admit --help");
    if (options->id && !order_giver_is_id(options->id))
        return problem_set(problem, MALFORMED,
                           "\"%.80s\" is not the beginning of an id, which has 64 hex digits",
                           options->id);
    if (options->name && !order_is_reason(options->name))
        return problem_set(problem, MALFORMED, "a name has 1 to %d printable ASCII characters",
                           ORDER_REASON_BYTES);
    return OK;
}

static enum error parse_options(struct options *options, int argc, char **argv,
                                struct problem *problem)
{
    static const struct option known[] = {{"present", no_argument, NULL, 'p'},
                                          {"key", required_argument, NULL, 'k'},
                                          {"state", required_argument, NULL, 'd'},
                                          {"config", required_argument, NULL, 'c'},
                                          {"set", required_argument, NULL, 's'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    *options = (struct options){.key = "operator.key"};
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        const enum error error = take_option(options, option, problem);
        if (error != OK || options->help)
            return error;
    }
    const int count = argc - optind;
    options->id = count > 0 ? argv[optind] : NULL;
    options->name = count > 1 ? argv[optind + 1] : NULL;
    return check_arguments(options, count, problem);
}

/* The latest order about this id; NULL: there is none. */
static const json_t *latest_about(const json_t *page, const char *id)
{
    const json_t *orders = page_orders(page);
    for (size_t i = json_array_size(orders); i > 0; i--)
        if (strcmp(page_text(json_array_get(orders, i - 1), "id"), id) == 0)
            return json_array_get(orders, i - 1);
    return NULL;
}

static bool has_admitted(const json_t *page)
{
    const json_t *orders = page_orders(page);
    for (size_t i = 0; i < json_array_size(orders); i++)
        if (json_is_true(json_object_get(json_array_get(orders, i), "admits")))
            return true;
    return false;
}

static struct order admission(const uint8_t id[static ID_BYTES], const char *name)
{
    struct order order = {.kind = ORDER_ADMIT, .issued_ms = incarnation_wall_ms()};
    char text[ID_TEXT_BYTES];
    memcpy(order.subject, id, ID_BYTES);
    identity_text(text, id);
    (void)snprintf(order.reason, sizeof order.reason, "%s", name && name[0] ? name : text);
    return order;
}

static enum error admit_one(struct order_giver *giver, const struct options *options,
                            struct problem *problem)
{
    uint8_t id[ID_BYTES];
    char hex[KEY_HEX_BYTES];
    if (!has_admitted(giver->page))
        return problem_set(problem, MISMATCH,
                           "nobody has been admitted so far, and all but this one would be put "
                           "out: first admit those who are in (hearsay admit --present)");
    if (key_from_hex(id, options->id) != OK) {
        const enum error error = order_giver_find(giver, options->id, id, problem);
        if (error != OK)
            return error;
    }
    key_hex(hex, id);
    struct order order = admission(id, options->name);
    const json_t *latest = latest_about(giver->page, hex);
    if (latest && json_is_true(json_object_get(latest, "admits")))
        return problem_set(problem, MISMATCH, "%.8s is admitted already, by order %u", hex,
                           (unsigned)page_number(latest, "number"));
    if (latest) /* it was put out: what it published until then stays out */
        order.after = page_number(latest, "latest_incarnation");
    const enum error error = order_giver_give(giver, &order, 1, problem);
    if (error == OK)
        (void)printf("order %u: %.8s is admitted: %s\n", (unsigned)order.number, hex, order.reason);
    return error;
}

static bool is_present(const json_t *page, const json_t *member)
{
    const json_t *latest = latest_about(page, page_text(member, "id"));
    return strcmp(page_text(member, "state"), "live") == 0 &&
           !(latest && json_is_true(json_object_get(latest, "admits")));
}

static enum error admit_present(struct order_giver *giver, struct problem *problem)
{
    static struct order orders[ORDERS_MAX];
    const json_t *members = json_object_get(giver->page, "members");
    uint32_t count = 0;
    for (size_t i = 0; i < json_array_size(members) && count < ORDERS_MAX; i++) {
        const json_t *member = json_array_get(members, i);
        uint8_t id[ID_BYTES];
        if (is_present(giver->page, member) && key_from_hex(id, page_text(member, "id")) == OK)
            orders[count++] = admission(id, page_text(member, "name"));
    }
    if (count == 0)
        return problem_set(problem, MISMATCH, "all who are in the swarm are admitted already");
    const enum error error = order_giver_give(giver, orders, count, problem);
    for (uint32_t i = 0; i < count && error == OK; i++) {
        char text[ID_TEXT_BYTES];
        identity_text(text, orders[i].subject);
        (void)printf("order %u: %s is admitted: %s\n", (unsigned)orders[i].number, text,
                     orders[i].reason);
    }
    return error;
}

int admit_run(int argc, char **argv)
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
    const enum error error =
        options.present ? admit_present(&giver, &problem) : admit_one(&giver, &options, &problem);
    order_giver_end(&giver);
    return error == OK ? EXIT_OK : config_options_complain(&problem, EXIT_FAILED);
}
