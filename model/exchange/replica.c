#include "exchange/replica.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/error_feedback.h"
#include "base/error.h"
#include "base/memory.h"

#define RESET_PART 4096 /* entries per piece in replica_reset_to_base */

#define PIECE 4096 /* entries per piece in other functions */

/* Waits for uploads to the base, so that other threads may read it. */
static void settle(const struct replica *replica)
{
    int32_t any;
    replica->backend->download(replica->backend, &any, replica->base, sizeof any);
}

static void download_weights(const struct replica *replica, struct weights weights, size_t first,
                             size_t count, float *host)
{
    struct weights_part part;
    for (size_t c = 0; c < count; c += part.count) {
        part = weights_part(weights, first + c, first + count);
        replica->backend->download(replica->backend, host + c, part.at, part.count * sizeof *host);
    }
}

static void upload_weights(struct replica *replica, size_t first, size_t count, const float *host)
{
    struct weights_part part;
    for (size_t c = 0; c < count; c += part.count) {
        part = weights_part(replica->weights, first + c, first + count);
        replica->backend->upload(replica->backend, part.at, host + c, part.count * sizeof *host);
    }
}

void replica_init(struct replica *replica, struct arena *arena, struct backend *backend,
                  size_t parameters, const float *host_init, uint32_t density_max)
{
    CHECK(parameters > 0 && parameters <= INT32_MAX);
    CHECK(density_max > 0 && density_max <= parameters);
    const size_t bytes = parameters * sizeof(float);
    float *own = backend->alloc(backend, bytes);
    *replica = (struct replica){
        .backend = backend,
        .parameters = parameters,
        .weights = weights_flat(own),
        .trained = weights_flat(own),
        .own = own,
        .base = backend->alloc(backend, bytes),
        .published = {.index = arena_alloc(arena, density_max, sizeof(uint32_t)),
                      .level = arena_alloc(arena, density_max, sizeof(int8_t))},
        .density_max = density_max,
        .candidates_max = 2 * density_max,
    };
    replica->candidates =
        backend->alloc(backend, replica->candidates_max * sizeof *replica->candidates);
    if (host_init)
        replica_begin_part(replica, 0, parameters, host_init);
}

/* count <= PIECE. The weights are exactly the rounded base, so the first residual is zero. */
static void begin_piece(struct replica *replica, size_t first, size_t count, const float *host_init)
{
    struct backend *backend = replica->backend;
    int32_t units[PIECE];
    float start[PIECE];
    CHECK(count <= PIECE);
    for (size_t c = 0; c < count; c++) {
        units[c] = units_of_weight(host_init[c], replica->weights.are_companded);
        start[c] = weight_of_units(units[c], replica->weights.are_companded);
    }
    backend->upload(backend, replica->base + first, units, count * sizeof *units);
    upload_weights(replica, first, count, start);
}

void replica_compand(struct replica *replica)
{
    replica->weights.are_companded = replica->trained.are_companded = true;
}

/* Sets the exchange's weights after statistics were declared or the trained weights have moved to
 * other memory. */
static void view_trained(struct replica *replica)
{
    bool is_far;
    struct backend *backend = replica->backend;
    struct weights view =
        statistics_view(&replica->statistics, replica->trained, replica->parameters);
    backend->free(backend, replica->table);
    replica->table =
        view.flat ? NULL
                  : backend->keep(backend, view.part, view.parts * sizeof *view.part, &is_far);
    view.table = replica->table;
    replica->weights = view;
}

void replica_keep_statistics(struct replica *replica, struct arena *arena,
                             const struct entry_range *range, uint32_t ranges)
{
    struct backend *backend = replica->backend;
    const struct weights own = replica->trained;
    CHECK(replica->own && replica->statistics.ranges == 0);
    statistics_init(&replica->statistics, arena, backend, range, ranges);
    view_trained(replica);
    for (uint32_t r = 0; r < ranges; r++) {
        const struct weights_part held =
            weights_part(replica->weights, range[r].first, range[r].first + range[r].count);
        backend->elements->copy(backend, held.count, floats(own.flat + held.first),
                                floats(held.at));
        statistics_reset(&replica->statistics, held.first, held.count, true);
    }
}

