#include "data/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "data/batch.h"
#include "data/sequences.h"

/* Scratch buffers for cutting samples into shards. */
struct desk {
    uint32_t *order; /* [count] random permutation of all samples */
    uint32_t *pile;  /* [count] samples for one call of deal: all samples, or those of one label */
    double *parts;   /* [nodes] relative amounts of the pile that the nodes get */
};

static double largest_of(const double *values, uint32_t count)
{
    double largest = values[0];
    for (uint32_t i = 1; i < count; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

/* Cuts pile[pile_count] into one slice per node, in proportion to desk->parts, and sets the
 * samples' owners. */
static void deal(struct shards *shards, const struct desk *desk, uint32_t pile_count)
{
    double all = 0, before = 0;
    for (uint32_t i = 0; i < shards->nodes; i++)
        all += desk->parts[i];
    uint32_t at = 0;
    for (uint32_t i = 0; i < shards->nodes; i++) {
        /* `all` was summed in this order, so the last sum equals `all` exactly */
        before += desk->parts[i];
        const uint32_t to =
            before < all ? (uint32_t)((double)pile_count * before / all) : pile_count;
        shards->sizes[i] += to - at;
        for (; at < to; at++)
            shards->owner[desk->pile[at]] = i;
    }
}

/* Sets parts[i] to weights[i] / the largest weight. Equal weights thus become exactly 1, and their
 * sums have no rounding errors. */
static void weigh(const struct desk *desk, const struct shards_options *options)
{
    const double largest = largest_of(options->weights, options->nodes);
    for (uint32_t i = 0; i < options->nodes; i++)
        desk->parts[i] = options->weights[i] / largest;
}

static void cut_evenly(struct shards *shards, const struct desk *desk,
                       const struct shards_options *options)
{
    weigh(desk, options);
    memcpy(desk->pile, desk->order, shards->count * sizeof *desk->pile);
    deal(shards, desk, shards->count);
}

/* Returns a standard normal variate, by Marsaglia's polar method (Marsaglia, Bray 1964). */
static double draw_normal(struct rng *rng)
{
    double u, square;
    do {
        u = 2 * rng_uniform(rng) - 1;
        const double v = 2 * rng_uniform(rng) - 1;
        square = u * u + v * v;
    } while (square >= 1 || square == 0);
    return u * sqrt(-2 * log(square) / square);
}

/* Returns a Gamma(shape, 1) variate; shape >= 1 (Marsaglia, Tsang 2000). */
static double draw_gamma(struct rng *rng, double shape)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = draw_normal(rng);
        const double root = 1 + c * x, v = root * root * root;
        const double u = 1 - rng_uniform(rng); /* above 0, so that log(u) is finite */
        if (v > 0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

/* Returns the logarithm of a Gamma(shape, 1) variate, shape > 0: Gamma(shape + 1, 1) · u^(1/shape)
 * (Marsaglia, Tsang 2000, section 6). For a small shape the variate underflows a double; its
 * logarithm does not. */
static double draw_log_gamma(struct rng *rng, double shape)
{
    const double u = 1 - rng_uniform(rng);
    return log(draw_gamma(rng, shape + 1)) + log(u) / shape;
}

/* Draws parts[nodes] from the Dirichlet distribution of the options, scaled so that the largest
 * part is 1. */
static void draw_parts(const struct desk *desk, const struct shards_options *options,
                       struct rng *rng)
{
    double all = 0;
    weigh(desk, options);
    for (uint32_t i = 0; i < options->nodes; i++)
        all += desk->parts[i];
    for (uint32_t i = 0; i < options->nodes; i++) {
        const double shape = options->alpha * options->nodes * (desk->parts[i] / all);
        desk->parts[i] = shape > 0 ? draw_log_gamma(rng, shape) : -INFINITY;
    }
    const double largest = largest_of(desk->parts, options->nodes);
    for (uint32_t i = 0; i < options->nodes; i++)
        desk->parts[i] = exp(desk->parts[i] - largest);
}

static void cut_by_label(struct shards *shards, const struct desk *desk,
                         const struct dataset *whole, const struct shards_options *options)
{
    for (int label = 0; label < whole->classes; label++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < whole->count; i++)
            if (whole->labels[desk->order[i]] == label)
                desk->pile[count++] = desk->order[i];
        struct rng rng = rng_new(options->seed ^ rng_mix(UINT64_MAX), (uint64_t)label);
        draw_parts(desk, options, &rng);
        deal(shards, desk, count);
    }
}

static uint32_t largest_shard(const struct shards *shards)
{
    uint32_t largest = 0;
    for (uint32_t i = 1; i < shards->nodes; i++)
        if (shards->sizes[i] > shards->sizes[largest])
            largest = i;
    return largest;
}

static void give_one(struct shards *shards, uint32_t node)
{
    const uint32_t from = largest_shard(shards);
    CHECK(shards->sizes[from] > 1);
    uint32_t last = shards->count - 1;
    while (shards->owner[last] != from)
        last--;
    shards->owner[last] = node;
    shards->sizes[from]--;
    shards->sizes[node]++;
}

static void cut(struct shards *shards, const struct desk *desk, const struct dataset *whole,
                const struct shards_options *options)
{
    /* the random stream that slice.c also uses, so that equal weights give its slices */
    batch_shuffle(desk->order, whole->count, rng_new(options->seed, UINT64_MAX));
    if (options->alpha > 0)
        cut_by_label(shards, desk, whole, options);
    else
        cut_evenly(shards, desk, options);
    for (uint32_t i = 0; i < shards->nodes; i++)
        if (shards->sizes[i] == 0 && options->weights[i] > 0)
            give_one(shards, i);
}

/* Sets the end and the number of windows of each node's stretch. Equal weights give the stretches
 * of sequences.c. */
static void cut_stretches(struct shards *shards, const struct dataset *whole,
                          const struct shards_options *options)
{
    const double largest = largest_of(options->weights, options->nodes);
    double all = 0, before = 0;
    size_t from = 0;
    for (uint32_t i = 0; i < options->nodes; i++)
        all += options->weights[i] / largest;
    for (uint32_t i = 0; i < options->nodes; i++) {
        before += options->weights[i] / largest;
        const size_t to = before < all ? (size_t)((double)whole->tokens_count * before / all)
                                       : whole->tokens_count;
        CHECK(from <= to);
        shards->ends[i] = to;
        shards->sizes[i] = sequences_windows(to - from, whole->shape.length);
        from = to;
    }
}

static enum error cut_sequences(struct shards *shards, const struct dataset *whole,
                                const struct shards_options *options, struct problem *problem)
{
    if (options->alpha > 0)
        return problem_set(
            problem, MISMATCH,
            "skew: sequences have no labels to be skewed by; set skew to 0, and give "
            "nodes more or less data by their weights");
    shards->ends = calloc(options->nodes, sizeof *shards->ends);
    if (!shards->ends)
        return problem_set(problem, FAILED, "no memory left to cut the tokens into %u shards",
                           options->nodes);
    cut_stretches(shards, whole, options);
    for (uint32_t i = 0; i < options->nodes; i++)
        if (shards->sizes[i] == 0 && options->weights[i] > 0)
            return problem_set(problem, MISMATCH,
                               "the shard of node %u of %u has %zu tokens, and with a context of "
                               "%d at least %d are needed; take fewer nodes, a smaller "
                               "data.context, or more data",
                               i + 1, options->nodes,
                               shards->ends[i] - (i > 0 ? shards->ends[i - 1] : 0),
                               whole->shape.length, 2 * whole->shape.length);
    return OK;
}

static enum error check(const struct dataset *whole, const struct shards_options *options,
                        struct problem *problem)
{
    uint32_t wanting = 0;
    CHECK(isfinite(options->alpha) && options->alpha >= 0);
    for (uint32_t i = 0; i < options->nodes; i++) {
        CHECK(isfinite(options->weights[i]) && options->weights[i] >= 0);
        wanting += options->weights[i] > 0;
    }
    CHECK(wanting > 0);
    if (options->alpha > 0 && dataset_is_regression(whole))
        return problem_set(
            problem, MISMATCH,
            "skew: samples with numbers to be predicted have no labels to be skewed by; "
            "set skew to 0");
    if (whole->count >= wanting || options->is_whole)
        return OK;
    return problem_set(problem, MISMATCH,
                       "%u samples cannot be cut into %u shards; use at most %u nodes that train, "
                       "or more samples",
                       whole->count, wanting, whole->count);
}

static enum error cut_samples(struct shards *shards, const struct dataset *whole,
                              const struct shards_options *options, struct problem *problem)
{
    enum error error = OK;
    shards->owner = malloc(shards->count * sizeof *shards->owner);
    const struct desk desk = {.order = malloc(shards->count * sizeof *desk.order),
                              .pile = malloc(shards->count * sizeof *desk.pile),
                              .parts = malloc(shards->nodes * sizeof *desk.parts)};
    if (shards->owner && desk.order && desk.pile && desk.parts)
        cut(shards, &desk, whole, options);
    else
        error = problem_set(problem, FAILED, "no memory left to cut %u samples into %u shards",
                            shards->count, shards->nodes);
    free(desk.order);
    free(desk.pile);
    free(desk.parts);
    return error;
}

static enum error give_all(struct shards *shards, const struct shards_options *options)
{
    for (uint32_t i = 0; i < options->nodes; i++)
        shards->sizes[i] = options->weights[i] > 0 ? shards->count : 0;
    return OK;
}

enum error shards_cut(struct shards *shards, const struct dataset *whole,
                      const struct shards_options *options, struct problem *problem)
{
    enum error error = check(whole, options, problem);
    if (error != OK)
        return error;
    struct shards made = {.count = whole->count, .nodes = options->nodes};
    made.sizes = memory_new(made.nodes, sizeof *made.sizes);
    CHECK(!(options->is_whole && whole->tokens));
    error = options->is_whole ? give_all(&made, options)
            : whole->tokens   ? cut_sequences(&made, whole, options, problem)
                              : cut_samples(&made, whole, options, problem);
    if (error == OK)
        *shards = made;
    else
        shards_free(&made);
    return error;
}

static enum error take_stretch(const struct shards *shards, const struct dataset *whole,
                               uint32_t node, struct dataset *dataset, struct problem *problem)
{
    const size_t from = node > 0 ? shards->ends[node - 1] : 0, to = shards->ends[node];
    const size_t token_bytes = (size_t)whole->token_bytes;
    struct dataset shard = *whole;
    CHECK(from < to && to <= whole->tokens_count);
    shard.count = shards->sizes[node];
    shard.tokens_count = to - from;
    shard.tokens = malloc((to - from) * token_bytes);
    if (!shard.tokens)
        return problem_set(problem, FAILED, "no memory left for a shard of %zu tokens", to - from);
    memcpy(shard.tokens, (const char *)whole->tokens + from * token_bytes,
           (to - from) * token_bytes);
    *dataset = shard;
    return OK;
}

/* Returns a copy of the node's rows of an array, `bytes` each. Returns NULL if rows is NULL or
 * memory is exhausted. */
static void *copy_rows(const struct shards *shards, uint32_t node, const void *rows, size_t bytes)
{
    char *copy = rows ? malloc(shards->sizes[node] * bytes) : NULL;
    size_t at = 0;
    for (uint32_t i = 0; copy && i < shards->count; i++)
        if (!shards->owner || shards->owner[i] == node)
            memcpy(copy + at++ * bytes, (const char *)rows + i * bytes, bytes);
    return copy;
}

enum error shards_take(const struct shards *shards, const struct dataset *whole, uint32_t node,
                       struct dataset *dataset, struct problem *problem)
{
    CHECK(node < shards->nodes && shards->sizes[node] > 0 && shards->count == whole->count);
    if (whole->tokens)
        return take_stretch(shards, whole, node, dataset, problem);
    const size_t size = shape_size(whole->shape), width = (size_t)whole->classes;
    struct dataset shard = *whole;
    shard.count = shards->sizes[node];
    shard.pixels = copy_rows(shards, node, whole->pixels, size);
    shard.numbers = copy_rows(shards, node, whole->numbers, size * sizeof *shard.numbers);
    shard.labels = copy_rows(shards, node, whole->labels, sizeof *shard.labels);
    shard.targets = copy_rows(shards, node, whole->targets, width * sizeof *shard.targets);
    if (!shard.pixels == !whole->pixels && !shard.numbers == !whole->numbers &&
        !shard.labels == !whole->labels && !shard.targets == !whole->targets) {
        *dataset = shard;
        return OK;
    }
    dataset_free(&shard);
    return problem_set(problem, FAILED, "no memory left for a shard of %u samples",
                       shards->sizes[node]);
}

void shards_free(struct shards *shards)
{
    free(shards->owner);
    free(shards->ends);
    free(shards->sizes);
    *shards = (struct shards){0};
}
