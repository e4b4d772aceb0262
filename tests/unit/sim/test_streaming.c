/* Streaming DiLoCo: exchanges one fragment of the model at a time, in four bits, while nodes
 * continue to train. */
#include <math.h>

#include "crypto/secret.h"
#include "strategies/e3m0.h"
#include "support/sim/strategy_play.h"

static void four_bits_encode_a_sign_and_one_of_seven_powers_of_two(void **state)
{
    (void)state;
    float values[] = {-8, 6, 5.9f, -1, 0.7f, 0.125f, 0.0625f, -0.06f, 0};
    const float expected[] = {-8, 8, 4, -1, 0.5f, 0.125f, 0.125f, 0, 0};
    e3m0_round(values, sizeof values / sizeof values[0]);
    for (size_t c = 0; c < sizeof values / sizeof values[0]; c++)
        assert_true(values[c] == expected[c]);
    float none[] = {0, 0}, uneven[] = {0.3f, -0.3f, 0.16f};
    e3m0_round(none, 2);
    assert_true(none[0] == 0 && none[1] == 0);
    e3m0_round(uneven, 3);
    assert_true(uneven[0] == 0.3f && uneven[1] == -0.3f && uneven[2] == 0.15f);
}

/* Large entries of one chunk do not affect small entries of another. */
static void each_chunk_has_its_own_scale(void **state)
{
    (void)state;
    float *values = calloc(E3M0_CHUNK + 2, sizeof *values);
    assert_non_null(values);
    values[0] = 1000;
    values[1] = 1;
    values[E3M0_CHUNK] = 0.001f;
    values[E3M0_CHUNK + 1] = -0.0005f;
    e3m0_compressor.compress(NULL, 0, values, E3M0_CHUNK + 2);
    assert_true(values[0] == 1000 && values[1] == 0);
    assert_true(values[E3M0_CHUNK] == 0.001f && values[E3M0_CHUNK + 1] == -0.0005f);
    assert_int_equal(e3m0_compressor.message_bytes(NULL, 9), 5);
    free(values);
}

static void one_fragment_of_floats_without_overlap_equals_diloco(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.fragments=1", "strategy.overlap_steps=0", "strategy.mixing=1",
                          "strategy.wire_precision=float32"};
    struct played streaming = play_with("streaming_diloco", sets, 4), diloco = play("diloco", NULL);
    assert_same_weights(&streaming, &diloco, 0);
    assert_int_equal(last_moment(&streaming)->sent_bytes, last_moment(&diloco)->sent_bytes);
    assert_int_equal(last_moment(&streaming)->samples, last_moment(&diloco)->samples);
    play_end(&streaming);
    play_end(&diloco);
}

/* A round makes one step before the exchange of a fragment and one step during it. Only the first
 * round makes two steps before its exchange. */
static void fragments_have_own_momentum_and_are_mixed_with_later_steps(void **state)
{
    (void)state;
    static float x[PARAMETERS], momentum[PARAMETERS], mean[PARAMETERS], own[PARAMETERS];
    const char *sets[] = {"scenario.seconds=1.8", "strategy.local_steps=4",
                          "strategy.fragments=2", "strategy.overlap_steps=1",
                          "strategy.mixing=0.25", "strategy.wire_precision=float32"};
    struct played played = play_text(strategy_free, "streaming_diloco", sets, 6);
    struct by_hand hand;
    by_hand_begin(&hand, &played);
    learner_read_weights(hand.learners[0], x);
    assert_int_equal(played.outcome.nodes[0].steps, 3 + 2 + 2 + 2);
    for (int round = 0; round < 4; round++) {
        const int first = round % 2 * PARAMETERS / 2, end = first + PARAMETERS / 2;
        memset(mean, 0, sizeof mean);
        for (int i = 0; i < 3; i++) {
            rounds_learn(hand.learners[i], round == 0 ? 2 : 1);
            learner_read_weights(hand.learners[i], own);
            for (int c = first; c < end; c++)
                mean[c] += (own[c] - x[c]) / 3;
        }
        for (int c = first; c < end; c++) {
            momentum[c] = 0.9f * momentum[c] + mean[c];
            x[c] += 0.7f * (mean[c] + 0.9f * momentum[c]);
        }
        for (int i = 0; i < 3; i++) {
            rounds_learn(hand.learners[i], 1);
            learner_read_weights(hand.learners[i], own);
            for (int c = first; c < end; c++)
                own[c] = 0.75f * own[c] + 0.25f * x[c];
            learner_write_weights(hand.learners[i], own);
        }
    }
    learner_write_weights(hand.learners[0], x); /* these weights are evaluated */
    assert_as_by_hand(&hand, &played, 1e-5f);
    by_hand_end(&hand);
    play_end(&played);
}