void replica_begin_part(struct replica *replica, size_t first, size_t count, const float *host_init)
{
    CHECK(first <= replica->parameters && count <= replica->parameters - first);
    for (size_t at = 0; at < count; at += PIECE)
        begin_piece(replica, first + at, size_min(count - at, PIECE), host_init + at);
    settle(replica);
}

/* Returns the factor by which a published residual moves the base: share · gain · novelty. */
static double counts(const struct replica *replica, const struct publish_terms *terms)
{
    CHECK(terms->gain >= 0 && terms->share >= 0 && terms->at_once >= 0);
    const double usual = terms->gain * terms->share;
    if (terms->at_once == 0)
        return usual;
    return usual * overlap_novelty(&replica->overlap, usual, terms->at_once);
}

/* Returns the smallest tau at which counts · tau rounds to an amount of at least 1, but at most
 * TAU_MAX. At a smaller tau, amount_of would raise the amount to 1, and the base would move by more
 * than this node's share of its progress. */
static float tau_floor(double counts)
{
    return (float)fmin(0.5 * (double)QUANTUM / counts, TAU_MAX);
}

static uint32_t amount_of(double counts, float tau)
{
    double amount = round(counts * (double)tau / (double)QUANTUM);
    return (uint32_t)fmin(fmax(amount, 1), AMOUNT_MAX);
}

/* Returns the largest number of entries to publish. Diverged weights may have more residuals above
 * TAU_MAX than fit the budget. So at tau = TAU_MAX, at most budget_bytes / 2 entries are published,
 * at two bytes each. */
static uint32_t capacity(const struct replica *replica, uint32_t budget_bytes)
{
    const uint32_t fits = budget_bytes / 2 > 0 ? budget_bytes / 2 : 1;
    return replica->published.tau < TAU_MAX || fits > replica->density_max ? replica->density_max
                                                                           : fits;
}

static uint32_t survey(struct replica *replica, float floor, uint32_t bins[static HISTOGRAM_BINS])
{
    CHECK(floor >= 0);
    const struct survey survey = {.floor = floor,
                                  .candidates = replica->candidates,
                                  .candidates_max = replica->candidates_max};
    return replica->backend->exchange->survey(replica->backend, &survey, replica->parameters,
                                              replica->weights, replica->base, bins);
}

/* Lowers chosen->tau into the bin chosen->split, if that publishes more, by a histogram of that
 * bin. *found: number of candidates of the last survey. If they were too many to be listed, surveys
 * again with a higher floor and updates *found. */
static void split_tau(struct replica *replica, struct threshold *chosen, size_t budget_bytes,
                      uint32_t bins[static HISTOGRAM_BINS], uint32_t *found)
{
    uint32_t parts[BIN_PARTS];
    if (chosen->split == 0)
        return;
    if (*found > replica->candidates_max)
        *found = survey(replica, threshold_edge(chosen->split), bins);
    if (*found > replica->candidates_max)
        return;
    replica->backend->exchange->refine(replica->backend, *found, replica->candidates,
                                       replica->weights, replica->base, chosen->split, parts);
    threshold_split(chosen, bins, parts, replica->parameters, replica->density_max, budget_bytes);
}

/* Returns terms->tau if it is set, otherwise the tau that fits the budget best; 0 = there is
 * nothing to publish. Sets *found to the number of entries at or above the last survey's floor.
 * While tau stays near its previous value, one survey suffices, which skips smaller residuals. If
 * tau falls below that survey's floor, a second survey counts all residuals. */
static float choose_tau(struct replica *replica, const struct publish_terms *terms, uint32_t *found)
{
    /* On the stack, so that all replicas of a simulation share the same cache lines. */
    uint32_t bins[HISTOGRAM_BINS];
    const float floor = terms->tau > 0 ? terms->tau : replica->floor;
    size_ratio_learn(&replica->size_ratio, terms->last_bytes);
    *found = survey(replica, floor, bins);
    replica->lost = threshold_lost(bins);
    replica->saturated = threshold_saturated(bins);
    if (terms->tau > 0)
        return terms->tau;
    const size_t budget_bytes =
        size_ratio_budget(&replica->size_ratio, terms->budget_bytes, terms->bytes_max);
    struct threshold chosen =
        threshold_choose(bins, floor, replica->parameters, replica->density_max, budget_bytes);
    if (chosen.tau == TAU_BELOW) {
        *found = survey(replica, 0, bins);
        chosen = threshold_choose(bins, 0, replica->parameters, replica->density_max, budget_bytes);
    }
    split_tau(replica, &chosen, budget_bytes, bins, found);
    replica->size_ratio.last = chosen.bytes;
    replica->floor = threshold_floor(chosen.tau);
    return chosen.tau;
}

