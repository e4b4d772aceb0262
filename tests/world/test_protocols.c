/* A swarm of two releases learns as one swarm. The older release speaks only PROTOCOL_OLDEST.
 * Neighbours speak their newest common version and notice a forced downgrade. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/puppet.h"

#define NODES 6

static struct puppet puppet;

static bool is_older(uint32_t i)
{
    return world.nodes[i].options.limits.protocol_max == PROTOCOL_OLDEST;
}

/* Starts a swarm in which every second node, from node older_from on, is of the older release. Each
 * node knows the address of node 0. */
static void start_mixed(uint32_t older_from)
{
    struct node_options options = usual_options();
    options.block_entries = 100;
    options.save_ns = 3 * SECOND_NS;
    for (uint32_t i = 0; i < NODES; i++) {
        options.limits.protocol_max = i % 2 == older_from ? PROTOCOL_OLDEST : PROTOCOL_NEWEST;
        (void)add(&options);
        if (i > 0)
            world_introduce(&world, i, 0);
    }
    start_all();
}

static uint32_t index_of(const uint8_t id[static ID_BYTES])
{
    uint32_t i = 0;
    while (i < NODES && memcmp(world.nodes[i].identity.id, id, ID_BYTES) != 0)
        i++;
    assert_true(i < NODES);
    return i;
}

static void must_speak_what_both_know(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        const struct node *node = world.nodes[i].node;
        assert_int_equal(neighbours(i), NODES - 1);
        for (uint32_t l = 0; l < node_links(node); l++) {
            struct node_link link;
            node_link(node, l, &link);
            const bool has_older = is_older(i) || is_older(index_of(link.id));
            assert_int_equal(link.protocol, has_older ? PROTOCOL_OLDEST : PROTOCOL_NEWEST);
        }
    }
}

static void nobody_must_have_complained(void)
{
    static const enum note_kind bad[] = {NOTE_REFUSED, NOTE_SETTINGS, NOTE_NEIGHBOUR_LOST};
    for (uint32_t i = 0; i < NODES; i++)
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
            assert_int_equal(world.nodes[i].notes[bad[k]], 0);
}

static void both_releases_learn_together_whichever_calls(void **state)
{
    (void)state;
    for (uint32_t older_from = 0; older_from < 2; older_from++) {
        start_mixed(older_from);
        run(30 * SECOND_NS);
        must_speak_what_both_know();
        nobody_must_have_complained();
        assert_true(rumors_published() > 100);
        must_agree(5 * SECOND_NS);
        (void)world_ends(NULL);
        begin_world(2);
    }
}

static void an_older_neighbour_is_noted(void **state)
{
    (void)state;
    start_mixed(0);
    run(5 * SECOND_NS);
    assert_non_null(strstr(world.nodes[1].last[NOTE_NEIGHBOUR].text, " called)"));
    uint32_t named = 0;
    for (uint32_t i = 0; i < NODES; i++)
        named +=
            strstr(world.nodes[i].last[NOTE_NEIGHBOUR].text, "; it runs the previous release") &&
            !is_older(i);
    assert_true(named > 0);
    for (uint32_t i = 0; i < NODES; i++)
        if (is_older(i))
            assert_null(strstr(world.nodes[i].last[NOTE_NEIGHBOUR].text, "release"));
}

static void a_swarm_is_upgraded_node_by_node(void **state)
{
    (void)state;
    start_mixed(0);
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < NODES; i += 2) {
        world_kill(&world, i, false);
        run(SECOND_NS);
        world.nodes[i].options.limits.protocol_max = 0;
        world_start(&world, i);
        run(10 * SECOND_NS);
        assert_true(meshed());
        assert_int_equal(world.nodes[i].notes[NOTE_REFUSED], 0);
    }
    must_speak_what_both_know();
    must_agree(5 * SECOND_NS);
}

/* Sets the protocol versions that the puppet offers at the gate. */
static void puppet_offers(uint16_t oldest, uint8_t newer)
{
    puppet.credentials.ours.protocol = oldest;
    puppet.credentials.ours.newer = newer;
    puppet.credentials.keys[0].gate.ours = puppet.credentials.ours;
}

static void start_alone(bool older)
{
    struct node_options options = usual_options();
    options.limits.protocol_max = older ? PROTOCOL_OLDEST : 0;
    start_swarm(1, &options);
    run(SECOND_NS);
    puppet_init(&puppet, 0, 9);
}

