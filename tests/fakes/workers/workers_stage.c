#include "workers/workers_stage.h"

#include "base/memory.h"
#include "scenario/strategy_keys.h"

struct workers *stage_new(uint32_t count, size_t parameters, const char *const *sets,
                          int sets_count)
{
    struct workers *stage = memory_new(1, sizeof *stage);
    struct scenario *scenario = memory_new(1, sizeof *scenario);
    strategy_keys_defaults(&scenario->settings);
    for (int i = 0; i < sets_count; i++) {
        char name[64];
        struct problem problem;
        const char *value = strchr(sets[i], '=');
        assert_non_null(value);
        (void)snprintf(name, sizeof name, "%.*s", (int)(value - sets[i]), sets[i]);
        if (strategy_keys_set(&scenario->settings, NULL, name, value + 1, 0, &problem) != OK)
            fail_msg("%s", problem.text);
    }
    *stage = (struct workers){
        .experiment = {.scenario = scenario},
        .count = count,
        .parameters = parameters,
        .weights = memory_new(count * parameters, sizeof *stage->weights),
        .steps = memory_new(count, sizeof *stage->steps),
        .step_ns = memory_new(count, sizeof *stage->step_ns),
        .batches = memory_new(count, sizeof *stage->batches),
        .losses = memory_new(count, sizeof *stage->losses),
        .up = memory_new(count, sizeof *stage->up),
        .rng = rng_new(1, 0),
        .own = memory_new(parameters, sizeof *stage->own),
    };
    for (uint32_t i = 0; i < count; i++) {
        stage->step_ns[i] = 1000000000;
        stage->batches[i] = 10;
    }
    return stage;
}

void stage_begin(struct workers *stage, stage_play *play, const float *start)
{
    stage->experiment.watcher = stage;
    for (uint32_t i = 0; start && i < stage->count; i++)
        memcpy(stage_weights(stage, i), start, stage->parameters * sizeof *start);
    (void)play(&stage->experiment, NULL);
    assert_non_null(stage->method);
    stage->self = stage->method->begin(stage, stage->weights);
}

const float *workers_play(const struct workers_method *method, struct experiment *experiment,
                          struct outcome *outcome)
{
    struct workers *stage = experiment->watcher;
    (void)outcome;
    stage->method = method;
    return NULL;
}

struct workers *stage_open(stage_play *play, uint32_t count, size_t parameters,
                           const char *const *sets, int sets_count)
{
    struct workers *stage = stage_new(count, parameters, sets, sets_count);
    stage_begin(stage, play, NULL);
    return stage;
}

void stage_close(struct workers *stage)
{
    stage->method->end(stage->self);
    for (uint32_t k = 0; k < stage->posts_count; k++)
        content_drop(stage->posts[k].message.content);
    free((void *)stage->experiment.scenario);
    free(stage->weights);
    free(stage->steps);
    free(stage->step_ns);
    free(stage->batches);
    free(stage->losses);
    free(stage->up);
    free(stage->own);
    free(stage);
}

bool stage_may_step(struct workers *stage, uint32_t i)
{
    return !stage->method->may_step || stage->method->may_step(stage->self, i);
}

void stage_step(struct workers *stage, uint32_t i, const float *change)
{
    float *nothing = memory_new(stage->parameters, sizeof *nothing);
    const uint64_t steps = stage->steps[i];
    assert_true(stage_may_step(stage, i));
    stage->change = change ? change : nothing;
    stage->method->on_step(stage->self, i);
    assert_int_equal(stage->steps[i], steps + 1);
    stage->change = NULL;
    free(nothing);
}

void stage_deliver(struct workers *stage, uint32_t k)
{
    assert_true(k < stage->posts_count);
    const struct stage_post post = stage->posts[k];
    stage->posts_count--;
    memmove(&stage->posts[k], &stage->posts[k + 1],
            (stage->posts_count - k) * sizeof *stage->posts);
    stage->method->on_message(stage->self, post.to, post.from, &post.message);
    content_drop(post.message.content);
}

void stage_deliver_all(struct workers *stage)
{
    while (stage->posts_count > 0)
        stage_deliver(stage, 0);
}

float *stage_weights(struct workers *stage, uint32_t i)
{
    assert_true(i < stage->count);
    return stage->weights + i * stage->parameters;
}