/* Returns the smallest tau at which the highest level moves a base entry by `move`, but at most
 * TAU_MAX. */
static float tau_to_carry(double counts, double move)
{
    return (float)fmin(move / (LEVEL_MAX * counts), TAU_MAX);
}

/* Returns how far this publication has to move the base entry of the farthest statistic; 0 if there
 * are no statistics or statistics_share is 0. */
static double statistics_move(const struct replica *replica, const struct publish_terms *terms)
{
    if (replica->statistics.ranges == 0 || terms->statistics_share == 0)
        return 0;
    return terms->statistics_share * (double)statistics_farthest(&replica->statistics,
                                                                 replica->base,
                                                                 replica->weights.are_companded);
}

/* Cuts the update from the residual in the weights, which includes withheld progress only if the
 * caller has released it. Unless terms->tau is set, tau is raised so that one update can move the
 * farthest statistic as far as it has to move, but not farther than 1. */
static void publish(struct replica *replica, const struct publish_terms *terms)
{
    uint32_t found;
    const double part = counts(replica, terms);
    struct update *published = &replica->published;
    published->count = 0;
    published->needs_more = false;
    published->tau = choose_tau(replica, terms, &found);
    if (published->tau == 0 || replica->lost > 0)
        return;
    const double move = statistics_move(replica, terms);
    const float carries = terms->tau > 0 ? 0 : tau_to_carry(part, fmin(move, 1));
    const float least = fmaxf(tau_floor(part), carries);
    if (published->tau < least) {
        published->tau = least;
        /* The estimate was for the lower tau. This publication is smaller, so its estimated size is
         * unknown (0). */
        replica->size_ratio.last = 0;
    }
    published->amount = amount_of(part, published->tau);
    const double carried =
        (double)QUANTUM * published->amount * update_level_max(published->amount);
    published->needs_more = move > carried + STATISTIC_SMALL;
    if (found > replica->candidates_max) { /* some candidates are not listed: raise the floor */
        uint32_t bins[HISTOGRAM_BINS];
        found = survey(replica, published->tau, bins);
    }
    found = u32_min(found, replica->candidates_max);
    CHECK(published->tau > 0 && published->tau <= TAU_MAX && published->amount <= AMOUNT_MAX);
    const struct cut_terms cut = {.beta = (float)terms->beta,
                                  .statistics_share = (float)terms->statistics_share,
                                  .capacity = capacity(replica, terms->budget_bytes)};
    replica->backend->exchange->cut(replica->backend, found, replica->candidates, &cut,
                                    replica->weights, replica->base, published);
    CHECK(published->count <= replica->density_max);
}

void replica_place_weights(struct replica *replica, struct weights places)
{
    struct weights_part part;
    struct backend *backend = replica->backend;
    CHECK(replica->own && !places.flat);
    for (size_t c = 0; c < replica->parameters; c += part.count) {
        part = weights_part(places, c, replica->parameters);
        backend->elements->copy(backend, part.count, floats(replica->own + c), floats(part.at));
    }
    backend->free(backend, replica->own);
    replica->own = NULL;
    places.are_companded = replica->trained.are_companded;
    replica->trained = places;
    view_trained(replica);
}

void replica_allow_withholding(struct replica *replica)
{
    CHECK(!replica->withheld);
    replica->withheld =
        replica->backend->alloc(replica->backend, replica->parameters * sizeof *replica->withheld);
}

void replica_release(struct replica *replica)
{
    struct backend *backend = replica->backend;
    if (replica->is_withholding)
        backend->exchange->release(backend, replica->parameters, replica->withheld,
                                   replica->weights);
    replica->is_withholding = false;
}

static void track(struct replica *replica, size_t first, size_t count, bool counts, double pull)
{
    statistics_track(&replica->statistics, first, count, replica->weights.are_companded, counts,
                     (float)pull);
}

