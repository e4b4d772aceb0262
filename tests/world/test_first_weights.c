/* Nodes that start from different first weights end with one base, unless both sides are
 * established or have an operator. */
#include "node/first_weights.h"

#include "crypto/gate.h"
#include "support/sim/takeover_story.h"

static const char *const MODELS[] = {"600 numbers; start 0", "600 numbers; start 1"};

/* Adds a node whose first weights and model name follow from `start`. Returns its number. */
static uint32_t add_from(uint32_t start, struct node_options options)
{
    const uint32_t i = world.nodes_count;
    options.model = MODELS[start];
    first_weights[i] = start;
    return add(&options);
}

static uint32_t add_usual(uint32_t start)
{
    return add_from(start, usual_options());
}

static uint32_t notes_of(uint32_t i)
{
    return world.nodes[i].notes[NOTE_FIRST_WEIGHTS];
}

/* Returns which value of `start`, 0 or 1, gives the smaller model hash. */
static uint32_t smaller(void)
{
    struct introduction a, b;
    introduction_make(&a, "world", MODELS[0], PARAMETERS);
    introduction_make(&b, "world", MODELS[1], PARAMETERS);
    return memcmp(a.model, b.model, sizeof a.model) < 0 ? 0 : 1;
}

#define DROPPED "this node takes the swarm's initial weights"
#define GAVE_UP "another swarm of this model has learned more"

/* Checks that node i has exactly one note on first weights, which begins with `text`. It is a
 * warning only if the node has given up progress. */
static void must_take(uint32_t i, const char *text)
{
    assert_int_equal(notes_of(i), 1);
    const struct note *note = &world.nodes[i].last[NOTE_FIRST_WEIGHTS];
    assert_int_equal(note->level, strcmp(text, GAVE_UP) == 0 ? LEVEL_WARNING : LEVEL_INFO);
    assert_memory_equal(note->text, text, strlen(text));
    assert_true(node_has_taken_first(world.nodes[i].node));
}

/* Begins a new world, to test the opposite order of model hashes. */
static void begin_again(void)
{
    world_free(&world);
    begin_world(2);
}

static void join_late(uint32_t start)
{
    const uint32_t first = add_usual(1 - start), second = add_usual(1 - start);
    const uint32_t late = add_usual(start);
    world_introduce(&world, second, first);
    world_introduce(&world, late, first);
    world_start(&world, first);
    world_start(&world, second);
    run(10 * SECOND_NS);
    world_start(&world, late);
    run(10 * SECOND_NS);
    must_take(late, DROPPED);
    assert_int_equal(notes_of(first) + notes_of(second), 0);
    must_agree(10 * SECOND_NS);
}

static void a_joiner_takes_the_swarms_whatever_the_hashes(void **state)
{
    (void)state;
    join_late(smaller());
    begin_again();
    join_late(1 - smaller());
}

static void two_that_start_at_once_keep_the_smaller_hash(void **state)
{
    (void)state;
    const uint32_t keeps = add_usual(smaller()), takes = add_usual(1 - smaller());
    world_introduce(&world, keeps, takes);
    world_introduce(&world, takes, keeps);
    start_all();
    run(10 * SECOND_NS);
    must_take(takes, DROPPED);
    assert_int_equal(notes_of(keeps), 0);
    must_agree(10 * SECOND_NS);
}

/* No node publishes, so nodes take over the base of version 0. */
static void nodes_that_never_train_have_one_base(void **state)
{
    struct node_options options = usual_options();
    (void)state;
    options.trains = false;
    for (uint32_t i = 0; i < 6; i++) {
        (void)add_from(i % 2, options);
        if (i > 0)
            world_introduce(&world, i, i - 1);
    }
    start_all();
    run(30 * SECOND_NS);
    must_agree(SECOND_NS);
    for (uint32_t i = 1; i < 6; i++)
        assert_true(same_base(0, i));
    assert_int_equal(rumors_published(), 0);
}

/* The called node dials no other node. The gate tells it that it must yield. */
static void a_called_node_yields_to_a_caller_that_has_learned(void **state)
{
    (void)state;
    const uint32_t called = add_usual(smaller()), caller = add_usual(1 - smaller());
    world_introduce(&world, caller, called);
    world_start(&world, caller);
    run(30 * SECOND_NS);
    world_start(&world, called);
    run(40 * SECOND_NS);
    must_take(called, GAVE_UP); /* the called node has published before it yields */
    assert_int_equal(notes_of(caller), 0);
    must_agree(10 * SECOND_NS);
}

