#include "body.h"

/* Levels are handled eight at a time, one to a byte of a word; a set of them is a word with the
 * top bit of each member's byte set. */
#define EACH_ONE 0x0101010101010101u
#define EACH_TOP 0x8080808080808080u

/* Levels number at .. at + 7; beyond the last, zeros. */
static inline uint64_t levels_load(const int8_t *level, uint32_t count, uint32_t at)
{
    if (count - at >= 8)
        return bits_load(level + at);
    uint8_t rest[8] = {0};
    memcpy(rest, level + at, count - at);
    return bits_load(rest);
}

static inline uint64_t magnitudes(uint64_t levels)
{
    uint64_t negative = levels >> 7 & EACH_ONE;
    return (levels ^ negative * 0xFF) + negative;
}

/* Those of at least `bound` (1 .. 127), among bytes of 0 .. 127. */
static inline uint64_t at_least(uint64_t bytes, unsigned bound)
{
    return (bytes + EACH_ONE * (128 - bound)) & EACH_TOP;
}

static inline uint32_t set_size(uint64_t set)
{
    return (uint32_t)((set >> 7) * EACH_ONE >> 56);
}

/* The levels as a layer sees them. What a layer lists depends only on the levels of the layer
 * before, in order; so once those are few they are copied out, and later layers pass over fewer. */
#define FEW_MAX 16384

struct view {
    const int8_t *level;
    uint32_t count;
    int8_t few[FEW_MAX + 1];
};

static void view_init(struct view *view, const int8_t *level, uint32_t count)
{
    view->level = level;
    view->count = count;
}

/* How many entries have |level| >= bound. */
static uint32_t view_reaching(const struct view *view, unsigned bound)
{
    uint32_t reached = 0;
    for (uint32_t at = 0; at < view->count; at += 8)
        reached += set_size(at_least(magnitudes(levels_load(view->level, view->count, at)), bound));
    return reached;
}

/* From here on only the `reached` entries with |level| >= bound matter. When they are most of what
 * there is, or next to nothing, copying costs more than it saves. Every entry is copied and only
 * those that matter advance: a branch here would be a coin toss. */
static void view_narrow(struct view *view, unsigned bound, uint32_t reached)
{
    if (reached > FEW_MAX || reached > view->count / 2 || reached < view->count / 64)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        int level = view->level[i];
        view->few[kept] = (int8_t)level;
        kept += (unsigned)(level < 0 ? -level : level) >= bound;
    }
    CHECK(kept == reached);
    view->level = view->few;
    view->count = kept;
}

/* A walk over what layer `layer` (2 or later) lists, as gaps. */
struct walk {
    const int8_t *level;
    uint32_t count;
    unsigned layer;
    bool inverted;
    uint32_t at;      /* the next eight levels */
    uint32_t skipped; /* members passed since the last one listed */
    uint64_t members; /* of the layer before, not passed yet, in the current eight */
    uint64_t listed;
};

static struct walk walk_new(const struct view *view, unsigned layer, bool inverted)
{
    return (struct walk){
        .level = view->level, .count = view->count, .layer = layer, .inverted = inverted};
}