const struct update *replica_publish(struct replica *replica, const struct publish_terms *terms)
{
    struct backend *backend = replica->backend;
    CHECK(terms->withheld >= 0 && terms->withheld <= 1 &&
          (terms->withheld == 0 || replica->withheld));
    if (terms->withheld > 0)
        replica_release(replica);
    track(replica, 0, replica->parameters, terms->statistics_share > 0, terms->statistics_pull);
    publish(replica, terms);
    if (terms->at_once > 0)
        overlap_on_published(&replica->overlap, &replica->published, terms->share,
                             replica->parameters);
    replica->is_withholding = terms->withheld > 0;
    if (replica->is_withholding)
        backend->exchange->withhold(backend, replica->parameters, (float)terms->withheld,
                                    replica->weights, replica->base, replica->withheld);
    return &replica->published;
}

/* Catches only programming errors: updates of other nodes are checked when they are decoded
 * (net/wire/rumor.h). */
static void check_update(const struct replica *replica, const struct update *update)
{
    CHECK(update->amount <= AMOUNT_MAX);
    CHECK(update->count == 0 || update->index[update->count - 1] < replica->parameters);
}

/* Lets statistics follow each update, as long as no movement has counted since their last reset. */
static void track_update(struct replica *replica, const struct update *update)
{
    if (replica->statistics.has_counted || update->count == 0)
        return;
    const size_t first = update->index[0], last = update->index[update->count - 1];
    track(replica, first, last - first + 1, false, 0);
}

void replica_apply(struct replica *replica, const struct update *update, float beta)
{
    struct backend *backend = replica->backend;
    check_update(replica, update);
    backend->exchange->apply(backend, update, beta, replica->weights, replica->base);
    track_update(replica, update);
    if (!replica->is_withholding || replica->overlap.share == 0)
        return;
    overlap_on_applied(&replica->overlap, &replica->published, update);
    const double part = overlap_spoken_for(&replica->overlap, update);
    if (part > 0)
        backend->exchange->drop_covered(backend, update, (float)part, replica->withheld);
}

double replica_agreement(const struct replica *replica, const struct update *update)
{
    check_update(replica, update);
    const double agreement = replica->backend->exchange->agreement(replica->backend, update,
                                                                   replica->weights, replica->base);
    return isfinite(agreement) ? fmax(fmin(agreement, 1), -1) : 0; /* NaN if a weight is NaN */
}

void replica_apply_own(struct replica *replica, const struct update *update, float beta)
{
    struct backend *backend = replica->backend;
    check_update(replica, update);
    replica_release(replica);
    backend->exchange->apply_own(backend, update, beta, replica->weights, replica->base);
    track_update(replica, update);
}

uint64_t replica_digest(const struct replica *replica)
{
    return replica->backend->exchange->digest(replica->backend, replica->parameters, replica->base);
}

static void check_block(const struct replica *replica, size_t first, size_t count)
{
    CHECK(first <= replica->parameters && count <= replica->parameters - first);
}

void replica_read_base_part(const struct replica *replica, size_t first, size_t count, float *host)
{
    check_block(replica, first, count);
    replica->backend->download(replica->backend, host, replica->base + first, count * sizeof *host);
    for (size_t c = 0; c < count; c++) {
        int32_t units; /* the download stored the bits of an int32 in the float */
        memcpy(&units, &host[c], sizeof units);
        host[c] = weight_of_units(units, replica->weights.are_companded);
    }
}

/* Returns the position of the update's first entry with an index of at least `index`;
 * update->count if there is none. */
