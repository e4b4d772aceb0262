/* Serving a base to a peer that breaks rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/history.h"
#include "node/transfer/transfer.h"
#include "support/sim/serve_story.h"

static void must_hang_up(void)
{
    run(3 * SECOND_NS);
    assert_true(puppet.closed);
    assert_int_equal(puppet.bye_reason, BYE_BROKEN);
}

static void a_request_is_answered_with_history_and_blocks(void **state)
{
    (void)state;
    start_talk_at_rest();
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(puppet.heard[HISTORY], 1);
    assert_int_equal(puppet.last[HISTORY].parts, 1);
    assert_int_equal(puppet.last[HISTORY].bulk.count, HISTORY_ENTRY_BYTES);
    assert_true(puppet.last[HISTORY].digest == stats_of(0).digest);
    fetch(SMALL_BLOCKS - 8, 8);
    assert_int_equal(puppet.heard[BLOCK], 8);
    assert_int_equal(puppet.last[BLOCK].block, SMALL_BLOCKS - 1);
    assert_int_equal(puppet.last[BLOCK].entries.count, VERSION_ENTRY_BYTES);
    assert_true(puppet.last[BLOCK].bulk.count > 1);
}

static void a_request_cancels_pending_rumors_of_the_base(void **state)
{
    (void)state;
    start_talk_at_rest();
    struct node *node = world.nodes[0].node;
    uint32_t i = 0;
    const struct peer *peer = connection_neighbour(node, &i);
    const struct origin *own = broadcast_own(node);
    const uint32_t origin_index = versions_index(broadcast_versions(node), own);
    puppet.gives_no_acks = true;
    for (int times = 0; times < 50 && broadcast_backlog(node, peer) == 0; times++)
        puppet_say(&puppet, &(struct message){.kind = WANT, .tag = own->tag});
    assert_int_equal(broadcast_backlog(node, peer), 1);
    assert_true(broadcast_is_lazy(node, peer, origin_index));
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(broadcast_backlog(node, peer), 0);
    assert_false(broadcast_is_lazy(node, peer, origin_index));
    puppet.gives_no_acks = false;
}

static void a_node_without_rumors_gives_nothing(void **state)
{
    (void)state;
    struct node_options options = patient_options();
    options.trains = false;
    start_talk(&options);
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(puppet.heard[HISTORY], 1);
    assert_int_equal(puppet.last[HISTORY].parts, 0);
}

static void a_request_for_nonexistent_blocks_ends_the_connection(void **state)
{
    (void)state;
    const struct span {
        uint64_t block, count;
    } wrong[] = {{0, 0},
                 {0, 9},
                 {0, UINT64_MAX},
                 {SMALL_BLOCKS, 1},
                 {SMALL_BLOCKS - 1, 2},
                 {UINT32_MAX, 1},
                 {(uint64_t)UINT32_MAX + 1, 1},
                 {UINT64_MAX, 8}};
    start_talk_at_rest();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fetch(wrong[i].block, wrong[i].count);
        must_hang_up();
        assert_int_equal(puppet.heard[BLOCK], 0);
        puppet_meet(&puppet);
        puppet_hello(&puppet);
    }
    fetch(SMALL_BLOCKS - 1, 1); /* the last block */
    assert_false(puppet.closed);
    assert_int_equal(puppet.heard[BLOCK], 1);
    must_have_the_base_it_had();
}

/* Four requests of a neighbour can wait. */
static void requests_beyond_the_queue_are_refused(void **state)
{
    (void)state;
    struct node_options options = patient_options();
    options.serve_bytes_per_s = 50;
    start_talk(&options);
    run(100 * MS_NS);
    fetch(0, 1);
    run(100 * MS_NS);
    assert_int_equal(puppet.heard[BLOCK], 1);
    for (uint32_t i = 1; i < 5; i++)
        fetch(i, 1);
    assert_int_equal(puppet.heard[BLOCK], 1);
    fetch(5, 1);
    assert_int_equal(puppet.heard[BLOCK], 2);
    assert_int_equal(puppet.last[BLOCK].bulk.count, 0);
    run(60 * SECOND_NS);
    assert_int_equal(puppet.heard[BLOCK], 2 + 4);
    assert_true(puppet.last[BLOCK].bulk.count > 0);
    assert_false(puppet.closed);
}

static void a_disconnect_during_a_read_cancels_the_request(void **state)
{
    (void)state;
    struct node_options options = patient_options();
    start_talk(&options);
    world.nodes[0].step_ns = SECOND_NS; /* a read then takes a second */
    run(SECOND_NS);
    fetch(0, 8);
    fetch(8, 8);
    puppet_free(&puppet);
    run(3 * SECOND_NS);
    puppet_init(&puppet, 0, 2);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    fetch(0, 1);
    run(2 * SECOND_NS);
    assert_int_equal(puppet.heard[BLOCK], 1);
}

/* A checkpoint takes long, but the learner serves requests between its parts. */
static void requests_do_not_wait_for_a_checkpoint(void **state)
{
    (void)state;
    struct node_options options = patient_options();
    options.save_ns = 2 * SECOND_NS;
    start_talk(&options);
    const struct sim_disk *disk = &world.nodes[0].sim_disk;
    uint32_t given_meanwhile = 0;
    for (int saves = 0; saves < 5; saves++) {
        while (!disk->queue || sim_disk_written(disk) == 0)
            run(MS_NS);
        const uint32_t before = puppet.heard[BLOCK];
        fetch(0, 1);
        while (disk->queue) {
            given_meanwhile += puppet.heard[BLOCK] > before;
            run(MS_NS);
        }
    }
    assert_true(given_meanwhile > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TALK(a_request_is_answered_with_history_and_blocks),
        TALK(a_request_cancels_pending_rumors_of_the_base),
        TALK(a_node_without_rumors_gives_nothing),
        TALK(a_request_for_nonexistent_blocks_ends_the_connection),
        TALK(requests_beyond_the_queue_are_refused),
        TALK(a_disconnect_during_a_read_cancels_the_request),
        TALK(requests_do_not_wait_for_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
