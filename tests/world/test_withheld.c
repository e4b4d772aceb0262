/* Withheld publications: nodes hold back oversized ones until members have voted. Those of an
 * expelled member never move a base. A released one is applied in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/retract.h"
#include "node/broadcast/withheld.h"
#include "node/governance/byzantine.h"
#include "node/governance/quarantine.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/proofs.h"
#include "node/orders/quorum_votes.h"
#include "node/quarantine_api.h"
#include "support/sim/expulsion_story.h"
#include "support/sim/puppet.h"
#include "wire/vote.h"

#define NODES  7
#define LIAR   6
#define FEW    4
#define CROWD  40
#define MANY   20         /* listed members, most of which never run */
#define LITTLE 24000      /* bytes of a small log */
#define LARGE  (1u << 23) /* bytes of a log that has every rumor of some minutes */
#define BIT    3.5        /* a lie by this factor is withheld, but causes no vote */

static const struct origin *liar_at(uint32_t i, uint32_t *origin_index)
{
    const struct versions *versions = broadcast_versions(world.nodes[i].node);
    for (*origin_index = 0; *origin_index < versions->count; (*origin_index)++)
        if (memcmp(versions->origins[*origin_index].id, world.nodes[LIAR].identity.id, ID_BYTES) ==
            0)
            return &versions->origins[*origin_index];
    return NULL;
}

static uint32_t applied_at(uint32_t i)
{
    uint32_t origin_index;
    const struct origin *origin = liar_at(i, &origin_index);
    return origin ? origin->applied : 0;
}

/* Returns true if all of the first `running` nodes judge publications, and have applied all rumors
 * of the liar. */
static bool are_ready(uint32_t running)
{
    const uint32_t published = world_is_running(&world, LIAR)
                                   ? broadcast_own(world.nodes[LIAR].node)->next
                                   : applied_at(0);
    for (uint32_t i = 0; i < running; i++)
        if (!byzantine_has_median(world.nodes[i].node) || (i != LIAR && applied_at(i) != published))
            return false;
    return true;
}

/* Adds `members` nodes and starts the first `running`. Waits until these know the median length of
 * publications. */
static void start_with(struct node_options options, uint32_t members, uint32_t running)
{
    world.has_list = true;
    add_swarm(members, &options);
    for (uint32_t i = 0; i < running; i++)
        world_start(&world, i);
    run(15 * SECOND_NS);
    while (!are_ready(running))
        run(SECOND_NS / 100);
}

static void start(bool quarantines, uint32_t members)
{
    struct node_options options = obedient(usual_options());
    options.limits.quarantines = quarantines;
    start_with(options, members, NODES);
}

static bool is_held(uint32_t i)
{
    uint32_t origin_index;
    return liar_at(i, &origin_index) && withheld_has(world.nodes[i].node, origin_index);
}

/* Returns true if `hearsay status` at node i would show the liar's publications as withheld. */
static bool is_shown_as_held(uint32_t i)
{
    struct node_finding harm;
    for (uint32_t k = 0; node_finding(world.nodes[i].node, k, &harm); k++)
        if (memcmp(harm.id, world.nodes[LIAR].identity.id, ID_BYTES) == 0)
            return harm.is_held;
    return false;
}

static bool is_out(uint32_t i)
{
    return proofs_against(world.nodes[i].node, world.nodes[LIAR].identity.id) != NULL;
}

static void lie_by(double times)
{
    world_poison(&world, LIAR, POISON_SCALE, times, 1);
}

static void lie(void)
{
    lie_by(1000);
}

