#include "commands/operator/expel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/operator/order_command.h"
#include "state/incarnation.h"

struct expel {
    const char *id; /* the first digits */
    const char *reason;
    bool all;
};

static enum error take_option(void *self, int letter, const char *word, struct problem *problem)
{
    struct expel *expel = self;
    (void)problem;
    CHECK(letter == 'r' || letter == 'a');
    if (letter == 'r')
        expel->reason = word;
    else
        expel->all = true;
    return OK;
}

static enum error take_arguments(void *self, int count, char **words, struct problem *problem)
{
    struct expel *expel = self;
    if (count != 1)
        return problem_set(problem, MALFORMED,
                           "name one member by its id, as in: hearsay expel 1a2b3c4d --reason "
                           "\"publishes noise\"; see: hearsay expel --help");
    expel->id = words[0];
    const enum error error = order_giver_check_id(expel->id, problem);
    if (error != OK)
        return error;
    if (!expel->reason || !order_is_reason(expel->reason))
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
static enum error make_order(const struct order_giver *giver, const struct expel *expel,
                             struct order *order, struct outcome *outcome, struct problem *problem)
{
    char id[KEY_HEX_BYTES];
    *order = (struct order){.kind = ORDER_EXPEL, .issued_ms = incarnation_wall_ms()};
    (void)snprintf(order->reason, sizeof order->reason, "%s", expel->reason);
    const enum error error = order_giver_find(giver, expel->id, order->subject, problem);
    if (error != OK)
        return error;
    key_hex(id, order->subject);
    if (strcmp(id, page_text(giver->page, "id")) == 0)
        return problem_set(problem, MISMATCH,
                           "%.8s is this node itself: to put it out, ask another one", id);
    *outcome = choose_pairs(giver->page, expel->all, order);
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

static enum error give(void *self, struct order_giver *giver, struct problem *problem)
{
    struct order order;
    struct outcome outcome = {0};
    enum error error = make_order(giver, self, &order, &outcome, problem);
    if (error == OK)
        error = order_giver_give(giver, &order, 1, problem);
    if (error == OK)
        print_order(&order, &outcome);
    return error;
}

int expel_run(int argc, char **argv)
{
    static const struct option options[] = {{"reason", required_argument, NULL, 'r'},
                                            {"all", no_argument, NULL, 'a'},
                                            {NULL, 0, NULL, 0}};
    static const struct order_command command = {
        .about = "hearsay expel [options] ID --reason TEXT: put a member out of the swarm\n"
                 "\n"
                 "ID: the first digits of the member's id, as hearsay status shows it.\n",
        .own_help = "  --reason TEXT           what all are told, at most 64 printable characters\n"
                    "  --all                   take out all that it ever published; without this,\n"
                    "                          what the logs of the nodes may have lost stays\n",
        .exit_codes = "Exit codes: 0 the node obeys and passes it on, 1 it does not, 2 wrong "
                      "usage.\n",
        .options = options,
        .take_option = take_option,
        .take_arguments = take_arguments,
        .give = give,
    };
    struct expel expel = {0};
    return order_command_run(&command, &expel, argc, argv);
}