static uint32_t entry_from(const struct update *update, size_t index)
{
    uint32_t from = 0, to = update->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (update->index[middle] < index)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void replica_read_with(const struct replica *replica, const struct update *updates,
                       uint32_t updates_count, size_t first, size_t count, float *host)
{
    int32_t units[PIECE];
    CHECK(count <= PIECE);
    check_block(replica, first, count);
    replica->backend->download(replica->backend, units, replica->base + first,
                               count * sizeof *units);
    for (uint32_t u = 0; u < updates_count; u++) {
        const struct update *update = &updates[u];
        for (uint32_t i = entry_from(update, first);
             i < update->count && update->index[i] < first + count; i++) {
            const int level = update->level[i];
            int32_t *to = &units[update->index[i] - first];
            *to = add_wrapping(*to, update->amount * (uint32_t)level);
        }
    }
    for (size_t c = 0; c < count; c++)
        host[c] = weight_of_units(units[c], replica->weights.are_companded);
}

size_t replica_reset_to_base(struct replica *replica)
{
    size_t first_lost = replica->parameters;
    float part[RESET_PART];
    for (size_t first = 0; first < replica->parameters; first += RESET_PART) {
        const size_t left = replica->parameters - first;
        const size_t count = size_min(left, RESET_PART);
        download_weights(replica, replica->weights, first, count, part);
        for (size_t c = 0; c < count && first_lost == replica->parameters; c++)
            if (!isfinite(part[c]))
                first_lost = first + c;
        replica_read_base_part(replica, first, count, part);
        upload_weights(replica, first, count, part);
    }
    /* If a weight was NaN or infinite, movement of statistics counts from the reset. */
    statistics_reset(&replica->statistics, 0, replica->parameters,
                     first_lost < replica->parameters);
    replica->is_withholding = false;
    replica->lost = 0;
    replica->floor = 0;
    return first_lost;
}

void replica_reset_statistics(struct replica *replica)
{
    track(replica, 0, replica->parameters, true, 0); /* the movement stays in the residual */
    statistics_reset(&replica->statistics, 0, replica->parameters, false);
}

size_t replica_first_saturated(const struct replica *replica)
{
    const bool companded = replica->weights.are_companded;
    float weights[PIECE];
    int32_t units[PIECE];
    for (size_t first = 0; first < replica->parameters; first += PIECE) {
        const size_t left = replica->parameters - first, count = size_min(left, PIECE);
        download_weights(replica, replica->weights, first, count, weights);
        replica->backend->download(replica->backend, units, replica->base + first,
                                   count * sizeof *units);
        for (size_t c = 0; c < count; c++)
            if (is_saturated(residual(weights[c], units[c], companded), units[c]))
                return first + c;
    }
    return replica->parameters;
}

void replica_read_base(const struct replica *replica, float *host)
{
    replica_read_base_part(replica, 0, replica->parameters, host);
}

void replica_read_units(const struct replica *replica, int32_t *host)
{
    replica->backend->download(replica->backend, host, replica->base,
                               replica->parameters * sizeof *host);
}

void replica_read_weights(const struct replica *replica, float *host)
{
    download_weights(replica, replica->trained, 0, replica->parameters, host);
}

void replica_write_weights(struct replica *replica, const float *host)
{
    upload_weights(replica, 0, replica->parameters, host);
    statistics_reset(&replica->statistics, 0, replica->parameters, true);
}

void replica_read_block(const struct replica *replica, size_t first, size_t count, int32_t *host)
{
    check_block(replica, first, count);
    replica->backend->peek(replica->backend, host, replica->base + first, count * sizeof *host);
}

void replica_write_block(struct replica *replica, size_t first, size_t count, const int32_t *host,
                         bool keep_weights)
{
    struct backend *backend = replica->backend;
    check_block(replica, first, count);
    if (keep_weights) {
        backend->upload(backend, replica->base + first, host, count * sizeof *host);
        settle(replica);
    } else {
        backend->exchange->rebase(backend, first, count, host, replica->weights, replica->base);
        track(replica, first, count, false, 0);
    }
}

void replica_save(const struct replica *replica, struct learner_state *state)
{
    struct backend *backend = replica->backend;
    const size_t first = state->first, bytes = state->parameters * sizeof(float);
    check_block(replica, first, state->parameters);
    backend->download(backend, state->base, replica->base + first, bytes);
    download_weights(replica, replica->trained, first, state->parameters, state->weights);
}

void replica_restore(struct replica *replica, const struct learner_state *state)
{
    struct backend *backend = replica->backend;
    const size_t first = state->first, bytes = state->parameters * sizeof(float);
    check_block(replica, first, state->parameters);
    replica->is_withholding = false;
    backend->upload(backend, replica->base + first, state->base, bytes);
    upload_weights(replica, first, state->parameters, state->weights);
    statistics_restore(&replica->statistics, first, state->parameters, state->weights, state->base,
                       replica->weights.are_companded);
    settle(replica);
}

void replica_free(struct replica *replica)
{
    statistics_free(&replica->statistics);
    replica->backend->free(replica->backend, replica->own);
    replica->backend->free(replica->backend, replica->table);
    replica->backend->free(replica->backend, replica->base);
    replica->backend->free(replica->backend, replica->withheld);
    replica->backend->free(replica->backend, replica->candidates);
}
