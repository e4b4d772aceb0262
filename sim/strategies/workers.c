#include "strategies/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/consensus.h"
#include "strategies/traffic.h"

/* While the messages of this many steps wait for a worker's uplink, its next step waits. */
#define WAITING_MAX 2

enum { EVENT_STEP, EVENT_MESSAGES };

struct worker {
    struct learner *learner;
    struct arena arena;
    uint32_t node;      /* index of the worker's node in the scenario */
    uint32_t region;    /* index of the node's region in the scenario */
    uint32_t publishes; /* messages sent by the last step that sent any */
    uint32_t queued;    /* messages sent since the last step began */
    uint64_t step_ns;
    uint64_t steps;
    bool is_stepping;
    double up_s_then;   /* seconds in which the uplink was busy, up to the last moment */
    double down_s_then; /* seconds in which the downlink was busy, up to the last moment */
    uint64_t samples_then;
};

struct workers {
    const struct workers_method *method;
    void *self; /* state of the method; method->end frees it */
    struct experiment *experiment;
    struct event_queue queue;
    struct messages *messages;
    struct worker *workers; /* [count] one per training node */
    uint32_t *worker_of;    /* [nodes] index of each training node's worker */
    uint32_t count;
    size_t parameters; /* P */
    struct rng rng;
    uint64_t samples;      /* samples learned, summed over all workers */
    double gradient_cpu_s; /* processor time spent in steps */
    float *own;            /* [P] weights of one worker */
    float *other;          /* [P] progress or gradient of one worker */
};

uint32_t workers_count(const struct workers *workers)
{
    return workers->count;
}

size_t workers_parameters(const struct workers *workers)
{
    return workers->parameters;
}

const struct scenario *workers_scenario(const struct workers *workers)
{
    return workers->experiment->scenario;
}

const struct experiment *workers_experiment(const struct workers *workers)
{
    return workers->experiment;
}

struct rng *workers_rng(struct workers *workers)
{
    return &workers->rng;
}

uint64_t workers_now_ns(const struct workers *workers)
{
    return workers->queue.now_ns;
}

static struct worker *at(const struct workers *workers, uint32_t i)
{
    CHECK(i < workers->count);
    return &workers->workers[i];
}

uint64_t workers_steps(const struct workers *workers, uint32_t i)
{
    return at(workers, i)->steps;
}

uint64_t workers_step_ns(const struct workers *workers, uint32_t i)
{
    return at(workers, i)->step_ns;
}

uint32_t workers_batch(const struct workers *workers, uint32_t i)
{
    return learner_batch(at(workers, i)->learner);
}

/* Sets `rates` to the bytes per second of worker i's uplink, the link between the two workers'
 * regions, and worker j's downlink; 0 = unlimited. */
static void rates_between(const struct workers *workers, uint32_t i, uint32_t j, double rates[3])
{
    const struct scenario *scenario = workers->experiment->scenario;
    const uint32_t from = at(workers, i)->node, to = at(workers, j)->node;
    const struct path *path =
        &scenario->paths[scenario_region(scenario, from)][scenario_region(scenario, to)];
    const uint64_t now_ns = workers->queue.now_ns;
    rates[0] = (double)rate_at(&scenario_group(scenario, from)->up, now_ns);
    rates[1] = (double)rate_at(&path->rate, now_ns);
    rates[2] = (double)rate_at(&scenario_group(scenario, to)->down, now_ns);
}

static uint32_t workers_in(const struct workers *workers, uint32_t region)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < workers->count; i++)
        count += workers->workers[i].region == region;
    return count;
}

double workers_share(const struct workers *workers, uint32_t i, uint32_t j)
{
    const uint32_t here = at(workers, i)->region, there = at(workers, j)->region;
    const double pairs =
        (double)workers_in(workers, here) * (workers_in(workers, there) - (here == there));
    double rates[3];
    CHECK(i != j);
    rates_between(workers, i, j, rates);
    rates[0] /= workers->count - 1;
    rates[1] /= pairs;
    rates[2] /= workers->count - 1;
    double least = 0;
    for (int k = 0; k < 3; k++)
        if (rates[k] > 0 && (least == 0 || rates[k] < least))
            least = rates[k];
    return least;
}

