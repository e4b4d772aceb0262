#include "commands/operator/rekey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "commands/operator/order_command.h"
#include "commands/status/status.h"
#include "state/incarnation.h"
#include "state/swarm_key_files.h"

/* Default hours for which old and new key are both accepted: a week. */
#define BOTH_HOURS 168
/* ten years */
#define BOTH_HOURS_MAX 87600
#define HOUR_MS        3600000.0
#define WAIT_MS        5000

struct rekey {
    struct order_options common;
    const char *reason;
    double both_hours;
    bool anyone;
};
COMMAND_BEGINS_WITH(struct rekey, common);

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    const struct rekey *rekey = self;
    if (count > 0)
        return problem_set(problem, MALFORMED,
                           "\"%.40s\" is one argument too many: the command itself makes the new "
                           "key, for all nodes; see: hearsay rekey --help",
                           words[0]);
    if (!order_is_reason(rekey->reason))
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

/* Returns true if a member was admitted by the swarm key alone: then every node that has the key
 * is admitted. */
static bool is_open_to_all(const json_t *page)
{
    const json_t *members = json_object_get(page, "members");
    for (size_t i = 0; i < json_array_size(members); i++)
        if (strcmp(page_text(json_array_get(members, i), "admitted_by"), "key") == 0)
            return true;
    return false;
}

static enum error check_page(const json_t *page, const struct rekey *rekey, struct order *order,
                             struct problem *problem)
{
    if (key_from_hex(order->before, page_text(swarm_key_of(page), "hash")) != OK)
        return problem_set(
            problem, MALFORMED,
            "the node's status does not name its swarm key: the node runs another version");
    if (is_open_to_all(page) && !rekey->anyone)
        return problem_set(problem, MISMATCH,
                           "any holder of the old key could join meanwhile and receive the new "
                           "key, even an expelled member with a new identity: first admit the "
                           "present members (hearsay admit --present), or give --anyone");
    return OK;
}

/* Checks that the node uses the new key, after it has applied the order. */
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
    return is_taken
               ? OK
               : problem_set(problem, FAILED,
                             "the node has the order but not the key: read the reason in its log; "
                             "no node is cut off; run hearsay rekey again for another key");
}

static enum error give_key(struct order_giver *giver, struct order *order, struct problem *problem)
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

static void print_order(const char *dir, const struct rekey *rekey, const struct order *order)
{
    (void)printf("order %u: the swarm gets a new key: %s\n", (unsigned)order->number,
                 order->reason);
    if (rekey->both_hours > 0)
        (void)printf("older keys are accepted until %s; a node that is offline until then needs "
                     "the new key\nas a file, ",
                     amount_moment(order->until_ms).text);
    else
        (void)printf("older keys are no longer accepted; a node that is offline now needs the new "
                     "key\nas a file, ");
    (void)printf("which is %s/" SWARM_KEY_FILE
                 " here, and in the state folder of each node that has it\n",
                 dir);
}

static enum error give(void *self, struct order_giver *giver, struct problem *problem)
{
    const struct rekey *rekey = self;
    struct order order = {.kind = ORDER_REKEY, .issued_ms = incarnation_wall_ms()};
    order.until_ms = order.issued_ms + (uint64_t)(rekey->both_hours * HOUR_MS);
    (void)snprintf(order.reason, sizeof order.reason, "%s", rekey->reason);
    enum error error = check_page(giver->page, rekey, &order, problem);
    if (error == OK)
        error = give_key(giver, &order, problem);
    if (error == OK && giver->as_json)
        order_giver_print_json(&order, 1);
    else if (error == OK)
        print_order(giver->dir, rekey, &order);
    return error;
}

static int run(int argc, char **argv)
{
    struct rekey rekey = {.reason = "the operator renews it", .both_hours = BOTH_HOURS};
    return order_command_run(&rekey_command, &rekey, argc, argv, give);
}

const struct command rekey_command = {
    .name = "rekey",
    .summary = "the operator gives the swarm another key while it trains",
    .forms = {{"hearsay rekey [options]", "give the swarm another key while it trains"}},
    .about = "The members pass the new key on to each other, but not to expelled "
             "members." ORDER_WHERE_TO_RUN,
    .options =
        (const struct command_option[]){
            {"--both", "HOURS",
             "hours for which older keys are also accepted (default\n"
             "168, a week; 0: none). A node that is offline for\n"
             "longer needs the new key as a file",
             COMMAND_REAL(struct rekey, both_hours, 0, BOTH_HOURS_MAX)},
            {"--reason", "TEXT", "reason that all nodes show, at most 64 printable characters",
             .member = offsetof(struct rekey, reason)},
            {"--anyone", NULL,
             "give the new key to every node that joins with an old\n"
             "one meanwhile, if neither a list nor admissions limit\n"
             "the members",
             .member = offsetof(struct rekey, anyone)},
            ORDER_OPTIONS,
            {0}},
    .column = 26,
    .exit_codes = "0 the node has the key and passes it on, 1 it has not, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
