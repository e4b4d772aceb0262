#include "library/caller_learner.h"

#include <stdlib.h>

#include "base/c_locale.h"

void caller_learner_enter(struct caller_learner *caller)
{
    caller->thread = pthread_self();
}

bool caller_learner_is_inside(const struct caller_learner *caller)
{
    return pthread_equal(caller->thread, pthread_self()) != 0;
}

static float *weights(const struct caller_learner *caller)
{
    return learner_weights(caller->learner);
}

void caller_learner_follow_stream(struct caller_learner *caller, void *stream)
{
    caller->stream = stream;
    caller->has_stream = true;
}

static struct backend *backend_of(const struct caller_learner *caller)
{
    return caller->tensors->backend;
}

static void fetch(struct caller_learner *caller)
{
    if (caller->is_fetched)
        return;
    caller->is_fetched = true;
    if (caller->copies.fetch)
        c_locale_call(caller->copies.fetch, caller->copies.self);
    if (caller->has_stream)
        backend_of(caller)->stream->wait_for(backend_of(caller), caller->stream);
}

static void gather(struct caller_learner *caller, size_t first, size_t count)
{
    CHECK(caller_learner_is_inside(caller));
    if (!caller->is_filled)
        return;
    fetch(caller);
    if (!caller->parts)
        caller_tensors_gather(caller->tensors, first, count, weights(caller));
}

static void scatter(struct caller_learner *caller, size_t first, size_t count)
{
    CHECK(caller_learner_is_inside(caller));
    if (!caller->is_filled)
        return;
    if (!caller->parts)
        caller_tensors_scatter(caller->tensors, first, count, weights(caller));
    caller->has_changed = true;
}

static void gather_all(struct caller_learner *caller)
{
    gather(caller, 0, caller->tensors->parameters);
}

static void scatter_all(struct caller_learner *caller)
{
    scatter(caller, 0, caller->tensors->parameters);
}

void caller_learner_fill(struct caller_learner *caller)
{
    const struct caller_tensors *tensors = caller->tensors;
    CHECK(!caller->is_filled);
    /* Does not wait for the GPU: the program's `fetch` waits for its own GPU work. */
    fetch(caller);
    caller->is_filled = true;
    caller->parts = caller_tensors_parts(tensors);
    if (caller->parts)
        learner_place_weights(caller->learner,
                              (struct weights){.part = caller->parts, .parts = tensors->count});
    else
        caller->moved = caller_tensors_copies(tensors);
    scatter_all(caller);
}

void caller_learner_free(struct caller_learner *caller)
{
    free(caller->parts);
    caller->parts = NULL;
    if (caller->moved)
        backend_of(caller)->free(backend_of(caller), caller->moved);
    caller->moved = NULL;
}

void caller_learner_gather(struct caller_learner *caller)
{
    gather_all(caller);
}

void caller_learner_revert(struct caller_learner *caller)
{
    gather_all(caller);
    if (!caller->is_filled)
        return;
    learner_revert(caller->learner);
    scatter_all(caller);
}

void caller_learner_reset_statistics(struct caller_learner *caller)
{
    if (!caller->is_filled || learner_statistics(caller->learner) == 0)
        return;
    gather_all(caller);
    learner_reset_statistics(caller->learner);
    scatter_all(caller);
}

void caller_learner_leave(struct caller_learner *caller)
{
    if (caller->is_fetched && caller->has_stream)
        backend_of(caller)->stream->hold_back(backend_of(caller), caller->stream);
    else if (caller->is_fetched)
        caller_tensors_finish(caller->tensors);
    if (caller->has_changed && caller->copies.store)
        c_locale_call(caller->copies.store, caller->copies.self);
    caller->is_fetched = caller->has_changed = false;
}

static void follow(void *self, uint64_t swarm_samples)
{
    const struct caller_learner *caller = self;
    learner_follow(caller->learner, swarm_samples);
}

static const struct update *publish(void *self, const struct publish_terms *terms)
{
    struct caller_learner *caller = self;
    gather_all(caller);
    const struct update *update = learner_publish(caller->learner, terms);
    /* A publication may change any weight, by the progress that it withholds. */
    scatter_all(caller);
    return update;
}

/* Copies the entries of an update to the weights once: the update may be compared with the residual
 * before it is applied. */
static void gather_moved(struct caller_learner *caller, const struct update *update)
{
    CHECK(caller_learner_is_inside(caller));
    if (caller->is_filled && caller->gathered != update) {
        fetch(caller);
        if (caller->moved)
            backend_of(caller)->exchange->follow_moved(backend_of(caller), update, caller->moved,
                                                       caller->tensors->count, weights(caller));
    }
    caller->gathered = update;
}

static void apply(void *self, const struct update *update, float beta)
{
    struct caller_learner *caller = self;
    gather_moved(caller, update);
    caller->gathered = NULL;
    learner_apply(caller->learner, update, beta);
    if (caller->moved)
        backend_of(caller)->exchange->round_moved(backend_of(caller), update, caller->moved,
                                                  caller->tensors->count, weights(caller));
    caller->has_changed = caller->is_filled || caller->has_changed;
}

static double agreement(void *self, const struct update *update)
{
    struct caller_learner *caller = self;
    gather_moved(caller, update); /* agreement reads the residual only at these entries */
    return learner_agreement(caller->learner, update);
}

static void apply_own(void *self, const struct update *update, float beta)
{
    struct caller_learner *caller = self;
    gather_all(caller);
    caller->gathered = NULL;
    learner_apply_own(caller->learner, update, beta);
    scatter_all(caller); /* an own update adds withheld progress back to the weights */
}

/* Reads no weights, since it may run on the loop's thread. */
static void read_block(void *self, size_t first, size_t count, int32_t *units)
{
    const struct caller_learner *caller = self;
    learner_read_block(caller->learner, first, count, units);
}

static void write_block(void *self, size_t first, size_t count, const int32_t *units,
                        bool keep_weights)
{
    struct caller_learner *caller = self;
    gather(caller, first, count);
    learner_write_block(caller->learner, first, count, units, keep_weights);
    if (!keep_weights)
        scatter(caller, first, count);
}

static void save(void *self, struct learner_state *part)
{
    struct caller_learner *caller = self;
    gather(caller, part->first, part->parameters);
    learner_save(caller->learner, part);
}

const struct executor_ops caller_learner_ops = {.follow = follow,
                                                .publish = publish,
                                                .apply = apply,
                                                .agreement = agreement,
                                                .apply_own = apply_own,
                                                .read_block = read_block,
                                                .write_block = write_block,
                                                .save = save};