static void a_node_two_releases_back_is_refused_with_its_version(void **state)
{
    (void)state;
    start_alone(false);
    puppet_offers(PROTOCOL_OLDEST - 1, 0);
    puppet_call(&puppet);
    assert_true(puppet.closed);
    assert_int_equal(world.nodes[0].notes[NOTE_REFUSED], 1);
    assert_non_null(strstr(world.nodes[0].last[NOTE_REFUSED].text,
                           "other protocol version: theirs is 10, ours 11 to 12"));
    puppet_free(&puppet);
}

static void say_settings(const char *text)
{
    const struct message message = {.kind = SETTINGS,
                                    .text = {(const uint8_t *)text, strlen(text)}};
    puppet_say(&puppet, &message);
}

/* Connects the puppet with these protocol versions and announces `text`. Checks that the node
 * accepts `text` if and only if is_good. */
static void must_be(uint16_t oldest, uint8_t newer, const char *text, bool is_good)
{
    puppet_offers(oldest, newer);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    assert_false(puppet.closed);
    say_settings(text);
    assert_int_equal(!puppet.closed, is_good);
    assert_true(is_good || puppet.bye_reason == BYE_BROKEN);
    if (is_good)
        say_settings("protocol=x\n"); /* a second announcement ends the connection */
    assert_true(puppet.closed);
    run(40 * SECOND_NS);
}

/* An attacker on the path, who has the swarm key, has replaced the dialer's protocol versions by
 * older ones. */
static void a_forced_downgrade_ends_the_connection(void **state)
{
    (void)state;
    start_alone(false);
    must_be(11, 1, "protocol=11-12\n", true);
    must_be(11, 0, "protocol=11-12\n", false);
    assert_string_equal(puppet.bye, "both support a newer protocol: the network changes offers");
    must_be(11, 0, "train.rate=0.02\nprotocol=11-13\n", false);
    must_be(11, 0, "protocol=10-11\n", true);
    must_be(12, 1, "protocol=12-13\n", true);
    must_be(12, 0, "protocol=11-13\n", true);
    must_be(11, 1, "protocol=11-11\n", false);
    puppet_free(&puppet);
}

static void invalid_versions_end_the_connection(void **state)
{
    (void)state;
    static const char *const bad[] = {"protocol=\n",         "protocol=11\n",
                                      "protocol=11-\n",      "protocol=12-11\n",
                                      "protocol=-12\n",      "protocol=11-12 \n",
                                      "protocol=11-65536\n", "protocol=4294967307-4294967308\n",
                                      "protocol=11-300\n",   "protocol=0-12\n"};
    start_alone(false);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        must_be(11, 1, bad[i], false);
    puppet_free(&puppet);
}

static void the_older_version_has_no_inference_requests(void **state)
{
    (void)state;
    static const uint8_t question[] = {0x93, INFERENCE, 0, 0xc4, 0};
    start_alone(false);
    puppet_offers(11, 0);
    puppet_meet(&puppet);
    puppet_shout(&puppet, question, sizeof question);
    assert_true(puppet.closed);
    assert_string_equal(puppet.bye, "sent a message of a newer protocol");
    puppet_free(&puppet);
}

static void an_older_node_announces_no_versions(void **state)
{
    (void)state;
    start_alone(true);
    puppet_offers(11, 1);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    assert_int_equal(puppet.peer.protocol, 11);
    assert_int_equal(puppet.heard[SETTINGS], 0);
    puppet_free(&puppet);
}

static void versions_are_announced_in_the_settings(void **state)
{
    (void)state;
    start_alone(false);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    assert_int_equal(puppet.heard[SETTINGS], 1);
    assert_int_equal(puppet.last[SETTINGS].text.count, strlen("protocol=11-12\n"));
    puppet_free(&puppet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(both_releases_learn_together_whichever_calls),
        STORY(an_older_neighbour_is_noted),
        STORY(a_swarm_is_upgraded_node_by_node),
        STORY(a_node_two_releases_back_is_refused_with_its_version),
        STORY(a_forced_downgrade_ends_the_connection),
        STORY(invalid_versions_end_the_connection),
        STORY(the_older_version_has_no_inference_requests),
        STORY(an_older_node_announces_no_versions),
        STORY(versions_are_announced_in_the_settings),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
