#include "commands/operator/order_giver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "commands/json_output.h"
#include "commands/status/status.h"
#include "crypto/locked_memory.h"
#include "state/order_files.h"

#define WAIT_MS 5000
/* Maximum number of reads of the status page while waiting for the order to appear. */
#define LOOKS   100
#define LOOK_NS 100000000 /* pause between two reads of the status page, in nanoseconds */

const char *page_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

uint64_t page_number(const json_t *row, const char *key)
{
    const json_int_t number = json_integer_value(json_object_get(row, key));
    return number > 0 ? (uint64_t)number : 0;
}

static const json_t *operator_of(const json_t *page)
{
    return json_object_get(page, "operator");
}

const json_t *page_operator(const json_t *page, const char *key)
{
    return json_object_get(operator_of(page), key);
}

const json_t *page_orders(const json_t *page)
{
    return page_operator(page, "orders");
}

const json_t *page_origins(const json_t *page)
{
    return page_operator(page, "origins");
}

/* Searches the rows for ids that begin with the given digits. Returns how many matching ids differ
 * from the previous match; 0 = none matches, or all are the same id. *found: the last match, also
 * of earlier calls; initially NULL. */
static uint32_t count_fitting(const json_t *rows, const char *begin, const char **found)
{
    uint32_t others = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *id = page_text(json_array_get(rows, i), "id");
        if (strncasecmp(id, begin, strlen(begin)) != 0 || (*found && strcmp(id, *found) == 0))
            continue;
        others += *found != NULL;
        *found = id;
    }
    return others;
}

enum error order_giver_find(const struct order_giver *giver, const char *begin,
                            uint8_t id[static ID_BYTES], struct problem *problem)
{
    const char *found = NULL, *first;
    uint32_t others = count_fitting(json_object_get(giver->page, "members"), begin, &found);
    first = found;
    others += count_fitting(page_origins(giver->page), begin, &found);
    others += count_fitting(page_orders(giver->page), begin, &found);
    if (!found)
        return problem_set(
            problem, MISSING,
            "this node knows no member whose id begins with %s; hearsay status lists all members; "
            "for another node, give all 64 digits of its id, as hearsay keygen printed them",
            begin);
    if (others > 0)
        return problem_set(
            problem, MISMATCH,
            "more than one id begins with %s, such as %.16s and %.16s: give more digits", begin,
            first && strcmp(first, found) != 0 ? first : "another", found);
    if (key_from_hex(id, found) != OK)
        return problem_set(problem, MALFORMED, "the node's status has an invalid id: %.80s", found);
    return OK;
}

/* Returns false unless the text is exactly 2 * count lower-case hex digits. */
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

/* Loads the operator's key. Reports a swarm without an operator before a missing key. */
static enum error load_key(const json_t *page, const char *key_path, struct operator_key *key,
                           struct problem *problem)
{
    char id[KEY_HEX_BYTES];
    const char *theirs = page_text(operator_of(page), "id");
    if (!theirs[0])
        return problem_set(problem, MISMATCH,
                           "this swarm has no operator, and only an operator gives orders: make a "
                           "key with hearsay operatorkey, set the node.operator that it prints on "
                           "all nodes and restart them; without an operator, node.members lists "
                           "who may enter, and node.quarantine lets these members vote");
    const enum error error = operator_key_load(key, key_path, problem);
    if (error != OK)
        return error;
    key_hex(id, key->id);
    if (strcmp(theirs, id) != 0)
        return problem_set(problem, MISMATCH,
                           "%.200s is the key of another operator: its public key is %s, and the "
                           "node's node.operator is %s",
                           key_path, id, theirs);
    return OK;
}

