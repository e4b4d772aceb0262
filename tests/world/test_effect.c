/* Detection by effect: who is steadily against what a node learns, or moves the base much farther
 * than others, is found within a few rumors, and nobody else is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/effect.h"
#include "node/harm.h"
#include "support/sim/effect_story.h"

static void who_goes_against_what_is_learned_is_found_within_three_rumors(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, -0.5, 1, 1);
    must_find_who();
}

static void who_is_against_a_little_while_hardly_anybody_agrees_is_not(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        let_all_publish(0.05, -0.2, 1, 1);
    assert_null(effect_next(node));
}

static void who_agrees_with_nothing_is_not(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        let_all_publish(0.6, i % 2 ? 0.2 : -0.2, 1, 1);
    assert_null(effect_next(node));
}

static void who_moves_the_base_ten_times_as_far_is_found_within_three_rumors(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) /* until it is known to all */
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, 0.5, 1, 10);
    must_find_who();
}

static void who_moves_it_somewhat_farther_is_not(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        let_all_publish(0.5, 0.5, 1, 2.5);
    assert_null(effect_next(node));
}

static void many_rumors_at_once_are_no_longer_than_their_samples(void **state)
{
    (void)state;
    let_all_publish(0.5, 0.5, 1, 1);
    const struct rumor_step step = {.place = WHO, .length = 1, .samples = 100};
    for (int i = 0; i < 100; i++)
        effect_on_rumor(node, &step);
    assert_null(effect_next(node));
}

static void what_was_published_apart_may_be_longer(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const struct rumor_step step = {.place = WHO, .length = 10, .samples = 100};
    for (int second = 0; second < 20; second++) {
        node->now_ns += SECOND_NS;
        effect_review(node);
    }
    for (int i = 0; i < 20; i++)
        effect_on_rumor(node, &step);
    effect_review(node);
    assert_null(effect_next(node));
    for (int i = 0; i < 40; i++) /* by now it is together with us again */
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 6; i++)
        effect_on_rumor(node, &step);
    must_find_who();
}

static void who_was_never_met_may_have_learned_alone(void **state)
{
    (void)state;
    const struct rumor_step step = {.place = WHO, .length = 10, .samples = 100};
    for (int i = 0; i < 20; i++) {
        for (uint32_t place = 0; place < NODES; place++)
            if (place != WHO && !is_own(place))
                effect_on_rumor(node,
                                &(struct rumor_step){.place = place, .length = 1, .samples = 100});
        node->now_ns += SECOND_NS;
        effect_review(node);
    }
    for (int i = 0; i < 20; i++)
        effect_on_rumor(node, &step);
    effect_review(node);
    assert_null(effect_next(node));
    for (int i = 0; i < 40; i++) /* by now it is together with us */
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 6; i++)
        effect_on_rumor(node, &step);
    must_find_who();
}

static void who_has_just_met_others_may_move_it_farther(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, 0.5, 1, 10);
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    assert_null(effect_next(node));
}

static void who_learns_faster_may_move_it_farther(void **state)
{
    (void)state;
    struct versions *versions = (struct versions *)broadcast_versions(node);
    for (uint32_t place = 0; place < NODES; place++)
        versions->origins[place].rate = place == WHO ? 1000 : 100;
    for (int i = 0; i < 100; i++) /* it is allowed 3 * sqrt(10) */
        let_all_publish(0.5, 0.5, 1, 8);
    assert_null(effect_next(node));
}

static void one_publication_alone_is_never_too_long(void **state)
{
    (void)state;
    let_all_publish(0.5, 0.5, 0.01, 0.01);
    let_all_publish(0.5, 0.5, 0.01, 1000); /* in as many rumors as it likes */
    const struct rumor_step piece = {.place = WHO, .seq = 2, .length = 1000};
    for (int i = 0; i < 20; i++)
        effect_on_rumor(node, &piece);
    assert_null(effect_next(node));
    for (int i = 0; i < 30; i++)
        let_all_publish(0.5, 0.5, 1000, 1000);
    assert_null(effect_next(node));
}

static void who_claims_to_have_learned_from_nothing_is_found(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    const struct rumor_step piece = {.place = WHO, .seq = 5, .length = 1};
    for (int i = 0; i < 300; i++)
        effect_on_rumor(node, &piece);
    must_find_who();
}

static void what_few_say_is_typical_of_nothing(void **state)
{
    (void)state;
    const struct rumor_step step = {.place = WHO, .length = 100, .samples = 1};
    for (int i = 0; i < 100; i++) {
        effect_on_rumor(node, &step);
        effect_review(node);
    }
    assert_null(effect_next(node));
}

static void who_stops_harming_is_found_again_when_it_begins_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, -0.5, 1, 1);
    must_find_who();
    for (int i = 0; i < 10; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    struct node_harm harm;
    assert_null(effect_next(node));
    assert_false(node_harm(node, 0, &harm));
    for (int i = 0; i < 3; i++)
        let_all_publish(0.5, -0.5, 1, 1);
    must_find_who();
}

