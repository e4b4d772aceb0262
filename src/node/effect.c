#include "node/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "node/broadcast/broadcast.h"

#define KEPT         0.7 /* of a running mean, with each rumor or publication */
#define GAP          0.3 /* an origin agrees less than others by so much, before it counts */
#define AGAINST_MOST 0.8 /* three rumors of a sign flip; seven of flipped labels */
#define LONG         3.0 /* times as long as the others' is allowed */
#define BEYOND_MOST  2.0 /* two or three publications of ten times the length */
#define HIT_MOST     2.0 /* one alone is not enough, however long it is */
#define PIECES_MOST  64  /* rumors make a publication at most: samples come with the first */
#define ENOUGH       3   /* origins make a typical one */
#define GAPS_APART   3   /* times as long as between its rumors nothing comes: it was apart */
#define LATELY_NS    (60 * SECOND_NS) /* who published by then counts among them */

/* A sequential test. */
struct test {
    double sum;    /* of what speaks against an origin, never below 0 */
    uint32_t from; /* the first rumor since the sum was 0 last: there it began */
};

/* What is known of one origin. */
struct figure {
    double usual;        /* running mean of its agreement */
    struct test against; /* is it against what is learned here? */
    double length;       /* running sum of the lengths of its publications, as weights */
    double samples;      /* running sum of the samples these are of */
    uint32_t began;      /* the first rumor of its last publication */
    uint32_t pieces;     /* rumors of that so far; 0: none came */
    struct test beyond;  /* does it move the base beyond what is allowed? */
    double gap_ns;       /* running mean of the time between its rumors */
    uint64_t apart_ns;   /* until then may come what it published while it was apart */
    uint64_t came_ns;    /* when its last rumor was applied; 0: none was */
    uint32_t compared;   /* rumors that usual is of */
    bool was_returned;   /* by effect_next */
};

struct effect {
    struct figure *figures; /* [incarnations_max], by place of the origin */
    double *sorted;         /* [incarnations_max] for the one in the middle */
    double typical;         /* agreement of the origin in the middle; 0: not known */
    double typical_length;  /* per sample, likewise */
    double typical_rate;    /* samples per second, likewise */
};

size_t effect_arena_bytes(const struct node_options *options)
{
    return sizeof(struct effect) +
           options->limits.incarnations_max * (sizeof(struct figure) + sizeof(double)) +
           (size_t)3 * 64;
}

struct effect *effect_new(struct arena *arena, const struct node_options *options)
{
    struct effect *effect = arena_take(arena, 1, sizeof *effect);
    const uint32_t most = options->limits.incarnations_max;
    effect->figures = arena_take(arena, most, sizeof *effect->figures);
    effect->sorted = arena_take(arena, most, sizeof *effect->sorted);
    return effect;
}

/* By what a share is by: samples, or, where all shares are equal, the time that these took. */
static double length_of(const struct node *node, const struct origin *origin,
                        const struct figure *figure)
{
    const double per_sample = figure->length / fmax(figure->samples, 1);
    return node->options.weigh_throughput ? per_sample : per_sample * (double)origin->rate;
}

static void count(struct test *test, double by, uint32_t seq)
{
    CHECK(test->sum >= 0 && isfinite(by));
    if (test->sum == 0)
        test->from = seq;
    test->sum = fmax(test->sum + by, 0);
}

static void count_agreement(const struct effect *effect, struct figure *figure, double agreement,
                            uint32_t seq)
{
    CHECK(agreement >= -1 && agreement <= 1);
    const double less = effect->typical - agreement - GAP;
    figure->usual =
        figure->compared == 0 ? agreement : KEPT * figure->usual + (1 - KEPT) * agreement;
    figure->compared++;
    count(&figure->against, fmin(-agreement, less), seq);
}

/* How many times as long as the typical one it may be. */
static double allowed(const struct node *node, const struct origin *origin)
{
    const struct effect *effect = node->effect;
    const double rate = (double)origin->rate;
    return effect->typical_rate > 0 && rate > effect->typical_rate
               ? LONG * rate / effect->typical_rate
               : LONG;
}

/* The publication before this one is whole by now, and most others' of the same time have come. */
static void judge_length(const struct node *node, const struct origin *origin,
                         struct figure *figure)
{
    const double typical = node->effect->typical_length;
    CHECK(typical >= 0 && figure->length >= 0);
    if (typical > 0 && figure->pieces > 0)
        count(&figure->beyond,
              fmin(length_of(node, origin, figure) / typical / allowed(node, origin) - 1, HIT_MOST),
              figure->began);
}

static void count_length(const struct node *node, const struct origin *origin,
                         struct figure *figure, const struct applied_rumor *rumor)
{
    CHECK(rumor->length >= 0);
    if (rumor->samples > 0 || figure->pieces == PIECES_MOST) {
        judge_length(node, origin, figure);
        figure->length *= KEPT;
        figure->samples *= KEPT;
        figure->pieces = 0;
    }
    if (figure->pieces++ == 0)
        figure->began = rumor->seq;
    figure->length += rumor->length;
    figure->samples += (double)rumor->samples;
}

/* For how long nothing came of it. Who was never met may have learned alone since we began. */
static double silent_ns(const struct node *node, const struct figure *figure)
{
    CHECK(figure->came_ns <= node->now_ns && node->born_ns <= node->now_ns);
    return figure->came_ns > 0 ? (double)(node->now_ns - figure->came_ns)
                               : fmin((double)(node->now_ns - node->born_ns), (double)LATELY_NS);
}

