/* A node gives up its base if most neighbours lack a rumor that is in this base and in no log. A
 * neighbour's slices that do not list the rumor's origin change nothing about that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/version_entry.h"
#include "support/sim/fetch_story.h"
#include "support/sim/puppet.h"

#define PUPPETS     2
#define ENTRIES_MAX 16

static struct puppet puppets[PUPPETS];

/* The version of node 0 without the rumors of node 2, as both puppets show it. */
static uint8_t entries[ENTRIES_MAX * VERSION_ENTRY_BYTES], learned[ENTRIES_MAX * LEARNED_BYTES];
static size_t count;
static uint64_t rumors;

static void take_version_without_node_2(void)
{
    const struct versions *versions = broadcast_versions(world.nodes[0].node);
    const uint8_t *lost_id = world.nodes[2].identity.id;
    assert_in_range(versions->publishers, 1, ENTRIES_MAX);
    const size_t all = versions_latest(versions, NULL, 0, ENTRIES_MAX, entries, learned);
    count = 0;
    rumors = versions->rumors;
    for (size_t i = 0; i < all; i++) {
        const struct version_entry entry = version_entry_at(entries, i);
        if (memcmp(versions_find(versions, entry.tag)->id, lost_id, ID_BYTES) == 0) {
            rumors -= entry.next;
            continue;
        }
        memmove(entries + count * VERSION_ENTRY_BYTES, entries + i * VERSION_ENTRY_BYTES,
                VERSION_ENTRY_BYTES);
        memmove(learned + count * LEARNED_BYTES, learned + i * LEARNED_BYTES, LEARNED_BYTES);
        count++;
    }
    assert_true(count > 0 && count < all);
}

/* Both puppets show the first `shown` entries of their version. */
static void show(size_t shown, bool is_whole)
{
    for (int i = 0; i < PUPPETS; i++)
        puppet_say(&puppets[i],
                   &(struct message){.kind = VERSION,
                                     .hash = entries_hash(entries, count),
                                     .rumors = rumors,
                                     .members = 3,
                                     .base = true,
                                     .whole = is_whole,
                                     .learned = {learned, is_whole ? shown * LEARNED_BYTES : 0},
                                     .bulk = {entries, shown * VERSION_ENTRY_BYTES}});
}

static bool gives_up_its_base(void)
{
    return strstr(world.nodes[0].last[NOTE_CATCHING_UP].text,
                  "of its rumors are only in this node's base, and 2 neighbours lack them") != NULL;
}

/* Node 0 trained with nodes 1 and 2, and node 2 has left. Node 0's log no longer has the first
 * rumors of node 2, and the puppets know none of them. */
static int story_begins(void **state)
{
    struct node_options options = busy_options();
    options.limits.silence_ns = 600 * SECOND_NS; /* puppets do not answer PING */
    (void)world_begins(state);
    world.check.outsiders_lie = true;
    start_swarm(3, &options);
    run(20 * SECOND_NS);
    world_rest(&world);
    run(SECOND_NS);
    world_leave(&world, 2);
    until(is_finished, 2, 60 * SECOND_NS);
    take_version_without_node_2();
    for (int i = 0; i < PUPPETS; i++) {
        puppet_init(&puppets[i], 0, (uint8_t)(50 + i));
        puppet_meet(&puppets[i]);
        puppet_hello(&puppets[i]);
    }
    run(2 * SECOND_NS); /* a node compares versions of one neighbour at most once a second */
    return 0;
}

static int story_ends(void **state)
{
    for (int i = 0; i < PUPPETS; i++)
        puppet_free(&puppets[i]);
    return world_ends(state);
}

static void a_rumor_that_most_neighbours_lack_is_lost_after_30_s(void **state)
{
    (void)state;
    show(count, true);
    for (int second = 1; second < 30; second++) {
        run(SECOND_NS);
        show(count, true);
        assert_false(gives_up_its_base());
    }
    run(3 * SECOND_NS);
    show(count, true);
    run(SECOND_NS);
    assert_true(gives_up_its_base());
}

static void a_slice_without_the_rumors_origin_does_not_restart_its_time(void **state)
{
    (void)state;
    show(count, true);
    for (int second = 1; second < 30; second++) {
        run(SECOND_NS);
        show(1, false);
        assert_false(gives_up_its_base());
    }
    run(4 * SECOND_NS);
    assert_true(gives_up_its_base());
}

static void a_node_that_finishes_also_gives_up_its_base(void **state)
{
    (void)state;
    world_finish(&world, 0);
    world_finish(&world, 1);
    run(60 * SECOND_NS); /* for the last publications, which the puppets have */
    take_version_without_node_2();
    show(count, true);
    for (int second = 1; second < 40; second++) {
        run(SECOND_NS);
        show(count, true);
    }
    assert_true(gives_up_its_base());
    assert_true(puppets[0].heard[TAKE] + puppets[1].heard[TAKE] > 0);
}

int main(void)
{
#define LOST(name) cmocka_unit_test_setup_teardown(name, story_begins, story_ends)
    const struct CMUnitTest tests[] = {
        LOST(a_rumor_that_most_neighbours_lack_is_lost_after_30_s),
        LOST(a_slice_without_the_rumors_origin_does_not_restart_its_time),
        LOST(a_node_that_finishes_also_gives_up_its_base),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
