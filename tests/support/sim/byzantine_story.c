#include "support/sim/byzantine_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/governance/byzantine.h"
#include "node/quarantine_api.h"

static struct arena arena;
struct node *node;
uint32_t seq;

void reset_detection(void)
{
    arena_release(&arena);
    arena_init(&arena, byzantine_arena_bytes(&world.nodes[0].options));
    node->byzantine = byzantine_new(&arena, &world.nodes[0].options);
    node->born_ns = node->now_ns;
    seq = 0;
}

int byzantine_story_begins(void **state)
{
    (void)state;
    begin_world(1);
    start_usual_swarm(NODES);
    while (!byzantine_is_calm(world.nodes[0].node))
        run(SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    node = world.nodes[0].node;
    assert_true(broadcast_versions(node)->count >= NODES);
    reset_detection();
    return 0;
}

int byzantine_story_ends(void **state)
{
    arena_release(&arena);
    return world_ends(state);
}

bool is_own(uint32_t origin_index)
{
    return &broadcast_versions(node)->origins[origin_index] == broadcast_own(node);
}

void let_all_publish(double agreement, double of_who, double length, double length_of_who)
{
    for (uint32_t origin_index = 0; origin_index < NODES; origin_index++) {
        const struct rumor_step step = {.origin_index = origin_index,
                                        .seq = seq,
                                        .length = origin_index == WHO ? length_of_who : length,
                                        .samples = 100};
        if (is_own(origin_index))
            continue;
        byzantine_on_rumor(node, &step);
        byzantine_on_compared(node, origin_index, seq, origin_index == WHO ? of_who : agreement);
    }
    seq++;
    node->now_ns += SECOND_NS;
    byzantine_review(node);
}

void must_find_who(void)
{
    const struct origin *origin = byzantine_next(node);
    struct node_finding harm;
    assert_ptr_equal(origin, &broadcast_versions(node)->origins[WHO]);
    assert_null(byzantine_next(node));
    assert_true(node_finding(node, 0, &harm) && harm.harms);
    assert_memory_equal(harm.id, origin->id, ID_BYTES);
    assert_false(node_finding(node, 1, &harm));
}
