#include "wire/move.h"

#include <math.h>

#include "base/error.h"
#include "base/min_max.h"

/* The length of a rumor's move, as weights, is at most sqrt(P) / PART, or 1 if that is greater. */
#define PART 8

/* Returns the square root, rounded up. */
static uint32_t root(uint64_t square)
{
    uint64_t least = (uint64_t)sqrt((double)square);
    while (least * least < square)
        least++;
    while (least > 0 && (least - 1) * (least - 1) >= square)
        least--;
    return (uint32_t)least;
}

/* Returns the greatest Euclidean length, in units, by which a rumor may move the base. */
static uint64_t length_max(uint64_t parameters)
{
    CHECK(parameters > 0);
    const uint64_t units = (uint64_t)root(parameters) * (MOVE_MAX / PART);
    return u64_max(units, MOVE_MAX);
}

struct move move_of(uint32_t amount, const int8_t *level, uint32_t count)
{
    uint32_t top = 0;
    uint64_t squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = (uint32_t)(level[i] < 0 ? -level[i] : level[i]);
        top = u32_max(size, top);
        squares += size * size;
    }
    return (struct move){.amount = amount, .top = top, .length = root(squares)};
}

bool move_is_allowed(const struct move *move, uint64_t parameters)
{
    return (uint64_t)move->amount * move->top <= MOVE_MAX &&
           (uint64_t)move->amount * move->length <= length_max(parameters);
}

uint32_t move_entries(uint32_t amount, const int8_t *level, uint32_t count, uint64_t parameters)
{
    CHECK(amount >= 1);
    const uint64_t length = length_max(parameters) / amount;
    uint64_t squares = 0;
    uint32_t entries = 0;
    while (entries < count) {
        squares += (uint64_t)(level[entries] * level[entries]);
        if (squares > length * length)
            break;
        entries++;
    }
    return entries;
}
