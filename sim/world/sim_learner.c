#include "world/sim_learner.h"

#include <time.h>

#include "base/error.h"

double mind_cpu_s(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void mind_step(struct mind *mind)
{
    if (mind->wander) {
        wander_step(mind->wander);
        return;
    }
    const double from_s = mind_cpu_s();
    (void)learner_step(mind->learner);
    mind->gradient_cpu_s += mind_cpu_s() - from_s;
}

uint32_t mind_batch(const struct mind *mind)
{
    return mind->learner ? learner_batch(mind->learner) : 0;
}

void mind_set_batch(struct mind *mind, uint32_t batch)
{
    if (mind->learner)
        learner_set_batch(mind->learner, batch);
}

void mind_follow(struct mind *mind, uint64_t swarm_samples)
{
    if (mind->learner)
        learner_follow(mind->learner, swarm_samples);
}

const struct update *mind_tell(struct mind *mind, const struct tell *tell)
{
    mind->has_changed = true;
    return mind->wander ? wander_tell(mind->wander, tell) : learner_tell(mind->learner, tell);
}

void mind_hear(struct mind *mind, const struct update *update)
{
    mind->has_changed = true;
    if (mind->wander)
        wander_hear(mind->wander, update);
    else
        learner_hear(mind->learner, update);
}

void mind_hear_own(struct mind *mind, const struct update *update)
{
    mind->has_changed = true;
    if (mind->wander)
        wander_hear_own(mind->wander, update);
    else
        learner_hear_own(mind->learner, update);
}

void mind_read_block(const struct mind *mind, size_t first, size_t count, int32_t *host)
{
    if (mind->wander)
        wander_read_block(mind->wander, first, count, host);
    else
        learner_read_block(mind->learner, first, count, host);
}

void mind_write_block(struct mind *mind, size_t first, size_t count, const int32_t *host,
                      bool keep_weights)
{
    mind->has_changed = true;
    if (mind->wander)
        wander_write_block(mind->wander, first, count, host, keep_weights);
    else
        learner_write_block(mind->learner, first, count, host, keep_weights);
}

uint32_t mind_moments(const struct mind *mind)
{
    return mind->learner ? learner_moments(mind->learner) : 0;
}

void mind_save(const struct mind *mind, struct learner_state *state)
{
    if (mind->wander)
        wander_save(mind->wander, state);
    else
        learner_save(mind->learner, state);
}

void mind_restore(struct mind *mind, const struct learner_state *state)
{
    mind->has_changed = true;
    if (mind->wander)
        wander_restore(mind->wander, state);
    else
        learner_restore(mind->learner, state);
}

size_t mind_parameters(const struct mind *mind)
{
    return mind->parameters;
}

uint64_t mind_digest_now(struct mind *mind)
{
    mind->digest = mind->wander ? wander_digest(mind->wander) : learner_digest(mind->learner);
    mind->has_changed = false;
    return mind->digest;
}

uint64_t mind_digest(struct mind *mind)
{
    return mind->has_changed || mind->digest == 0 ? mind_digest_now(mind) : mind->digest;
}

bool mind_digest_is_cheap(const struct mind *mind)
{
    return mind->wander != NULL;
}

void mind_read_units(const struct mind *mind, int32_t *host)
{
    if (mind->wander)
        wander_read_units(mind->wander, host);
    else
        learner_read_units(mind->learner, host);
}

void mind_read_base(const struct mind *mind, float *host)
{
    CHECK(mind->learner);
    learner_read_base(mind->learner, host);
}

double mind_account_error(const struct mind *mind)
{
    if (!mind->wander || !mind->is_accounted)
        return 0;
    double bound;
    const double error = wander_account_error(mind->wander, &bound);
    return error <= bound ? 0 : error / bound;
}

void mind_free(struct mind *mind)
{
    if (mind->learner)
        learner_free(mind->learner);
    if (mind->wander)
        wander_free(mind->wander);
    arena_release(&mind->arena);
    *mind = (struct mind){0};
}