/* False when there is no further one. */
static inline bool walk_next(struct walk *walk, uint32_t *gap)
{
    while (walk->listed == 0) {
        walk->skipped += set_size(walk->members);
        if (walk->at >= walk->count)
            return false;
        uint64_t eight = magnitudes(levels_load(walk->level, walk->count, walk->at));
        uint64_t above = at_least(eight, walk->layer);
        walk->members = at_least(eight, walk->layer - 1);
        walk->listed = walk->inverted ? walk->members & ~above : above;
        walk->at += 8;
    }
    uint64_t lowest = walk->listed & -walk->listed;
    *gap = walk->skipped + set_size(walk->members & (lowest - 1));
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

static struct costs costs_of_later(const struct view *view, unsigned layer, bool inverted,
                                   unsigned middle)
{
    struct costs costs = {{0}};
    struct walk walk = walk_new(view, layer, inverted);
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
        costs = costs_of_later(view, layer, inverted, middle);
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
        uint32_t reached = view_reaching(&view, layer);
        plan_later(plan, &view, layer, members, reached);
        view_narrow(&view, layer, reached);
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
    for (uint32_t i = 1; i < layer->listed; i++)
        rice_put(&w, index[i] - index[i - 1] - 1, k);
    *writer = w;
}

static void put_later(struct bit_writer *writer, const struct body_layer *how, unsigned layer,
                      const struct view *view)
{
    struct bit_writer w = *writer;
    bits_put(&w, how->inverted, 1);
    gamma_put(&w, how->listed);
    if (how->listed > 0) {
        struct walk walk = walk_new(view, layer, how->inverted);
        uint32_t gap;
        bits_put(&w, how->parameter, 5);
        while (walk_next(&walk, &gap))
            rice_put(&w, gap, how->parameter);
    }
    *writer = w;
}

/* The top bits of eight bytes as eight bits: the product moves the top bit of byte i to bit
 * 56 + i, and no two of its terms meet. */
static inline uint64_t gather_tops(uint64_t bytes)
{
    return (bytes >> 7 & EACH_ONE) * 0x0102040810204080u >> 56;
}

/* The reverse: eight bits to the low bits of eight bytes. */
static inline uint64_t spread_bits(uint64_t eight)
{
    uint64_t apart = eight * EACH_ONE & 0x8040201008040201u;
    return (apart + EACH_ONE * 0x7F) >> 7 & EACH_ONE;
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

/* Members of the layer after `members`, by what the layer lists. */
static uint32_t members_after(const struct body_layer *layer, uint32_t members)
{
    return layer->inverted ? members - layer->listed : layer->listed;
}

size_t body_encode(const struct body_plan *plan, const uint32_t *index, const int8_t *level,
                   uint8_t *out)
{
    struct bit_writer writer = {.out = out};
    uint32_t members = plan->count;
    struct view view;
    put_first(&writer, &plan->layer[1], index);
    view_init(&view, level, plan->count);
    for (unsigned layer = 2; layer <= LEVEL_MAX && members > 0; layer++) {
        put_later(&writer, &plan->layer[layer], layer, &view);
        members = members_after(&plan->layer[layer], members);
        view_narrow(&view, layer, members);
    }
    put_signs(&writer, level, plan->count);
    CHECK(bits_written(&writer) == plan->bits);
    return (size_t)((plan->bits + 7) / 8);
}

/* Decoding. Levels start at 1 and each layer raises its members, so that the entries of a layer
 * can be seen in the levels themselves; the signs come last. */

#define RICE_USUAL 3 /* bits of a code beside its k low ones, mostly no more */

static enum status take_first(struct bit_reader *reader, uint64_t parameters, uint32_t count,
                              uint32_t *index)
{
    struct bit_reader r = *reader;
    bits_fill(&r);
    unsigned k = (unsigned)bits_take(&r, 5);
    uint64_t next = 0; /* cannot wrap: count and gap are of 32 bits */
    const uint32_t at_once = BITS_AT_ONCE / (k + RICE_USUAL); /* waiting for a fill takes longest */
    for (uint32_t i = 0; i < count;) {
        const uint32_t end = count - i < at_once ? count : i + at_once;
        bits_fill(&r);
        for (; i < end; i++) {
            if (!rice_is_held(&r, k))
                bits_fill(&r);
            next += rice_take(&r, k);
            index[i] = (uint32_t)next++;
        }
    }
    *reader = r;
    return next <= parameters ? OK : MALFORMED;
}

/* From `from` to `from + 1`, every entry that is there. */
static void raise_all(int8_t *level, uint32_t count, unsigned from)
{
    int8_t there = (int8_t)from;
    for (uint32_t i = 0; i < count; i++)
        level[i] = (int8_t)(level[i] + (level[i] == there));
}

/* Move each entry that layer `layer` lists by `step`: up to it, or down again if it is inverted. */
static enum status take_listed(struct bit_reader *reader, int8_t *level, uint32_t count,
                               unsigned layer, uint32_t listed, int step)
{
    struct bit_reader r = *reader;
    bits_fill(&r);
    unsigned k = (unsigned)bits_take(&r, 5);
    uint64_t members = 0; /* of the eight levels before `at`, not passed yet */
    uint32_t at = 0;
    for (uint32_t i = 0; i < listed; i++) {
        bits_fill(&r);
        uint32_t gap = rice_take(&r, k);
        while (gap >= set_size(members)) {
            gap -= set_size(members);
            if (at >= count)
                return MALFORMED;
            members = at_least(levels_load(level, count, at), layer - 1);
            at += 8;
        }
        while (gap-- > 0)
            members &= members - 1;
        int8_t *entry = level + at - 8 + (__builtin_ctzll(members) >> 3);
        *entry = (int8_t)(*entry + step);
        members &= members - 1;
    }
    *reader = r;
    return OK;
}

/* The same where every entry is a member of the layer before, so that nobody has to be looked for.
 */
static enum status take_listed_of_all(struct bit_reader *reader, int8_t *level, uint32_t count,
                                      uint32_t listed, int step)
{
    struct bit_reader r = *reader;
    bits_fill(&r);
    unsigned k = (unsigned)bits_take(&r, 5);
    uint64_t next = 0;
    for (uint32_t i = 0; i < listed; i++) {
        bits_fill(&r);
        next += rice_take(&r, k);
        if (next >= count)
            return MALFORMED;
        level[next] = (int8_t)(level[next] + step);
        next++;
    }
    *reader = r;
    return OK;
}

static enum status take_later(struct bit_reader *r, int8_t *level, uint32_t count, unsigned layer,
                              uint32_t *members)
{
    struct body_layer how;
    bits_fill(r);
    how.inverted = bits_take(r, 1) != 0;
    how.listed = gamma_take(r);
    if (how.listed > *members)
        return MALFORMED;
    if (how.inverted)
        raise_all(level, count, layer - 1);
    const bool of_all = *members == count;
    const int step = how.inverted ? -1 : 1;
    *members = members_after(&how, *members);
    if (how.listed == 0)
        return OK;
    return of_all ? take_listed_of_all(r, level, count, how.listed, step)
                  : take_listed(r, level, count, layer, how.listed, step);
}

static void take_signs(struct bit_reader *reader, int8_t *level, uint32_t count)
{
    struct bit_reader r = *reader;
    uint32_t at = 0;
    for (; count - at >= 8; at += 8) {
        bits_fill(&r);
        uint64_t negative = spread_bits(bits_take(&r, 8));
        bits_store(level + at, (bits_load(level + at) ^ negative * 0xFF) + negative);
    }
    bits_fill(&r);
    for (; at < count; at++)
        level[at] = (int8_t)(bits_take(&r, 1) != 0 ? -level[at] : level[at]);
    *reader = r;
}

/* The stream must end in the last byte, and what is left of that must be zero. */
static enum status take_end(struct bit_reader *r, size_t bytes)
{
    uint64_t end = 8 * (uint64_t)bytes;
    uint64_t position = bits_read(r);
    if (position > end || end - position > 7)
        return MALFORMED;
    bits_fill(r);
    return bits_take(r, (unsigned)(end - position)) == 0 ? OK : MALFORMED;
}

enum status body_decode(const uint8_t *in, size_t bytes, uint64_t parameters, uint32_t count,
                        uint32_t *index, int8_t *level)
{
    struct bit_reader reader = {.in = in, .bytes = bytes + BITS_TAIL_BYTES};
    uint32_t members = count;
    if (2 * (uint64_t)count > 8 * (uint64_t)bytes)
        return MALFORMED; /* a gap and a sign take two bits at least */
    if (take_first(&reader, parameters, count, index) != OK)
        return MALFORMED;
    memset(level, 1, count);
    for (unsigned layer = 2; layer <= LEVEL_MAX && members > 0; layer++)
        if (take_later(&reader, level, count, layer, &members) != OK)
            return MALFORMED;
    take_signs(&reader, level, count);
    return take_end(&reader, bytes);
}