double workers_seconds_to_all(const struct workers *workers, uint32_t i, double bytes)
{
    double longest = 0;
    for (uint32_t j = 0; j < workers->count; j++) {
        const double rate = j != i ? workers_share(workers, i, j) : 0;
        if (rate > 0)
            longest = fmax(longest, bytes / rate);
    }
    return longest;
}

static void count_step(struct workers *workers, struct worker *worker, uint32_t samples)
{
    worker->steps++;
    workers->samples += samples;
}

const float *workers_step(struct workers *workers, uint32_t i)
{
    struct worker *worker = at(workers, i);
    learner_read_weights(worker->learner, workers->own);
    learner_follow(worker->learner, workers->samples);
    count_step(workers, worker, learner_step(worker->learner));
    learner_read_weights(worker->learner, workers->other);
    for (size_t c = 0; c < workers->parameters; c++)
        workers->other[c] -= workers->own[c];
    return workers->other;
}

float *workers_gradient(struct workers *workers, uint32_t i)
{
    struct worker *worker = at(workers, i);
    learner_follow(worker->learner, workers->samples);
    learner_gradient(worker->learner, workers->other);
    return workers->other;
}

void workers_descend(struct workers *workers, uint32_t i, const float *gradient)
{
    struct worker *worker = at(workers, i);
    count_step(workers, worker, learner_descend(worker->learner, gradient));
}

double workers_losses(struct workers *workers, uint32_t i)
{
    return learner_losses(at(workers, i)->learner);
}

void workers_read(const struct workers *workers, uint32_t i, float *weights)
{
    learner_read_weights(at(workers, i)->learner, weights);
}

void workers_write(struct workers *workers, uint32_t i, const float *weights)
{
    learner_write_weights(at(workers, i)->learner, weights);
}

void workers_add(struct workers *workers, uint32_t i, float scale, const float *values)
{
    const struct content content = {.count = workers->parameters, .values = (float *)values};
    workers_add_content(workers, i, scale, &content);
}

void workers_add_content(struct workers *workers, uint32_t i, float scale,
                         const struct content *content)
{
    workers_read(workers, i, workers->own);
    content_add(content, scale, workers->own);
    workers_write(workers, i, workers->own);
}

void workers_send(struct workers *workers, uint32_t from, uint32_t to,
                  const struct sim_message *message)
{
    at(workers, from)->queued += from != to;
    messages_send(workers->messages, at(workers, from)->node, at(workers, to)->node, message);
}

void workers_send_all(struct workers *workers, uint32_t from, const struct sim_message *message)
{
    for (uint32_t to = 0; to < workers->count; to++) {
        if (to == from)
            continue;
        if (message->content)
            message->content->references++;
        workers_send(workers, from, to, message);
    }
    content_drop(message->content);
}

uint32_t workers_waiting(const struct workers *workers, uint32_t from, uint32_t to)
{
    return messages_waiting(workers->messages, at(workers, from)->node, at(workers, to)->node);
}

static bool is_held_up(const struct workers *workers, uint32_t i)
{
    uint32_t waiting = 0;
    for (uint32_t to = 0; to < workers->count; to++)
        waiting += to != i ? workers_waiting(workers, i, to) : 0;
    return waiting > 0 && waiting >= WAITING_MAX * at(workers, i)->publishes;
}

/* Starts a step of worker i unless one is running, its messages wait or the method forbids it. */
static void begin_step(struct workers *workers, uint32_t i)
{
    struct worker *worker = at(workers, i);
    const struct workers_method *method = workers->method;
    if (worker->queued > 0 && !worker->is_stepping)
        worker->publishes = worker->queued;
    if (worker->is_stepping || is_held_up(workers, i) ||
        (method->may_step && !method->may_step(workers->self, i)))
        return;
    worker->is_stepping = true;
    worker->queued = 0;
    event_queue_put(&workers->queue, workers->queue.now_ns + worker->step_ns, EVENT_STEP, i, 0, 0);
}