static void a_voted_out_publication_has_moved_no_base(void **state)
{
    uint32_t had[NODES], origin_index, held = 0;
    (void)state;
    start(true, NODES);
    /* Half of the nodes are then about to publish when the vote is decided. */
    for (uint32_t i = 0; i < LIAR; i += 2)
        world.nodes[i].step_ns = 500 * MS_NS;
    for (uint32_t i = 0; i < LIAR; i++)
        had[i] = liar_at(i, &origin_index)->next;
    lie();
    for (int step = 0; step < 2000; step++) {
        run(SECOND_NS / 100);
        for (uint32_t i = 0; i < LIAR; i++) {
            held += is_held(i);
            assert_int_equal(is_shown_as_held(i), is_held(i));
            assert_true(applied_at(i) <= had[i]);
        }
    }
    assert_true(held > 0);
    for (uint32_t i = 0; i < LIAR; i++) {
        assert_true(is_out(i));
        assert_false(is_held(i));
        assert_true(liar_at(i, &origin_index)->next <= had[i]);
    }
    const char *told = world.nodes[LIAR].last[NOTE_EXPELLED].text;
    assert_non_null(strstr(told, "returns with a new key (hearsay keygen)"));
    must_agree(20 * SECOND_NS);
}

/* For about 20 s the liar's publications are no evidence against it, because a new member may come
 * from a partition. They are withheld meanwhile. */
static void a_voted_out_first_publication_has_moved_no_base(void **state)
{
    struct node_options options = obedient(usual_options());
    uint32_t origin_index;
    (void)state;
    options.limits.quarantines = true;
    start_with(options, NODES, NODES - 1);
    lie();
    world_start(&world, LIAR);
    for (int step = 0; step < 6000; step++) {
        run(SECOND_NS / 100);
        for (uint32_t i = 0; i < LIAR; i++)
            assert_int_equal(applied_at(i), 0);
    }
    for (uint32_t i = 0; i < LIAR; i++) {
        assert_true(is_out(i));
        assert_int_equal(liar_at(i, &origin_index)->next, 0);
    }
    must_agree(20 * SECOND_NS);
}

static void a_released_member_that_goes_further_is_suspended_again(void **state)
{
    (void)state;
    start(true, MANY);
    lie_by(BIT);
    while (!is_held(0))
        run(SECOND_NS / 100);
    run(12 * SECOND_NS);
    assert_false(is_held(0));
    lie_by(200);
    run(3 * SECOND_NS);
    assert_true(is_held(0));
}

/* Returns true if an incarnation of the liar after the first one has moved node i's base. */
static bool moved_something(uint32_t i)
{
    const struct versions *versions = broadcast_versions(world.nodes[i].node);
    uint32_t met = 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (memcmp(versions->origins[origin_index].id, world.nodes[LIAR].identity.id, ID_BYTES) ==
                0 &&
            met++ > 0 && versions->origins[origin_index].applied > 0)
            return true;
    return false;
}

/* The liar restarts without its state up to 12 times, and publishes a lie after each restart.
 * hundredths: lifetime of each incarnation, in 0.01 s. may_move: lies may move bases for a while.
 */
static void restart_and_lie(uint32_t hundredths, bool may_move)
{
    start(true, NODES);
    lie();
    for (int lies = 0; lies < 12 && !is_out(0); lies++) {
        world_kill(&world, LIAR, false);
        world_wipe(&world, LIAR);
        world_start(&world, LIAR);
        for (uint32_t step = 0; step < hundredths; step++) {
            run(SECOND_NS / 100);
            for (uint32_t i = 0; i < LIAR; i++)
                assert_true(may_move || !moved_something(i));
        }
    }
    run(80 * SECOND_NS); /* long enough that no rumor of the liar is withheld any more */
    for (uint32_t i = 0; i < LIAR; i++) {
        assert_true(is_out(i));
        assert_false(moved_something(i));
    }
    must_agree(20 * SECOND_NS);
}

static void a_member_that_restarts_for_each_lie_has_moved_no_base(void **state)
{
    (void)state;
    restart_and_lie(300, false);
}

/* Each incarnation of the liar lives for only 1.3 s. Nodes may apply its lies at first. They must
 * remove all lies of later incarnations once they expel the liar. */
static void released_lies_are_removed_with_later_ones(void **state)
{
    (void)state;
    restart_and_lie(130, true);
}

static struct vote vote_of_first(void)
{
    static uint8_t votes[NODE_VOTES_MAX];
    struct vote vote;
    assert_int_equal(node_votes(world.nodes[0].node, votes), VOTE_BYTES);
    assert_int_equal(vote_parse(votes, &vote), OK);
    return vote;
}

/* The harm began with the liar's first rumor, which no log still has. A vote only covers rumors
 * that most nodes can remove. */