/* Who is apart from others, or has just met us, has a larger share of those that it knows, and what
 * it publishes is longer. What it published apart comes when they are together again, in about as
 * long as that lasted at most, and soon it knows all. */
static bool was_apart(const struct node *node, struct figure *figure)
{
    const double gap_ns = silent_ns(node, figure);
    const double settling_ns = (double)node->options.limits.silence_ns;
    const bool is_first = figure->came_ns == 0;
    CHECK(gap_ns >= 0);
    const bool is_long =
        gap_ns > settling_ns && (figure->gap_ns == 0 || gap_ns > GAPS_APART * figure->gap_ns);
    if (is_first || is_long)
        figure->apart_ns = node->now_ns + (uint64_t)(gap_ns + settling_ns);
    else if (gap_ns > 0)
        figure->gap_ns = figure->gap_ns == 0 ? gap_ns : KEPT * figure->gap_ns + (1 - KEPT) * gap_ns;
    return node->now_ns < figure->apart_ns;
}

void effect_on_applied(struct node *node, const struct applied_rumor *rumor, double agreement)
{
    struct effect *effect = node->effect;
    const struct versions *versions = broadcast_versions(node);
    CHECK(rumor->place < versions->count);
    struct figure *figure = &effect->figures[rumor->place];
    const bool is_apart = was_apart(node, figure);
    figure->came_ns = node->now_ns;
    if (rumor->is_compared)
        count_agreement(effect, figure, agreement, rumor->seq);
    if (!is_apart)
        count_length(node, &versions->origins[rumor->place], figure, rumor);
}

static int by_size(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static bool is_lately(const struct node *node, const struct figure *figure)
{
    CHECK(figure->came_ns <= node->now_ns);
    return figure->came_ns > 0 && node->now_ns - figure->came_ns < LATELY_NS;
}

static double agreement_at(const struct node *node, uint32_t place)
{
    const struct figure *figure = &node->effect->figures[place];
    return figure->compared > 0 ? figure->usual : (double)NAN;
}

static double length_at(const struct node *node, uint32_t place)
{
    const double length =
        length_of(node, &broadcast_versions(node)->origins[place], &node->effect->figures[place]);
    return length > 0 ? length : (double)NAN;
}

static double rate_at(const struct node *node, uint32_t place)
{
    const double rate = (double)broadcast_versions(node)->origins[place].rate;
    return rate > 0 ? rate : (double)NAN;
}

/* What is in the middle of those who published lately and of whom it is known (not NAN); 0: they
 * are not enough. */
static double middle(struct node *node, double (*at)(const struct node *, uint32_t place))
{
    struct effect *effect = node->effect;
    uint32_t count = 0;
    for (uint32_t i = 0; i < broadcast_versions(node)->count; i++)
        if (is_lately(node, &effect->figures[i]) && !isnan(at(node, i)))
            effect->sorted[count++] = at(node, i);
    if (count < ENOUGH)
        return 0;
    qsort(effect->sorted, count, sizeof *effect->sorted, by_size);
    return effect->sorted[count / 2];
}

void effect_review(struct node *node)
{
    struct effect *effect = node->effect;
    effect->typical = middle(node, agreement_at);
    effect->typical_length = middle(node, length_at);
    effect->typical_rate = middle(node, rate_at);
    CHECK(effect->typical_length >= 0 && effect->typical_rate >= 0);
}

static bool harms(const struct figure *figure)
{
    return figure->against.sum > AGAINST_MOST || figure->beyond.sum > BEYOND_MOST;
}

struct origin_effect effect_of(const struct node *node, uint32_t place)
{
    const struct effect *effect = node->effect;
    CHECK(place < broadcast_versions(node)->count);
    const struct origin *origin = &broadcast_versions(node)->origins[place];
    const struct figure *figure = &effect->figures[place];
    const bool has_length = effect->typical_length > 0 && figure->samples > 0;
    return (struct origin_effect){.harms = harms(figure),
                                  .agreement = figure->compared > 0 ? figure->usual : (double)NAN,
                                  .typical = effect->typical,
                                  .length = has_length ? length_of(node, origin, figure) /
                                                             effect->typical_length
                                                       : (double)NAN};
}

const struct origin *effect_next(struct node *node)
{
    const struct versions *versions = broadcast_versions(node);
    for (uint32_t i = 0; i < versions->count; i++) {
        struct figure *figure = &node->effect->figures[i];
        if (figure->against.sum <= AGAINST_MOST / 2 && figure->beyond.sum <= BEYOND_MOST / 2)
            figure->was_returned = false;
        if (figure->was_returned || !harms(figure))
            continue;
        CHECK(figure->came_ns > 0);
        figure->was_returned = true;
        return &versions->origins[i];
    }
    return NULL;
}

uint32_t effect_from(const struct node *node, const struct origin *origin)
{
    const uint32_t place = versions_place(broadcast_versions(node), origin);
    const struct figure *figure = &node->effect->figures[place];
    CHECK(harms(figure));
    return figure->against.sum > AGAINST_MOST ? figure->against.from : figure->beyond.from;
}

void effect_describe(const struct node *node, const struct origin *origin, char *out, size_t room)
{
    const uint32_t place = versions_place(broadcast_versions(node), origin);
    const struct origin_effect of = effect_of(node, place);
    if (node->effect->figures[place].against.sum > AGAINST_MOST)
        (void)snprintf(out, room,
                       "goes against what is learned here (agreement %.2f, the others' %.2f)",
                       of.agreement, of.typical);
    else
        (void)snprintf(out, room, "moves the base %.1f times as far as what others publish",
                       of.length);
}
