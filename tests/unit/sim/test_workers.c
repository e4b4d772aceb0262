/* The frame for strategies whose workers do not all wait for each other, tested with a method
 * defined here, and with Ako. */
#include "strategies/workers.h"

#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

#define MODEL_BYTES (4 * PARAMETERS)

/* State of this test's method. */
static struct {
    struct workers *workers;
    uint64_t bytes;       /* size of the message to the next worker after each step; 0 = none */
    uint64_t steps_max;   /* maximum steps of each worker; 0 = unlimited */
    uint64_t received[4]; /* messages received by each worker */
    uint64_t last_ns[4];  /* time of each worker's last step */
    bool halves;          /* steps are made in two halves, each with half of the gradient */
    bool has_ended;
} mine;

static void *mine_begin(struct workers *workers, const float *start)
{
    assert_int_equal(workers_parameters(workers), PARAMETERS);
    assert_non_null(start);
    mine.workers = workers;
    return &mine;
}

static bool mine_may_step(void *self, uint32_t i)
{
    assert_ptr_equal(self, &mine);
    return mine.steps_max == 0 || workers_steps(mine.workers, i) < mine.steps_max;
}

static void mine_on_step(void *self, uint32_t i)
{
    assert_ptr_equal(self, &mine);
    if (mine.halves) {
        float *gradient = workers_gradient(mine.workers, i);
        for (size_t c = 0; c < PARAMETERS; c++)
            gradient[c] /= 2;
        workers_descend(mine.workers, i, gradient);
    } else {
        (void)workers_step(mine.workers, i);
    }
    mine.last_ns[i] = workers_now_ns(mine.workers);
    const struct sim_message message = {.bytes = mine.bytes, .number = i};
    if (mine.bytes > 0)
        workers_send(mine.workers, i, (i + 1) % workers_count(mine.workers), &message);
}

static void mine_on_message(void *self, uint32_t i, uint32_t from,
                            const struct sim_message *message)
{
    assert_ptr_equal(self, &mine);
    assert_int_equal(message->number, from);
    mine.received[i]++;
}

static void mine_end(void *self)
{
    assert_ptr_equal(self, &mine);
    mine.has_ended = true;
}

static const struct workers_method METHOD = {.begin = mine_begin,
                                             .may_step = mine_may_step,
                                             .on_step = mine_on_step,
                                             .on_message = mine_on_message,
                                             .end = mine_end};

/* Plays the scenario of strategy_play.h with the method above. */
static struct played play_mine(const char *const *set, int count)
{
    struct played played = play_open(strategy_three, "ako", set, count);
    const float *weights = workers_play(&METHOD, &played.experiment, &played.outcome);
    experiment_finish(&played.experiment, &played.outcome, weights);
    assert_true(mine.has_ended);
    return played;
}

/* Two workers make a step every 0.2 s, the third one every 0.1 s. */
static void each_worker_steps_at_the_speed_of_its_node(void **state)
{
    (void)state;
    memset(&mine, 0, sizeof mine);
    struct played played = play_mine(NULL, 0);
    const struct node_total *nodes = played.outcome.nodes;
    assert_true(nodes[0].steps == 50 && nodes[1].steps == 50 && nodes[2].steps == 100);
    assert_int_equal(nodes[2].steps_possible, 100);
    assert_int_equal(last_moment(&played)->samples, 200 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 0);
    assert_int_equal(mine.last_ns[2], 10 * SECOND_NS);
    assert_true(isfinite(played.outcome.moments[4].accuracy) && played.outcome.loss < 2);
    assert_true(nodes[0].up_use == 0 && nodes[0].down_use == 0);
    play_end(&played);
}

static void a_worker_that_may_not_step_waits(void **state)
{
    (void)state;
    memset(&mine, 0, sizeof mine);
    mine.steps_max = 7;
    struct played played = play_mine(NULL, 0);
    assert_int_equal(last_moment(&played)->samples, 3 * 7 * 32);
    assert_int_equal(mine.last_ns[0], 7 * 200 * MS_NS);
    assert_int_equal(played.outcome.nodes[0].steps_possible, 50);
    play_end(&played);
}

