#include "training/random_walk_learner.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "exchange/replica.h"
#include "base/rng.h"
#include "base/error.h"

#define CHUNK 64 /* entries of the base compared at once */

/* All [P], host. */
struct account {
    double *produced;
    double *told;
    double *bound;  /* on what rounding can have done to the entry */
    int32_t *since; /* the base just before the last telling */
};

struct wander {
    struct replica replica;
    struct rng rng;
    uint64_t digest;
    int32_t *seen; /* [P], host: the base that has this digest */
    int32_t *read; /* [P], host: the base as it was just read */
    bool accounted;
    struct account account;
};

static struct account account_new(struct arena *arena, size_t parameters)
{
    return (struct account){
        .produced = arena_take(arena, parameters, sizeof(double)),
        .told = arena_take(arena, parameters, sizeof(double)),
        .bound = arena_take(arena, parameters, sizeof(double)),
        .since = arena_take(arena, parameters, sizeof(int32_t)),
    };
}

struct wander *wander_new(struct arena *arena, struct backend *backend, size_t parameters,
                          uint64_t seed, uint32_t told_max, bool accounted)
{
    struct wander *wander = arena_take(arena, 1, sizeof *wander);
    *wander = (struct wander){
        .rng = rng_new(seed, 0),
        .seen = arena_take(arena, parameters, sizeof(int32_t)),
        .read = arena_take(arena, parameters, sizeof(int32_t)),
        .accounted = accounted,
    };
    if (accounted)
        wander->account = account_new(arena, parameters);
    /* The arena's memory is zero: so are the first weights, and the base first seen. */
    const float *zeros = arena_take(arena, parameters, sizeof *zeros);
    replica_init(&wander->replica, arena, backend, parameters, zeros, told_max);
    return wander;
}

static float weight_at(const struct wander *wander, uint32_t c)
{
    const struct replica *replica = &wander->replica;
    float weight;
    replica->backend->download(replica->backend, &weight, replica->weights + c, sizeof weight);
    return weight;
}

/* A sum in double, and what its rounding may add to the error. */
static void credit(struct account *account, double *sums, uint32_t c, double amount)
{
    sums[c] += amount;
    account->bound[c] += 0x1p-53 * fabs(sums[c]);
}

/* A weight, read before or after, was moved in float arithmetic: the sum is rounded once, the
 * product that was added twice; the fourth |moved| pays for |before| against |after|. */
static void allow(struct account *account, uint32_t c, float weight, double moved)
{
    account->bound[c] += 0x1p-24 * (fabs((double)weight) + 4 * fabs(moved));
}

void wander_step(struct wander *wander)
{
    struct replica *replica = &wander->replica;
    for (int i = 0; i < WANDER_ENTRIES; i++) {
        const uint32_t c = rng_below(&wander->rng, (uint32_t)replica->parameters);
        const double x = 2 * rng_uniform(&wander->rng) - 1;
        const float before = weight_at(wander, c);
        const float after = before + (float)(WANDER_STEP_MAX * x * x * x * x * x);
        replica->backend->upload(replica->backend, replica->weights + c, &after, sizeof after);
        if (wander->accounted)
            credit(&wander->account, wander->account.produced, c, (double)after - (double)before);
    }
}

/* What the telling will add before it cuts (replica.h: step on with the base). */
static void account_drift(struct wander *wander, float beta)
{
    struct account *account = &wander->account;
    replica_read_units(&wander->replica, wander->read);
    for (uint32_t c = 0; c < wander->replica.parameters; c++) {
        const int64_t units = (int64_t)wander->read[c] - account->since[c];
        account->since[c] = wander->read[c];
        if (units == 0)
            continue;
        const double moved = (double)beta * (double)QUANTUM * (double)units;
        credit(account, account->produced, c, moved);
        allow(account, c, weight_at(wander, c), moved);
    }
}

static void account_told(struct wander *wander, const struct update *update)
{
    struct account *account = &wander->account;
    const double kept = (double)QUANTUM * update->amount - (double)update->tau;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        const double level = update->level[i];
        credit(account, account->told, c, (double)update->tau * level);
        allow(account, c, weight_at(wander, c), kept * level);
    }
}

const struct update *wander_tell(struct wander *wander, const struct tell *tell)
{
    if (wander->accounted)
        account_drift(wander, (float)tell->beta);
    const struct update *update = replica_tell(&wander->replica, tell);
    if (wander->accounted)
        account_told(wander, update);
    return update;
}

void wander_hear(struct wander *wander, const struct update *update)
{
    replica_hear(&wander->replica, update);
    if (!wander->accounted)
        return;
    const double step = (double)QUANTUM * update->amount;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        allow(&wander->account, c, weight_at(wander, c), step * update->level[i]);
    }
}

/* Exact, but for bits beyond a double's. */
static double residual_at(const struct wander *wander, uint32_t c, int32_t units)
{
    return (double)weight_at(wander, c) - (double)QUANTUM * (double)units;
}