double stage_sum(struct workers *stage, size_t c)
{
    double sum = 0;
    for (uint32_t i = 0; i < stage->count; i++)
        sum += stage_weights(stage, i)[c];
    return sum;
}

uint32_t workers_count(const struct workers *stage)
{
    return stage->count;
}

size_t workers_parameters(const struct workers *stage)
{
    return stage->parameters;
}

const struct scenario *workers_scenario(const struct workers *stage)
{
    return stage->experiment.scenario;
}

const struct experiment *workers_experiment(const struct workers *stage)
{
    return &stage->experiment;
}

struct rng *workers_rng(struct workers *stage)
{
    return &stage->rng;
}

uint64_t workers_now_ns(const struct workers *stage)
{
    (void)stage;
    return 0;
}

uint64_t workers_steps(const struct workers *stage, uint32_t i)
{
    return stage->steps[i];
}

uint64_t workers_step_ns(const struct workers *stage, uint32_t i)
{
    return stage->step_ns[i];
}

uint32_t workers_batch(const struct workers *stage, uint32_t i)
{
    return stage->batches[i];
}

double workers_share(const struct workers *stage, uint32_t i, uint32_t j)
{
    (void)j;
    return stage->up[i] / (stage->count - 1);
}

double workers_seconds_to_all(const struct workers *stage, uint32_t i, double bytes)
{
    return stage->up[i] > 0 ? bytes * (stage->count - 1) / stage->up[i] : 0;
}

const float *workers_step(struct workers *stage, uint32_t i)
{
    assert_non_null(stage->change);
    for (size_t c = 0; c < stage->parameters; c++)
        stage_weights(stage, i)[c] += stage->change[c];
    stage->steps[i]++;
    memcpy(stage->own, stage->change, stage->parameters * sizeof *stage->own);
    return stage->own;
}

float *workers_gradient(struct workers *stage, uint32_t i)
{
    (void)i;
    for (size_t c = 0; c < stage->parameters; c++)
        stage->own[c] = -stage->change[c];
    return stage->own;
}

void workers_descend(struct workers *stage, uint32_t i, const float *gradient)
{
    for (size_t c = 0; c < stage->parameters; c++)
        stage_weights(stage, i)[c] -= gradient[c];
    stage->steps[i]++;
}

double workers_losses(struct workers *stage, uint32_t i)
{
    return stage->losses[i] * stage->batches[i];
}

void workers_read(const struct workers *stage, uint32_t i, float *weights)
{
    memcpy(weights, stage->weights + i * stage->parameters, stage->parameters * sizeof *weights);
}

void workers_write(struct workers *stage, uint32_t i, const float *weights)
{
    memcpy(stage_weights(stage, i), weights, stage->parameters * sizeof *weights);
}

void workers_add(struct workers *stage, uint32_t i, float scale, const float *values)
{
    for (size_t c = 0; c < stage->parameters; c++)
        stage_weights(stage, i)[c] += scale * values[c];
}

void workers_add_content(struct workers *stage, uint32_t i, float scale,
                         const struct content *content)
{
    content_add(content, scale, stage_weights(stage, i));
}

void workers_send(struct workers *stage, uint32_t from, uint32_t to,
                  const struct sim_message *message)
{
    assert_true(stage->posts_count < STAGE_POSTS && message->bytes > 0);
    assert_true(from < stage->count && to < stage->count);
    stage->posts[stage->posts_count++] =
        (struct stage_post){.from = from, .to = to, .message = *message};
    stage->sent_bytes += from != to ? message->bytes : 0;
}

void workers_send_all(struct workers *stage, uint32_t from, const struct sim_message *message)
{
    for (uint32_t to = 0; to < stage->count; to++) {
        if (to == from)
            continue;
        if (message->content)
            message->content->references++;
        workers_send(stage, from, to, message);
    }
    content_drop(message->content);
}

uint32_t workers_waiting(const struct workers *stage, uint32_t from, uint32_t to)
{
    uint32_t on_way = 0;
    for (uint32_t k = 0; k < stage->posts_count; k++)
        on_way += stage->posts[k].from == from && stage->posts[k].to == to;
    return stage->busy + (on_way > 0 ? on_way - 1 : 0);
}
