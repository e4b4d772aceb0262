/* Settings that all nodes must share. Nodes report differences with both values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/connection/settings.h"
#include "node/connection/spoken.h"
#include "node/labels_api.h"
#include "support/sim/puppet.h"

static void start_two(const char *first, const char *second)
{
    struct node_options options = usual_options();
    options.settings = first;
    (void)add_as(&options, 1);
    options.settings = second;
    (void)add_as(&options, 2);
    world_introduce(&world, 0, 1);
    start_all();
    run(5 * SECOND_NS);
    assert_int_equal(neighbours(0), 1);
}

static const struct note *told(uint32_t i)
{
    assert_int_equal(world.nodes[i].notes[NOTE_SETTINGS], 1);
    assert_int_equal(world.nodes[i].last[NOTE_SETTINGS].level, LEVEL_WARNING);
    return &world.nodes[i].last[NOTE_SETTINGS];
}

static void both_sides_report_differences(void **state)
{
    (void)state;
    start_two("train.rate=0.02\ntrain.schedule=constant\ndata.seed=1\n",
              "train.rate=0.01\ndata.seed=7\ntrain.schedule=constant\n");
    assert_string_equal(told(0)->text,
                        "has other values for settings that must be equal on all nodes: "
                        "train.rate = 0.01 (here 0.02), data.seed = 7 (here 1)");
    assert_string_equal(told(1)->text,
                        "has other values for settings that must be equal on all nodes: "
                        "train.rate = 0.02 (here 0.01), data.seed = 1 (here 7)");
}

static void two_nodes_with_one_data_shard_are_notified(void **state)
{
    (void)state;
    start_two("data.shard!2/3\ndata.seed=1\n", "data.seed=1\ndata.shard!2/3\n");
    assert_string_equal(told(0)->text, "has the same part of the data as this node; give each node "
                                       "its own part: data.shard = 2/3");
    (void)told(1);
}

/* Adds a node that only dials the first node. */
static uint32_t add_behind_router(const char *settings, uint32_t seed)
{
    struct node_options options = usual_options();
    options.settings = settings;
    options.listen_port = 0;
    const uint32_t i = add_as(&options, seed);
    world_introduce(&world, i, 0);
    return i;
}

static void two_nodes_that_only_dial_are_notified_by_their_common_neighbours(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    (void)add_as(&options, 1);
    (void)add_as(&options, 2);
    world_introduce(&world, 1, 0);
    const uint32_t first = add_behind_router("data.seed=1\ndata.shard!2/3\n", 3);
    const uint32_t second = add_behind_router("data.shard!2/3\ndata.seed=1\n", 4);
    const uint32_t other = add_behind_router("data.shard!1/3\n", 5);
    start_all();
    run(20 * SECOND_NS);
    assert_int_equal(neighbours(0), 4);
    assert_int_equal(neighbours(first), 2);
    char id[ID_TEXT_BYTES];
    identity_text(id, world.nodes[second].identity.id);
    assert_string_equal(told(first)->who, id);
    assert_string_equal(told(first)->text, "has the same part of the data as this node; give each "
                                           "node its own part: data.shard = 2/3");
    (void)told(second);
    assert_int_equal(world.nodes[other].notes[NOTE_SETTINGS], 0);
    assert_int_equal(world.nodes[0].notes[NOTE_SETTINGS], 0);
    assert_int_equal(world.nodes[1].notes[NOTE_SETTINGS], 0);
}

static void equal_or_unknown_settings_are_not_reported(void **state)
{
    (void)state;
    start_two("data.shard!1/3\ntrain.rate=0.02\nnew.key=5\ndata.labels=0 .. 9\n",
              "data.shard!2/3\ntrain.rate=0.02\nother.key=\n");
    assert_int_equal(world.nodes[0].notes[NOTE_SETTINGS], 0);
    assert_int_equal(world.nodes[1].notes[NOTE_SETTINGS], 0);
}

static bool are_reported(const char *first, const char *second)
{
    struct settings_difference found;
    const struct bytes theirs = {(const uint8_t *)second, strlen(second)};
    assert_int_equal(settings_compare(first, &theirs, &found), OK);
    return found.other[0] != '\0';
}

