#include "training/random_walk_learner.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/rng.h"
#include "exchange/replica.h"

#define COMPARED 64 /* entries of the base compared at once */

/* Sums for random_walk_account_error. All vectors are [P], in host memory. */
struct account {
    /* Sum of the weight's moves in steps, and of its moves by outer momentum: beta times each
     * update's move of the base. Changes of the residual by random_walk_write_block with
     * keep_weights are added. Withheld progress that a publication or an applied update drops is
     * subtracted. */
    double *produced;
    /* tau·level of each publication: the share does not matter, because base and weight move by the
     * same amount. Also what random_walk_apply_own subtracts from the residual. */
    double *published;
    double *bound; /* largest possible sum of rounding errors */
};

#define TRIAL_PART 1024 /* entries of the base read at once */

struct random_walk {
    struct replica replica;
    struct rng rng;
    uint64_t digest; /* digest of the base in `seen` */
    int32_t *seen;   /* [P], host: the base at the last random_walk_digest */
    int32_t *read;   /* [P], host: scratch buffer for reading the base */
    bool accounted;
    struct account account; /* all pointers are NULL unless accounted */
};

static struct account account_new(struct arena *arena, size_t parameters)
{
    return (struct account){
        .produced = arena_alloc(arena, parameters, sizeof(double)),
        .published = arena_alloc(arena, parameters, sizeof(double)),
        .bound = arena_alloc(arena, parameters, sizeof(double)),
    };
}

struct random_walk *random_walk_new(struct arena *arena, struct backend *backend, size_t parameters,
                                    uint64_t seed, uint32_t density_max, bool accounted)
{
    struct random_walk *random_walk = arena_alloc(arena, 1, sizeof *random_walk);
    CHECK(parameters > 0 && density_max > 0 && density_max <= parameters);
    *random_walk = (struct random_walk){
        .rng = rng_new(seed, 0),
        .seen = arena_alloc(arena, parameters, sizeof(int32_t)),
        .read = arena_alloc(arena, parameters, sizeof(int32_t)),
        .accounted = accounted,
    };
    if (accounted)
        random_walk->account = account_new(arena, parameters);
    /* The arena's memory is zero: the first weights and the base in `seen` are zeros. */
    const float *zeros = arena_alloc(arena, parameters, sizeof *zeros);
    replica_init(&random_walk->replica, arena, backend, parameters, zeros, density_max);
    replica_allow_withholding(&random_walk->replica);
    return random_walk;
}

void random_walk_begin(struct random_walk *random_walk, uint64_t start)
{
    struct rng rng = rng_new(start, 0);
    const size_t parameters = random_walk->replica.parameters;
    for (size_t c = 0; c < parameters && start > 0; c++) {
        const int32_t units = (int32_t)rng_below(&rng, 1u << 20) - (1 << 19);
        random_walk_write_block(random_walk, c, 1, &units, false);
    }
}

static float weight_at(const struct random_walk *random_walk, uint32_t c)
{
    CHECK(c < random_walk->replica.parameters);
    const struct replica *replica = &random_walk->replica;
    float weight;
    replica->backend->download(replica->backend, &weight, weights_all(replica->weights) + c,
                               sizeof weight);
    return weight;
}

static double held_at(const struct random_walk *random_walk, uint32_t c)
{
    const struct replica *replica = &random_walk->replica;
    uint16_t withheld = 0;
    if (replica->is_withholding)
        replica->backend->download(replica->backend, &withheld, replica->withheld + c,
                                   sizeof withheld);
    return (double)half_of_bfloat16(withheld);
}

/* Adds `amount` to sums[c], and to the bound the rounding errors of the sum and of `amount`, which
 * is itself a rounded difference. */
static void credit(struct account *account, double *sums, uint32_t c, double amount)
{
    sums[c] += amount;
    account->bound[c] += 0x1p-53 * (fabs(sums[c]) + fabs(amount));
}

/* Adds to the bound the rounding error of a weight's move in float arithmetic. The sum is rounded
 * once and the product `moved` twice: |weight| + 3 |moved| cover this. The fourth |moved| is added
 * because `weight` may be the weight before or after the move. */
static void allow(struct account *account, uint32_t c, float weight, double moved)
{
    account->bound[c] += 0x1p-24 * (fabs((double)weight) + 4 * fabs(moved));
}

