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
#define CREDIT_S     10  /* so long a time may be made up for at once */
#define CREDIT_RATE  2   /* times its speed: so fast it may learn, to make up for it */
#define RECALLED     4   /* of its last publications, what harmed is to be taken out */
#define ENOUGH       3   /* origins make a typical one */
#define GAPS_APART   3   /* times as long as between its rumors nothing comes: it was apart */
#define LATELY_NS    (60 * SECOND_NS) /* who published by then counts among them */

/* A sequential test. */
struct test {
    double sum;               /* of what speaks against a member, never below 0 */
    struct stream_point from; /* the first rumor since the sum was 0 last: there it began */
};

/* Of publications. */
struct size {
    double length;  /* of what they add to the base, as weights */
    double samples; /* that they are of */
};

/* What is known of one member, whichever of its incarnations publish. */
struct figure {
    uint32_t place;         /* of the latest incarnation of which something came */
    double usual;           /* running mean of its agreement */
    struct test against;    /* is it against what is learned here? */
    struct size usual_size; /* running sum of those of its publications */
    struct size size;       /* of the latest, as far as it has come */
    struct size whole;      /* of the one before */
    double credit_s;        /* seconds of its speed that it may still claim samples of */
    uint32_t pieces;        /* rumors of that so far; 0: none came */
    uint32_t publications;  /* that came */
    bool counts;            /* that: it was not apart when it began */
    bool is_first;          /* that: of an incarnation that is not the first that we met */
    uint64_t alone_ns;      /* until then what comes is one publication with that */
    struct stream_point began[RECALLED]; /* the first rumors of the latest ones, the last first */
    struct test beyond;                  /* does it move the base beyond what is allowed? */
    double gap_ns;                       /* running mean of the time between its rumors */
    uint64_t apart_ns; /* until then may come what it published while it was apart */
    uint64_t came_ns;  /* when its last rumor came; 0: none did */
    uint32_t compared; /* rumors that usual is of */
    bool was_returned; /* by effect_next */
};

struct effect {
    struct figure *figures; /* [incarnations_max], by place of the first incarnation that we met */
    uint32_t *accounts;    /* [incarnations_max] place of that, plus 1, by place; 0: nothing came */
    double *sorted;        /* [incarnations_max] for the one in the middle */
    double typical;        /* agreement of the origin in the middle; 0: not known */
    double typical_length; /* per sample, likewise */
    double latest_length;  /* of the latest publications alone, likewise; of any, as they come */
    uint64_t looked_ns;    /* when it was looked for last while it was not known */
    double typical_rate;   /* samples per second, likewise */
};

size_t effect_arena_bytes(const struct node_options *options)
{
    return sizeof(struct effect) +
           options->limits.incarnations_max *
               (sizeof(struct figure) + sizeof(uint32_t) + sizeof(double)) +
           (size_t)4 * 64;
}

struct effect *effect_new(struct arena *arena, const struct node_options *options)
{
    struct effect *effect = arena_take(arena, 1, sizeof *effect);
    const uint32_t most = options->limits.incarnations_max;
    effect->figures = arena_take(arena, most, sizeof *effect->figures);
    effect->accounts = arena_take(arena, most, sizeof *effect->accounts);
    effect->sorted = arena_take(arena, most, sizeof *effect->sorted);
    return effect;
}

/* Of the member whose incarnation this is; of a place of which nothing came yet: nothing. */
static const struct figure *figure_of(const struct node *node, uint32_t place)
{
    static const struct figure nothing;
    CHECK(place < broadcast_versions(node)->count);
    const uint32_t account = node->effect->accounts[place];
    return account > 0 ? &node->effect->figures[account - 1] : &nothing;
}