static void what_came_before_it_harmed_is_no_part_of_it(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        let_all_publish(0.5, i == 3 ? -0.2 : 0.5, 1, 1);
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, -0.5, 1, 10); /* against is what is said first */
    const struct origin *origin = effect_next(node);
    assert_non_null(origin);
    assert_int_equal(effect_from(node, origin).seq, 10);
    begin_anew();
    for (int i = 0; i < 7; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 20);
    origin = effect_next(node);
    assert_non_null(origin);
    assert_int_equal(effect_from(node, origin).seq, 7);
}

static void a_publication_of_many_rumors_is_no_longer_for_that(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    effect_on_rumor(node, &(struct rumor_step){.place = WHO, .length = 0.01, .samples = 100});
    for (int i = 0; i < 250; i++) {
        effect_on_rumor(node, &(struct rumor_step){.place = WHO, .length = 0.01});
        assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    }
    for (int i = 0; i < 60; i++)
        effect_on_rumor(node, &(struct rumor_step){.place = WHO, .length = 0.01});
    assert_false(effect_allows(node, WHO, effect_length(node, WHO)));
}

/* All have said the first part of what they publish, which has the samples. */
static void what_is_usual_is_of_whole_publications(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (uint32_t place = 0; place < NODES; place++)
        if (!is_own(place))
            effect_on_rumor(node,
                            &(struct rumor_step){.place = place, .length = 0.1, .samples = 100});
    effect_review(node);
    assert_true(effect_allows(node, WHO, 0.02));
}

static void what_came_long_before_is_not_taken_out(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        let_all_publish(0.5, 0.5, 1, 1);
    for (int i = 0; i < 20; i++) /* so little that it takes a while */
        let_all_publish(0.5, -0.05, 1, 1);
    const struct origin *origin = effect_next(node);
    assert_non_null(origin);
    assert_int_equal(effect_from(node, origin).seq, seq - 4); /* of its last four publications */
}

static void what_is_long_is_known_as_it_comes(void **state)
{
    (void)state;
    const struct rumor_step pieces[] = {{.place = WHO, .length = 2, .samples = 100},
                                        {.place = WHO, .length = 2}};
    assert_true(effect_allows(node, WHO, 1000)); /* nothing is typical yet */
    let_all_publish(0.5, 0.5, 1, 1);             /* all have just met, and it counts for this */
    assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    effect_on_rumor(node, &pieces[0]);
    assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    effect_on_rumor(node, &pieces[1]);
    assert_false(effect_allows(node, WHO, effect_length(node, WHO)));
    assert_true(effect_apart_ns(node, WHO) > node->now_ns);
    for (uint32_t place = 0; place < NODES; place++) /* the others', too: they learn more now */
        if (place != WHO && !is_own(place))
            effect_on_rumor(node,
                            &(struct rumor_step){.place = place, .length = 4, .samples = 100});
    effect_review(node);
    assert_true(effect_allows(node, WHO, effect_length(node, WHO)));
    assert_null(effect_next(node));
}

static void who_claims_to_be_faster_is_allowed_no_more_than_counts(void **state)
{
    (void)state;
    struct versions *versions = (struct versions *)broadcast_versions(node);
    for (uint32_t place = 0; place < NODES; place++)
        versions->origins[place].rate = place == WHO ? 10000 : 100;
    let_all_publish(0.5, 0.5, 1, 1);
    assert_true(effect_allows(node, WHO, 0.11)); /* 3 * sqrt(16) times what is typical */
    assert_false(effect_allows(node, WHO, 0.13));
    assert_true(fabs(effect_length(node, WHO) - 0.01) < 1e-9);
    ((struct node_options *)&node->options)->limits.weight_max = 100;
    assert_false(effect_allows(node, WHO, 0.13));
    ((struct node_options *)&node->options)->limits.weight_max = 2;
    assert_true(effect_allows(node, WHO, 0.042)); /* 3 * sqrt(2) */
    assert_false(effect_allows(node, WHO, 0.043));
    assert_true(fabs(effect_length(node, WHO) - 0.5) < 1e-9); /* a fiftieth of its samples count */
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        TOLD(who_goes_against_what_is_learned_is_found_within_three_rumors),
        TOLD(who_is_against_a_little_while_hardly_anybody_agrees_is_not),
        TOLD(who_agrees_with_nothing_is_not),
        TOLD(who_moves_the_base_ten_times_as_far_is_found_within_three_rumors),
        TOLD(who_moves_it_somewhat_farther_is_not),
        TOLD(many_rumors_at_once_are_no_longer_than_their_samples),
        TOLD(what_was_published_apart_may_be_longer),
        TOLD(who_was_never_met_may_have_learned_alone),
        TOLD(who_has_just_met_others_may_move_it_farther),
        TOLD(who_learns_faster_may_move_it_farther),
        TOLD(one_publication_alone_is_never_too_long),
        TOLD(who_claims_to_have_learned_from_nothing_is_found),
        TOLD(what_few_say_is_typical_of_nothing),
        TOLD(what_came_before_it_harmed_is_no_part_of_it),
        TOLD(a_publication_of_many_rumors_is_no_longer_for_that),
        TOLD(what_is_usual_is_of_whole_publications),
        TOLD(what_came_long_before_is_not_taken_out),
        TOLD(what_is_long_is_known_as_it_comes),
        TOLD(who_claims_to_be_faster_is_allowed_no_more_than_counts),
        TOLD(who_stops_harming_is_found_again_when_it_begins_anew),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
