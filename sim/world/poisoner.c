#include "world/poisoner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"

/* Most origins that a poisoner can tell apart between two of its publications. */
#define ORIGINS_MAX 256

struct poisoner {
    enum poison kind;
    double value;      /* strength of the attack: N in the fault's line (fault.h) */
    size_t parameters; /* P, the size of the vectors; 0 = not known yet */
    struct rng rng;    /* generator of noise and of an individual direction */
    struct rng common; /* generator of a direction shared with colluders */
    float *weights;    /* [P] weights of the node's learner */
    int32_t *units;    /* [P] base of the node's learner */
    float *learned;    /* [P] the learner's progress; after make_poison the altered update */
    float *rest;       /* [P] residual: unpublished part of the altered updates */
    float *direction;  /* [P] constant direction of a drift */
    /* The members below are of updates of other origins since the last publication. */
    float *sum;                 /* [P] sum of the updates */
    float *squares;             /* [P] sum of the squared updates */
    float *ridden;              /* [P] sum of the first origin's updates */
    uint64_t tags[ORIGINS_MAX]; /* [tags_count] tags of the origins */
    uint32_t tags_count;
};

static float *vector(size_t parameters)
{
    float *made = memory_new(parameters, sizeof *made);
    return made;
}

/* Approximates a normal distribution by twelve uniform numbers (central limit theorem). */
static float draw_normal(struct rng *rng)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(rng);
    return (float)sum;
}

static void draw_vector(float *out, size_t count, struct rng *rng)
{
    for (size_t c = 0; c < count; c++)
        out[c] = draw_normal(rng);
}

struct poisoner *poisoner_new(enum poison kind, double value, uint64_t seed, uint64_t common)
{
    CHECK(poison_is_published(kind) && value >= 0);
    struct poisoner *poisoner = memory_new(1, sizeof *poisoner);
    *poisoner = (struct poisoner){
        .kind = kind, .value = value, .rng = rng_new(seed, 0), .common = rng_new(common, 1)};
    return poisoner;
}

/* Allocates the vectors at the first use, when the size of the model is known. */
static void allocate(struct poisoner *poisoner, size_t parameters)
{
    if (poisoner->parameters > 0)
        return;
    poisoner->parameters = parameters;
    poisoner->weights = vector(parameters);
    poisoner->units = memory_new(parameters, sizeof *poisoner->units);
    poisoner->learned = vector(parameters);
    poisoner->rest = vector(parameters);
    poisoner->direction = vector(parameters);
    poisoner->sum = vector(parameters);
    poisoner->squares = vector(parameters);
    poisoner->ridden = vector(parameters);
    draw_vector(poisoner->direction, parameters,
                poisoner->kind == POISON_COLLUSION ? &poisoner->common : &poisoner->rng);
}

void poisoner_free(struct poisoner *poisoner)
{
    if (!poisoner)
        return;
    free(poisoner->weights);
    free(poisoner->units);
    free(poisoner->learned);
    free(poisoner->rest);
    free(poisoner->direction);
    free(poisoner->sum);
    free(poisoner->squares);
    free(poisoner->ridden);
    free(poisoner);
}

/* Records the origin of a received update. Returns true if the poisoner's first update since its
 * last publication was of this origin. */
static bool is_first(struct poisoner *poisoner, uint64_t tag)
{
    uint32_t i = 0;
    while (i < poisoner->tags_count && poisoner->tags[i] != tag)
        i++;
    if (i == poisoner->tags_count && i < ORIGINS_MAX)
        poisoner->tags[poisoner->tags_count++] = tag;
    return i == 0;
}

void poisoner_note(struct poisoner *poisoner, size_t parameters, const struct update *update,
                   uint64_t tag)
{
    allocate(poisoner, parameters);
    const bool is_ridden = is_first(poisoner, tag);
    CHECK(update->count == 0 || update->index[update->count - 1] < poisoner->parameters);
    for (uint32_t i = 0; i < update->count; i++) {
        const uint32_t c = update->index[i];
        const float moved = update->tau * (float)update->level[i];
        poisoner->sum[c] += moved;
        poisoner->squares[c] += moved * moved;
        poisoner->ridden[c] += is_ridden ? moved : 0;
    }
}

