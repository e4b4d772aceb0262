/* Plays synchronous SGD over a free network, the upper bound of averaging gradients at this speed:
 * one model on all data. Its batch is the sum of all nodes' batches, divided so that all nodes
 * finish a step at the same time. */
#include "events/event_queue.h"
#include "strategies/strategy.h"

static double samples_per_s(const struct scenario *scenario)
{
    double sum = 0;
    for (uint32_t i = 0; i < scenario->nodes_count; i++)
        sum += scenario_group(scenario, i)->samples_per_s;
    return sum;
}

const float *ideal_play(struct experiment *experiment, struct outcome *outcome)
{
    const struct scenario *scenario = experiment->scenario;
    struct arena arena;
    arena_init_growing(&arena);
    struct config config = scenario->config;
    config.train.batch = experiment->batch;
    const struct learner_options options = setup_learner_options(&config, &experiment->made, 0, 0);
    struct learner *learner = learner_new(&arena, experiment->backend, experiment->made.model,
                                          &experiment->train, NULL, &options);
    learner_count_learners(learner, scenario->nodes_count);
    const double step_s = experiment->batch / samples_per_s(scenario);
    uint64_t now_ns = SECOND_NS;
    for (; now_ns <= scenario->span_ns && !experiment_is_stopped(experiment); now_ns += SECOND_NS) {
        const double begin_s = sim_learner_cpu_s();
        while (((double)learner_samples(learner) / experiment->batch + 1) * step_s <=
               (double)now_ns * 1e-9)
            (void)learner_step(learner);
        outcome->gradient_cpu_s += sim_learner_cpu_s() - begin_s;
        struct moment *moment = outcome_add(outcome, (double)now_ns * 1e-9);
        moment->samples = learner_samples(learner);
        moment->running = scenario->nodes_count;
        learner_read_weights(learner, experiment->weights);
        experiment_evaluate(experiment, outcome, now_ns, experiment->weights);
        experiment_show(experiment, outcome, now_ns);
    }
    if (now_ns <= scenario->span_ns)
        outcome->stopped_s = (double)(now_ns - SECOND_NS) * 1e-9;
    learner_free(learner);
    arena_release(&arena);
    return experiment->weights;
}