static void walk(struct random_walk *random_walk, uint32_t c, float by)
{
    struct replica *replica = &random_walk->replica;
    const float before = weight_at(random_walk, c);
    const float after = before + by;
    replica->backend->upload(replica->backend, weights_all(replica->weights) + c, &after,
                             sizeof after);
    if (random_walk->accounted)
        credit(&random_walk->account, random_walk->account.produced, c,
               (double)after - (double)before);
}

void random_walk_step(struct random_walk *random_walk)
{
    const uint32_t parameters = (uint32_t)random_walk->replica.parameters;
    for (int i = 0; i < RANDOM_WALK_ENTRIES; i++) {
        const uint32_t c = rng_below(&random_walk->rng, parameters);
        const double x = 2 * rng_uniform(&random_walk->rng) - 1;
        walk(random_walk, c, (float)(RANDOM_WALK_STEP_MAX * x * x * x * x * x));
    }
}

void random_walk_leap(struct random_walk *random_walk, float by)
{
    CHECK(isfinite(by));
    for (uint32_t c = 0; c < random_walk->replica.parameters; c++)
        walk(random_walk, c, by);
}

/* Returns the additional move of a weight per level by outer momentum (replica.h). */
static double momentum_of(const struct update *update, float beta)
{
    return (double)beta * (double)QUANTUM * update->amount;
}

/* The bound grows by 2^-23 of (1 + beta)·QUANTUM·amount·level, a product that is rounded twice
 * before tau·level is subtracted. */
static void account_published(struct random_walk *random_walk, const struct update *update,
                              float beta)
{
    CHECK(random_walk->accounted);
    struct account *account = &random_walk->account;
    const double momentum = momentum_of(update, beta);
    const double kept = (double)QUANTUM * update->amount + momentum - (double)update->tau;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        const double level = update->level[i];
        credit(account, account->published, c, (double)update->tau * level);
        credit(account, account->produced, c, momentum * level);
        allow(account, c, weight_at(random_walk, c), kept * level);
        account->bound[c] += 0x1p-23 * fabs((kept + (double)update->tau) * level);
    }
}

/* Adds to the bound the rounding error of moving withheld progress into or out of the weights. */
static void account_held(struct random_walk *random_walk)
{
    const struct replica *replica = &random_walk->replica;
    for (uint32_t c = 0; c < replica->parameters && replica->is_withholding; c++)
        allow(&random_walk->account, c, weight_at(random_walk, c), held_at(random_walk, c));
}

/* Subtracts the withheld progress from `produced`. A publication that withholds nothing drops this
 * progress. */
static void account_forgotten(struct random_walk *random_walk)
{
    struct account *account = &random_walk->account;
    const struct replica *replica = &random_walk->replica;
    for (uint32_t c = 0; c < replica->parameters && replica->is_withholding; c++)
        credit(account, account->produced, c, -held_at(random_walk, c));
}

const struct update *random_walk_publish(struct random_walk *random_walk,
                                         const struct publish_terms *terms)
{
    if (random_walk->accounted) {
        if (terms->withheld > 0)
            account_held(random_walk);
        else
            account_forgotten(random_walk);
    }
    const struct update *update = replica_publish(&random_walk->replica, terms);
    if (random_walk->accounted) {
        account_published(random_walk, update, (float)terms->beta);
        account_held(random_walk);
    }
    return update;
}

/* Called with -1 before an update is applied and with 1 afterwards, subtracts from `produced` the
 * withheld progress that the update dropped. */
static void account_dropped(struct random_walk *random_walk, const struct update *update,
                            double factor)
{
    struct account *account = &random_walk->account;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        credit(account, account->produced, c, factor * held_at(random_walk, c));
    }
}

static void account_applied(struct random_walk *random_walk, const struct update *update,
                            float beta)
{
    struct account *account = &random_walk->account;
    const double momentum = momentum_of(update, beta);
    const double step = (double)QUANTUM * update->amount + momentum;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        credit(account, account->produced, c, momentum * update->level[i]);
        allow(account, c, weight_at(random_walk, c), step * update->level[i]);
    }
}

void random_walk_apply(struct random_walk *random_walk, const struct update *update, float beta)
{
    if (random_walk->accounted)
        account_dropped(random_walk, update, -1);
    replica_apply(&random_walk->replica, update, beta);
    if (!random_walk->accounted)
        return;
    account_dropped(random_walk, update, 1);
    account_applied(random_walk, update, beta);
}

