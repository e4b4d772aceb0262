#include "support/base/updates.h"

/* Draws a level above 0. With LAPLACE, each higher level below LEVEL_MAX is `density` times as
 * likely as the one below it. */
static int draw_magnitude(struct rng *rng, enum levels levels, double density)
{
    double steps = 0;
    switch (levels) {
    case LAPLACE:
        steps = log(1 - rng_uniform(rng)) / log(density);
        return steps > LEVEL_MAX - 1 ? LEVEL_MAX : 1 + (int)steps;
    case ONES:
        return 1;
    case UNIFORM:
        return 1 + (int)rng_below(rng, LEVEL_MAX);
    case TWO_SIDES:
        return rng_below(rng, 2) != 0 ? LEVEL_MAX : 1;
    }
    return 1;
}

uint64_t draw_update(struct update *update, uint32_t count, double density, enum levels levels,
                     uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    uint64_t position = 0;
    for (uint32_t i = 0; i < count; i++) {
        position += (uint64_t)(log(1 - rng_uniform(&rng)) / log1p(-density));
        update->index[i] = (uint32_t)position++;
        int magnitude = draw_magnitude(&rng, levels, density);
        update->level[i] = (int8_t)(rng_below(&rng, 2) != 0 ? magnitude : -magnitude);
    }
    update->count = count;
    return position;
}

double entropy_bits(const struct update *update, uint64_t parameters)
{
    double counts[2 * LEVEL_MAX + 2] = {0};
    for (uint32_t i = 0; i < update->count; i++)
        counts[update->level[i] + LEVEL_MAX]++;
    counts[2 * LEVEL_MAX + 1] = (double)parameters - update->count;
    double bits = 0;
    for (size_t i = 0; i < 2 * LEVEL_MAX + 2; i++)
        if (counts[i] > 0)
            bits -= counts[i] * log2(counts[i] / (double)parameters);
    return bits;
}

bool update_is_valid(const struct update *update, uint64_t parameters)
{
    bool valid = update->tau > 0 && update->tau <= TAU_MAX && update->amount >= 1 &&
                 update->amount <= AMOUNT_MAX;
    for (uint32_t i = 0; i < update->count; i++) {
        valid = valid && update->index[i] < parameters;
        valid = valid && (i == 0 || update->index[i] > update->index[i - 1]);
        valid = valid && update->level[i] != 0 && update->level[i] >= -LEVEL_MAX;
    }
    return valid;
}

void mutate(struct rng *rng, uint8_t *bytes, size_t count)
{
    for (uint32_t changes = 1 + rng_below(rng, 4); changes > 0; changes--) {
        size_t at = rng_below(rng, (uint32_t)count);
        size_t run = 1 + rng_below(rng, 8);
        switch (rng_below(rng, 3)) {
        case 0:
            bytes[at] ^= (uint8_t)(1 << rng_below(rng, 8));
            break;
        case 1:
            bytes[at] = (uint8_t)rng_below(rng, 256);
            break;
        default:
            memset(bytes + at, rng_below(rng, 2) != 0 ? 0xFF : 0x00,
                   run < count - at ? run : count - at);
        }
    }
}