static void on_message(void *self, uint32_t to, uint32_t from, const struct sim_message *message)
{
    struct workers *workers = self;
    const uint32_t i = workers->worker_of[to];
    workers->method->on_message(workers->self, i, workers->worker_of[from], message);
    begin_step(workers, i);
}

static void on_room(void *self, uint32_t from)
{
    struct workers *workers = self;
    begin_step(workers, workers->worker_of[from]);
}

static void on_event(struct workers *workers, const struct event *event)
{
    if (event->kind != EVENT_STEP) {
        messages_on_event(workers->messages, event);
        return;
    }
    const double begin_s = sim_learner_cpu_s();
    const uint64_t steps = at(workers, event->who)->steps;
    workers->method->on_step(workers->self, event->who);
    CHECK(at(workers, event->who)->steps == steps + 1);
    at(workers, event->who)->is_stepping = false;
    workers->gradient_cpu_s += sim_learner_cpu_s() - begin_s;
    begin_step(workers, event->who);
}

static void add_worker(struct workers *workers, uint32_t node)
{
    struct experiment *experiment = workers->experiment;
    struct worker *worker = &workers->workers[workers->count];
    const uint32_t batch = experiment_batch(experiment, node);
    const double samples_per_s = scenario_group(experiment->scenario, node)->samples_per_s;
    workers->worker_of[node] = workers->count++;
    worker->node = node;
    worker->region = scenario_region(experiment->scenario, node);
    worker->step_ns = (uint64_t)(batch / samples_per_s * (double)SECOND_NS);
    arena_init_growing(&worker->arena);
    worker->learner = experiment_learner(experiment, node, &worker->arena);
    learner_count_learners(worker->learner, experiment->scenario->nodes_count);
    if (batch != learner_batch(worker->learner))
        learner_set_batch(worker->learner, batch);
}

static void begin(struct workers *workers, const struct workers_method *method,
                  struct experiment *experiment)
{
    const struct scenario *scenario = experiment->scenario;
    const uint32_t nodes = scenario->nodes_count;
    const size_t parameters = experiment_parameters(experiment);
    *workers = (struct workers){
        .method = method,
        .experiment = experiment,
        .workers = memory_new(nodes, sizeof *workers->workers),
        .worker_of = memory_new(nodes, sizeof *workers->worker_of),
        .parameters = parameters,
        .rng = rng_new(scenario->seed, 0),
        .own = memory_new(parameters, sizeof *workers->own),
        .other = memory_new(parameters, sizeof *workers->other),
    };
    event_queue_init(&workers->queue, 0);
    const struct messages_owner owner = {
        .self = workers, .on_message = on_message, .on_room = on_room};
    workers->messages = messages_new(scenario, &workers->queue, EVENT_MESSAGES, &owner);
    for (uint32_t i = 0; i < nodes; i++)
        if (experiment->shards.sizes[i] > 0)
            add_worker(workers, i);
    CHECK(workers->count > 0);
    workers_read(workers, 0, experiment->weights);
    for (uint32_t i = 1; i < workers->count; i++)
        workers_write(workers, i, experiment->weights);
    workers->self = method->begin(workers, experiment->weights);
    for (uint32_t i = 0; i < workers->count; i++)
        begin_step(workers, i);
}

static void end(struct workers *workers)
{
    workers->method->end(workers->self);
    messages_free(workers->messages);
    event_queue_free(&workers->queue);
    for (uint32_t i = 0; i < workers->count; i++) {
        learner_free(workers->workers[i].learner);
        arena_release(&workers->workers[i].arena);
    }
    free(workers->workers);
    free(workers->worker_of);
    free(workers->own);
    free(workers->other);
}

/* Returns the weights to evaluate, in the experiment's buffer. */
static const float *gather(struct workers *workers)
{
    float *weights = workers->experiment->weights;
    if (workers->method->weights) {
        workers->method->weights(workers->self, weights);
        return weights;
    }
    memset(weights, 0, workers->parameters * sizeof *weights);
    for (uint32_t i = 0; i < workers->count; i++) {
        workers_read(workers, i, workers->own);
        for (size_t c = 0; c < workers->parameters; c++)
            weights[c] += workers->own[c] / (float)workers->count;
    }
    return weights;
}

