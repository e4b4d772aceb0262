#include "support/sim/strategy_play.h"

#include <math.h>

const char strategy_three[] = "[scenario]\n"
                              "seconds = 10\n"
                              "evaluate_s = 5\n"
                              "evaluate_samples = 100\n"
                              "nodes = 2 slow, 160 samples/s, up 1 Mbit/s, down 8 Mbit/s\n"
                              "nodes = 1 fast, 320 samples/s, up 1 Mbit/s, down 8 Mbit/s\n"
                              "link = all, rtt 80 ms\n"
                              "expect = steps >= 0 %\n"
                              "[model]\n"
                              "layers = dense 10\n"
                              "[data]\n"
                              "source = generated\n"
                              "train_count = 600\n"
                              "test_count = 200\n"
                              "[exchange]\n"
                              "bytes_per_s = 5000\n"
                              "[strategy]\n"
                              "local_steps = 10\n";

const char strategy_one[] = "[scenario]\n"
                            "seconds = 10\n"
                            "evaluate_s = 5\n"
                            "nodes = 1 alone, 160 samples/s\n"
                            "[model]\n"
                            "layers = dense 10\n"
                            "[data]\n"
                            "source = generated\n"
                            "train_count = 600\n"
                            "test_count = 200\n"
                            "[train]\n"
                            "optimizer = adam\n"
                            "rate = 0.001\n"
                            "schedule = cosine\n"
                            "period_samples = 1600\n"
                            "[strategy]\n"
                            "local_steps = 10\n";

const char strategy_free[] = "[scenario]\n"
                             "seconds = 0.6\n"
                             "nodes = 3 alike, 160 samples/s\n"
                             "[model]\n"
                             "layers = dense 10\n"
                             "[data]\n"
                             "source = generated\n"
                             "train_count = 600\n"
                             "test_count = 200\n"
                             "[train]\n"
                             "momentum = 0\n"
                             "weight_decay = 0\n"
                             "clip = 0\n"
                             "rate = 0.2\n"
                             "[strategy]\n"
                             "local_steps = 1\n";

int watched;
int stop_after;

static void on_moment(void *watcher, const struct outcome *outcome, double progress)
{
    assert_ptr_equal(watcher, &watched);
    assert_true(outcome->moments_count > 0 && progress > 0);
    watched++;
}

static bool is_stopped(void *watcher)
{
    assert_ptr_equal(watcher, &watched);
    return stop_after > 0 && watched >= stop_after;
}

struct played play_open(const char *text, const char *strategy, const char *const *set, int count)
{
    struct played played = {.scenario = calloc(1, sizeof *played.scenario)};
    char path[] = "/tmp/test_baselines.XXXXXX", choose[64];
    const char *sets[8] = {choose};
    struct problem problem;
    const int file = mkstemp(path);
    assert_true(file >= 0 && played.scenario && count < 8);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
    (void)snprintf(choose, sizeof choose, "scenario.strategy=%s", strategy);
    for (int i = 0; i < count; i++)
        sets[1 + i] = set[i];
    if (scenario_load(played.scenario, path, sets, 1 + count, &problem) != OK)
        fail_msg("%s", problem.text);
    (void)unlink(path);
    assert_int_equal(experiment_open(&played.experiment, played.scenario, &problem), OK);
    watched = 0;
    played.experiment.watcher = &watched;
    played.experiment.on_moment = on_moment;
    played.experiment.is_stopped = is_stopped;
    outcome_init(&played.outcome, played.scenario);
    assert_string_equal(scenario_strategy_name(played.scenario->strategy), strategy);
    return played;
}

struct played play_text(const char *text, const char *strategy, const char *const *set, int count)
{
    struct played played = play_open(text, strategy, set, count);
    experiment_finish(&played.experiment, &played.outcome,
                      strategy_play(&played.experiment, &played.outcome));
    assert_true(watched >= (stop_after ? stop_after : (int)seconds_of(played.scenario->span_ns)));
    return played;
}

struct played play_with(const char *strategy, const char *const *set, int count)
{
    return play_text(strategy_three, strategy, set, count);
}

struct played play(const char *strategy, const char *set)
{
    return play_with(strategy, &set, set ? 1 : 0);
}

void play_end(struct played *played)
{
    outcome_free(&played->outcome);
    experiment_close(&played->experiment);
    free(played->scenario);
}

const struct moment *last_moment(const struct played *played)
{
    return &played->outcome.moments[played->outcome.moments_count - 1];
}

static void assert_near(const struct played *played, const float *weights, float by)
{
    const size_t parameters = experiment_parameters(&played->experiment);
    float most = 0, moved = 0, *start = calloc(parameters, sizeof *start);
    assert_non_null(start);
    model_init(played->experiment.made.model, played->scenario->config.model.seed, start);
    for (size_t c = 0; c < parameters; c++) {
        most = fmaxf(most, fabsf(played->experiment.weights[c] - weights[c]));
        moved = fmaxf(moved, fabsf(played->experiment.weights[c] - start[c]));
    }
    assert_true(most <= by && moved > 0.01f);
    free(start);
}

void assert_same_weights(const struct played *a, const struct played *b, float by)
{
    assert_near(a, b->experiment.weights, by);
}

void by_hand_begin(struct by_hand *hand, struct played *played)
{
    *hand = (struct by_hand){.count = played->scenario->nodes_count};
    assert_true(hand->count <= 3);
    for (uint32_t i = 0; i < hand->count; i++) {
        arena_init_growing(&hand->arenas[i]);
        hand->learners[i] = experiment_learner(&played->experiment, i, &hand->arenas[i]);
        assert_int_equal(learner_batch(hand->learners[i]),
                         experiment_batch(&played->experiment, i));
    }
}

void by_hand_end(struct by_hand *hand)
{
    for (uint32_t i = 0; i < hand->count; i++) {
        learner_free(hand->learners[i]);
        arena_release(&hand->arenas[i]);
    }
}

void assert_as_by_hand(const struct by_hand *hand, const struct played *played, float by)
{
    float *weights = calloc(experiment_parameters(&played->experiment), sizeof *weights);
    assert_non_null(weights);
    learner_read_weights(hand->learners[0], weights);
    assert_near(played, weights, by);
    free(weights);
}

double weights_apart(const struct played *a, const struct played *b)
{
    const size_t parameters = experiment_parameters(&a->experiment);
    double difference = 0, moved = 0;
    float *start = calloc(parameters, sizeof *start);
    assert_non_null(start);
    model_init(a->experiment.made.model, a->scenario->config.model.seed, start);
    for (size_t c = 0; c < parameters; c++) {
        difference += pow((double)a->experiment.weights[c] - b->experiment.weights[c], 2);
        moved += pow((double)a->experiment.weights[c] - start[c], 2);
    }
    free(start);
    return sqrt(difference / moved);
}

double loss_at_start(struct played *played)
{
    float *start = calloc(experiment_parameters(&played->experiment), sizeof *start);
    assert_non_null(start);
    model_init(played->experiment.made.model, played->scenario->config.model.seed, start);
    const struct evaluation mark = experiment_mark(&played->experiment, start, 0);
    free(start);
    return mark.loss;
}