double random_walk_agreement(const struct random_walk *random_walk, const struct update *update)
{
    return replica_agreement(&random_walk->replica, update);
}

/* Returns the residual of entry c in double precision. */
static double residual_at(const struct random_walk *random_walk, uint32_t c, int32_t units)
{
    return (double)weight_at(random_walk, c) - (double)QUANTUM * (double)units;
}

/* Computes, independently of the backend, which part of the residual random_walk_apply_own
 * subtracts. */
static void account_own(struct random_walk *random_walk, const struct update *update, float beta)
{
    CHECK(random_walk->accounted);
    struct account *account = &random_walk->account;
    const double momentum = momentum_of(update, beta);
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        const double level = update->level[i], published = (double)update->tau * level;
        const double before = (double)QUANTUM * (double)random_walk->read[c];
        const double residual = residual_at(random_walk, c, random_walk->read[c]);
        const bool alike = (residual > 0) == (published > 0);
        const double charged =
            alike ? copysign(fmin(fabs(residual), fabs(published)), published) : 0;
        credit(account, account->published, c, charged);
        credit(account, account->produced, c, momentum * level);
        account->bound[c] += 0x1p-24 * (fabs(before) + fabs(residual));
        allow(account, c, weight_at(random_walk, c),
              fabs(((double)QUANTUM * update->amount + momentum) * level) + fabs(charged));
    }
}

void random_walk_apply_own(struct random_walk *random_walk, const struct update *update, float beta)
{
    if (random_walk->accounted) {
        account_held(random_walk);
        replica_release(&random_walk->replica);
        replica_read_units(&random_walk->replica, random_walk->read);
        account_own(random_walk, update, beta);
    }
    replica_apply_own(&random_walk->replica, update, beta);
}

static double loss_with(const struct random_walk *random_walk, const struct update *updates,
                        uint32_t updates_count)
{
    const size_t parameters = random_walk->replica.parameters;
    float part[TRIAL_PART];
    double squares = 0;
    for (size_t first = 0; first < parameters; first += TRIAL_PART) {
        const size_t left = parameters - first;
        const size_t count = size_min(left, TRIAL_PART);
        replica_read_with(&random_walk->replica, updates, updates_count, first, count, part);
        for (size_t c = 0; c < count; c++)
            squares += (double)part[c] * (double)part[c];
    }
    return 1 + 1000 * squares / (double)parameters;
}

struct base_trial random_walk_trial(const struct random_walk *random_walk,
                                    const struct update *updates, uint32_t count, uint32_t tried)
{
    CHECK(tried <= count);
    const double before = loss_with(random_walk, updates + tried, count - tried);
    const double after = loss_with(random_walk, updates, count);
    return (struct base_trial){.samples = 1000,
                               .before = 1 / before,
                               .after = 1 / after,
                               .loss_before = before,
                               .loss_after = after};
}

void random_walk_read_block(const struct random_walk *random_walk, size_t first, size_t count,
                            int32_t *host)
{
    replica_read_block(&random_walk->replica, first, count, host);
}

/* Call it before base entry c is set to `to`. */
static void account_write(struct random_walk *random_walk, uint32_t c, int32_t to,
                          bool keep_weights)
{
    struct account *account = &random_walk->account;
    const int32_t from = random_walk->read[c];
    const double moved = (double)QUANTUM * (double)((int64_t)to - from);
    if (to == from)
        return;
    if (keep_weights) {
        credit(account, account->produced, c, -moved);
        return;
    }
    const double ends = (double)QUANTUM * (fabs((double)from) + fabs((double)to));
    const double residual = fabs(residual_at(random_walk, c, from));
    const double weight = fabs((double)weight_at(random_walk, c) + moved);
    account->bound[c] += 0x1p-24 * (ends + 2 * residual + weight);
}

void random_walk_write_block(struct random_walk *random_walk, size_t first, size_t count,
                             const int32_t *host, bool keep_weights)
{
    const size_t parameters = random_walk->replica.parameters;
    CHECK(first <= parameters && count <= parameters - first);
    if (random_walk->accounted) {
        replica_read_units(&random_walk->replica, random_walk->read);
        for (size_t i = 0; i < count; i++)
            account_write(random_walk, (uint32_t)(first + i), host[i], keep_weights);
    }
    replica_write_block(&random_walk->replica, first, count, host, keep_weights);
}

