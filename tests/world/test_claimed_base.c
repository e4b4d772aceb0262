/* A member claims many rumors of its own, and serves a false base that contains them. No other
 * member gives up the swarm's base for that base (fetch.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/liar.h"

#define LONG_NS (40 * SECOND_NS)
#define CLAIMS  (1u << 20)

/* Connects a liar to this node. All liars have one identity. omits: see liar.h. */
static struct liar *meet(uint32_t node, uint32_t omits)
{
    struct liar *liar = liars_meet(node, 0, LIE_FITS, 1);
    liar->claims = CLAIMS;
    liar->omits = omits;
    liar_show(liar);
    return liar;
}

static void show_all(void)
{
    for (uint32_t i = 0; i < liars_count; i++)
        if (!liars[i].puppet.closed) {
            while (node_waiting(world.nodes[0].node) > 0)
                run(MS_NS);
            liar_show(&liars[i]);
        }
}

static void run_and_show(uint64_t span_ns)
{
    for (uint64_t ns = 0; ns < span_ns; ns += SECOND_NS) {
        show_all();
        run(SECOND_NS);
    }
}

static void must_keep_base(uint32_t nodes)
{
    for (uint32_t i = 0; i < nodes; i++) {
        assert_int_equal(bases_of(i), 0);
        assert_false(is_catching_up(i));
    }
}

static void must_name_the_liar(uint32_t node)
{
    char name[ID_TEXT_BYTES];
    identity_text(name, liars[0].puppet.identity.id);
    const struct note *note = &world.nodes[node].last[NOTE_FALSE_BASE];
    assert_int_equal(note->level, LEVEL_WARNING);
    assert_string_equal(note->who, name);
}

static void claims_ahead(uint32_t nodes, uint32_t omits)
{
    struct node_options options = liars_options();
    options.partition_s = 1;
    start_swarm(nodes, &options);
    run(LONG_NS);
    for (uint32_t i = 0; i < nodes; i++)
        (void)meet(i, omits);
    run_and_show(60 * SECOND_NS);
    must_keep_base(nodes);
    for (uint32_t i = 0; i < nodes && omits == 0; i++)
        must_name_the_liar(i);
    must_agree(5 * SECOND_NS);
}

static void no_member_gives_up_its_base_for_one_claim(void **state)
{
    (void)state;
    claims_ahead(2, 0);
}

static void four_members_keep_their_bases(void **state)
{
    (void)state;
    claims_ahead(4, 0);
}

static void no_member_gives_up_its_base_for_a_claimed_partition(void **state)
{
    (void)state;
    claims_ahead(2, 2);
}

/* The liar claims a partition that separated it from a single member. */
static void no_member_gives_up_its_base_for_a_claimed_partition_from_one(void **state)
{
    (void)state;
    claims_ahead(4, 1);
}

/* A joiner first takes over the liar's base, and then meets the swarm. */
static void a_joiner_returns_to_the_base_of_most(void **state)
{
    (void)state;
    const struct node_options options = liars_options();
    start_swarm(3, &options);
    run(LONG_NS);
    const uint32_t joiner = join_cut_off(&options, 3);
    world.check.outsiders_publish = true;
    (void)meet(joiner, 0);
    run(5 * SECOND_NS);
    assert_int_equal(bases_of(joiner), 1);
    join_reach(joiner, 3);
    run_and_show(90 * SECOND_NS);
    must_keep_base(3);
    must_name_the_liar(joiner);
    must_agree(10 * SECOND_NS);
}

/* A joiner meets the liar and the swarm at once. */
static void a_joiner_ends_with_the_base_of_most(void **state)
{
    (void)state;
    const struct node_options options = liars_options();
    start_swarm(3, &options);
    run(LONG_NS);
    for (uint32_t i = 0; i < 3; i++)
        (void)meet(i, 0);
    const uint32_t joiner = join(&options, 3);
    run(10 * MS_NS);
    world.check.outsiders_publish = true;
    (void)meet(joiner, 0);
    run_and_show(100 * SECOND_NS);
    must_keep_base(3);
    must_agree(10 * SECOND_NS);
}

int main(void)
{
#define CLAIMED(name) cmocka_unit_test_setup_teardown(name, liars_begin, liars_end)
    const struct CMUnitTest tests[] = {
        CLAIMED(no_member_gives_up_its_base_for_one_claim),
        CLAIMED(four_members_keep_their_bases),
        CLAIMED(no_member_gives_up_its_base_for_a_claimed_partition),
        CLAIMED(no_member_gives_up_its_base_for_a_claimed_partition_from_one),
        CLAIMED(a_joiner_returns_to_the_base_of_most),
        CLAIMED(a_joiner_ends_with_the_base_of_most),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
