/* The snapshot for a node's page, made from the status JSON and the trail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "web/node_snapshot.h"

static struct trail trail;
static struct happened happened;
static json_t *page;

static json_t *parse(const char *quoted)
{
    char *text = strdup(quoted);
    assert_non_null(text);
    for (char *at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    free(text);
    return object;
}

static int begin(void **state)
{
    double second[TRAIL_VALUES] = {0};
    (void)state;
    page = parse(
        "{'id':'0011223344556677','swarm':'hearsay','stage':'running','trains':true,"
        "'digest':'00000000000000aa','lag_s':0,'uptime_s':100,'samples':640,'blocks':2,"
        "'blocks_held':2,'alone_s':null,'loss':0.5,'sent_bytes_per_s':2e4,"
        "'spent':{'steps_s':90,'exchange_s':2},"
        "'members':[{'id':'0011223344556677','state':'live','is_self':true,'base_digest':'0',"
        "'address':'192.0.2.1:7770','base_share':0.5,'lag_s':0},"
        "{'id':'8899aabbccddeeff','state':'live','is_self':false,'base_digest':'00000000000000aa',"
        "'address':null,'base_share':0.5,'lag_s':0,'name':'lab'},"
        "{'id':'ffffffffffffffff','state':'dead','is_self':false,'base_digest':'1','lag_s':99,"
        "'address':'192.0.2.3:7770','base_share':0}],"
        "'links':[{'id':'8899aabbccddeeff','open':true,'rate_bytes_per_s':1e6,"
        "'is_measured':true,'sent_bytes_per_s':5e5,'rtt_s':0.04},"
        "{'id':null,'open':true,'rate_bytes_per_s':0},{'id':'ffffffffffffffff','open':false}]}");
    trail_init(&trail);
    for (int s = 1; s <= 5; s++) {
        second[TRAIL_AT_S] = s;
        second[TRAIL_LOSS] = 10 - s;
        second[TRAIL_BASE_LOSS] = (double)NAN;
        (void)trail_add(&trail, second);
    }
    memset(&happened, 0, sizeof happened);
    return 0;
}

static int end(void **state)
{
    (void)state;
    json_decref(page);
    return 0;
}

static json_t *whole(void)
{
    json_t *snapshot = node_snapshot_whole(page, &trail, &happened);
    assert_non_null(snapshot);
    return snapshot;
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static json_t *points_of(const json_t *snapshot, const char *figure, size_t series)
{
    const json_t *figures = json_object_get(snapshot, "figures");
    for (size_t i = 0; i < json_array_size(figures); i++) {
        const json_t *each = json_array_get(figures, i);
        if (strcmp(text_in(each, "name"), figure) == 0)
            return json_object_get(json_array_get(json_object_get(each, "series"), series),
                                   "points");
    }
    fail_msg("there is no figure %s", figure);
    return NULL;
}

static void the_whole_story_has_all_of_the_trail(void **state)
{
    (void)state;
    json_t *snapshot = whole();
    const json_t *points = points_of(snapshot, "loss", 0);
    assert_int_equal(json_array_size(points), 5);
    assert_true(json_number_value(json_array_get(json_array_get(points, 4), 0)) == 5);
    assert_true(json_number_value(json_array_get(json_array_get(points, 4), 1)) == 5);
    assert_true(json_is_null(json_array_get(json_array_get(points_of(snapshot, "loss", 1), 4), 1)));
    json_decref(snapshot);
}

static void updates_have_the_last_point_alone_and_only_where_there_is_a_new_one(void **state)
{
    (void)state;
    json_t *snapshot = node_snapshot_update(page, &trail, true, &happened, 0);
    assert_int_equal(json_array_size(points_of(snapshot, "loss", 0)), 1);
    json_decref(snapshot);
    snapshot = node_snapshot_update(page, &trail, false, &happened, 0);
    assert_null(json_object_get(snapshot, "figures"));
    json_decref(snapshot);
}

static const char *badge(json_t **snapshot, bool is_good)
{
    *snapshot = whole();
    const json_t *said = json_object_get(*snapshot, "badge");
    assert_int_equal(json_is_true(json_object_get(said, "is_good")), is_good);
    return text_in(said, "text");
}

static void copies_are_equal_when_all_live_members_say_our_digest(void **state)
{
    json_t *snapshot;
    (void)state;
    assert_string_equal(badge(&snapshot, true), "all 2 copies are equal: digest 00000000000000aa");
    json_decref(snapshot);
}

static void copies_that_differ_are_in_step_unless_somebody_lags(void **state)
{
    json_t *snapshot, *other = json_array_get(json_object_get(page, "members"), 1);
    (void)state;
    assert_int_equal(json_object_set_new(other, "base_digest", json_string("bb")), 0);
    assert_non_null(strstr(badge(&snapshot, true), "in step: none of 2"));
    json_decref(snapshot);
    assert_int_equal(json_object_set_new(other, "lag_s", json_real(30)), 0);
    assert_non_null(
        strstr(badge(&snapshot, false), "out of step: one of 2 lacks what is 30 s old"));
    json_decref(snapshot);
}

static void the_drawing_has_all_members_and_open_links_to_those_known(void **state)
{
    (void)state;
    json_t *snapshot = whole();
    const json_t *swarm = json_object_get(snapshot, "swarm"),
                 *nodes = json_object_get(swarm, "nodes");
    const json_t *links = json_object_get(swarm, "links");
    assert_int_equal(json_array_size(nodes), 3);
    assert_true(json_is_true(json_object_get(json_array_get(nodes, 0), "is_self")));
    assert_string_equal(text_in(json_array_get(nodes, 1), "name"), "lab 8899aabb");
    assert_true(json_is_true(json_object_get(json_array_get(nodes, 1), "dials_only")));
    assert_string_equal(text_in(json_array_get(nodes, 2), "state"), "dead");
    assert_int_equal(json_array_size(links), 1);
    assert_true(json_number_value(json_object_get(json_array_get(links, 0), "use")) == 0.5);
    json_decref(snapshot);
}

static void the_sentence_is_of_links_and_machine(void **state)
{
    (void)state;
    json_t *snapshot = whole();
    assert_string_equal(
        text_in(snapshot, "limit"),
        "Its links are 2 % used: more machines or a larger model, not faster lines.");
    json_decref(snapshot);
}

static void a_link_of_unknown_rate_is_not_full(void **state)
{
    json_t *unknown = parse("[{'id':'8899aabbccddeeff','open':true,'rate_bytes_per_s':0}]");
    (void)state;
    assert_int_equal(json_object_set_new(page, "links", unknown), 0);
    json_t *snapshot = whole();
    const json_t *links = json_object_get(json_object_get(snapshot, "swarm"), "links");
    assert_string_equal(text_in(snapshot, "limit"), "");
    assert_true(json_is_null(json_object_get(json_array_get(links, 0), "use")));
    json_decref(snapshot);
    assert_int_equal(json_object_set_new(page, "links", json_array()), 0);
    snapshot = whole();
    assert_string_equal(text_in(snapshot, "limit"), "");
    json_decref(snapshot);
}

static void an_update_continues_the_list_of_events(void **state)
{
    (void)state;
    for (int i = 0; i < HAPPENED_MAX + 10; i++)
        happened_add(&happened, i, "info", i == HAPPENED_MAX + 9 ? "the last" : "before");
    json_t *snapshot = whole();
    json_t *told = json_object_get(snapshot, "happened");
    assert_int_equal(json_array_size(told), HAPPENED_MAX);
    assert_true(json_number_value(json_object_get(json_array_get(told, 0), "at_s")) == 10);
    json_decref(snapshot);
    snapshot = node_snapshot_update(page, &trail, false, &happened, HAPPENED_MAX + 9);
    told = json_object_get(snapshot, "happened");
    assert_int_equal(json_array_size(told), 1);
    assert_string_equal(text_in(json_array_get(told, 0), "text"), "the last");
    json_decref(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_whole_story_has_all_of_the_trail, begin, end),
        cmocka_unit_test_setup_teardown(
            updates_have_the_last_point_alone_and_only_where_there_is_a_new_one, begin, end),
        cmocka_unit_test_setup_teardown(copies_are_equal_when_all_live_members_say_our_digest,
                                        begin, end),
        cmocka_unit_test_setup_teardown(copies_that_differ_are_in_step_unless_somebody_lags, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_drawing_has_all_members_and_open_links_to_those_known,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_sentence_is_of_links_and_machine, begin, end),
        cmocka_unit_test_setup_teardown(a_link_of_unknown_rate_is_not_full, begin, end),
        cmocka_unit_test_setup_teardown(an_update_continues_the_list_of_events, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