static void votes_spare_rumors_beyond_all_logs(void **state)
{
    struct node_options options = obedient(usual_options());
    const struct base_trial trial = {.samples = 1000, .loss_before = 2, .loss_after = 1};
    struct action action;
    uint32_t origin_index;
    (void)state;
    options.limits.quarantines = true;
    options.log_bytes = LITTLE;
    start_with(options, MANY, NODES);
    struct node *node = world.nodes[0].node;
    const struct origin *liar = liar_at(0, &origin_index);
    for (uint32_t other = 0; other < broadcast_versions(node)->count; other++)
        if (other != origin_index)
            byzantine_on_compared(node, other, 0, 0.5);
    quarantine_review(node);
    for (uint32_t i = 0; i < 3; i++)
        byzantine_on_compared(node, origin_index, 0, -1);
    quarantine_review(node);
    assert_true(retract_reach(node, origin_index) > 0);
    assert_true(quarantine_next_trial(node, &action));
    quarantine_on_trial(node, &trial);
    assert_int_equal(vote_of_first().incarnation, liar->incarnation);
    assert_int_equal(vote_of_first().keep, retract_reach(node, origin_index));
}

static void a_publication_without_a_majority_is_applied_later(void **state)
{
    uint32_t held = 0;
    (void)state;
    start(true, MANY);
    lie_by(BIT);
    while (!is_held(0))
        run(SECOND_NS / 100);
    const uint32_t had = applied_at(0);
    for (; held < 2; held += is_held(0))
        run(SECOND_NS);
    world_cure(&world, LIAR, POISON_SCALE);
    /* normal publications of the liar do not release its oversized one */
    for (; held < 5; held++) {
        run(SECOND_NS);
        assert_true(is_held(0));
        assert_int_equal(applied_at(0), had);
    }
    for (; is_held(0); held++)
        run(SECOND_NS);
    assert_true(held <= 12);
    assert_false(is_out(0));
    /* the note reports the release without an accusation */
    assert_string_equal(world.nodes[0].last[NOTE_HARM].text,
                        "its publications, longer than usual, were withheld for a while and now "
                        "enter the base");
    assert_int_equal(world.nodes[0].last[NOTE_HARM].level, LEVEL_INFO);
    run(SECOND_NS);
    assert_true(applied_at(0) > had);
    must_agree(20 * SECOND_NS);
}

/* Node 0's learner takes orders only between two steps, so it answers the trial late. */
static void a_publication_is_withheld_until_its_trial_has_ended(void **state)
{
    uint32_t held = 0;
    (void)state;
    start(true, MANY);
    world.nodes[0].step_ns = 40 * SECOND_NS;
    run(SECOND_NS);
    lie_by(BIT);
    while (!is_held(0))
        run(SECOND_NS / 100);
    for (; held < 20; held++) {
        run(SECOND_NS);
        assert_true(is_held(0));
    }
    for (; is_held(0); held++)
        run(SECOND_NS);
    assert_true(held <= 60);
}

static void a_released_member_is_not_suspended_again_at_once(void **state)
{
    uint32_t held = 0;
    (void)state;
    start(true, MANY);
    lie_by(BIT);
    for (int second = 0; second < 60; second++) {
        run(SECOND_NS);
        held += is_held(0);
    }
    assert_in_range(held, 5, 8);
    for (int second = 0; second < 20; second++) {
        run(SECOND_NS);
        held += is_held(0);
    }
    assert_true(held > 8);
}

/* The joiner receives a base that lacks the withheld rumors. It receives these rumors like all
 * other nodes. */
static void a_joiner_receives_a_base_during_a_suspension(void **state)
{
    bool was_held = true;
    (void)state;
    start(true, MANY);
    lie();
    for (uint32_t i = 0; i < LIAR; i++)
        while (!is_held(i))
            run(SECOND_NS / 100);
    world_start(&world, NODES);
    const struct node *joiner = world.nodes[NODES].node;
    for (int step = 0; node_bases(joiner) == 0 || node_is_catching_up(joiner); step++) {
        assert_true(step < 500);
        run(SECOND_NS / 100);
        for (uint32_t i = 0; i < LIAR; i++)
            was_held &= is_held(i);
    }
    assert_true(was_held);
    assert_true(applied_at(NODES) > 0);
    assert_int_equal(applied_at(NODES), applied_at(0));
    world_cure(&world, LIAR, POISON_SCALE);
    run(80 * SECOND_NS);
    must_agree(20 * SECOND_NS);
}

