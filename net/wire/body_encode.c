/* Plans and writes a body. body_decode.c reads one. */
#include "wire/body_codec.h"

#include "base/min_max.h"
#include "wire/levels.h"

/* Returns 64 bits, one for each level from index `at` on: 1 where |level| >= bound. */
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

#define FEW_MAX   16384 /* most levels that view.few holds */
#define WORDS_MAX (BODY_ENTRIES_MAX / 64)

/* The levels while the layers of a body (body_codec.h) are computed. Layer j has the entries of
 * layer j - 1 with |level| >= j. Once a layer has at most FEW_MAX entries and at most half of those
 * scanned, their levels are copied to `few`, and later layers scan only the copy. */
struct view {
    const int8_t *level;
    uint32_t count;
    uint64_t member[WORDS_MAX]; /* bit per entry: it is a member of the previous layer */
    uint64_t above[WORDS_MAX];  /* bit per entry: it is a member of this layer */
    int8_t few[FEW_MAX];
};

/* Starts a view of these levels: every entry is a member of the previous layer. */
static void view_init(struct view *view, const int8_t *level, uint32_t count)
{
    CHECK(count <= BODY_ENTRIES_MAX);
    view->level = level;
    view->count = count;
    memset(view->member, 0xFF, (count + 63) / 64 * 8);
    if (count % 64 != 0)
        view->member[count / 64] = bits_mask(count % 64);
}

/* Writes the members of `layer` to view->above and returns their number. */
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

/* Advances the view: the `reached` members of this layer become those of the previous layer. */
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

/* Iterates over the positions that a layer lists. */
struct walk {
    const struct view *view;
    bool inverted;
    uint32_t at; /* index of the next word of view->member */
    /* members of the previous layer passed since the last listed position */
    uint32_t skipped;
    /* rest of the current word: members of the previous layer that have not been passed */
    uint64_t members;
    uint64_t listed;
};

static struct walk walk_new(const struct view *view, bool inverted)
{
    return (struct walk){.view = view, .inverted = inverted};
}

/* Sets *gap to the gap before the next listed position. Returns false at the end of the layer. */
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

/* Total bits of all gaps with Rice parameters guess - 1, guess and guess + 1. */
struct costs {
    uint32_t bits[3];
};

static inline void costs_add(struct costs *costs, uint32_t gap, unsigned guess)
{
    for (unsigned i = 0; i < 3; i++)
        costs->bits[i] += rice_bits(gap, guess - 1 + i);
}

static struct costs costs_of_first(const uint32_t *index, uint32_t count, unsigned guess)
{
    struct costs costs = {{0}};
    costs_add(&costs, index[0], guess);
    for (uint32_t i = 1; i < count; i++)
        costs_add(&costs, index[i] - index[i - 1] - 1, guess);
    return costs;
}

static struct costs costs_of_later(const struct view *view, bool inverted, unsigned guess)
{
    struct costs costs = {{0}};
    struct walk walk = walk_new(view, inverted);
    uint32_t gap;
    while (walk_next(&walk, &gap))
        costs_add(&costs, gap, guess);
    return costs;
}

/* Returns the best parameter for gaps with a geometric distribution of mean `passed` / `listed`:
 * the least k for which a gap >= 2^k has a probability below 0.618, the inverse of the golden ratio
 * (Kiely 2004). This holds where 2^k > 0.4812 * (mean + 1/2). The result is at least 1 and below
 * RICE_PARAMETER_MAX, so that both neighbouring parameters exist. */
static unsigned parameter_guess(uint64_t passed, uint32_t listed)
{
    uint64_t scaled = (2 * passed + listed) * 77 / 160 / listed;
    unsigned k = scaled == 0 ? 0 : 63 - (unsigned)__builtin_clzll(scaled);
    return k < 1 ? 1 : u32_min(k, RICE_PARAMETER_MAX - 1);
}

/* Moves the guess towards the parameter with the lower cost. Returns true at the minimum, with *k
 * and *bits set. */
static bool parameter_settle(const struct costs *costs, unsigned *guess, unsigned *k,
                             uint32_t *bits)
{
    unsigned best = 1;
    if (costs->bits[0] < costs->bits[best])
        best = 0;
    if (costs->bits[2] < costs->bits[best])
        best = 2;
    *k = *guess - 1 + best;
    *bits = costs->bits[best];
    if (best == 1 || *k < 1 || *k > RICE_PARAMETER_MAX - 1)
        return true;
    *guess = *k;
    return false;
}

static void plan_first(struct body_plan *plan, const uint32_t *index)
{
    uint32_t count = plan->count;
    uint64_t passed = count == 1 ? index[0] : index[count - 1] - index[0] - (count - 1);
    unsigned guess = parameter_guess(passed, count);
    unsigned k;
    uint32_t bits;
    struct costs costs;
    do
        costs = costs_of_first(index, count, guess);
    while (!parameter_settle(&costs, &guess, &k, &bits));
    plan->layer[1] = (struct body_layer){.listed = count, .parameter = (uint8_t)k};
    plan->bits = 5 + bits;
}

/* `reached` of the `members` entries of the previous layer belong to this layer. */
static void plan_later(struct body_plan *plan, const struct view *view, unsigned layer,
                       uint32_t members, uint32_t reached)
{
    bool inverted = reached > members / 2;
    uint32_t listed = inverted ? members - reached : reached;
    plan->layer[layer] = (struct body_layer){.listed = listed, .inverted = inverted};
    plan->bits += 1 + gamma_bits(listed);
    if (listed == 0)
        return;
    unsigned guess = parameter_guess(members - listed, listed);
    unsigned k;
    uint32_t bits;
    struct costs costs;
    do
        costs = costs_of_later(view, inverted, guess);
    while (!parameter_settle(&costs, &guess, &k, &bits));
    plan->layer[layer].parameter = (uint8_t)k;
    plan->bits += 5 + bits;
}

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
    plan->bits += count; /* one sign bit per entry */
}

#define SAMPLE_ENTRIES  2048
#define GUESSES_AT_MOST 6

/* Returns how many entries to try next, above `fits` and below `too_many`. The first tries scale
 * the last number of entries to slightly less than room_bits. Later tries bisect, which
 * terminates. */
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
    count = u32_min(count, BODY_ENTRIES_MAX);
    uint32_t too_many = count + 1;
    uint32_t next = u32_min(count, SAMPLE_ENTRIES);
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

/* Hot loops copy the writer to a local variable: a byte store may alias a writer behind a pointer,
 * so the compiler would have to reload it after each store. */

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

/* Returns false if the body ends: no later layer has entries. */
static bool put_later(struct bit_writer *writer, const struct body_layer *how, unsigned layer,
                      struct view *view)
{
    struct bit_writer w = *writer;
    bits_put(&w, how->inverted, 1);
    gamma_put(&w, how->listed);
    *writer = w;
    if (how->listed == 0)
        /* Nothing is listed: an inverted layer has all entries of the previous layer, any other has
         * none. */
        return how->inverted;
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
        unsigned bits = u32_min(count - at, 8);
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
