/* A daemon's status page: its fields for a real node, and the rates of its links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "base/time_units.h"
#include "config/setup.h"
#include "daemon/status_watch.h"

#define START_NS (100 * SECOND_NS)

static struct config config;
static struct identity identity;
static struct node_options options;
static struct arena arena;
static struct node *node;
static struct reach reach;

static int start(void **state)
{
    const uint8_t seed[SEED_BYTES] = {7}, swarm_key[KEY_BYTES] = {8};
    (void)state;
    secret_start();
    identity_from_seed(&identity, seed);
    config_defaults(&config);
    options = setup_plain_options(&config, 215370);
    options.identity = &identity;
    options.swarm_key = swarm_key;
    options.keys.entropy = seed;
    options.model = "dense 10";
    options.digest = 0x1234;
    options.incarnation = 1795249231131;
    options.block_entries = 1024;
    options.listen_port = 7770;
    options.seed = 1;
    arena_init(&arena, node_arena_bytes(&options));
    node = node_new(&arena, &options, START_NS);
    reach_start(&reach, 0, START_NS);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    node_free(node);
    arena_release(&arena);
    return 0;
}

/* Returns the status JSON at now_ns. The caller frees it. */
static json_t *page_at(uint64_t now_ns)
{
    static struct status_watch watch;
    static struct training_watch training;
    static const struct learner_saturation saturation = {.entries = 3, .tensor = "2.dense.bias"};
    const struct status_facts facts = {.options = &options,
                                       .saturation = &saturation,
                                       .reach = &reach,
                                       .listen = {.host = "192.0.2.4"},
                                       .start_ns = START_NS,
                                       .training = &training,
                                       .checkpoint_age_s = NAN};
    struct action action;
    memset(&watch, 0, sizeof watch);
    training_watch_init(&training, &(struct training_watch_options){.folder = "."}, now_ns);
    node_on_time(node, now_ns);
    while (node_next(node, &action)) {
    }
    status_watch_look(&watch, node, now_ns - SECOND_NS / 2);
    return status_watch_page(&watch, node, &facts, now_ns);
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    assert_non_null(value);
    return value;
}

static void assert_null_at(const json_t *object, const char *key)
{
    if (!json_is_null(json_object_get(object, key)))
        fail_msg("%s is not null", key);
}

static void a_first_node_is_running_and_well(void **state)
{
    (void)state;
    json_t *page = page_at(START_NS + 20 * SECOND_NS);
    assert_string_equal(text(page, "stage"), "running");
    assert_true(json_is_true(json_object_get(page, "healthy")));
    assert_string_equal(text(page, "program"), HEARSAY_VERSION);
    assert_int_equal(strlen(text(page, "id")), 2 * ID_BYTES);
    assert_string_equal(text(page, "swarm"), "hearsay");
    assert_string_equal(text(page, "address"), "192.0.2.4:7770");
    assert_string_equal(text(page, "digest"), "0000000000001234");
    assert_true(json_integer_value(json_object_get(page, "incarnation")) == 1795249231131);
    assert_int_equal(json_integer_value(json_object_get(page, "parameters")), 215370);
    assert_true(fabs(json_real_value(json_object_get(page, "uptime_s")) - 20) < 1e-6);
    assert_true(json_integer_value(json_object_get(page, "rss_bytes")) > 0);
    assert_int_equal(json_integer_value(json_object_get(page, "saturated")), 3);
    assert_string_equal(text(page, "saturated_tensor"), "2.dense.bias");
    assert_int_equal(json_array_size(json_object_get(page, "links")), 0);
    const json_t *members = json_object_get(page, "members");
    assert_int_equal(json_array_size(members), 1);
    assert_true(json_is_true(json_object_get(json_array_get(members, 0), "is_self")));
    assert_string_equal(text(json_array_get(members, 0), "id"), text(page, "id"));
    json_decref(page);
}

static void unknown_values_are_null(void **state)
{
    (void)state;
    static const char *const UNKNOWN[] = {"id",        "open_s",           "rtt_s",
                                          "backlog_s", "rate_bytes_per_s", "rate_age_s"};
    const struct address from = {.host = "198.51.100.1", .port = 7770};
    assert_true(node_on_accept(node, START_NS, &from) != 0);
    json_t *page = page_at(START_NS + SECOND_NS);
    const json_t *link = json_array_get(json_object_get(page, "links"), 0);
    assert_non_null(link);
    assert_string_equal(text(link, "address"), "198.51.100.1:7770");
    assert_true(json_is_false(json_object_get(link, "open")));
    for (size_t i = 0; i < sizeof UNKNOWN / sizeof UNKNOWN[0]; i++)
        assert_null_at(link, UNKNOWN[i]);
    assert_null_at(page, "checkpoint_age_s");
    assert_null_at(page, "loss"); /* unknown before the first step */
    assert_null_at(page, "alone_reason");
    json_decref(page);
}

static void a_node_that_reaches_nobody_is_not_well(void **state)
{
    (void)state;
    const struct note note = {.kind = NOTE_DIAL_FAILED,
                              .where = "192.0.2.7:7770",
                              .text = "cannot be reached: connection refused (try 1)"};
    reach_start(&reach, 2, START_NS);
    reach_on_note(&reach, &note);
    json_t *page = page_at(START_NS + 20 * SECOND_NS);
    assert_string_equal(text(page, "stage"), "running");
    assert_true(json_is_false(json_object_get(page, "healthy")));
    assert_int_equal(json_integer_value(json_object_get(page, "peers_configured")), 2);
    assert_true(fabs(json_real_value(json_object_get(page, "alone_s")) - 20) < 1e-6);
    assert_string_equal(text(page, "alone_reason"),
                        "192.0.2.7:7770 cannot be reached: connection refused (try 1)");
    json_decref(page);
}

static void a_name_that_is_no_text_is_not_known(void **state)
{
    (void)state;
    options.swarm_id = "\xff\xfe";
    json_t *page = page_at(START_NS + SECOND_NS);
    assert_null_at(page, "swarm");
    json_decref(page);
}

static void rates_are_those_of_the_last_seconds(void **state)
{
    (void)state;
    struct status_track track = {.conn = 1};
    double sent, received;
    status_track_rates(&track, SECOND_NS, 10, 20, &sent, &received);
    assert_true(isnan(sent) && isnan(received)); /* no earlier count to compare with */
    for (uint64_t second = 1; second <= 20; second++)
        status_track_see(&track, second * SECOND_NS, second * 100, second < 16 ? 0 : 5000);
    status_track_rates(&track, 21 * SECOND_NS, 2100, 5000, &sent, &received);
    assert_true(fabs(sent - 100) < 1e-9);
    assert_true(received == 0); /* counts before the oldest remembered second are ignored */
    status_track_rates(&track, 18 * SECOND_NS, 2000, 8000, &sent, &received);
    assert_true(fabs(sent - 200) < 1e-9); /* 400 bytes in the two seconds since second 16 */
    assert_true(fabs(received - 1500) < 1e-9);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_first_node_is_running_and_well),
        TEST(unknown_values_are_null),
        TEST(a_node_that_reaches_nobody_is_not_well),
        TEST(a_name_that_is_no_text_is_not_known),
        cmocka_unit_test(rates_are_those_of_the_last_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
