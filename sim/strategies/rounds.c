#include "strategies/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "world/event_queue.h"

struct rounds {
    const struct rounds_method *method;
    void *self; /* the method's own */
    struct experiment *experiment;
    struct learner **learners; /* [count] */
    uint32_t *nodes;           /* [count]: node of each learner */
    struct arena *arenas;      /* [count] */
    uint32_t count;
    uint64_t step_samples; /* samples of a step, over all nodes */
    uint64_t step_ns;      /* duration of a step of the slowest node */
    uint64_t steps;        /* of each node so far */
    uint64_t sent_bytes;   /* of all nodes so far */
    uint64_t shown_ns;     /* time of the last moment */
};

void round_is_ring_reduce(struct round *round, uint32_t count, uint64_t message_bytes)
{
    CHECK(count > 0);
    round->transfers = 2 * (count - 1);
    round->bytes = round->transfers * message_bytes;
}

void round_is_ring_gather(struct round *round, uint32_t count, uint64_t message_bytes)
{
    CHECK(count > 0);
    round->transfers = count - 1;
    round->bytes = (uint64_t)count * round->transfers * message_bytes;
}

void rounds_learn(struct learner *learner, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++)
        (void)learner_step(learner);
}

float rounds_or_published(double configured, double published)
{
    return (float)(configured == CONFIG_AUTO_REAL ? published : configured);
}

static void add_learner(struct rounds *rounds, uint32_t node)
{
    struct experiment *experiment = rounds->experiment;
    const uint32_t i = rounds->count++, batch = experiment_batch(experiment, node);
    const double samples_per_s = scenario_group(experiment->scenario, node)->samples_per_s;
    const uint64_t step_ns = (uint64_t)(batch / samples_per_s * (double)SECOND_NS);
    rounds->nodes[i] = node;
    arena_init_growing(&rounds->arenas[i]);
    rounds->learners[i] = experiment_learner(experiment, node, &rounds->arenas[i]);
    if (batch != learner_batch(rounds->learners[i]))
        learner_set_batch(rounds->learners[i], batch);
    rounds->step_samples += batch;
    rounds->step_ns = step_ns > rounds->step_ns ? step_ns : rounds->step_ns;
}

static void begin(struct rounds *rounds, const struct rounds_method *method, const void *settings,
                  struct experiment *experiment)
{
    const uint32_t nodes = experiment->scenario->nodes_count;
    *rounds = (struct rounds){
        .method = method,
        .experiment = experiment,
        .learners = memory_new(nodes, sizeof *rounds->learners),
        .nodes = memory_new(nodes, sizeof *rounds->nodes),
        .arenas = memory_new(nodes, sizeof *rounds->arenas),
    };
    for (uint32_t i = 0; i < nodes; i++)
        if (experiment->shards.sizes[i] > 0)
            add_learner(rounds, i);
    CHECK(rounds->count > 0);
    learner_read_weights(rounds->learners[0], experiment->weights);
    for (uint32_t i = 1; i < rounds->count; i++)
        learner_write_weights(rounds->learners[i], experiment->weights);
    rounds->self = method->begin(experiment, settings, rounds->count, experiment->weights);
}

static void end(struct rounds *rounds)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        learner_free(rounds->learners[i]);
        arena_release(&rounds->arenas[i]);
    }
    rounds->method->end(rounds->self);
    free(rounds->learners);
    free(rounds->nodes);
    free(rounds->arenas);
}

static void slower(uint64_t *least, const struct rate *rate, uint64_t now_ns)
{
    const uint64_t bytes_per_s = rate_at(rate, now_ns);
    if (bytes_per_s && (!*least || bytes_per_s < *least))
        *least = bytes_per_s;
}

/* Duration of the exchange of a round, if it begins now. */
static uint64_t exchange_ns(const struct rounds *rounds, const struct round *round, uint64_t now_ns)
{
    const struct scenario *scenario = rounds->experiment->scenario;
    uint64_t slowest = 0, longest_ns = 0;
    uint32_t senders = 0;
    for (uint32_t i = 0; i < rounds->count; i++) {
        const uint32_t next = round->to ? round->to[i] : (i + 1) % rounds->count;
        const uint32_t from = rounds->nodes[i], to = rounds->nodes[next];
        const struct path *path =
            &scenario->paths[scenario_region(scenario, from)][scenario_region(scenario, to)];
        if (from == to)
            continue;
        slower(&slowest, &scenario_group(scenario, from)->up, now_ns);
        slower(&slowest, &scenario_group(scenario, to)->down, now_ns);
        slower(&slowest, &path->rate, now_ns);
        const uint64_t delay_ns = path->delay_ns + path->jitter_ns / 2;
        longest_ns = delay_ns > longest_ns ? delay_ns : longest_ns;
        senders++;
    }
    const double bytes = senders ? (double)round->bytes / senders : 0;
    const double sending_s = slowest ? bytes / (double)slowest : 0;
    return round->transfers * longest_ns + (uint64_t)(sending_s * (double)SECOND_NS);
}