/* A node that starts anew is the same member. */
static struct figure *figure_for(const struct node *node, uint32_t place)
{
    const struct origin *origins = broadcast_versions(node)->origins;
    uint32_t *accounts = node->effect->accounts;
    CHECK(place < broadcast_versions(node)->count);
    for (uint32_t i = 0; i < broadcast_versions(node)->count && accounts[place] == 0; i++)
        if (accounts[i] > 0 && memcmp(origins[i].id, origins[place].id, ID_BYTES) == 0)
            accounts[place] = accounts[i];
    if (accounts[place] == 0) {
        accounts[place] = place + 1;
        node->effect->figures[place].place = place;
        for (int i = 0; i < RECALLED; i++)
            node->effect->figures[place].began[i] = (struct stream_point){.place = place};
    }
    return &node->effect->figures[accounts[place] - 1];
}

static const struct origin *latest_of(const struct node *node, const struct figure *figure)
{
    CHECK(figure->place < broadcast_versions(node)->count);
    return &broadcast_versions(node)->origins[figure->place];
}

/* So many times as fast as the typical one it says that it learns; 0: not known. */
static double faster(const struct node *node, const struct origin *origin)
{
    const double typical = node->effect->typical_rate;
    CHECK(typical >= 0);
    return typical > 0 ? (double)origin->rate / typical : 0;
}

/* Samples per second, as it has said; before that, as most. */
static double speed_of(const struct node *node, const struct origin *origin)
{
    CHECK(origin->rate >= 0);
    return origin->rate > 0 ? (double)origin->rate : node->effect->typical_rate;
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
        return per_sample * speed_of(node, origin);
    return most > 0 ? per_sample * fmax(faster(node, origin) / most, 1) : per_sample;
}

static void count(struct test *test, double by, struct stream_point at)
{
    CHECK(test->sum >= 0 && isfinite(by));
    if (test->sum == 0)
        test->from = at;
    test->sum = fmax(test->sum + by, 0);
}

