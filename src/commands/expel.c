#include "commands/expel.h"

#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "commands/config_options.h"
#include "commands/status/status.h"
#include "state/incarnation.h"
#include "state/order_files.h"

#define WAIT_MS 5000      /* for a page of the node */
#define LOOKS   100       /* at whether it obeys, */
#define LOOK_NS 100000000 /* one after so long */

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

static bool is_prefix_of_id(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return length > 0 && length <= (size_t)2 * ID_BYTES;
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
    if (!is_prefix_of_id(options->id))
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

/* What the node says of its operator and of whom it knows: the page of hearsay status. */

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static uint64_t number_of(const json_t *row, const char *key)
{
    const json_int_t number = json_integer_value(json_object_get(row, key));
    return number > 0 ? (uint64_t)number : 0;
}

static const json_t *operator_of(const json_t *page)
{
    return json_object_get(page, "operator");
}

static uint32_t orders_of(const json_t *page)
{
    return (uint32_t)json_array_size(json_object_get(operator_of(page), "orders"));
}

/* Ids that begin so, among these rows; *found: the last of them, if there was none before. */
static uint32_t count_fitting(const json_t *rows, const char *begin, const char **found)
{
    uint32_t others = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *id = text_of(json_array_get(rows, i), "id");
        if (strncasecmp(id, begin, strlen(begin)) != 0 || (*found && strcmp(id, *found) == 0))
            continue;
        others += *found != NULL;
        *found = id;
    }
    return others;
}

static enum error find_subject(const json_t *page, const char *begin, struct order *order,
                               struct problem *problem)
{
    const char *id = NULL, *first;
    uint32_t others = count_fitting(json_object_get(page, "members"), begin, &id);
    first = id;
    others += count_fitting(json_object_get(operator_of(page), "origins"), begin, &id);
    if (!id)
        return problem_set(problem, MISSING,
                           "this node knows no member whose id begins with %s; hearsay status "
                           "lists them",
                           begin);
    if (others > 0)
        return problem_set(problem, MISMATCH,
                           "more than one id begins with %s, such as %.16s and %.16s: give more of "
                           "its digits",
                           begin, first && strcmp(first, id) != 0 ? first : "another", id);
    if (strcmp(id, text_of(page, "id")) == 0)
        return problem_set(problem, MISMATCH,
                           "%.8s is this node itself: to put it out, ask another one", id);
    if (key_from_hex(order->subject, id) != OK)
        return problem_set(problem, MALFORMED, "the node shows an id that is none: %.80s", id);
    return OK;
}

/* The bytes of so many hex digits. */
static bool bytes_of_hex(const char *text, uint8_t *out, size_t count)
{
    if (strlen(text) != 2 * count || strspn(text, "0123456789abcdef") != 2 * count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

static enum error check_operator(const json_t *page, const struct options *options,
                                 const struct operator_key *key, struct problem *problem)
{
    char id[KEY_HEX_BYTES];
    const char *theirs = text_of(operator_of(page), "id");
    key_hex(id, key->id);
    if (!theirs[0])
        return problem_set(problem, MISMATCH,
                           "this node obeys no operator: node.operator is empty, or it is of an "
                           "older version");
    if (strcmp(theirs, id) != 0)
        return problem_set(problem, MISMATCH,
                           "%.200s is the key of another operator: its public key is %s, and the "
                           "node's node.operator is %s",
                           options->key, id, theirs);
    if (orders_of(page) >= ORDERS_MAX)
        return problem_set(problem, TOO_BIG,
                           "%d orders have been given, and no swarm obeys more: begin another "
                           "swarm, from the saved model (model.start)",
                           ORDERS_MAX);
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
    const json_t *rows = json_object_get(operator_of(page), "origins");
    key_hex(id, order->subject);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(text_of(row, "id"), id) != 0)
            continue;
        const uint64_t next = number_of(row, "rumors"), reach = number_of(row, "reach");
        const bool is_kept = !all && reach > 0 && order->pairs_count < ORDER_PAIRS_MAX;
        if (is_kept)
            order->pairs[order->pairs_count++] = (struct order_pair){
                .incarnation = number_of(row, "incarnation"), .keep = (uint32_t)reach};
        outcome.kept += is_kept ? reach : 0;
        outcome.taken_out += next - (is_kept ? reach : 0);
    }
    qsort(order->pairs, order->pairs_count, sizeof *order->pairs, by_incarnation);
    return outcome;
}

/* The order that is to be given. */
static enum error make_order(const json_t *page, const struct options *options, struct order *order,
                             struct outcome *outcome, struct problem *problem)
{
    *order = (struct order){.number = orders_of(page) + 1, .issued_ms = incarnation_wall_ms()};
    (void)snprintf(order->reason, sizeof order->reason, "%s", options->reason);
    const enum error error = find_subject(page, options->id, order, problem);
    if (error == OK)
        *outcome = choose_pairs(page, options->all, order);
    return error;
}

/* Until the node shows that it knows the order. */
static enum error wait_until_obeyed(const char *dir, uint64_t number, struct problem *problem)
{
    const struct timespec wait = {.tv_nsec = LOOK_NS};
    for (int look = 0; look < LOOKS; look++) {
        json_t *page;
        const enum error error = status_ask(dir, WAIT_MS, &page, problem);
        if (error != OK)
            return error;
        const bool is_known = orders_of(page) >= number;
        json_decref(page);
        if (is_known)
            return OK;
        (void)nanosleep(&wait, NULL);
    }
    return problem_set(problem, FAILED,
                       "the node has not taken the order: its notes say why, or it does not use "
                       "the folder %s",
                       dir);
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

static enum error expel(const struct config *config, const struct options *options, json_t *page,
                        const struct operator_key *key, struct problem *problem)
{
    uint8_t bytes[ORDER_BYTES_MAX], context[CONTEXT_BYTES];
    const char *dir = config->node.state_dir;
    struct order order;
    struct outcome outcome;
    enum error error = check_operator(page, options, key, problem);
    if (error == OK)
        error = make_order(page, options, &order, &outcome, problem);
    if (error == OK && !bytes_of_hex(text_of(operator_of(page), "context"), context, CONTEXT_BYTES))
        error = problem_set(problem, MALFORMED, "the node does not say which swarm it is in");
    if (error != OK)
        return error;
    const size_t count = order_create(&order, key, context, bytes);
    error = order_files_hand_over(disk_real(), dir, bytes, count, problem);
    if (error == OK)
        error = wait_until_obeyed(dir, order.number, problem);
    if (error == OK)
        print_order(&order, &outcome);
    return error;
}

int expel_run(int argc, char **argv)
{
    struct options options;
    struct config config;
    struct problem problem;
    struct operator_key key;
    json_t *page;
    if (parse_options(&options, argc, argv, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    if (options.help) {
        (void)fputs(usage, stdout);
        return EXIT_OK;
    }
    if (config_options_read(&config, &options.config, &problem) != OK)
        return config_options_complain(&problem, EXIT_USAGE);
    secret_start();
    enum error error = status_ask(config.node.state_dir, WAIT_MS, &page, &problem);
    if (error != OK)
        return config_options_complain(&problem, EXIT_FAILED);
    error = operator_key_load(&key, options.key, &problem);
    if (error == OK)
        error = expel(&config, &options, page, &key, &problem);
    secret_wipe(&key, sizeof key);
    json_decref(page);
    return error == OK ? EXIT_OK : config_options_complain(&problem, EXIT_FAILED);
}