/* One round; nothing of it counts if it is interrupted before the exchange. */
static void play_round(struct rounds *rounds, const struct round *round, double *cpu_s)
{
    const struct rounds_method *method = rounds->method;
    const double begin_s = sim_learner_cpu_s();
    for (uint32_t i = 0; i < rounds->count && !experiment_is_stopped(rounds->experiment); i++) {
        learner_follow(rounds->learners[i], rounds->steps * rounds->step_samples);
        method->send(rounds->self, i, rounds->learners[i]);
    }
    if (!experiment_is_stopped(rounds->experiment)) {
        method->exchange(rounds->self);
        for (uint32_t i = 0; i < rounds->count; i++)
            method->receive(rounds->self, i, rounds->learners[i]);
        rounds->steps += round->steps + round->meanwhile;
        rounds->sent_bytes += round->bytes;
    }
    *cpu_s += sim_learner_cpu_s() - begin_s;
}

/* Moments before that time, which show the weights before the next round ends: one each second, and
 * one at the end. */
static void show_until(struct rounds *rounds, struct outcome *outcome, uint64_t until_ns)
{
    struct experiment *experiment = rounds->experiment;
    const struct scenario *scenario = experiment->scenario;
    while (rounds->shown_ns < scenario->span_ns && !experiment_is_stopped(experiment)) {
        const uint64_t second_ns = rounds->shown_ns + SECOND_NS;
        const uint64_t at_ns = second_ns < scenario->span_ns ? second_ns : scenario->span_ns;
        if (at_ns >= until_ns)
            return;
        rounds->shown_ns = at_ns;
        struct moment *moment = outcome_add(outcome, (double)at_ns * 1e-9);
        moment->samples = rounds->steps * rounds->step_samples;
        moment->sent_bytes = rounds->sent_bytes;
        moment->rumor_bytes_published = moment->sent_bytes;
        moment->running = scenario->nodes_count;
        experiment_evaluate(experiment, outcome, at_ns, rounds->method->weights(rounds->self));
        experiment_show(experiment, outcome, at_ns);
    }
}

static void fill_totals(const struct rounds *rounds, struct outcome *outcome)
{
    for (uint32_t i = 0; i < rounds->count; i++) {
        struct node_total *total = &outcome->nodes[rounds->nodes[i]];
        total->steps = rounds->steps;
        total->samples = total->steps * learner_batch(rounds->learners[i]);
        total->sent_bytes = total->received_bytes = rounds->sent_bytes / rounds->count;
    }
}

static void play(struct rounds *rounds, struct outcome *outcome)
{
    struct experiment *experiment = rounds->experiment;
    uint64_t now_ns = 0;
    while (!experiment_is_stopped(experiment)) {
        const struct round round = rounds->method->next(rounds->self);
        CHECK(round.steps + round.meanwhile > 0);
        const uint64_t sent_ns = now_ns + round.steps * rounds->step_ns;
        const uint64_t waiting_ns = exchange_ns(rounds, &round, sent_ns);
        const uint64_t computing_ns = round.meanwhile * rounds->step_ns;
        now_ns = sent_ns + (waiting_ns > computing_ns ? waiting_ns : computing_ns);
        show_until(rounds, outcome, now_ns);
        if (now_ns > experiment->scenario->span_ns)
            break;
        play_round(rounds, &round, &outcome->gradient_cpu_s);
    }
}

const float *rounds_play(const struct rounds_method *method, const void *settings,
                         struct experiment *experiment, struct outcome *outcome)
{
    struct rounds rounds;
    begin(&rounds, method, settings, experiment);
    play(&rounds, outcome);
    if (experiment_is_stopped(experiment))
        outcome->stopped_s = (double)rounds.shown_ns * 1e-9;
    fill_totals(&rounds, outcome);
    memcpy(experiment->weights, method->weights(rounds.self),
           experiment_parameters(experiment) * sizeof *experiment->weights);
    end(&rounds);
    return experiment->weights;
}
