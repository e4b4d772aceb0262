#include "commands/operator/expel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "commands/operator/moment.h"
#include "commands/operator/order_command.h"
#include "state/incarnation.h"

struct expel {
    struct order_options common;
    const char *id;     /* whole id of the member, or its first digits */
    const char *reason; /* every node shows it */
    /* Time from which on the member's rumors are retracted, milliseconds since 1970; 0 = not given.
     */
    uint64_t since_ms;
    bool all; /* all rumors of the member are retracted */
};
COMMAND_BEGINS_WITH(struct expel, common);

static enum error set_since(void *since_ms, const struct command_option *option, const char *word,
                            struct problem *problem)
{
    (void)option;
    return moment_parse(word, incarnation_wall_ms(), since_ms, problem);
}

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct expel *expel = self;
    if (count != 1)
        return problem_set(problem, MALFORMED,
                           "name one member by its id, as in: hearsay expel 1a2b3c4d --reason "
                           "\"publishes noise\"; see: hearsay expel --help");
    if (expel->all && expel->since_ms)
        return problem_set(
            problem, MALFORMED,
            "give either --since or --all, which also retracts the rumors before that time");
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

struct outcome {
    uint64_t kept;      /* rumors of the member that stay in the base */
    uint64_t taken_out; /* rumors of the member that are retracted */
};

static enum error refuse_since(const struct expel *expel, double horizon_s, struct problem *problem)
{
    const uint64_t horizon_ms = incarnation_wall_ms() - (uint64_t)(horizon_s * 1e3);
    return problem_set(problem, MISSING,
                       "this node's log has the rumors of %.8s since %s (%s ago), but not all "
                       "since %s: give a later time, use a node whose log reaches further back "
                       "(exchange.log_bytes), or retract all rumors (--all); if no node has a base "
                       "without them, restart from an older base (hearsay rewind)",
                       expel->id, amount_moment(horizon_ms).text, amount_span(horizon_s).text,
                       amount_moment(expel->since_ms).text);
}

/* Sets *keep to the number of the origin's rumors that stay: none with --all; with --since,
 * those that arrived before that time; otherwise those that are older than the node's log. */
static enum error choose_keep(const struct order_giver *giver, const struct expel *expel,
                              const json_t *row, uint64_t *keep, struct problem *problem)
{
    double horizon_s;
    *keep = expel->all ? 0 : page_number(row, "log_first");
    if (!expel->since_ms)
        return OK;
    const double page_horizon_s = json_number_value(page_operator(giver->page, "log_horizon_s"));
    const uint64_t age_ms = incarnation_wall_ms() - expel->since_ms;
    return moment_keep(row, page_horizon_s, (double)age_ms * 1e-3, keep, &horizon_s)
               ? OK
               : refuse_since(expel, horizon_s, problem);
}

static enum error add_pair(struct order *order, const json_t *row, uint64_t keep,
                           struct problem *problem)
{
    if (order->pairs_count == ORDER_PAIRS_MAX)
        return problem_set(problem, TOO_BIG,
                           "the member has more than %d incarnations with rumors that stay, the "
                           "most that an order can list: retract all its rumors (--all)",
                           ORDER_PAIRS_MAX);
    order->pairs[order->pairs_count++] =
        (struct order_pair){.incarnation = page_number(row, "incarnation"), .keep = (uint32_t)keep};
    return OK;
}

static enum error choose_pairs(const struct order_giver *giver, const struct expel *expel,
                               struct order *order, struct outcome *outcome,
                               struct problem *problem)
{
    char id[KEY_HEX_BYTES];
    const json_t *rows = page_origins(giver->page);
    key_hex(id, order->subject);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        uint64_t keep;
        if (strcmp(page_text(row, "id"), id) != 0)
            continue;
        enum error error = choose_keep(giver, expel, row, &keep, problem);
        if (error == OK && keep > 0)
            error = add_pair(order, row, keep, problem);
        if (error != OK)
            return error;
        outcome->kept += keep;
        outcome->taken_out += page_number(row, "rumors") - keep;
    }
    qsort(order->pairs, order->pairs_count, sizeof *order->pairs, by_incarnation);
    return OK;
}