/* Two publishing members know no median length and withhold nothing. The joiner withholds their
 * rumors, although the blocks of their base contain them. */
static void a_joiner_takes_the_base_of_two_publishers(void **state)
{
    struct node_options options = obedient(usual_options());
    (void)state;
    options.limits.quarantines = true;
    world.has_list = true;
    add_swarm(FEW, &options);
    for (uint32_t i = 0; i < FEW; i++)
        world_start(&world, i);
    while (!byzantine_is_calm(world.nodes[0].node))
        run(SECOND_NS);
    world_kill(&world, 2, false);
    world_kill(&world, 3, false);
    run(10 * SECOND_NS);
    world_wipe(&world, 3);
    world_start(&world, 3);
    run(5 * SECOND_NS);
    assert_false(byzantine_has_median(world.nodes[3].node));
    assert_true(node_bases(world.nodes[3].node) > 0);
    assert_true(joining_has_joined(world.nodes[3].node));
    run(15 * SECOND_NS);
    assert_int_equal(world.nodes[3].notes[NOTE_HARM], 0); /* no publication was long */
    must_agree(20 * SECOND_NS);
}

/* To leave out withheld rumors, the node must read them from its log. */
static void a_history_without_withheld_rumors_is_sent_once_a_second(void **state)
{
    struct puppet puppet;
    (void)state;
    start(true, MANY);
    lie();
    while (!is_held(0))
        run(SECOND_NS / 100);
    puppet_init(&puppet, 0, 77);
    puppet.identity = world.nodes[NODES].identity;
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(puppet.last[HISTORY].parts, 1);
    assert_true(puppet.last[HISTORY].digest != stats_of(0).digest);
    assert_true(node_is_base(world.nodes[0].node, puppet.last[HISTORY].digest));
    assert_false(node_is_base(world.nodes[0].node, stats_of(0).digest));
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(puppet.last[HISTORY].parts, 0);
    run(2 * SECOND_NS);
    puppet_say(&puppet, &(struct message){.kind = TAKE});
    assert_int_equal(puppet.last[HISTORY].parts, 1);
    assert_int_equal(puppet.heard[HISTORY], 3);
    puppet_free(&puppet);
}

/* Nodes that leave in the midst of an attack wait for the decision about it. */
static void leaving_nodes_wait_for_the_decision(void **state)
{
    uint32_t had[NODES];
    (void)state;
    start(true, NODES);
    for (uint32_t i = 0; i < LIAR; i++)
        had[i] = applied_at(i);
    lie();
    while (!is_held(0))
        run(SECOND_NS / 100);
    for (uint32_t i = 0; i < LIAR; i++)
        world_leave(&world, i);
    for (int step = 0; step < 2000; step++) {
        run(SECOND_NS / 100);
        for (uint32_t i = 0; i < LIAR; i++)
            assert_true(!world_is_running(&world, i) || applied_at(i) <= had[i]);
    }
    for (uint32_t i = 0; i < LIAR; i++) {
        assert_false(world_is_running(&world, i));
        assert_true(world.nodes[i].notes[NOTE_EXPELLED] > 0);
    }
}

/* Without a majority there is no decision, so the node leaves without the rumors. */
static void a_leaving_node_waits_no_longer_than_its_grace(void **state)
{
    (void)state;
    start(true, MANY);
    lie();
    while (!is_held(0))
        run(SECOND_NS / 100);
    world_leave(&world, 0);
    run(3 * SECOND_NS);
    assert_true(world_is_running(&world, 0));
    run(world.nodes[0].options.grace_ns);
    assert_false(world_is_running(&world, 0));
}

/* Starts NODES of `members` listed nodes and a listed puppet. */
static void start_with_puppet(struct puppet *puppet, uint32_t members)
{
    struct node_options options = obedient(usual_options());
    options.limits.quarantines = true;
    options.log_bytes = LARGE;
    start_with(options, members, NODES);
    world.check.outsiders_publish = true;
    puppet_init(puppet, 0, 77);
    puppet->identity = world.nodes[NODES].identity;
    puppet_meet(puppet);
    puppet_hello(puppet);
}