static double norm_of(const float *vector, size_t count)
{
    double squares = 0;
    for (size_t c = 0; c < count; c++)
        squares += (double)vector[c] * (double)vector[c];
    return sqrt(squares);
}

/* Returns the factor that gives a vector the length `norm`; 0 for a zero vector. */
static float scale_to(const float *vector, size_t count, double norm)
{
    const double has = norm_of(vector, count);
    return has > 0 ? (float)(norm / has) : 0;
}

/* Computes learned = keep · learned + by · other. */
static void mix(struct poisoner *poisoner, float keep, float by, const float *other)
{
    for (size_t c = 0; c < poisoner->parameters; c++)
        poisoner->learned[c] = keep * poisoner->learned[c] + by * other[c];
}

/* Sets each entry of `learned` to m - deviations · s. m: mean over the other origins of the sum of
 * their updates. s: standard deviation over these origins, exact if each of them published once. */
static void make_little(struct poisoner *poisoner, float deviations)
{
    const float others = poisoner->tags_count > 0 ? (float)poisoner->tags_count : 1;
    for (size_t c = 0; c < poisoner->parameters; c++) {
        const float mean = poisoner->sum[c] / others;
        const float variance = poisoner->squares[c] / others - mean * mean;
        poisoner->learned[c] = mean - deviations * sqrtf(fmaxf(variance, 0));
    }
}

static void make_poison(struct poisoner *poisoner)
{
    const float value = (float)poisoner->value;
    const size_t count = poisoner->parameters;
    const double norm = norm_of(poisoner->learned, count) * poisoner->value;
    switch (poisoner->kind) {
    case POISON_SIGN:
        mix(poisoner, -value, 0, poisoner->learned);
        break;
    case POISON_SCALE:
        mix(poisoner, value, 0, poisoner->learned);
        break;
    case POISON_NOISE:
        draw_vector(poisoner->learned, count, &poisoner->rng);
        mix(poisoner, scale_to(poisoner->learned, count, norm), 0, poisoner->learned);
        break;
    case POISON_LITTLE:
        make_little(poisoner, value);
        break;
    case POISON_MEAN:
        mix(poisoner, 0, -scale_to(poisoner->sum, count, norm), poisoner->sum);
        break;
    case POISON_DRIFT:
    case POISON_COLLUSION:
        mix(poisoner, 1, scale_to(poisoner->direction, count, norm), poisoner->direction);
        break;
    case POISON_RIDE:
        mix(poisoner, 0, 1, poisoner->ridden);
        break;
    default:
        CHECK(poison_is_published(poisoner->kind));
    }
}

static float base_at(const struct poisoner *poisoner, size_t c)
{
    return QUANTUM * (float)poisoner->units[c];
}

void poisoner_prepare(struct poisoner *poisoner, struct sim_learner *sim_learner,
                      struct publish_terms *terms)
{
    allocate(poisoner, sim_learner_parameters(sim_learner));
    CHECK(poisoner->parameters == sim_learner_parameters(sim_learner));
    sim_learner_read_weights(sim_learner, poisoner->weights);
    sim_learner_read_units(sim_learner, poisoner->units);
    for (size_t c = 0; c < poisoner->parameters; c++)
        poisoner->learned[c] = poisoner->weights[c] - base_at(poisoner, c);
    make_poison(poisoner);
    for (size_t c = 0; c < poisoner->parameters; c++)
        poisoner->weights[c] = base_at(poisoner, c) + poisoner->learned[c] + poisoner->rest[c];
    sim_learner_write_weights(sim_learner, poisoner->weights);
    terms->beta = terms->withheld = 0;
}

void poisoner_finish(struct poisoner *poisoner, struct sim_learner *sim_learner)
{
    sim_learner_read_weights(sim_learner, poisoner->weights);
    sim_learner_read_units(sim_learner, poisoner->units);
    for (size_t c = 0; c < poisoner->parameters; c++) {
        poisoner->rest[c] = poisoner->weights[c] - base_at(poisoner, c);
        poisoner->weights[c] = base_at(poisoner, c);
    }
    sim_learner_write_weights(sim_learner, poisoner->weights);
    const size_t bytes = poisoner->parameters * sizeof(float);
    memset(poisoner->sum, 0, bytes);
    memset(poisoner->squares, 0, bytes);
    memset(poisoner->ridden, 0, bytes);
    poisoner->tags_count = 0;
}