/* Waits until the node's status page shows the order with this number as applied. */
static enum error wait_until_obeyed(const char *dir, uint64_t number, struct problem *problem)
{
    const struct timespec wait = {.tv_nsec = LOOK_NS};
    for (int look = 0; look < LOOKS; look++) {
        json_t *page;
        const enum error error = status_ask(dir, WAIT_MS, &page, problem);
        if (error != OK)
            return error;
        const bool is_known = (uint32_t)json_array_size(page_orders(page)) >= number;
        json_decref(page);
        if (is_known)
            return OK;
        (void)nanosleep(&wait, NULL);
    }
    return problem_set(problem, FAILED,
                       "the node has not applied the order: read the reason in its log, or check "
                       "that it uses the folder %s",
                       dir);
}

enum error order_giver_check_id(const char *text, struct problem *problem)
{
    const size_t length = strlen(text);
    size_t digits = 0;
    while (isxdigit((unsigned char)text[digits]))
        digits++;
    if (digits == length && length > 0 && length <= (size_t)2 * ID_BYTES)
        return OK;
    return problem_set(problem, MALFORMED,
                       "\"%.80s\" is not the beginning of an id, which has 64 hex digits", text);
}

enum error order_giver_begin(struct order_giver *giver, const char *dir, const char *key_path,
                             struct problem *problem)
{
    *giver = (struct order_giver){.dir = dir};
    secret_start();
    locked_memory_refuse_dumps();
    enum error error = status_ask(dir, WAIT_MS, &giver->page, problem);
    if (error != OK)
        return error;
    error = load_key(giver->page, key_path, &giver->key, problem);
    const char *context = page_text(operator_of(giver->page), "context");
    if (error == OK && !bytes_of_hex(context, giver->context, CONTEXT_BYTES))
        error =
            problem_set(problem, MALFORMED,
                        "the node's status does not name its swarm: the node runs another version");
    giver->next = (uint32_t)json_array_size(page_orders(giver->page)) + 1;
    if (error != OK)
        order_giver_end(giver);
    return error;
}

void order_giver_end(struct order_giver *giver)
{
    secret_wipe(&giver->key, sizeof giver->key);
    json_decref(giver->page);
    giver->page = NULL;
}

/* Gives the node at most ORDERS_HANDED orders in one file, and waits until it applies them.
 */
static enum error give_some(struct order_giver *giver, struct order *orders, uint32_t count,
                            struct problem *problem)
{
    static uint8_t bytes[ORDERS_HANDED_MAX];
    size_t used = 0;
    CHECK(count <= ORDERS_HANDED);
    for (uint32_t i = 0; i < count; i++) {
        orders[i].number = giver->next++;
        used += order_create(&orders[i], &giver->key, giver->context, bytes + used);
    }
    const enum error error = order_files_hand_over(disk_real(), giver->dir, bytes, used, problem);
    return error == OK ? wait_until_obeyed(giver->dir, giver->next - 1, problem) : error;
}

enum error order_giver_give(struct order_giver *giver, struct order *orders, uint32_t count,
                            struct problem *problem)
{
    CHECK(count > 0);
    if (giver->next > ORDERS_MAX || count > ORDERS_MAX - giver->next + 1)
        return problem_set(problem, TOO_BIG,
                           "%u orders have been given, and a swarm accepts at most %d: start "
                           "another swarm from the saved model (model.start)",
                           (unsigned)giver->next - 1, ORDERS_MAX);
    enum error error = OK;
    for (uint32_t at = 0; at < count && error == OK; at += ORDERS_HANDED)
        error = give_some(giver, orders + at, u32_min(count - at, ORDERS_HANDED), problem);
    return error;
}

void order_giver_print_json(const struct order *orders, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        char id[KEY_HEX_BYTES];
        json_t *order = json_object();
        key_hex(id, orders[i].subject);
        json_output_put(order, "number", json_integer((json_int_t)orders[i].number));
        json_output_put(order, "id", json_string(id));
        json_output_put(order, "text", json_string(orders[i].reason));
        CHECK(json_array_append_new(list, order) == 0);
    }
    json_output(json_pack("{s:o}", "orders", list));
}