/* Sites have different samples, so small differences are usual. */
static void inputs_are_reported_if_their_scales_differ(void **state)
{
    static const char ours[] = "data.inputs=mean 0.1 and deviation 0.3 of floats\n";
    (void)state;
    assert_false(are_reported(ours, ours));
    assert_false(are_reported(ours, "data.inputs=mean 0.3 and deviation 0.5 of floats\n"));
    assert_true(are_reported(ours, "data.inputs=mean 0.1 and deviation 0.7 of floats\n"));
    assert_true(are_reported(ours, "data.inputs=mean 0.1 and deviation 0.14 of floats\n"));
    assert_true(are_reported(ours, "data.inputs=mean 0.5 and deviation 0.3 of floats\n"));
    assert_true(are_reported(ours, "data.inputs=mean 0 and deviation 1 of normalised bytes\n"));
    assert_false(are_reported("data.inputs=mean -0.2 and deviation 0.9 of floats\n",
                              "data.inputs=mean 0 and deviation 1 of normalised bytes\n"));
    assert_true(are_reported(ours, "data.inputs=mean nan and deviation 0.3 of floats\n"));
    assert_true(are_reported(ours, "data.inputs=mean 0.1 and deviation 0 of floats\n"));
    assert_true(are_reported(ours, "data.inputs=unknown\n"));
    assert_true(are_reported("train.rate=mean 1 and deviation 1 of floats\n",
                             "train.rate=mean 1 and deviation 1.1 of floats\n"));
}

/* The bounds: a tenth of this node's deviation, 70, to either side. */
static void a_normalisation_is_reported_from_a_tenth_of_the_deviation_on(void **state)
{
    static const char ours[] = "data.mean=30\ndata.deviation=70\n";
    (void)state;
    assert_false(are_reported(ours, "data.mean=30.02\ndata.deviation=70.02\n"));
    assert_false(are_reported(ours, "data.mean=36.9\ndata.deviation=76.9\n"));
    assert_false(are_reported(ours, "data.mean=23.1\ndata.deviation=63.1\n"));
    assert_true(are_reported(ours, "data.mean=37.1\ndata.deviation=70\n"));
    assert_true(are_reported(ours, "data.mean=22.9\ndata.deviation=70\n"));
    assert_true(are_reported(ours, "data.mean=30\ndata.deviation=77.1\n"));
    assert_true(are_reported(ours, "data.mean=30\ndata.deviation=62.9\n"));
    assert_true(are_reported(ours, "data.mean=30x\n"));
    assert_true(are_reported(ours, "data.deviation=nan\n"));
    assert_true(are_reported("data.mean=30\n", "data.mean=30.02\n"));
    assert_true(are_reported("train.rate=0.02\ndata.deviation=70\n", "train.rate=0.021\n"));
}

static void targets_are_reported_if_their_units_differ(void **state)
{
    static const char ours[] = "data.targets=mean 0.2 and deviation 1.1 of targets\n";
    (void)state;
    assert_false(are_reported(ours, "data.targets=mean -0.1 and deviation 0.9 of targets\n"));
    assert_true(are_reported(ours, "data.targets=mean 200 and deviation 1100 of targets\n"));
    assert_true(are_reported(ours, "data.targets=mean 0.44 and deviation 2.42 of targets\n"));
}

/* Sites may lack classes, so the note says when a difference is right. */
static void another_range_of_labels_has_its_own_note(void **state)
{
    (void)state;
    start_two("data.labels=0 .. 9\n", "data.labels=1 .. 10\n");
    assert_string_equal(told(0)->text,
                        "has another range of labels (a site may lack classes; otherwise, number "
                        "the classes from 0 on all nodes): data.labels = 1 .. 10 (here 0 .. 9)");
    (void)told(1);
}

static void a_neighbour_that_reports_wrong_labels_is_named_until_it_is_gone(void **state)
{
    char whose[NODE_LABELS_WHOSE], id[ID_TEXT_BYTES];
    (void)state;
    start_two("", SETTINGS_CONTRADICT "=0 of 100 agree\n");
    identity_text(id, world.nodes[1].identity.id);
    node_labels_whose(world.nodes[0].node, whose);
    assert_string_equal(whose, id);
    node_labels_whose(world.nodes[1].node, whose);
    assert_string_equal(whose, "");
    world_kill(&world, 1, false);
    run(20 * SECOND_NS);
    node_labels_whose(world.nodes[0].node, whose);
    assert_string_equal(whose, "");
}

