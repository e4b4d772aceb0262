/* Planning and writing a body. Reading one is in body_decode.c. */
#include "wire/body.h"

#include "wire/levels.h"

/* A bit for each of the 64 levels from number `at` on: is it at least `bound`? */
static inline uint64_t reaching(const int8_t *level, uint32_t count, uint32_t at, unsigned bound)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < 64 && i < count - at; i += 8) {
        uint64_t eight = levels_magnitudes(levels_load(level, count, at + i));
        set |= gather_tops(levels_at_least(eight, bound)) << i;
    }
    return set;
}

static inline uint32_t bits_in(uint64_t set)
{
    set -= set >> 1 & 0x5555555555555555u;
    set = (set & 0x3333333333333333u) + (set >> 2 & 0x3333333333333333u);
    return (uint32_t)(((set + (set >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * EACH_ONE >> 56);
}

/* The levels as a layer sees them. What a layer lists depends only on the levels of the layer
 * before, in order; so once those are few they are copied out, and later layers pass over fewer. */
#define FEW_MAX   16384
#define WORDS_MAX (BODY_ENTRIES_MAX / 64)

struct view {
    const int8_t *level;
    uint32_t count;
    uint64_t member[WORDS_MAX]; /* the entries that the layer before reaches, 64 to a word */
    uint64_t above[WORDS_MAX];  /* and those that this one does */
    int8_t few[FEW_MAX];
};

/* Before layer 2: all are members. */
static void view_init(struct view *view, const int8_t *level, uint32_t count)
{
    CHECK(count <= BODY_ENTRIES_MAX);
    view->level = level;
    view->count = count;
    memset(view->member, 0xFF, (count + 63) / 64 * 8);
    if (count % 64 != 0)
        view->member[count / 64] = bits_mask(count % 64);
}

/* Look at layer `layer`; returns how many entries reach it. */
static uint32_t view_layer(struct view *view, unsigned layer)
{
    uint32_t reached = 0;
    for (uint32_t at = 0; at < view->count; at += 64) {
        uint64_t above = reaching(view->level, view->count, at, layer);
        view->above[at / 64] = above;
        reached += bits_in(above);
    }
    return reached;
}

/* Go on: the `reached` entries of the layer last looked at are the members of the next. */
static void view_next(struct view *view, uint32_t reached)
{
    uint32_t words = (view->count + 63) / 64;
    if (reached > FEW_MAX || reached > view->count / 2) {
        memcpy(view->member, view->above, words * 8);
        return;
    }
    uint32_t kept = 0;
    for (uint32_t at = 0; at < words; at++)
        for (uint64_t set = view->above[at]; set != 0; set &= set - 1)
            view->few[kept++] = view->level[64 * at + (uint32_t)__builtin_ctzll(set)];
    CHECK(kept == reached);
    view_init(view, view->few, kept);
}

/* A walk over what the layer last looked at lists, as gaps. */
struct walk {
    const struct view *view;
    bool inverted;
    uint32_t at;      /* the next word */
    uint32_t skipped; /* members passed since the last one listed */
    uint64_t members; /* of the layer before, not passed yet, in the current word */
    uint64_t listed;
};

static struct walk walk_new(const struct view *view, bool inverted)
{
    return (struct walk){.view = view, .inverted = inverted};
}

/* False when there is no further one. */
static inline bool walk_next(struct walk *walk, uint32_t *gap)
{
    const struct view *view = walk->view;
    while (walk->listed == 0) {
        walk->skipped += bits_in(walk->members);
        if (64 * walk->at >= view->count)
            return false;
        walk->members = view->member[walk->at];
        uint64_t above = view->above[walk->at++];
        walk->listed = walk->inverted ? walk->members & ~above : above;
    }
    uint64_t lowest = walk->listed & -walk->listed;
    *gap = walk->skipped + bits_in(walk->members & (lowest - 1));
    walk->skipped = 0;
    walk->members &= ~(lowest | (lowest - 1));
    walk->listed ^= lowest;
    return true;
}

/* Planning: the parameters and the exact size. */

/* Bits of all gaps with the parameters below, at and above the one in the middle. */
struct costs {
    uint32_t bits[3];
};

static inline void costs_add(struct costs *costs, uint32_t gap, unsigned middle)
{
    for (unsigned i = 0; i < 3; i++)
        costs->bits[i] += rice_bits(gap, middle - 1 + i);
}

static struct costs costs_of_first(const uint32_t *index, uint32_t count, unsigned middle)
{
    struct costs costs = {{0}};
    costs_add(&costs, index[0], middle);
    for (uint32_t i = 1; i < count; i++)
        costs_add(&costs, index[i] - index[i - 1] - 1, middle);
    return costs;
}

static struct costs costs_of_later(const struct view *view, bool inverted, unsigned middle)
{
    struct costs costs = {{0}};
    struct walk walk = walk_new(view, inverted);
    uint32_t gap;
    while (walk_next(&walk, &gap))
        costs_add(&costs, gap, middle);
    return costs;
}

/* The best parameter for gaps that fall off geometrically with this mean: the least k for which
 * the chance of a gap >= 2^k is below the golden ratio's 0.618 (Kiely 2004), that is
 * 2^k > 0.4812 * (mean + 1/2). It is the middle, so it keeps a neighbour on both sides. */
static unsigned parameter_guess(uint64_t passed, uint32_t listed)
{
    uint64_t scaled = (2 * passed + listed) * 77 / 160 / listed;
    unsigned k = scaled == 0 ? 0 : 63 - (unsigned)__builtin_clzll(scaled);
    return k < 1 ? 1 : k > RICE_PARAMETER_MAX - 1 ? RICE_PARAMETER_MAX - 1 : k;
}

/* Move the middle to where the costs are least; true when it is there, with *k and *bits set. The
 * middle keeps a neighbour on both sides. */
static bool parameter_settle(const struct costs *costs, unsigned *middle, unsigned *k,
                             uint32_t *bits)
{
    unsigned best = 1;
    if (costs->bits[0] < costs->bits[best])
        best = 0;
    if (costs->bits[2] < costs->bits[best])
        best = 2;
    *k = *middle - 1 + best;
    *bits = costs->bits[best];
    if (best == 1 || *k < 1 || *k > RICE_PARAMETER_MAX - 1)
        return true;
    *middle = *k;
    return false;
}

static void plan_first(struct body_plan *plan, const uint32_t *index)
{
    uint32_t count = plan->count;
    uint64_t passed = count == 1 ? index[0] : index[count - 1] - index[0] - (count - 1);
    unsigned middle = parameter_guess(passed, count);
    unsigned k;
    uint32_t bits;
    struct costs costs;
    do
        costs = costs_of_first(index, count, middle);
    while (!parameter_settle(&costs, &middle, &k, &bits));
    plan->layer[1] = (struct body_layer){.listed = count, .parameter = (uint8_t)k};
    plan->bits = 5 + bits;
}

/* Layer `layer`, which `reached` of the `members` of the layer before reach. */
static void plan_later(struct body_plan *plan, const struct view *view, unsigned layer,
                       uint32_t members, uint32_t reached)
{
    bool inverted = reached > members / 2;
    uint32_t listed = inverted ? members - reached : reached;
    plan->layer[layer] = (struct body_layer){.listed = listed, .inverted = inverted};
    plan->bits += 1 + gamma_bits(listed);
    if (listed == 0)
        return;
    unsigned middle = parameter_guess(members - listed, listed);
    unsigned k;
    uint32_t bits;
    struct costs costs;
    do
        costs = costs_of_later(view, inverted, middle);
    while (!parameter_settle(&costs, &middle, &k, &bits));
    plan->layer[layer].parameter = (uint8_t)k;
    plan->bits += 5 + bits;
}

/* The plan for exactly `count` entries. */
static void plan_exactly(struct body_plan *plan, const uint32_t *index, const int8_t *level,
                         uint32_t count)
{
    struct view view;
    uint32_t members = count;
    plan->count = count;
    plan_first(plan, index);
    view_init(&view, level, count);
    for (unsigned layer = 2; layer <= LEVEL_MAX && members > 0; layer++) {
        uint32_t reached = view_layer(&view, layer);
        plan_later(plan, &view, layer, members, reached);
        view_next(&view, reached);
        members = reached;
    }
    plan->bits += count; /* signs */
}

#define SAMPLE_ENTRIES  2048
#define GUESSES_AT_MOST 6

/* How many entries to try next, above `fits` and below `too_many`: in proportion to what the last
 * try took, a little less than full; after some guesses, halfway, which must come to an end. */
static uint32_t next_try(const struct body_plan *last, uint64_t room_bits, uint32_t fits,
                         uint32_t too_many, int tries)
{
    uint64_t next = ((uint64_t)fits + too_many) / 2;
    if (tries < GUESSES_AT_MOST)
        next = last->count * (room_bits - room_bits / 128) / last->bits;
    if (next <= fits)
        next = fits + 1;
    return next < too_many ? (uint32_t)next : too_many - 1;
}

void body_plan_make(struct body_plan *plan, const uint32_t *index, const int8_t *level,
                    uint32_t count, size_t room_bytes)
{
    CHECK(count >= 1);
    uint64_t room_bits = 8 * (uint64_t)room_bytes;
    uint32_t fits = 0;
    if (count > BODY_ENTRIES_MAX)
        count = BODY_ENTRIES_MAX;
    uint32_t too_many = count + 1;
    uint32_t next = count < SAMPLE_ENTRIES ? count : SAMPLE_ENTRIES;
    bool is_full = false;
    for (int tries = 0; !is_full && fits + 1 < too_many; tries++) {
        plan_exactly(plan, index, level, next);
        if (plan->bits <= room_bits)
            fits = next;
        else
            too_many = next;
        is_full = fits == next && plan->bits >= room_bits - room_bits / 32;
        next = next_try(plan, room_bits, fits, too_many, tries);
    }
    CHECK(fits >= 1);
    if (plan->count != fits)
        plan_exactly(plan, index, level, fits);
}

/* Encoding. The hot loops work on their own copy of the writer or reader: stores of bytes may
 * alias one that is reached by a pointer, and then it would live in memory. */

static void put_first(struct bit_writer *writer, const struct body_layer *layer,
                      const uint32_t *index)
{
    struct bit_writer w = *writer;
    unsigned k = layer->parameter;
    bits_put(&w, k, 5);
    rice_put(&w, index[0], k);
    uint32_t i = 1;
    for (; i + 1 < layer->listed; i += 2)
        rice_put_two(&w, index[i] - index[i - 1] - 1, index[i + 1] - index[i] - 1, k);
    if (i < layer->listed)
        rice_put(&w, index[i] - index[i - 1] - 1, k);
    *writer = w;
}

/* False when it was the last. */
static bool put_later(struct bit_writer *writer, const struct body_layer *how, unsigned layer,
                      struct view *view)
{
    struct bit_writer w = *writer;
    bits_put(&w, how->inverted, 1);
    gamma_put(&w, how->listed);
    *writer = w;
    if (how->listed == 0)
        return how->inverted; /* then all remain members; else none do */
    uint32_t reached = view_layer(view, layer);
    struct walk walk = walk_new(view, how->inverted);
    uint32_t gap;
    bits_put(&w, how->parameter, 5);
    while (walk_next(&walk, &gap))
        rice_put(&w, gap, how->parameter);
    *writer = w;
    view_next(view, reached);
    return true;
}

static void put_signs(struct bit_writer *writer, const int8_t *level, uint32_t count)
{
    struct bit_writer w = *writer;
    for (uint32_t at = 0; at < count; at += 8) {
        unsigned bits = count - at < 8 ? count - at : 8;
        bits_put(&w, gather_tops(levels_load(level, count, at)), bits);
    }
    *writer = w;
}

size_t body_encode(const struct body_plan *plan, const uint32_t *index, const int8_t *level,
                   uint8_t *out)
{
    struct bit_writer writer = {.out = out};
    struct view view;
    put_first(&writer, &plan->layer[1], index);
    view_init(&view, level, plan->count);
    for (unsigned layer = 2; layer <= LEVEL_MAX; layer++)
        if (!put_later(&writer, &plan->layer[layer], layer, &view))
            break;
    put_signs(&writer, level, plan->count);
    CHECK(bits_written(&writer) == plan->bits);
    return (size_t)((plan->bits + 7) / 8);
}