/* Adds two pairs of nodes. Each node knows all earlier ones but cannot reach the other pair. */
static void add_two_pairs(uint32_t first_start)
{
    for (uint32_t i = 0; i < 4; i++) {
        (void)add_usual(i / 2 == 0 ? first_start : 1 - first_start);
        for (uint32_t j = 0; j < i; j++)
            world_introduce(&world, i, j);
    }
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 2; j < 4; j++)
            cut(i, j);
}

static void heal_pairs(void)
{
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 2; j < 4; j++)
            heal_cut(i, j);
}

/* The second pair trains for longer than the first. */
static void the_young_swarm_that_learned_more_stays(void **state)
{
    (void)state;
    add_two_pairs(smaller());
    world_start(&world, 2);
    world_start(&world, 3);
    run(80 * SECOND_NS);
    world_start(&world, 0);
    world_start(&world, 1);
    run(20 * SECOND_NS);
    assert_true(stats_of(0).rumors_published > 0);
    heal_pairs();
    run(90 * SECOND_NS);
    must_take(0, GAVE_UP);
    must_take(1, GAVE_UP);
    assert_int_equal(notes_of(2) + notes_of(3), 0);
    must_agree(20 * SECOND_NS);
}

static void a_restart_goes_on_with_the_swarms_first_weights(void **state)
{
    struct node_options options = usual_options();
    (void)state;
    options.save_ns = 2 * SECOND_NS;
    const uint32_t first = add_from(0, options), late = add_from(1, options);
    world_introduce(&world, late, first);
    world_start(&world, first);
    run(5 * SECOND_NS);
    world_start(&world, late);
    run(10 * SECOND_NS);
    must_take(late, DROPPED);
    world_kill(&world, late, false);
    run(SECOND_NS);
    world_start(&world, late); /* starts from its checkpoint (check 9 of check.h) */
    assert_true(node_has_taken_first(world.nodes[late].node));
    run(10 * SECOND_NS);
    assert_int_equal(notes_of(late), 1);
    must_agree(10 * SECOND_NS);
}

/* No running node has the first weights that the joiner was to take over. So it trains from its
 * own. */
static void one_whose_donor_has_gone_begins_again_with_its_own(void **state)
{
    (void)state;
    const uint32_t first = add_usual(0), late = add_usual(1);
    world_introduce(&world, late, first);
    world_start(&world, first);
    run(5 * SECOND_NS);
    world_start(&world, late);
    while (notes_of(late) == 0)
        run(MS_NS);
    world_kill(&world, first, true);
    run(2 * NODE_JOIN_WAIT_NS + SECOND_NS);
    assert_false(node_has_taken_first(world.nodes[late].node));
    assert_true(world.nodes[late].training);
}

/* Orders are signed for one swarm, so two swarms with an operator do not merge by themselves. */
static void a_swarm_with_an_operator_keeps_what_it_has_learned(void **state)
{
    struct node_options options = usual_options();
    (void)state;
    options.has_operator = true;
    const uint32_t one = add_from(0, options), other = add_from(1, options);
    world_introduce(&world, one, other);
    world_introduce(&world, other, one);
    cut(one, other);
    start_all();
    run(30 * SECOND_NS);
    heal_cut(one, other);
    run(60 * SECOND_NS);
    assert_int_equal(notes_of(one) + notes_of(other), 0);
    assert_true(world.nodes[one].notes[NOTE_MISMATCH] + world.nodes[other].notes[NOTE_MISMATCH] >
                0);
}

/* Dials the node as a puppet that claims this standing and has the smallest model hash, which wins
 * a tie. */
static void claim(struct puppet *liar, uint32_t node, uint8_t seed, uint8_t standing)
{
    puppet_init(liar, node, seed);
    struct introduction theirs = liar->credentials.ours;
    memset(theirs.model, 0, sizeof theirs.model);
    theirs.standing = standing;
    credentials_set_introduction(&liar->credentials, &theirs);
    puppet_call(liar);
    assert_true(liar->closed);
}

/* The newcomer waits for the base of first weights that no node has. Then it starts again from its
 * own. */