/* Accepts a whole id even if the node does not know it. */
static enum error find_subject(const struct order_giver *giver, const char *given,
                               uint8_t id[static ID_BYTES], struct problem *problem)
{
    return key_from_hex(id, given) == OK ? OK : order_giver_find(giver, given, id, problem);
}

static enum error make_order(const struct order_giver *giver, const struct expel *expel,
                             struct order *order, struct outcome *outcome, struct problem *problem)
{
    char id[KEY_HEX_BYTES];
    *order = (struct order){.kind = ORDER_EXPEL, .issued_ms = incarnation_wall_ms()};
    (void)snprintf(order->reason, sizeof order->reason, "%s", expel->reason);
    const enum error error = find_subject(giver, expel->id, order->subject, problem);
    if (error != OK)
        return error;
    key_hex(id, order->subject);
    if (strcmp(id, page_text(giver->page, "id")) == 0)
        return problem_set(problem, MISMATCH,
                           "%.8s is this node itself; to expel it, run the command at another node",
                           id);
    return choose_pairs(giver, expel, order, outcome, problem);
}

static void print_order(const struct expel *expel, const struct order *order,
                        const struct outcome *outcome)
{
    char id[ID_TEXT_BYTES];
    identity_text(id, order->subject);
    (void)printf("order %" PRIu64 ": %s is expelled from the swarm: %s\n", order->number, id,
                 order->reason);
    (void)printf("of its rumors that this node knows, %" PRIu64
                 " are retracted from the base, and %" PRIu64 " stay",
                 outcome->taken_out, outcome->kept);
    if (expel->since_ms)
        (void)printf(", which arrived before %s\n", amount_moment(expel->since_ms).text);
    else
        (void)printf("%s\n", outcome->kept ? ", which the logs may have lost (--all also retracts "
                                             "these, if a node has a base without them)"
                                           : "");
}

static enum error give(void *self, struct order_giver *giver, struct problem *problem)
{
    struct order order;
    struct outcome outcome = {0};
    enum error error = make_order(giver, self, &order, &outcome, problem);
    if (error == OK)
        error = order_giver_give(giver, &order, 1, problem);
    if (error == OK && giver->as_json)
        order_giver_print_json(&order, 1);
    else if (error == OK)
        print_order(self, &order, &outcome);
    return error;
}

static int run(int argc, char **argv)
{
    struct expel expel = {0};
    return order_command_run(&expel_command, &expel, argc, argv, give);
}

const struct command expel_command = {
    .name = "expel",
    .summary = "the operator expels a member from the swarm",
    .forms = {{"hearsay expel [options] ID --reason TEXT", "expel a member from the swarm"}},
    .about = "ID: the first digits of the member's id, as hearsay status shows it; or all "
             "64." ORDER_WHERE_TO_RUN,
    .options =
        (const struct command_option[]){
            {"--reason", "TEXT", "reason that all nodes show, at most 64 printable characters",
             .member = offsetof(struct expel, reason)},
            {"--since", "TIME",
             "retract what the member published since then, and keep what\n"
             "it published before: 90s, 2h30m or 3d ago, or 14:30 or\n"
             "\"2026-11-25 14:30\", UTC. The log of the node must reach\n"
             "back to that time",
             .member = offsetof(struct expel, since_ms), .set = set_since},
            {"--all", NULL,
             "retract everything that the member published, if a node has\n"
             "a base without it. Without --all and --since, rumors that\n"
             "the logs of the nodes may have lost stay",
             .member = offsetof(struct expel, all)},
            ORDER_OPTIONS,
            {0}},
    .column = 26,
    .exit_codes = "0 the node obeys the order and passes it on, 1 it does not, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
