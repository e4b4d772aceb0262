#include "commands/operator/admit.h"

#include <stdio.h>
#include <string.h>

#include "commands/operator/order_command.h"
#include "state/incarnation.h"

struct admit {
    struct order_options common;
    const char *id;   /* whole id, or its first digits; NULL = --present */
    const char *name; /* name for the member; NULL = not given */
    bool present;
};
COMMAND_BEGINS_WITH(struct admit, common);

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct admit *admit = self;
    admit->id = count > 0 ? words[0] : NULL;
    admit->name = count > 1 ? words[1] : NULL;
    if (admit->present ? count != 0 : count < 1 || count > 2)
        return problem_set(problem, MALFORMED,
                           "name one member by its id, as in: hearsay admit 1a2b3c4d \"ward 3\", "
                           "or give --present; see: hearsay admit --help");
    if (admit->name && !order_is_reason(admit->name))
        return problem_set(problem, MALFORMED, "a name has 1 to %d printable ASCII characters",
                           ORDER_REASON_BYTES);
    return admit->id ? order_giver_check_id(admit->id, problem) : OK;
}

/* Returns the status page's latest order about this id; NULL if there is none. */
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

static enum error admit_one(struct order_giver *giver, const struct admit *admit,
                            struct problem *problem)
{
    uint8_t id[ID_BYTES];
    char hex[KEY_HEX_BYTES];
    if (!has_admitted(giver->page))
        return problem_set(problem, MISMATCH,
                           "no member has been admitted yet, so this order would expel all other "
                           "members: first admit the present members (hearsay admit --present)");
    if (key_from_hex(id, admit->id) != OK) {
        const enum error error = order_giver_find(giver, admit->id, id, problem);
        if (error != OK)
            return error;
    }
    key_hex(hex, id);
    struct order order = admission(id, admit->name);
    const json_t *latest = latest_about(giver->page, hex);
    if (latest && json_is_true(json_object_get(latest, "admits")) &&
        (!admit->name || strcmp(admit->name, page_text(latest, "name")) == 0))
        return problem_set(problem, MISMATCH,
                           "%.8s is already admitted, by order %u; give another NAME to rename it",
                           hex, (unsigned)page_number(latest, "number"));
    /* Earlier orders stay in force for earlier incarnations: retracted rumors stay out. */
    order.after = page_number(latest, "latest_incarnation");
    const enum error error = order_giver_give(giver, &order, 1, problem);
    if (error == OK && giver->as_json)
        order_giver_print_json(&order, 1);
    else if (error == OK)
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
        return problem_set(problem, MISMATCH, "all members of the swarm are already admitted");
    const enum error error = order_giver_give(giver, orders, count, problem);
    if (error == OK && giver->as_json)
        order_giver_print_json(orders, count);
    for (uint32_t i = 0; i < count && error == OK && !giver->as_json; i++) {
        char text[ID_TEXT_BYTES];
        identity_text(text, orders[i].subject);
        (void)printf("order %u: %s is admitted: %s\n", (unsigned)orders[i].number, text,
                     orders[i].reason);
    }
    return error;
}

static enum error give(void *self, struct order_giver *giver, struct problem *problem)
{
    const struct admit *admit = self;
    return admit->present ? admit_present(giver, problem) : admit_one(giver, admit, problem);
}

static int run(int argc, char **argv)
{
    struct admit admit = {0};
    return order_command_run(&admit_command, &admit, argc, argv, give);
}

const struct command admit_command = {
    .name = "admit",
    .summary = "the operator admits a member, or all present members",
    .forms = {{"hearsay admit [options] ID [NAME]", "the operator admits or renames a member"},
              {"hearsay admit [options] --present", "admit all present members; do this first"}},
    .about =
        "ID: all 64 digits, as hearsay keygen prints them, or the first digits of an id that\n"
        "the node knows. NAME: a name for people, at most 64 printable characters. From the first\n"
        "admission on, only admitted nodes are members: all other nodes are expelled, and what\n"
        "they published stays." ORDER_WHERE_TO_RUN,
    .options =
        (const struct command_option[]){
            {"--present", NULL, "admit all members that the node considers live, and itself",
             .member = offsetof(struct admit, present)},
            ORDER_OPTIONS,
            {0}},
    .column = 26,
    .exit_codes = "0 the node obeys the order and passes it on, 1 it does not, 2 wrong usage.",
    .takes_operands = true,
    .finish = finish,
    .run = run,
};