static double distance_now(struct workers *workers)
{
    struct consensus *consensus = consensus_new(workers->parameters);
    for (uint32_t i = 0; i < workers->count; i++) {
        workers_read(workers, i, workers->own);
        consensus_add(consensus, workers->own);
    }
    return consensus_distance(consensus);
}

static void measure_worker(struct workers *workers, uint32_t i, double span_s,
                           struct node_moment *moments)
{
    struct worker *worker = at(workers, i);
    const struct party *party = &messages_wire(workers->messages)->parties[worker->node];
    const uint64_t samples = worker->steps * learner_batch(worker->learner);
    const double up = traffic_use(&party->up, &worker->up_s_then, span_s);
    const double down = traffic_use(&party->down, &worker->down_s_then, span_s);
    const double samples_per_s = (double)(samples - worker->samples_then) / span_s;
    worker->samples_then = samples;
    if (moments) {
        moments[worker->node].samples_per_s = (float)samples_per_s;
        moments[worker->node].up_use = (float)up;
        moments[worker->node].down_use = (float)down;
    }
}

static void measure(struct workers *workers, struct outcome *outcome, double span_s)
{
    struct experiment *experiment = workers->experiment;
    const uint64_t now_ns = workers->queue.now_ns;
    struct moment *moment = outcome_add(outcome, (double)now_ns * 1e-9);
    struct node_moment *nodes = outcome_nodes(outcome);
    for (uint32_t i = 0; i < workers->count; i++) {
        measure_worker(workers, i, span_s, nodes);
        moment->sent_bytes += messages_sent(workers->messages, at(workers, i)->node);
    }
    moment->samples = workers->samples;
    moment->rumor_bytes_published = moment->sent_bytes;
    moment->in_flight = messages_wire(workers->messages)->flying;
    moment->running = experiment->scenario->nodes_count;
    if (experiment_is_evaluation(experiment, now_ns)) {
        moment->distance = distance_now(workers);
        experiment_evaluate(experiment, outcome, now_ns, gather(workers));
    }
    experiment_show(experiment, outcome, now_ns);
}

static void play(struct workers *workers, struct outcome *outcome)
{
    const uint64_t span_ns = workers->experiment->scenario->span_ns;
    struct event_queue *queue = &workers->queue;
    while (queue->now_ns < span_ns && !experiment_is_stopped(workers->experiment)) {
        const uint64_t then_ns = queue->now_ns;
        const uint64_t until_ns = u64_min(then_ns + SECOND_NS, span_ns);
        while (event_queue_next_ns(queue) <= until_ns &&
               !experiment_is_stopped(workers->experiment)) {
            const struct event event = event_queue_take(queue);
            on_event(workers, &event);
        }
        if (experiment_is_stopped(workers->experiment))
            break;
        queue->now_ns = until_ns;
        measure(workers, outcome, (double)(until_ns - then_ns) * 1e-9);
    }
}

static void fill_totals(const struct workers *workers, struct outcome *outcome)
{
    const struct wire *wire = messages_wire(workers->messages);
    for (uint32_t i = 0; i < workers->count; i++) {
        const struct worker *worker = at(workers, i);
        struct node_total *total = &outcome->nodes[worker->node];
        total->steps = worker->steps;
        total->samples = worker->steps * learner_batch(worker->learner);
        total->steps_possible = workers->queue.now_ns / worker->step_ns;
        total->sent_bytes = messages_sent(workers->messages, worker->node);
        total->received_bytes = messages_received(workers->messages, worker->node);
        traffic_total_node(total, &wire->parties[worker->node], outcome_span_s(outcome));
    }
    traffic_total_links(outcome, wire);
    outcome->events = workers->queue.taken;
    outcome->gradient_cpu_s = workers->gradient_cpu_s;
}

const float *workers_play(const struct workers_method *method, struct experiment *experiment,
                          struct outcome *outcome)
{
    struct workers workers;
    begin(&workers, method, experiment);
    play(&workers, outcome);
    if (experiment_is_stopped(experiment))
        outcome->stopped_s = (double)workers.queue.now_ns * 1e-9;
    fill_totals(&workers, outcome);
    const float *weights = gather(&workers);
    end(&workers);
    return weights;
}