/* Returns true if node i withholds rumors of the puppet. It must have applied none of them. */
static bool withholds(uint32_t i, const struct puppet *puppet)
{
    const struct versions *versions = broadcast_versions(world.nodes[i].node);
    const struct origin *origin = versions_find(versions, origin_tag(puppet->identity.id, 1));
    assert_true(!origin || origin->applied == 0);
    return origin && withheld_has(world.nodes[i].node, versions_index(versions, origin));
}

static void a_silent_member_is_voted_out_for_its_burst(void **state)
{
    static struct puppet puppet;
    const uint32_t joiner = NODES + 1;
    (void)state;
    start_with_puppet(&puppet, NODES + 2);
    puppet_burst(&puppet);
    run(SECOND_NS);
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(withholds(i, &puppet));
    world_start(&world, joiner);
    for (int step = 0; step < 1500; step++) {
        run(SECOND_NS / 100);
        for (uint32_t i = 0; i <= joiner; i++)
            if (world_is_running(&world, i))
                (void)withholds(i, &puppet); /* also checks that no base contains the burst */
    }
    for (uint32_t i = 0; i <= joiner; i++) {
        if (!world_is_running(&world, i))
            continue;
        assert_non_null(proofs_against(world.nodes[i].node, puppet.identity.id));
        assert_null(proofs_against(world.nodes[i].node, world.nodes[joiner].identity.id));
    }
    assert_true(joining_has_joined(world.nodes[joiner].node));
    puppet_free(&puppet);
    must_agree(20 * SECOND_NS);
}

/* The other nodes publish nothing after the joiner's start, so it knows no median length. */
static void a_joiner_also_withholds_a_burst(void **state)
{
    static struct puppet puppet;
    const uint32_t joiner = NODES + 1;
    (void)state;
    start_with_puppet(&puppet, MANY);
    world_rest(&world);
    run(3 * SECOND_NS);
    puppet_burst(&puppet);
    run(SECOND_NS);
    world_start(&world, joiner);
    for (int step = 0; !withholds(joiner, &puppet); step++) {
        assert_true(step < 3000);
        run(SECOND_NS / 100);
    }
    run(5 * SECOND_NS);
    assert_true(withholds(joiner, &puppet));
    puppet_free(&puppet);
}

/* Too many members are absent for a decision. The burst stays withheld for minutes, in which the
 * operator can expel its author. */
static void a_condemned_burst_is_withheld_for_minutes(void **state)
{
    static struct puppet puppet;
    (void)state;
    start_with_puppet(&puppet, MANY);
    puppet_burst(&puppet);
    puppet_free(&puppet);
    run(280 * SECOND_NS);
    assert_null(proofs_against(world.nodes[0].node, puppet.identity.id));
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(withholds(i, &puppet));
    run(60 * SECOND_NS);
    must_agree(20 * SECOND_NS);
}

static float said_by(const struct node *node, const struct identity *who)
{
    const struct versions *versions = broadcast_versions(node);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (memcmp(versions->origins[origin_index].id, who->id, ID_BYTES) == 0)
            return versions->origins[origin_index].rate;
    return 0;
}

/* Returns how many nodes know that member `who` now learns more than eight times faster than
 * `before`. */
static uint32_t know_better(const struct identity *who, float before)
{
    uint32_t know = 0;
    for (uint32_t i = 0; i < CROWD; i++)
        know += said_by(world.nodes[i].node, who) > 8 * before;
    return know;
}

/* Node 2 becomes 64 times faster. It announces its new speed at once and may claim more samples.
 * The broadcast tree may lose a record during its repair, but the next record arrives. */