static void count_agreement(const struct effect *effect, struct figure *figure, double agreement,
                            struct stream_point at)
{
    CHECK(agreement >= -1 && agreement <= 1);
    const double less = effect->typical - agreement - GAP;
    figure->usual =
        figure->compared == 0 ? agreement : KEPT * figure->usual + (1 - KEPT) * agreement;
    figure->compared++;
    count(&figure->against, fmin(-agreement, less), at);
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
static void judge(const struct node *node, struct figure *figure)
{
    const struct origin *origin = latest_of(node, figure);
    const double most = allowed(node, origin, node->effect->typical_length);
    if (most == 0 || !(figure->counts || figure->is_first))
        return;
    CHECK(figure->pieces > 0);
    const struct size *size = figure->counts ? &figure->usual_size : &figure->size;
    const double by = length_of(node, origin, size) / most - 1;
    if (figure->counts || by > HIT_MOST)
        count(&figure->beyond, fmin(by, HIT_MOST), figure->began[0]);
}

static bool begins_publication(const struct node *node, const struct figure *figure,
                               const struct rumor_step *step)
{
    if (figure->is_first && figure->pieces > 0 && node->now_ns < figure->alone_ns)
        return false;
    return figure->pieces == 0 || step->samples > 0 || figure->pieces == PIECES_MOST;
}

static void begin_publication(struct figure *figure, struct stream_point at, bool counts)
{
    memmove(figure->began + 1, figure->began, sizeof figure->began - sizeof *figure->began);
    figure->began[0] = at;
    figure->publications++;
    figure->pieces = 0;
    figure->counts = counts;
    if (!counts)
        return;
    figure->usual_size.length *= KEPT;
    figure->usual_size.samples *= KEPT;
}

static void add(struct size *size, double length, double samples)
{
    CHECK(length >= 0 && samples >= 0);
    size->length += length;
    size->samples += samples;
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
    if (!is_first && gap_ns > 0) /* who always pauses is not apart */
        figure->gap_ns = figure->gap_ns == 0 ? gap_ns : KEPT * figure->gap_ns + (1 - KEPT) * gap_ns;
    return node->now_ns < figure->apart_ns;
}

/* For so long it may have learned since its last rumor; or, if none came, since it or we began. */
static double learning_s(const struct node *node, const struct figure *figure, uint32_t seq)
{
    const uint64_t since_ns = figure->came_ns > 0 ? figure->came_ns : node->born_ns;
    CHECK(since_ns <= node->now_ns);
    if (figure->came_ns == 0 && seq > 0)
        return INFINITY; /* it began before us */
    return CREDIT_RATE * (double)(node->now_ns - since_ns) * 1e-9 +
           (figure->came_ns == 0 ? CREDIT_S : 0);
}

/* As many of the samples that it says it learned as its speed allows, which is known to others, too
 * (membership). Before it is known it counts as what is typical. */
static double credited(const struct node *node, struct figure *figure,
                       const struct rumor_step *step, bool is_apart)
{
    const double said = (double)broadcast_versions(node)->origins[step->place].rate;
    const double rate = fmax(said, node->effect->typical_rate);
    const double samples = (double)step->samples;
    CHECK(figure->credit_s >= 0);
    if (!is_apart)
        figure->credit_s = fmin(figure->credit_s, CREDIT_S);
    figure->credit_s += learning_s(node, figure, step->seq);
    if (rate == 0)
        return samples;
    const double counted = fmin(samples, figure->credit_s * rate);
    figure->credit_s = fmax(figure->credit_s - counted / rate, 0);
    return counted;
}

/* What follows is of another stream. What comes of it first was learned alone, perhaps. So it is
 * judged as one publication, and counts only if it is far beyond: who starts anew for each lie is
 * found, too. */
static void begin_stream(const struct node *node, struct figure *figure, uint32_t place)
{
    CHECK(figure->came_ns > 0 && figure->place != place);
    judge(node, figure);
    figure->place = place;
    figure->counts = false;
    figure->is_first = true;
    figure->alone_ns = node->now_ns + node->options.limits.silence_ns;
    figure->pieces = 0;
    figure->was_returned = false;
}

static double middle(struct node *node, double (*at)(const struct node *, const struct figure *));
static double latest_length_at(const struct node *node, const struct figure *figure);

/* In the beginning, before a second has passed. */
static void look_at_first(struct node *node)
{
    struct effect *effect = node->effect;
    if (effect->latest_length > 0 || node->now_ns - effect->looked_ns < SECOND_NS / 50)
        return;
    effect->looked_ns = node->now_ns;
    effect->latest_length = middle(node, latest_length_at);
}

void effect_on_rumor(struct node *node, const struct rumor_step *step)
{
    struct figure *figure = figure_for(node, step->place);
    const struct origin *origins = broadcast_versions(node)->origins;
    const bool is_apart = was_apart(node, figure);
    const double samples = credited(node, figure, step, is_apart);
    if (figure->came_ns > 0 &&
        origins[step->place].incarnation > origins[figure->place].incarnation)
        begin_stream(node, figure, step->place);
    figure->came_ns = node->now_ns;
    const bool begins = begins_publication(node, figure, step);
    if (begins) {
        const bool is_new = figure->is_first && figure->pieces == 0;
        if (figure->pieces > 0)
            judge(node, figure);
        begin_publication(figure,
                          (struct stream_point){step->place, step->seq, figure->publications + 1},
                          !is_apart && !is_new);
        figure->is_first = is_new;
    }
    if (begins && step->samples > 0) { /* and no further part of a long one */
        figure->whole = figure->size;
        figure->size = (struct size){0};
    }
    figure->pieces++;
    add(&figure->size, step->length, samples);
    if (figure->counts)
        add(&figure->usual_size, step->length, samples);
    if (node->options.limits.quarantines)
        look_at_first(node);
}

void effect_on_compared(struct node *node, uint32_t place, uint32_t seq, double agreement)
{
    struct figure *figure = figure_for(node, place);
    count_agreement(node->effect, figure, agreement,
                    (struct stream_point){place, seq, figure->publications});
}

double effect_length(const struct node *node, uint32_t place)
{
    const struct figure *figure = figure_of(node, place);
    return length_of(node, latest_of(node, figure), &figure->size);
}

bool effect_allows(const struct node *node, uint32_t place, double length)
{
    const struct origin *origin = latest_of(node, figure_of(node, place));
    const double most = allowed(node, origin, node->effect->latest_length);
    CHECK(length >= 0);
    return most == 0 || length <= most;
}

uint64_t effect_apart_ns(const struct node *node, uint32_t place)
{
    return figure_of(node, place)->apart_ns;
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

static double agreement_at(const struct node *node, const struct figure *figure)
{
    (void)node;
    return figure->compared > 0 ? figure->usual : (double)NAN;
}

static double length_at(const struct node *node, const struct figure *figure)
{
    const double length = length_of(node, latest_of(node, figure), &figure->usual_size);
    return length > 0 ? length : (double)NAN;
}

static double latest_length_at(const struct node *node, const struct figure *figure)
{
    const struct origin *origin = latest_of(node, figure);
    const double length =
        fmax(length_of(node, origin, &figure->size), length_of(node, origin, &figure->whole));
    return length > 0 ? length : (double)NAN;
}

static double rate_at(const struct node *node, const struct figure *figure)
{
    const double rate = (double)latest_of(node, figure)->rate;
    return rate > 0 ? rate : (double)NAN;
}

/* What is in the middle of those who published lately and of whom it is known (not NAN); 0: they
 * are not enough. */
static double middle(struct node *node, double (*at)(const struct node *, const struct figure *))
{
    const struct effect *effect = node->effect;
    uint32_t count = 0;
    for (uint32_t i = 0; i < broadcast_versions(node)->count; i++)
        if (is_lately(node, &effect->figures[i]) && !isnan(at(node, &effect->figures[i])))
            effect->sorted[count++] = at(node, &effect->figures[i]);
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
    const struct figure *figure = figure_of(node, place);
    const struct size *size = &figure->usual_size;
    const bool has_length = effect->typical_length > 0 && size->samples > 0;
    return (struct origin_effect){.harms = harms(figure) && place == figure->place,
                                  .agreement = figure->compared > 0 ? figure->usual : (double)NAN,
                                  .typical = effect->typical,
                                  .length = has_length
                                                ? length_of(node, latest_of(node, figure), size) /
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
        figure->was_returned = true;
        return latest_of(node, figure);
    }
    return NULL;
}

/* In the order in which the member published them. */
static bool is_earlier(const struct node *node, struct stream_point one, struct stream_point other)
{
    const struct origin *origins = broadcast_versions(node)->origins;
    CHECK(memcmp(origins[one.place].id, origins[other.place].id, ID_BYTES) == 0);
    return one.place == other.place
               ? one.seq < other.seq
               : origins[one.place].incarnation < origins[other.place].incarnation;
}

struct stream_point effect_from(const struct node *node, const struct origin *origin)
{
    const struct figure *figure = figure_of(node, versions_place(broadcast_versions(node), origin));
    CHECK(harms(figure));
    const struct test *test =
        figure->against.sum > AGAINST_MOST ? &figure->against : &figure->beyond;
    const struct stream_point recalled = figure->began[RECALLED - 1];
    struct stream_point from = test->from.nth > recalled.nth ? test->from : recalled;
    for (int i = 0; i < RECALLED; i++) /* what came since, of an earlier incarnation, goes, too */
        if (figure->began[i].nth > from.nth && is_earlier(node, figure->began[i], from))
            from = figure->began[i];
    return from;
}

void effect_describe(const struct node *node, const struct origin *origin, char *out, size_t room)
{
    const uint32_t place = versions_place(broadcast_versions(node), origin);
    const struct origin_effect of = effect_of(node, place);
    if (figure_of(node, place)->against.sum > AGAINST_MOST)
        (void)snprintf(out, room,
                       "goes against what is learned here (agreement %.2f, the others' %.2f)",
                       of.agreement, of.typical);
    else
        (void)snprintf(out, room, "moves the base %.1f times as far as what others publish",
                       of.length);
}