/* A message of 1 MB takes 8 s of an uplink of 1 Mbit/s. While one leaves, two may wait. */
static void a_full_send_buffer_holds_its_worker_up(void **state)
{
    (void)state;
    memset(&mine, 0, sizeof mine);
    mine.bytes = 1000000;
    struct played played = play_mine(NULL, 0);
    const struct node_total *nodes = played.outcome.nodes;
    assert_int_equal(mine.received[1], 1);
    /* the fourth step begins as the second message leaves */
    assert_true(nodes[0].steps == 4 && nodes[2].steps == 4);
    assert_in_range(nodes[0].sent_bytes, 1200000, 1500000);
    assert_true(nodes[0].up_use > 0.95 && nodes[0].up_use <= 1);
    assert_true(nodes[1].down_use > 0.1 && nodes[1].down_use < 0.13);
    assert_int_equal(played.outcome.links_count, 3);
    play_end(&played);
}

static void a_step_in_two_halves_follows_its_gradient(void **state)
{
    (void)state;
    memset(&mine, 0, sizeof mine);
    mine.halves = true;
    const char *sets[] = {"train.rate=0.04", "train.momentum=0", "train.weight_decay=0",
                          "train.clip=0"};
    struct played halves = play_mine(sets, 4);
    memset(&mine, 0, sizeof mine);
    const char *half[] = {"train.rate=0.02", "train.momentum=0", "train.weight_decay=0",
                          "train.clip=0"};
    struct played whole = play_mine(half, 4);
    assert_same_weights(&halves, &whole, 1e-6f);
    play_end(&halves);
    play_end(&whole);
}

/* Two senders share each slow node's downlink of 0.25 Mbit/s. Elsewhere the uplink of 1 Mbit/s,
 * which two receivers share, is the limit. */
static void ask_for_rates(void *self, uint32_t i)
{
    mine_on_step(self, i);
    assert_true(workers_share(mine.workers, 0, 1) == 15625);
    assert_true(workers_share(mine.workers, 0, 2) == 62500);
    assert_true(fabs(workers_seconds_to_all(mine.workers, 0, 31250) - 2) < 1e-9);
    assert_true(workers_batch(mine.workers, i) == 32);
    assert_true(workers_step_ns(mine.workers, 2) == 100 * MS_NS);
}

static void rates_and_times_follow_the_bottleneck(void **state)
{
    (void)state;
    memset(&mine, 0, sizeof mine);
    mine.steps_max = 1;
    const char *sets[] = {"slow.down=0.25 Mbit/s", "scenario.seconds=1"};
    struct played played = play_open(strategy_three, "ako", sets, 2);
    struct workers_method method = METHOD;
    method.on_step = ask_for_rates;
    (void)workers_play(&method, &played.experiment, &played.outcome);
    play_end(&played);
}

/* Four pairs cross the line to the east. Two pairs use the line within the west. */
static const char two_sites[] = "[scenario]\n"
                                "seconds = 1\n"
                                "nodes = 2 west, 320 samples/s\n"
                                "nodes = 2 east, 320 samples/s\n"
                                "link = west east, rate 8 Mbit/s\n"
                                "link = west west, rate 8 Mbit/s\n"
                                "[model]\n"
                                "layers = dense 10\n"
                                "[data]\n"
                                "source = generated\n"
                                "train_count = 600\n"
                                "test_count = 200\n";

static void ask_for_shares(void *self, uint32_t i)
{
    mine_on_step(self, i);
    assert_true(workers_share(mine.workers, 0, 2) == 250000);
    assert_true(workers_share(mine.workers, 0, 1) == 500000);
    assert_true(workers_share(mine.workers, 2, 3) == 0);
    assert_true(fabs(workers_seconds_to_all(mine.workers, 0, 250000) - 1) < 1e-9);
}

static void workers_share_a_line_between_regions(void **state)
{
    (void)state;
    memset(&mine, 0, sizeof mine);
    mine.steps_max = 1;
    struct played played = play_open(two_sites, "ako", NULL, 0);
    struct workers_method method = METHOD;
    method.on_step = ask_for_shares;
    (void)workers_play(&method, &played.experiment, &played.outcome);
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_steps_at_the_speed_of_its_node),
        cmocka_unit_test(a_worker_that_may_not_step_waits),
        cmocka_unit_test(a_full_send_buffer_holds_its_worker_up),
        cmocka_unit_test(a_step_in_two_halves_follows_its_gradient),
        cmocka_unit_test(rates_and_times_follow_the_bottleneck),
        cmocka_unit_test(workers_share_a_line_between_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