static void a_member_that_becomes_faster_stays(void **state)
{
    struct node_options options = obedient(usual_options());
    (void)state;
    options.limits.quarantines = true;
    world.has_list = true;
    add_swarm(CROWD, &options);
    for (uint32_t i = 0; i < CROWD; i++) {
        world.nodes[i].step_ns = 64 * MS_NS;
        world_start(&world, i);
    }
    run(20 * SECOND_NS);
    const struct identity *who = &world.nodes[2].identity;
    const struct record *record = &membership_members(world.nodes[2].node)->members[0].record;
    for (const uint64_t stamp = record->stamp; record->stamp == stamp;)
        run(SECOND_NS / 100);
    const float before = said_by(world.nodes[0].node, who);
    world.nodes[2].step_ns /= 64;
    run(3 * SECOND_NS);
    assert_true(know_better(who, before) >= CROWD - 3);
    run(40 * SECOND_NS);
    assert_int_equal(know_better(who, before), CROWD);
    for (uint32_t i = 0; i < CROWD; i++)
        assert_null(proofs_against(world.nodes[i].node, who->id));
    must_agree(20 * SECOND_NS);
}

static void a_full_log_releases_withheld_rumors(void **state)
{
    struct node_options options = obedient(usual_options());
    uint32_t held = 0;
    (void)state;
    options.limits.quarantines = true;
    options.log_bytes = LITTLE;
    start_with(options, MANY, NODES);
    lie_by(BIT);
    for (int second = 0; second < 30; second++) {
        run(SECOND_NS);
        held += is_held(0);
    }
    assert_in_range(held, 1, 6);
    must_agree(20 * SECOND_NS);
}

/* Lengths fall fast while training begins, so the node does not compare them yet. */
static void nothing_is_withheld_of_the_first_publications(void **state)
{
    struct node_options options = obedient(usual_options());
    (void)state;
    options.limits.quarantines = true;
    world.has_list = true;
    add_swarm(NODES, &options);
    for (uint32_t i = 0; i < NODES; i++)
        world_start(&world, i);
    run(4 * SECOND_NS);
    lie_by(10);
    run(SECOND_NS);
    world_cure(&world, LIAR, POISON_SCALE);
    assert_false(byzantine_is_calm(world.nodes[0].node));
    while (!byzantine_is_calm(world.nodes[0].node)) {
        run(SECOND_NS / 100);
        for (uint32_t i = 0; i < LIAR; i++)
            assert_false(is_held(i));
    }
    must_agree(20 * SECOND_NS);
}

static void nothing_is_withheld_without_quarantine(void **state)
{
    (void)state;
    start(false, NODES);
    lie();
    for (int second = 0; second < 10; second++) {
        run(SECOND_NS);
        for (uint32_t i = 0; i < LIAR; i++)
            assert_false(is_held(i));
    }
    assert_true(byzantine_own_part(world.nodes[LIAR].node) == 1);
    must_agree(10 * SECOND_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        EXPULSION(a_voted_out_publication_has_moved_no_base),
        EXPULSION(a_voted_out_first_publication_has_moved_no_base),
        EXPULSION(a_released_member_that_goes_further_is_suspended_again),
        EXPULSION(a_member_that_restarts_for_each_lie_has_moved_no_base),
        EXPULSION(released_lies_are_removed_with_later_ones),
        EXPULSION(votes_spare_rumors_beyond_all_logs),
        EXPULSION(a_publication_without_a_majority_is_applied_later),
        EXPULSION(a_joiner_receives_a_base_during_a_suspension),
        EXPULSION(a_joiner_takes_the_base_of_two_publishers),
        EXPULSION(a_history_without_withheld_rumors_is_sent_once_a_second),
        EXPULSION(leaving_nodes_wait_for_the_decision),
        EXPULSION(a_leaving_node_waits_no_longer_than_its_grace),
        EXPULSION(a_silent_member_is_voted_out_for_its_burst),
        EXPULSION(a_joiner_also_withholds_a_burst),
        EXPULSION(a_condemned_burst_is_withheld_for_minutes),
        EXPULSION(a_member_that_becomes_faster_stays),
        EXPULSION(a_full_log_releases_withheld_rumors),
        EXPULSION(a_publication_is_withheld_until_its_trial_has_ended),
        EXPULSION(a_released_member_is_not_suspended_again_at_once),
        EXPULSION(nothing_is_withheld_of_the_first_publications),
        EXPULSION(nothing_is_withheld_without_quarantine),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