static void a_false_claim_costs_a_newcomer_its_time(void **state)
{
    (void)state;
    static struct puppet liar;
    const uint32_t one = add_usual(0), nobody = add_usual(0);
    /* Makes node `one` wait for another node instead of training. */
    world_introduce(&world, one, nobody);
    world_start(&world, one);
    run(SECOND_NS);
    claim(&liar, one, 7, STANDING_MAX);
    must_take(one, DROPPED);
    run(100 * SECOND_NS);
    assert_false(node_has_taken_first(world.nodes[one].node));
    assert_true(stats_of(one).rumors_published > 0);
    puppet_free(&liar);
}

/* The progress of node `one` is relative to a base that no node of its new swarm has. */
static void a_node_without_first_weights_publishes_nothing(void **state)
{
    (void)state;
    static struct puppet liar;
    const uint32_t one = add_usual(0);
    world_start(&world, one);
    run(10 * SECOND_NS);
    claim(&liar, one, 7, STANDING_MAX);
    must_take(one, GAVE_UP);
    const uint64_t published = rumors_published();
    assert_true(published > 0);
    run(40 * SECOND_NS);
    assert_true(node_lacks_first(world.nodes[one].node));
    assert_int_equal(rumors_published(), published);
    puppet_free(&liar);
}

static void an_established_swarm_yields_to_no_claim(void **state)
{
    (void)state;
    static struct puppet liar;
    const uint32_t one = add_usual(0), two = add_usual(0);
    world_introduce(&world, two, one);
    start_all();
    while (stats_of(one).rumors_published < 256)
        run(SECOND_NS);
    claim(&liar, one, 7, STANDING_MAX);
    run(SECOND_NS);
    assert_int_equal(notes_of(one) + notes_of(two), 0);
    assert_false(node_has_taken_first(world.nodes[one].node));
    must_agree(10 * SECOND_NS);
    puppet_free(&liar);
}

/* While node 0 takes over a base, it shows standing 0. It must not yield to a newcomer. */
static void a_node_that_catches_up_yields_to_no_newcomer(void **state)
{
    (void)state;
    static struct puppet newcomer;
    start_talk_of_much_more();
    say_history(0, 1, history_of(1, 100)); /* too few samples for an established swarm */
    run(SECOND_NS);
    assert_true(is_catching_up(0));
    claim(&newcomer, 0, 7, 2);
    assert_true(is_catching_up(0));
    assert_int_equal(notes_of(0), 0);
    puppet_free(&newcomer);
}

/* Two swarms have published for long before they meet. Neither gives up its weights. Nodes of the
 * swarm with the larger model hash print how to join the other swarm. */
static void two_established_swarms_stay_apart(void **state)
{
    (void)state;
    add_two_pairs(0);
    start_all();
    while (stats_of(0).rumors_published < 256 || stats_of(2).rumors_published < 256)
        run(SECOND_NS);
    heal_pairs();
    run(600 * SECOND_NS); /* until notes on failed dials have become rare */
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(notes_of(i), 0);
        assert_int_equal(neighbours(i), 1);
    }
    const struct world_node *yields = &world.nodes[smaller() == 0 ? 2 : 0];
    assert_true(yields->notes[NOTE_MISMATCH] > 0);
    assert_non_null(
        strstr(yields->last[NOTE_MISMATCH].text, "give this node another node.state_dir"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_joiner_takes_the_swarms_whatever_the_hashes),
        STORY(two_that_start_at_once_keep_the_smaller_hash),
        STORY(nodes_that_never_train_have_one_base),
        STORY(a_called_node_yields_to_a_caller_that_has_learned),
        STORY(the_young_swarm_that_learned_more_stays),
        STORY(a_restart_goes_on_with_the_swarms_first_weights),
        STORY(one_whose_donor_has_gone_begins_again_with_its_own),
        STORY(a_swarm_with_an_operator_keeps_what_it_has_learned),
        STORY(a_false_claim_costs_a_newcomer_its_time),
        STORY(a_node_without_first_weights_publishes_nothing),
        STORY(an_established_swarm_yields_to_no_claim),
        TALK(a_node_that_catches_up_yields_to_no_newcomer),
        STORY(two_established_swarms_stay_apart),
    };
    return cmocka_run_group_tests_name("first_weights", tests, open_all, close_all);
}
