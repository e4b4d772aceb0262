/* Plays each node by itself on its shard, without communication: the baseline that a swarm must
 * beat. Accuracy is the mean over the nodes. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "events/event_queue.h"
#include "strategies/strategy.h"

struct single {
    struct arena arena;
    struct learner *learner; /* NULL = the node does not train */
    uint32_t batch;          /* samples per step */
    uint64_t step_ns;
    uint64_t from_ns;  /* virtual time at which the node starts */
    uint64_t until_ns; /* virtual time at which the node leaves; UINT64_MAX = never */
    uint64_t steps;
};

static void make_node(struct experiment *experiment, uint32_t i, struct single *one)
{
    const struct group *group = scenario_group(experiment->scenario, i);
    if (experiment->shards.sizes[i] == 0)
        return;
    arena_init_growing(&one->arena);
    one->learner = experiment_learner(experiment, i, &one->arena);
    one->batch = experiment_batch(experiment, i);
    if (one->batch != learner_batch(one->learner))
        learner_set_batch(one->learner, one->batch);
    one->step_ns = (uint64_t)((double)one->batch / group->samples_per_s * (double)SECOND_NS);
    one->from_ns = group->start_ns;
    one->until_ns = group->stop_ns ? group->stop_ns : UINT64_MAX;
}

static void train_until(struct single *one, uint64_t now_ns, double *cpu_s)
{
    const uint64_t until_ns = u64_min(now_ns, one->until_ns);
    const double begin_s = sim_learner_cpu_s();
    while (one->learner && one->from_ns + (one->steps + 1) * one->step_ns <= until_ns) {
        (void)learner_step(one->learner);
        one->steps++;
    }
    *cpu_s += sim_learner_cpu_s() - begin_s;
}

/* Evaluates the models of all training nodes on the first `samples` test samples; 0 = all. */
static void evaluate(struct experiment *experiment, struct outcome *outcome, struct single *all,
                     uint32_t samples, double *mean_accuracy, double *mean_loss)
{
    double accuracy = 0, loss = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < experiment->scenario->nodes_count; i++) {
        if (!all[i].learner)
            continue;
        learner_read_weights(all[i].learner, experiment->weights);
        const struct evaluation own = experiment_mark(experiment, experiment->weights, samples);
        outcome->nodes[i].accuracy = evaluation_accuracy(&own);
        outcome->tested = own.samples;
        accuracy += outcome->nodes[i].accuracy;
        loss += own.loss;
        count++;
    }
    *mean_accuracy = count ? accuracy / count : NAN;
    *mean_loss = count ? loss / count : NAN;
}

const float *single_play(struct experiment *experiment, struct outcome *outcome)
{
    const struct scenario *scenario = experiment->scenario;
    struct single *all = memory_new(scenario->nodes_count, sizeof *all);
    for (uint32_t i = 0; i < scenario->nodes_count; i++)
        make_node(experiment, i, &all[i]);
    uint64_t now_ns = SECOND_NS;
    for (; now_ns <= scenario->span_ns && !experiment_is_stopped(experiment); now_ns += SECOND_NS) {
        struct moment *moment = outcome_add(outcome, (double)now_ns * 1e-9);
        for (uint32_t i = 0; i < scenario->nodes_count; i++) {
            train_until(&all[i], now_ns, &outcome->gradient_cpu_s);
            moment->samples += all[i].steps * all[i].batch;
        }
        moment->running = scenario->nodes_count;
        const bool last = now_ns + SECOND_NS > scenario->span_ns;
        if (last || experiment_is_evaluation(experiment, now_ns))
            evaluate(experiment, outcome, all, scenario->evaluate_samples, &moment->accuracy,
                     &moment->loss);
        outcome->accuracy = moment->accuracy;
        outcome->loss = moment->loss;
        if (last)
            evaluate(experiment, outcome, all, 0, &outcome->accuracy, &outcome->loss);
        experiment_show(experiment, outcome, now_ns);
    }
    outcome->trained_accuracy = outcome->accuracy;
    outcome->trained_loss = outcome->loss;
    if (now_ns <= scenario->span_ns)
        outcome->stopped_s = (double)(now_ns - SECOND_NS) * 1e-9;
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        outcome->nodes[i].steps = outcome->nodes[i].steps_possible = all[i].steps;
        outcome->nodes[i].samples = all[i].steps * all[i].batch;
        if (all[i].learner)
            learner_free(all[i].learner);
        arena_release(&all[i].arena);
    }
    free(all);
    return NULL;
}