/* What hearing its own will charge to the residual, worked out apart from the backend. */
static void account_own(struct wander *wander, const struct update *update)
{
    struct account *account = &wander->account;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        const double level = update->level[i], told = (double)update->tau * level;
        const double before = (double)QUANTUM * (double)wander->read[c];
        const double residual = residual_at(wander, c, wander->read[c]);
        const bool alike = (residual > 0) == (told > 0);
        const double charged = alike ? copysign(fmin(fabs(residual), fabs(told)), told) : 0;
        credit(account, account->told, c, charged);
        account->bound[c] += 0x1p-24 * (fabs(before) + fabs(residual));
        allow(account, c, weight_at(wander, c),
              fabs((double)QUANTUM * update->amount * level) + fabs(charged));
    }
}

void wander_hear_own(struct wander *wander, const struct update *update)
{
    if (wander->accounted) {
        replica_read_units(&wander->replica, wander->read);
        account_own(wander, update);
    }
    replica_hear_own(&wander->replica, update);
}

void wander_read_block(const struct wander *wander, size_t first, size_t count, int32_t *host)
{
    replica_read_block(&wander->replica, first, count, host);
}

/* What writing the entry will do: the weight stays, or it moves with the base. */
static void account_write(struct wander *wander, uint32_t c, int32_t to, bool keep_weights)
{
    struct account *account = &wander->account;
    const int32_t from = wander->read[c];
    const double moved = (double)QUANTUM * (double)((int64_t)to - from);
    account->since[c] = to;
    if (to == from)
        return;
    if (keep_weights) {
        credit(account, account->produced, c, -moved);
        return;
    }
    const double ends = (double)QUANTUM * (fabs((double)from) + fabs((double)to));
    const double residual = fabs(residual_at(wander, c, from));
    const double weight = fabs((double)weight_at(wander, c) + moved);
    account->bound[c] += 0x1p-24 * (ends + 2 * residual + weight);
}

void wander_write_block(struct wander *wander, size_t first, size_t count, const int32_t *host,
                        bool keep_weights)
{
    const size_t parameters = wander->replica.parameters;
    CHECK(first <= parameters && count <= parameters - first);
    if (wander->accounted) {
        replica_read_units(&wander->replica, wander->read);
        for (size_t i = 0; i < count; i++)
            account_write(wander, (uint32_t)(first + i), host[i], keep_weights);
    }
    replica_write_block(&wander->replica, first, count, host, keep_weights);
}

void wander_save(const struct wander *wander, struct learner_state *state)
{
    CHECK(state->moments == 0);
    replica_save(&wander->replica, state);
    state->steps = state->samples = state->swarm_samples = state->epoch = 0;
    state->at = state->batch = 0;
    state->wander = wander->rng.state;
}

static void account_restart(struct wander *wander, const struct learner_state *state)
{
    struct account *account = &wander->account;
    for (uint32_t c = 0; c < wander->replica.parameters; c++) {
        account->told[c] = account->produced[c] = account->bound[c] = 0;
        account->since[c] = state->since[c];
        credit(account, account->produced, c, residual_at(wander, c, state->base[c]));
    }
}

void wander_restore(struct wander *wander, const struct learner_state *state)
{
    CHECK(state->moments == 0);
    replica_restore(&wander->replica, state);
    wander->rng.state = state->wander;
    if (wander->accounted)
        account_restart(wander, state);
}

/* Entries from .. to-1 have changed somewhere. */
static void see(struct wander *wander, size_t from, size_t to)
{
    for (size_t c = from; c < to; c++) {
        const uint32_t change = (uint32_t)wander->read[c] - (uint32_t)wander->seen[c];
        if (change == 0)
            continue;
        wander->digest = digest_add(wander->digest, digest_of_entry((uint32_t)c, change));
        wander->seen[c] = wander->read[c];
    }
}

uint64_t wander_digest(struct wander *wander)
{
    const size_t parameters = wander->replica.parameters;
    replica_read_units(&wander->replica, wander->read);
    for (size_t from = 0; from < parameters; from += CHUNK) {
        const size_t to = parameters - from < CHUNK ? parameters : from + CHUNK;
        if (memcmp(wander->read + from, wander->seen + from, (to - from) * sizeof(int32_t)) != 0)
            see(wander, from, to);
    }
    return wander->digest;
}

void wander_read_units(const struct wander *wander, int32_t *host)
{
    replica_read_units(&wander->replica, host);
}

void wander_read_weights(const struct wander *wander, float *host)
{
    replica_read_weights(&wander->replica, host);
}

double wander_account_error(const struct wander *wander, double *bound)
{
    CHECK(wander->accounted);
    const struct account *account = &wander->account;
    double worst = 0, worst_excess = -INFINITY;
    replica_read_units(&wander->replica, wander->read);
    for (uint32_t c = 0; c < wander->replica.parameters; c++) {
        const double residual = residual_at(wander, c, wander->read[c]);
        const double error = fabs(account->produced[c] - account->told[c] - residual);
        const double most = account->bound[c] + 0x1p-52 * fabs(residual); /* of these two lines */
        if (!(error - most > worst_excess))
            continue;
        worst_excess = error - most;
        worst = error;
        *bound = most;
    }
    return worst;
}

void wander_free(struct wander *wander)
{
    replica_free(&wander->replica);
}