static void a_node_without_settings_is_not_reported(void **state)
{
    (void)state;
    start_two(NULL, "train.rate=0.02\n");
    assert_int_equal(world.nodes[0].notes[NOTE_SETTINGS], 0);
    assert_int_equal(world.nodes[1].notes[NOTE_SETTINGS], 0);
}

static struct puppet puppet;

static void say(const char *text, size_t bytes)
{
    const struct message message = {.kind = SETTINGS, .text = {(const uint8_t *)text, bytes}};
    puppet_say(&puppet, &message);
}

static void must_be_refused(const char *text, size_t bytes)
{
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    say(text, bytes);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_BROKEN);
    run(40 * SECOND_NS);
}

static void invalid_settings_end_the_connection(void **state)
{
    (void)state;
    static char long_text[SETTINGS_MAX + 1];
    struct node_options options = usual_options();
    options.settings = "train.rate=0.02\n";
    start_swarm(1, &options);
    run(SECOND_NS);
    puppet_init(&puppet, 0, 9);
    must_be_refused("train.rate=0.02", 15); /* the final line feed is missing */
    must_be_refused("=0.02\n", 6);
    must_be_refused("train.rate\n", 11);
    must_be_refused("train.rate=\x1b[2J\n", 16); /* an escape sequence must not reach a terminal */
    must_be_refused("a=1\n\0=2\n", 8);
    must_be_refused("a=1\n\n", 5);
    for (size_t i = 0; i < sizeof long_text; i += 4)
        memcpy(long_text + i, "a=1\n", sizeof long_text - i < 4 ? sizeof long_text - i : 4);
    must_be_refused(long_text, sizeof long_text);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    say(long_text, SETTINGS_MAX);
    say("", 0);
    assert_false(puppet.closed);
    assert_int_equal(world.nodes[0].notes[NOTE_SETTINGS], 0);
    puppet_free(&puppet);
}

static char shown[SETTINGS_MAX];

static void keep_settings(struct puppet *from, const struct message *message)
{
    (void)from;
    if (message->kind == SETTINGS && message->text.count < sizeof shown) {
        memcpy(shown, message->text.at, message->text.count);
        shown[message->text.count] = '\0';
    }
}

static void a_caller_sees_the_settings_and_stays_a_stranger(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.settings = "train.rate=0.02\n";
    start_swarm(1, &options);
    run(SECOND_NS);
    puppet_init(&puppet, 0, 9);
    puppet.on_heard = keep_settings;
    puppet_meet(&puppet);
    say("train.rate=0.01\n", 16);
    assert_false(puppet.closed);
    assert_int_equal(puppet.heard[SETTINGS], 1);
    assert_non_null(strstr(shown, "train.rate=0.02\n"));
    assert_int_equal(puppet.heard[HELLO], 0);
    assert_int_equal(neighbours(0), 0);
    assert_int_equal(world.nodes[0].notes[NOTE_SETTINGS], 0);
    puppet_hello(&puppet);
    assert_int_equal(neighbours(0), 1);
    puppet_free(&puppet);
}

static void a_difference_too_long_to_print_is_cut(void **state)
{
    (void)state;
    static char theirs[SETTINGS_MAX - SPOKEN_LINE_MAX + 1];
    memcpy(theirs, "train.rate=", 11);
    memset(theirs + 11, '9', sizeof theirs - 13);
    theirs[sizeof theirs - 2] = '\n';
    start_two("train.rate=0.02\n", theirs);
    const char *text = told(0)->text;
    assert_non_null(strstr(text, "all nodes: train.rate = 999"));
    assert_true(strlen(text) < sizeof told(0)->text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(both_sides_report_differences),
        STORY(two_nodes_with_one_data_shard_are_notified),
        STORY(two_nodes_that_only_dial_are_notified_by_their_common_neighbours),
        STORY(equal_or_unknown_settings_are_not_reported),
        STORY(inputs_are_reported_if_their_scales_differ),
        STORY(a_normalisation_is_reported_from_a_tenth_of_the_deviation_on),
        STORY(targets_are_reported_if_their_units_differ),
        STORY(another_range_of_labels_has_its_own_note),
        STORY(a_neighbour_that_reports_wrong_labels_is_named_until_it_is_gone),
        STORY(a_node_without_settings_is_not_reported),
        STORY(invalid_settings_end_the_connection),
        STORY(a_caller_sees_the_settings_and_stays_a_stranger),
        STORY(a_difference_too_long_to_print_is_cut),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
