#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "training/learner_private.h"

static struct tensor tensor_at(const struct model *model, size_t entry)
{
    struct tensor at = model_tensor(model, 0);
    for (int i = 1; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        if (tensor.offset <= entry && tensor.offset >= at.offset)
            at = tensor;
    }
    return at;
}

static void name_entry(const struct learner *learner, size_t entry,
                       char name[static LEARNER_TENSOR])
{
    if (learner->model)
        (void)snprintf(name, LEARNER_TENSOR, "%s", tensor_at(learner->model, entry).name);
    else
        (void)snprintf(name, LEARNER_TENSOR, "entry %zu", entry);
}

static void reset_to_base(struct learner *learner)
{
    struct learner_resets *resets = &learner->resets;
    resets->count++;
    resets->entry = replica_reset_to_base(&learner->replica);
    name_entry(learner, resets->entry, resets->tensor);
    for (uint32_t i = 0; i < learner_moments(learner); i++)
        learner->backend->elements->clear(learner->backend, learner_parameters(learner),
                                          learner->moment[i]);
    learner->steps = 0;
}

/* Searches for the first saturated entry only once, because the search is slow. */
static void note_saturation(struct learner *learner)
{
    struct learner_saturation *saturation = &learner->saturation;
    saturation->entries = learner->replica.saturated;
    if (saturation->entries == 0 || saturation->tensor[0])
        return;
    const size_t first = replica_first_saturated(&learner->replica);
    CHECK(first < learner_parameters(learner));
    saturation->first = first;
    name_entry(learner, first, saturation->tensor);
}

const struct learner_saturation *learner_saturation(const struct learner *learner)
{
    return &learner->saturation;
}

const struct update *learner_publish(struct learner *learner, const struct publish_terms *terms)
{
    static const struct update NOTHING = {.tau = TAU_MAX, .amount = 1};
    learner_follow(learner, terms->swarm_samples);
    learner_count_learners(learner, fmax(terms->learners, 1));
    const struct update *update =
        terms->is_held ? &NOTHING : replica_publish(&learner->replica, terms);
    CHECK(update->count <= learner->options.density_max);
    note_saturation(learner);
    if (learner->replica.lost > 0)
        reset_to_base(learner);
    learner_add_to_average(learner, terms->swarm_samples);
    return update;
}

void learner_add_to_average(struct learner *learner, uint64_t swarm_samples)
{
    base_average_add(&learner->average, &learner->replica, swarm_samples);
}

const float *learner_average(const struct learner *learner)
{
    return learner->average.samples > 0 ? learner->average.mean : NULL;
}

void learner_set_average(struct learner *learner, const float *mean, uint64_t samples)
{
    if (learner->average.mean)
        base_average_set(&learner->average, mean, learner_parameters(learner), samples);
}

const struct learner_resets *learner_resets(const struct learner *learner)
{
    return &learner->resets;
}

void learner_revert(struct learner *learner)
{
    (void)replica_reset_to_base(&learner->replica);
}

size_t learner_statistics(const struct learner *learner)
{
    return learner->replica.statistics.count;
}

void learner_reset_statistics(struct learner *learner)
{
    replica_reset_statistics(&learner->replica);
}

void learner_apply(struct learner *learner, const struct update *update, float beta)
{
    replica_apply(&learner->replica, update, beta);
}

double learner_agreement(const struct learner *learner, const struct update *update)
{
    return replica_agreement(&learner->replica, update);
}

void learner_apply_own(struct learner *learner, const struct update *update, float beta)
{
    replica_apply_own(&learner->replica, update, beta);
}

uint64_t learner_digest(const struct learner *learner)
{
    return replica_digest(&learner->replica);
}

size_t learner_parameters(const struct learner *learner)
{
    return learner->replica.parameters;
}

float *learner_weights(struct learner *learner)
{
    CHECK(!learner->model);
    return weights_all(learner->replica.trained);
}

void learner_place_weights(struct learner *learner, struct weights places)
{
    CHECK(!learner->model);
    replica_place_weights(&learner->replica, places);
}

void learner_count(struct learner *learner, uint64_t samples)
{
    CHECK(!learner->model);
    learner->samples += samples;
    learner->swarm_samples += samples;
}

uint64_t learner_samples(const struct learner *learner)
{
    return learner->samples;
}

void learner_read_base(const struct learner *learner, float *host)
{
    replica_read_base(&learner->replica, host);
}

void learner_read_units(const struct learner *learner, int32_t *host)
{
    replica_read_units(&learner->replica, host);
}

void learner_read_weights(const struct learner *learner, float *host)
{
    replica_read_weights(&learner->replica, host);
}

void learner_write_weights(struct learner *learner, const float *host)
{
    replica_write_weights(&learner->replica, host);
}

void learner_read_block(const struct learner *learner, size_t first, size_t count, int32_t *host)
{
    replica_read_block(&learner->replica, first, count, host);
}

void learner_write_block(struct learner *learner, size_t first, size_t count, const int32_t *host,
                         bool keep_weights)
{
    base_average_clear(&learner->average);
    replica_write_block(&learner->replica, first, count, host, keep_weights);
}

static void save_average(const struct base_average *average, struct learner_state *state)
{
    memcpy(state->average, average->mean + state->first, state->parameters * sizeof(float));
    state->average_samples = average->samples;
}

void learner_save(const struct learner *learner, struct learner_state *state)
{
    struct backend *backend = learner->backend;
    CHECK(state->moments == learner_moments(learner));
    replica_save(&learner->replica, state);
    for (uint32_t i = 0; i < state->moments; i++)
        backend->download(backend, state->moment[i], learner->moment[i] + state->first,
                          state->parameters * sizeof(float));
    state->steps = learner->steps;
    state->samples = learner->samples;
    state->swarm_samples = learner->swarm_samples;
    state->epoch = learner->batch.epoch;
    state->at = learner->batch.at;
    state->batch = learner->size;
    state->random_walk = 0;
    state->average_samples = 0;
    if (state->average && learner_average(learner))
        save_average(&learner->average, state);
}

static void restore_entries(struct learner *learner, const struct learner_state *state)
{
    struct backend *backend = learner->backend;
    CHECK(state->moments == learner_moments(learner));
    replica_restore(&learner->replica, state);
    for (uint32_t i = 0; i < state->moments; i++)
        backend->upload(backend, learner->moment[i] + state->first, state->moment[i],
                        state->parameters * sizeof(float));
}

void learner_replay(struct learner *learner, const struct snapshot_record *record)
{
    if (record->kind == SNAPSHOT_PART)
        restore_entries(learner, &record->part);
    else
        snapshot_replay(record, &learner->replica);
}

void learner_restore(struct learner *learner, const struct learner_state *state)
{
    if (state->parameters > 0)
        restore_entries(learner, state);
    learner->samples = state->samples;
    learner->swarm_samples = state->swarm_samples;
    learner->steps = state->steps;
    if (learner_can_step(learner))
        batch_seek(&learner->batch, state->epoch, state->at);
    if (state->batch > 0 && state->batch <= learner->options.batch_max)
        learner_resize(learner, state->batch);
}
