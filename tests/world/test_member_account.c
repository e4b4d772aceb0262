/* Detection by effect: what is known of a member is known of all its incarnations, and it can claim
 * no more samples than it may have learned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/effect.h"
#include "node/harm.h"
#include "support/sim/effect_story.h"

/* Another incarnation of WHO's node; returns its place. */
static uint32_t begin_incarnation(void)
{
    struct versions *versions = (struct versions *)broadcast_versions(node);
    static uint64_t later;
    const uint64_t incarnation = versions->origins[WHO].incarnation + ++later;
    const struct origin *origin = versions_add(versions, versions->origins[WHO].id, incarnation);
    assert_non_null(origin);
    return versions_place(versions, origin);
}

static void who_begins_anew_for_each_lie_is_found(void **state)
{
    const struct origin *found = NULL;
    struct node_harm harm;
    uint32_t place = WHO, first = WHO;
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 4 && !found; i++) {
        place = begin_incarnation();
        first = i == 0 ? place : first;
        effect_on_rumor(node, &(struct rumor_step){.place = place, .length = 10, .samples = 100});
        for (uint32_t other = 0; other < NODES; other++)
            if (other != WHO && !is_own(other))
                effect_on_rumor(node,
                                &(struct rumor_step){.place = other, .length = 1, .samples = 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
        found = effect_next(node);
    }
    assert_ptr_equal(found, &broadcast_versions(node)->origins[place]);
    assert_true(place > first);
    assert_int_equal(effect_from(node, found).place, first); /* all of them are to go */
    assert_int_equal(effect_from(node, found).seq, 0);
    assert_null(effect_next(node)); /* an account for each member */
    assert_true(node_harm(node, 0, &harm));
    assert_int_equal(harm.incarnation, found->incarnation);
    assert_false(node_harm(node, 1, &harm));
}

/* It was alone when it started, and published all that it had: what comes when it has met others is
 * longer than ever after. */
static void who_begins_anew_once_is_not(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const uint32_t place = begin_incarnation();
    for (uint32_t i = 0; i < 3; i++)
        effect_on_rumor(
            node, &(struct rumor_step){.place = place, .seq = i, .length = 1000, .samples = 100});
    for (uint32_t i = 3; i < 20; i++) {
        node->now_ns += SECOND_NS;
        effect_on_rumor(
            node, &(struct rumor_step){.place = place, .seq = i, .length = 1, .samples = 100});
        effect_review(node);
        assert_null(effect_next(node));
    }
}

static void what_is_applied_after_its_node_began_anew_counts_against_the_member(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const uint32_t place = begin_incarnation();
    effect_on_rumor(node, &(struct rumor_step){.place = place, .length = 1, .samples = 100});
    for (uint32_t i = 0; i < 4; i++)
        effect_on_compared(node, WHO, seq + i, -1);
    const struct origin *found = effect_next(node);
    assert_ptr_equal(found, &broadcast_versions(node)->origins[place]);
    assert_int_equal(effect_from(node, found).place, WHO);
    assert_int_equal(effect_from(node, found).seq, seq);
    assert_null(effect_next(node));
}

/* It harmed before it began anew, but that came late. */
static void what_comes_late_of_an_earlier_stream_goes_with_all_of_the_later(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const uint32_t place = begin_incarnation();
    for (uint32_t i = 0; i < 7; i++) {
        effect_on_rumor(
            node, &(struct rumor_step){.place = place, .seq = i, .length = 1, .samples = 100});
        if (i >= 5)
            effect_on_rumor(
                node,
                &(struct rumor_step){.place = WHO, .seq = 1000 + i, .length = 100, .samples = 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
    }
    const struct origin *found = effect_next(node);
    assert_ptr_equal(found, &broadcast_versions(node)->origins[place]);
    assert_int_equal(effect_from(node, found).place, WHO);
    assert_in_range(effect_from(node, found).seq, 1005, 1006);
}

static void many_beginnings_of_one_are_not_what_is_usual(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 3 * NODES; i++)
        effect_on_rumor(node, &(struct rumor_step){
                                  .place = begin_incarnation(), .length = 100, .samples = 100});
    effect_review(node);
    assert_false(effect_allows(node, WHO, 0.04));
}

static void who_pauses_each_time_is_found(void **state)
{
    const struct origin *found = NULL;
    (void)state;
    for (int i = 0; i < 8; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 100 && !found; i++) {
        for (uint32_t place = 0; place < NODES; place++)
            if (!is_own(place) && (place != WHO || i % 10 == 9))
                effect_on_rumor(node, &(struct rumor_step){.place = place,
                                                           .length = place == WHO ? 10 : 1,
                                                           .samples = 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
        found = effect_next(node);
    }
    assert_ptr_equal(found, &broadcast_versions(node)->origins[WHO]);
}

/* Its speed is what it said to all, and a hundred times the samples make nothing shorter. */
static void more_samples_than_its_speed_allows_do_not_count(void **state)
{
    const struct origin *found = NULL;
    struct versions *versions = (struct versions *)broadcast_versions(node);
    (void)state;
    for (uint32_t place = 0; place < NODES; place++)
        versions->origins[place].rate = 100;
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 20 && !found; i++) {
        for (uint32_t place = 0; place < NODES; place++)
            if (!is_own(place))
                effect_on_rumor(node, &(struct rumor_step){.place = place,
                                                           .length = place == WHO ? 100 : 1,
                                                           .samples = place == WHO ? 10000 : 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
        found = effect_next(node);
    }
    assert_ptr_equal(found, &versions->origins[WHO]);
}

static void say_speeds(float of_who)
{
    struct versions *versions = (struct versions *)broadcast_versions(node);
    for (uint32_t place = 0; place < NODES; place++)
        versions->origins[place].rate = place == WHO ? of_who : 100;
}

/* A hundred times as long, of so many samples. */
static bool is_allowed_at_once(uint64_t samples)
{
    effect_on_rumor(node, &(struct rumor_step){.place = WHO, .length = 100, .samples = samples});
    return effect_allows(node, WHO, effect_length(node, WHO));
}

static void who_learned_as_ever_has_nothing_to_make_up_for(void **state)
{
    (void)state;
    say_speeds(100);
    for (int i = 0; i < 200; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_false(is_allowed_at_once(10000));
}

static void nor_may_who_never_said_how_fast_it_is(void **state)
{
    (void)state;
    say_speeds(0);
    for (int i = 0; i < 200; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_false(is_allowed_at_once(10000));
}

/* Lengths are for each second then, and whose speed is not known learns as fast as most. */
static void nor_is_it_shorter_where_all_shares_are_equal(void **state)
{
    (void)state;
    ((struct node_options *)&node->options)->weigh_throughput = false;
    say_speeds(0);
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    assert_false(is_allowed_at_once(100));
}

/* It may have learned for as long as it likes before this node began. */
static void who_began_before_us_may_come_with_much(void **state)
{
    (void)state;
    say_speeds(100);
    for (int i = 0; i < 5; i++) {
        for (uint32_t place = 0; place < NODES; place++)
            if (!is_own(place) && place != WHO)
                effect_on_rumor(node,
                                &(struct rumor_step){.place = place, .length = 1, .samples = 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
    }
    effect_on_rumor(node,
                    &(struct rumor_step){.place = WHO, .seq = 7, .length = 100, .samples = 10000});
    assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    assert_true(is_allowed_at_once(10000));
}

static void what_was_learned_in_a_silence_counts_when_it_comes(void **state)
{
    (void)state;
    say_speeds(100);
    for (int i = 0; i < 60; i++) {
        for (uint32_t place = 0; place < NODES; place++)
            if (!is_own(place) && (place != WHO || i < 10))
                effect_on_rumor(node,
                                &(struct rumor_step){.place = place, .length = 1, .samples = 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
    }
    for (int i = 0; i < 50; i++) {
        effect_on_rumor(node, &(struct rumor_step){.place = WHO, .length = 1, .samples = 100});
        assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD(who_begins_anew_for_each_lie_is_found),
        TOLD(who_begins_anew_once_is_not),
        TOLD(what_is_applied_after_its_node_began_anew_counts_against_the_member),
        TOLD(what_comes_late_of_an_earlier_stream_goes_with_all_of_the_later),
        TOLD(many_beginnings_of_one_are_not_what_is_usual),
        TOLD(who_pauses_each_time_is_found),
        TOLD(more_samples_than_its_speed_allows_do_not_count),
        TOLD(who_learned_as_ever_has_nothing_to_make_up_for),
        TOLD(nor_may_who_never_said_how_fast_it_is),
        TOLD(nor_is_it_shorter_where_all_shares_are_equal),
        TOLD(who_began_before_us_may_come_with_much),
        TOLD(what_was_learned_in_a_silence_counts_when_it_comes),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
