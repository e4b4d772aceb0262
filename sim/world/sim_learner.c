#include "world/sim_learner.h"

#include "base/error.h"
#include "base/system_clock.h"
#include "training/inference.h"
#include "training/label_fit.h"

double sim_learner_cpu_s(void)
{
    return system_clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

void sim_learner_step(struct sim_learner *sim_learner)
{
    if (sim_learner->random_walk) {
        random_walk_step(sim_learner->random_walk);
        return;
    }
    const double from_s = sim_learner_cpu_s();
    (void)learner_step(sim_learner->learner);
    sim_learner->gradient_cpu_s += sim_learner_cpu_s() - from_s;
}

uint32_t sim_learner_batch(const struct sim_learner *sim_learner)
{
    return sim_learner->learner ? learner_batch(sim_learner->learner) : 0;
}

void sim_learner_set_batch(struct sim_learner *sim_learner, uint32_t batch)
{
    if (sim_learner->learner)
        learner_set_batch(sim_learner->learner, batch);
}

/* The executor calls the functions below (executor/executor.h). */

static void follow(void *self, uint64_t swarm_samples)
{
    struct sim_learner *sim_learner = self;
    if (sim_learner->learner)
        learner_follow(sim_learner->learner, swarm_samples);
    else if (sim_learner->swarm_samples < swarm_samples)
        sim_learner->swarm_samples = swarm_samples;
}

static struct label_fit label_fit(void *self)
{
    const struct sim_learner *sim_learner = self;
    return sim_learner->learner ? label_fit_of(sim_learner->learner) : (struct label_fit){0};
}

static void revert(void *self)
{
    const struct sim_learner *sim_learner = self;
    CHECK(sim_learner->learner);
    learner_revert(sim_learner->learner);
}

static const struct update *publish(void *self, const struct publish_terms *terms)
{
    struct sim_learner *sim_learner = self;
    sim_learner->has_changed = true;
    follow(sim_learner, terms->swarm_samples);
    return sim_learner->random_walk ? random_walk_publish(sim_learner->random_walk, terms)
                                    : learner_publish(sim_learner->learner, terms);
}

static void apply(void *self, const struct update *update, float beta)
{
    struct sim_learner *sim_learner = self;
    sim_learner->has_changed = true;
    if (sim_learner->random_walk)
        random_walk_apply(sim_learner->random_walk, update, beta);
    else
        learner_apply(sim_learner->learner, update, beta);
}

static double agreement(void *self, const struct update *update)
{
    const struct sim_learner *sim_learner = self;
    return sim_learner->random_walk ? random_walk_agreement(sim_learner->random_walk, update)
                                    : learner_agreement(sim_learner->learner, update);
}

static struct base_trial trial(void *self, const struct update *updates, uint32_t count,
                               uint32_t tried)
{
    const struct sim_learner *sim_learner = self;
    return sim_learner->random_walk
               ? random_walk_trial(sim_learner->random_walk, updates, count, tried)
               : learner_trial(sim_learner->learner, updates, count, tried);
}

static void apply_own(void *self, const struct update *update, float beta)
{
    struct sim_learner *sim_learner = self;
    sim_learner->has_changed = true;
    if (sim_learner->random_walk)
        random_walk_apply_own(sim_learner->random_walk, update, beta);
    else
        learner_apply_own(sim_learner->learner, update, beta);
}

static void read_block(void *self, size_t first, size_t count, int32_t *units)
{
    const struct sim_learner *sim_learner = self;
    if (sim_learner->random_walk)
        random_walk_read_block(sim_learner->random_walk, first, count, units);
    else
        learner_read_block(sim_learner->learner, first, count, units);
}

static void write_block(void *self, size_t first, size_t count, const int32_t *units,
                        bool keep_weights)
{
    struct sim_learner *sim_learner = self;
    sim_learner->has_changed = true;
    if (sim_learner->random_walk)
        random_walk_write_block(sim_learner->random_walk, first, count, units, keep_weights);
    else
        learner_write_block(sim_learner->learner, first, count, units, keep_weights);
}

static void save(void *self, struct learner_state *state)
{
    sim_learner_save(self, state);
}

/* A random walk has no model: it returns one number per sample, the sum of the sample's bytes. */
static void predict(void *self, const uint8_t *samples, size_t bytes, uint32_t count,
                    float *numbers)
{
    const struct sim_learner *sim_learner = self;
    if (sim_learner->learner) {
        learner_predict(sim_learner->learner, samples, bytes, count, numbers);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = 0;
        for (size_t k = 0; k < bytes / count; k++)
            numbers[i] += samples[i * (bytes / count) + k];
    }
}

struct executor sim_learner_executor(struct sim_learner *sim_learner, int32_t *units)
{
    static const struct executor_ops OPS = {.follow = follow,
                                            .label_fit = label_fit,
                                            .publish = publish,
                                            .revert = revert,
                                            .apply = apply,
                                            .agreement = agreement,
                                            .trial = trial,
                                            .apply_own = apply_own,
                                            .read_block = read_block,
                                            .write_block = write_block,
                                            .save = save,
                                            .predict = predict};
    return (struct executor){.ops = &OPS, .learner = sim_learner, .units = units};
}

uint32_t sim_learner_moments(const struct sim_learner *sim_learner)
{
    return sim_learner->learner ? learner_moments(sim_learner->learner) : 0;
}

void sim_learner_save(const struct sim_learner *sim_learner, struct learner_state *state)
{
    if (!sim_learner->random_walk) {
        learner_save(sim_learner->learner, state);
        return;
    }
    random_walk_save(sim_learner->random_walk, state);
    state->swarm_samples = sim_learner->swarm_samples;
}

void sim_learner_restore(struct sim_learner *sim_learner, const struct learner_state *state)
{
    sim_learner->has_changed = true;
    sim_learner->swarm_samples = state->swarm_samples;
    if (sim_learner->random_walk)
        random_walk_restore(sim_learner->random_walk, state);
    else
        learner_restore(sim_learner->learner, state);
}

void sim_learner_replay(struct sim_learner *sim_learner, const struct snapshot_record *record)
{
    sim_learner->has_changed = true;
    if (sim_learner->random_walk)
        random_walk_replay(sim_learner->random_walk, record);
    else
        learner_replay(sim_learner->learner, record);
}

size_t sim_learner_parameters(const struct sim_learner *sim_learner)
{
    return sim_learner->parameters;
}

uint64_t sim_learner_digest_now(struct sim_learner *sim_learner)
{
    sim_learner->digest = sim_learner->random_walk ? random_walk_digest(sim_learner->random_walk)
                                                   : learner_digest(sim_learner->learner);
    sim_learner->has_changed = false;
    return sim_learner->digest;
}

uint64_t sim_learner_digest(struct sim_learner *sim_learner)
{
    return sim_learner->has_changed || sim_learner->digest == 0
               ? sim_learner_digest_now(sim_learner)
               : sim_learner->digest;
}

bool sim_learner_digest_is_cheap(const struct sim_learner *sim_learner)
{
    return sim_learner->random_walk != NULL;
}

void sim_learner_read_units(const struct sim_learner *sim_learner, int32_t *host)
{
    if (sim_learner->random_walk)
        random_walk_read_units(sim_learner->random_walk, host);
    else
        learner_read_units(sim_learner->learner, host);
}

void sim_learner_read_base(const struct sim_learner *sim_learner, float *host)
{
    CHECK(sim_learner->learner);
    learner_read_base(sim_learner->learner, host);
}

void sim_learner_read_weights(const struct sim_learner *sim_learner, float *host)
{
    if (sim_learner->random_walk)
        random_walk_read_weights(sim_learner->random_walk, host);
    else
        learner_read_weights(sim_learner->learner, host);
}

void sim_learner_write_weights(struct sim_learner *sim_learner, const float *host)
{
    if (sim_learner->random_walk)
        random_walk_write_weights(sim_learner->random_walk, host);
    else
        learner_write_weights(sim_learner->learner, host);
}

double sim_learner_account_error(const struct sim_learner *sim_learner)
{
    if (!sim_learner->random_walk || !sim_learner->is_accounted)
        return 0;
    double bound;
    const double error = random_walk_account_error(sim_learner->random_walk, &bound);
    return error <= bound ? 0 : error / bound;
}

void sim_learner_free(struct sim_learner *sim_learner)
{
    if (sim_learner->learner)
        learner_free(sim_learner->learner);
    if (sim_learner->random_walk)
        random_walk_free(sim_learner->random_walk);
    arena_release(&sim_learner->arena);
    *sim_learner = (struct sim_learner){0};
}