void random_walk_save(const struct random_walk *random_walk, struct learner_state *state)
{
    CHECK(state->moments == 0);
    replica_save(&random_walk->replica, state);
    state->steps = state->samples = state->swarm_samples = state->epoch = 0;
    state->at = state->batch = 0;
    state->random_walk = random_walk->rng.state;
}

static void account_restart(struct random_walk *random_walk, const struct learner_state *state)
{
    CHECK(random_walk->accounted);
    struct account *account = &random_walk->account;
    for (size_t i = 0; i < state->parameters; i++) {
        const uint32_t c = (uint32_t)(state->first + i);
        account->published[c] = account->produced[c] = account->bound[c] = 0;
        credit(account, account->produced, c, residual_at(random_walk, c, state->base[i]));
    }
}

static void restore_entries(struct random_walk *random_walk, const struct learner_state *state)
{
    CHECK(state->moments == 0);
    replica_restore(&random_walk->replica, state);
    if (random_walk->accounted)
        account_restart(random_walk, state);
}

void random_walk_restore(struct random_walk *random_walk, const struct learner_state *state)
{
    if (state->parameters > 0)
        restore_entries(random_walk, state);
    random_walk->rng.state = state->random_walk;
}

void random_walk_replay(struct random_walk *random_walk, const struct snapshot_record *record)
{
    CHECK(record->kind < SNAPSHOT_KINDS);
    if (record->kind == SNAPSHOT_PART)
        restore_entries(random_walk, &record->part);
    else if (record->kind == SNAPSHOT_OWN)
        random_walk_apply_own(random_walk, &record->update, record->beta);
    else
        random_walk_apply(random_walk, &record->update, record->beta);
}

/* Updates the digest for the changed entries among from .. to-1. */
static void update_digest(struct random_walk *random_walk, size_t from, size_t to)
{
    CHECK(from < to && to <= random_walk->replica.parameters);
    for (size_t c = from; c < to; c++) {
        const uint32_t change = (uint32_t)random_walk->read[c] - (uint32_t)random_walk->seen[c];
        if (change == 0)
            continue;
        random_walk->digest = digest_add(random_walk->digest, digest_of_entry((uint32_t)c, change));
        random_walk->seen[c] = random_walk->read[c];
    }
}

uint64_t random_walk_digest(struct random_walk *random_walk)
{
    const size_t parameters = random_walk->replica.parameters;
    replica_read_units(&random_walk->replica, random_walk->read);
    for (size_t from = 0; from < parameters; from += COMPARED) {
        const size_t to = parameters - from < COMPARED ? parameters : from + COMPARED;
        if (memcmp(random_walk->read + from, random_walk->seen + from,
                   (to - from) * sizeof(int32_t)) != 0)
            update_digest(random_walk, from, to);
    }
    return random_walk->digest;
}

void random_walk_read_units(const struct random_walk *random_walk, int32_t *host)
{
    replica_read_units(&random_walk->replica, host);
}

void random_walk_read_weights(const struct random_walk *random_walk, float *host)
{
    replica_read_weights(&random_walk->replica, host);
}

void random_walk_write_weights(struct random_walk *random_walk, const float *host)
{
    for (uint32_t c = 0; random_walk->accounted && c < random_walk->replica.parameters; c++)
        credit(&random_walk->account, random_walk->account.produced, c,
               (double)host[c] - (double)weight_at(random_walk, c));
    replica_write_weights(&random_walk->replica, host);
}

double random_walk_account_error(const struct random_walk *random_walk, double *bound)
{
    CHECK(random_walk->accounted);
    const struct account *account = &random_walk->account;
    double worst = 0, worst_excess = -INFINITY;
    replica_read_units(&random_walk->replica, random_walk->read);
    for (uint32_t c = 0; c < random_walk->replica.parameters; c++) {
        const double residual =
            residual_at(random_walk, c, random_walk->read[c]) + held_at(random_walk, c);
        const double error = fabs(account->produced[c] - account->published[c] - residual);
        const double most =
            /* bound of the account, plus rounding of the sums in this function */
            account->bound[c] + 0x1.8p-52 * fabs(residual);
        if (!(error - most > worst_excess))
            continue;
        worst_excess = error - most;
        worst = error;
        *bound = most;
    }
    return worst;
}

void random_walk_free(struct random_walk *random_walk)
{
    replica_free(&random_walk->replica);
}
