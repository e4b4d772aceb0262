#include "node/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/broadcast/broadcast.h"

#define KEPT         0.7 /* of a running mean, with each rumor or publication */
#define GAP          0.3 /* an origin agrees less than others by so much, before it counts */
#define AGAINST_MOST 0.8 /* three rumors of a sign flip; seven of flipped labels */
#define LONG         3.0 /* times as long as the others' is allowed */
#define FASTER_MOST  16  /* times as fast: what learns even faster is no longer, for each sample */
#define BEYOND_MOST  2.0 /* two or three publications of ten times the length */
#define HIT_MOST     2.0 /* one alone is not enough, however long it is */
#define PIECES_MOST  64  /* rumors are judged as one publication: samples come with the first */
#define RECALLED     4   /* of its last publications, what harmed is to be taken out */
#define ENOUGH       3   /* origins make a typical one */
#define GAPS_APART   3   /* times as long as between its rumors nothing comes: it was apart */
#define LATELY_NS    (60 * SECOND_NS) /* who published by then counts among them */

/* A sequential test. */
struct test {
    double sum;    /* of what speaks against an origin, never below 0 */
    uint32_t from; /* the first rumor since the sum was 0 last: there it began */
};

/* Of publications. */
struct size {
    double length;  /* of what they add to the base, as weights */
    double samples; /* that they are of */
};

/* What is known of one origin. */
struct figure {
    double usual;             /* running mean of its agreement */
    struct test against;      /* is it against what is learned here? */
    struct size usual_size;   /* running sum of those of its publications */
    struct size size;         /* of the latest, as far as it has come */
    uint32_t pieces;          /* rumors of that so far; 0: none came */
    bool counts;              /* that: it was not apart when it began */
    uint32_t began[RECALLED]; /* the first rumors of the latest ones, the last first */
    struct test beyond;       /* does it move the base beyond what is allowed? */
    double gap_ns;            /* running mean of the time between its rumors */
    uint64_t apart_ns;        /* until then may come what it published while it was apart */
    uint64_t came_ns;         /* when its last rumor came; 0: none did */
    uint32_t compared;        /* rumors that usual is of */
    bool was_returned;        /* by effect_next */
};

struct effect {
    struct figure *figures; /* [incarnations_max], by place of the origin */
    double *sorted;         /* [incarnations_max] for the one in the middle */
    double typical;         /* agreement of the origin in the middle; 0: not known */
    double typical_length;  /* per sample, likewise */
    double latest_length;   /* of the latest publications alone, likewise; of any, as they come */
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

/* So many times as fast as the typical one it says that it learns; 0: not known. */
static double faster(const struct node *node, const struct origin *origin)
{
    const double typical = node->effect->typical_rate;
    CHECK(typical >= 0);
    return typical > 0 ? (double)origin->rate / typical : 0;
}

/* By what a share is by: samples, no more of them than count, or, where all shares are equal, the
 * time that these took. */
static double length_of(const struct node *node, const struct origin *origin,
                        const struct size *size)
{
    CHECK(size->length >= 0 && size->samples >= 0);
    const double per_sample = size->length / fmax(size->samples, 1);
    const double most = node->options.limits.weight_max;
    if (!node->options.weigh_throughput)
        return per_sample * (double)origin->rate;
    return most > 0 ? per_sample * fmax(faster(node, origin) / most, 1) : per_sample;
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

/* So long a publication of it may be where this is typical; 0: that is not known. */
static double allowed(const struct node *node, const struct origin *origin, double typical)
{
    const double most =
        node->options.limits.weight_max > 0 ? node->options.limits.weight_max : FASTER_MOST;
    CHECK(typical >= 0 && most >= 1);
    return LONG * typical * sqrt(fmin(fmax(faster(node, origin), 1), fmin(most, FASTER_MOST)));
}

/* The publication before this one is whole by now, and most others' of the same time have come. */
static void judge_length(const struct node *node, const struct origin *origin,
                         struct figure *figure)
{
    const double most = allowed(node, origin, node->effect->typical_length);
    const double length = length_of(node, origin, &figure->usual_size);
    CHECK(figure->pieces > 0);
    if (most > 0)
        count(&figure->beyond, fmin(length / most - 1, HIT_MOST), figure->began[0]);
}

static bool begins_publication(const struct figure *figure, const struct rumor_step *step)
{
    return figure->pieces == 0 || step->samples > 0 || figure->pieces == PIECES_MOST;
}

static void begin_publication(struct figure *figure, uint32_t seq, bool counts)
{
    memmove(figure->began + 1, figure->began, sizeof figure->began - sizeof *figure->began);
    figure->began[0] = seq;
    figure->pieces = 0;
    figure->counts = counts;
    if (!counts)
        return;
    figure->usual_size.length *= KEPT;
    figure->usual_size.samples *= KEPT;
}

static void add(struct size *size, const struct rumor_step *step)
{
    CHECK(step->length >= 0);
    size->length += step->length;
    size->samples += (double)step->samples;
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

void effect_on_rumor(struct node *node, const struct rumor_step *step)
{
    const struct versions *versions = broadcast_versions(node);
    CHECK(step->place < versions->count);
    const struct origin *origin = &versions->origins[step->place];
    struct figure *figure = &node->effect->figures[step->place];
    const bool is_apart = was_apart(node, figure);
    figure->came_ns = node->now_ns;
    if (begins_publication(figure, step)) {
        if (figure->counts)
            judge_length(node, origin, figure);
        begin_publication(figure, step->seq, !is_apart);
    }
    if (step->samples > 0) /* and no further part of a long one */
        figure->size = (struct size){0};
    figure->pieces++;
    add(&figure->size, step);
    if (figure->counts)
        add(&figure->usual_size, step);
    if (node->options.limits.quarantines && node->effect->latest_length == 0)
        effect_review(node);
}

void effect_on_compared(struct node *node, uint32_t place, uint32_t seq, double agreement)
{
    CHECK(place < broadcast_versions(node)->count);
    count_agreement(node->effect, &node->effect->figures[place], agreement, seq);
}

double effect_length(const struct node *node, uint32_t place)
{
    CHECK(place < broadcast_versions(node)->count);
    return length_of(node, &broadcast_versions(node)->origins[place],
                     &node->effect->figures[place].size);
}

bool effect_allows(const struct node *node, uint32_t place, double length)
{
    CHECK(length >= 0);
    const struct origin *origin = &broadcast_versions(node)->origins[place];
    const double most = allowed(node, origin, node->effect->latest_length);
    return most == 0 || length <= most;
}

uint64_t effect_apart_ns(const struct node *node, uint32_t place)
{
    CHECK(place < broadcast_versions(node)->count);
    return node->effect->figures[place].apart_ns;
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
    const double length = length_of(node, &broadcast_versions(node)->origins[place],
                                    &node->effect->figures[place].usual_size);
    return length > 0 ? length : (double)NAN;
}

static double latest_length_at(const struct node *node, uint32_t place)
{
    const double length = effect_length(node, place);
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
    effect->latest_length = middle(node, latest_length_at);
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
    const struct size *size = &figure->usual_size;
    const bool has_length = effect->typical_length > 0 && size->samples > 0;
    return (struct origin_effect){.harms = harms(figure),
                                  .agreement = figure->compared > 0 ? figure->usual : (double)NAN,
                                  .typical = effect->typical,
                                  .length = has_length ? length_of(node, origin, size) /
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
    const struct test *test =
        figure->against.sum > AGAINST_MOST ? &figure->against : &figure->beyond;
    const uint32_t recalled = figure->began[RECALLED - 1];
    return test->from > recalled ? test->from : recalled;
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