static float most_apart(const struct played *a, const struct played *b, size_t first)
{
    float most = 0;
    for (size_t c = first; c < PARAMETERS; c++)
        most = fmaxf(most, fabsf(a->experiment.weights[c] - b->experiment.weights[c]));
    return most;
}

/* Messages arrive unchanged. The last of four fragments is exchanged after the last step. The
 * common weights of all other fragments are older. */
static void fragments_do_not_affect_one_node(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.outer_rate=1", "strategy.outer_momentum=0",
                          "strategy.wire_precision=float32", "strategy.overlap_steps=0"};
    struct played alone = play_text(strategy_one, "single", NULL, 0);
    struct played streaming = play_text(strategy_one, "streaming_diloco", sets, 4);
    assert_int_equal(streaming.outcome.nodes[0].steps, 50);
    assert_true(most_apart(&alone, &streaming, PARAMETERS - PARAMETERS / 4) < 1e-5f);
    assert_true(most_apart(&alone, &streaming, 0) > 1e-4f);
    play_end(&alone);
    play_end(&streaming);
}

/* Ten steps are rounds of 2, 3, 2 and 3 steps of 0.2 s. An exchange is four transfers of 40 ms and
 * a third of half a byte an entry. It takes 0.17 s, no longer than the step made meanwhile. A round
 * ends a step after its exchange began, the last one after 48 steps. So all fragments are sent four
 * times, and three of them once more. */
static void an_exchange_is_hidden_by_concurrent_steps(void **state)
{
    (void)state;
    struct played played = play("streaming_diloco", NULL);
    const uint64_t three = 981 + 982 + 981, four = three + 982; /* 7,850 entries in four parts */
    assert_int_equal(played.outcome.nodes[0].steps, 48);
    assert_int_equal(last_moment(&played)->samples, 48 * 3 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 4 * (4 * four + three));
    assert_true(played.outcome.accuracy > 0.25);
    play_end(&played);
}

/* A third of four halves of a byte an entry takes 1.05 s at 1,250 B/s. A round is 1.2 s longer than
 * its steps, so six rounds fit. */
static void longer_exchanges_are_waited_for(void **state)
{
    (void)state;
    struct played played = play("streaming_diloco", "slow.up=10 kbit/s");
    assert_int_equal(played.outcome.nodes[0].steps, 16);
    play_end(&played);
}

static void arriving_weights_are_mixed_with_concurrent_progress(void **state)
{
    (void)state;
    struct played half = play("streaming_diloco", NULL);
    struct played whole = play("streaming_diloco", "strategy.mixing=1");
    assert_true(isfinite(half.outcome.loss) && half.outcome.loss != whole.outcome.loss);
    play_end(&half);
    play_end(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_bits_encode_a_sign_and_one_of_seven_powers_of_two),
        cmocka_unit_test(each_chunk_has_its_own_scale),
        cmocka_unit_test(one_fragment_of_floats_without_overlap_equals_diloco),
        cmocka_unit_test(fragments_have_own_momentum_and_are_mixed_with_later_steps),
        cmocka_unit_test(fragments_do_not_affect_one_node),
        cmocka_unit_test(an_exchange_is_hidden_by_concurrent_steps),
        cmocka_unit_test(longer_exchanges_are_waited_for),
        cmocka_unit_test(arriving_weights_are_mixed_with_concurrent_progress),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
