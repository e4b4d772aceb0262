/* An update's digest equals the sum of its entries' digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/digest.h"

#define ENTRIES_MAX 300

static uint32_t index_of[ENTRIES_MAX];
static int8_t level_of[ENTRIES_MAX];

static uint64_t entry_by_entry(const struct update *update)
{
    uint64_t digest = 0;
    for (uint32_t i = 0; i < update->count; i++) {
        const int level = update->level[i];
        digest =
            digest_add(digest, digest_of_entry(update->index[i], update->amount * (uint32_t)level));
    }
    return digest;
}

/* Draws an update with any indexes, and any levels from -LEVEL_MAX to LEVEL_MAX, also 0. */
static struct update draw(struct rng *rng, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        index_of[i] = (uint32_t)rng_next(rng);
        level_of[i] = (int8_t)((int)rng_below(rng, 2 * LEVEL_MAX + 1) - LEVEL_MAX);
    }
    return (struct update){.amount = 1 + rng_below(rng, AMOUNT_MAX),
                           .count = count,
                           .index = index_of,
                           .level = level_of};
}

static void an_update_adds_what_its_entries_add(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 0);
    for (uint32_t count = 1; count <= ENTRIES_MAX; count++) {
        const struct update update = draw(&rng, count);
        assert_true(digest_of_update(&update) == entry_by_entry(&update));
    }
}

static void an_update_told_back_takes_away_what_it_added(void **state)
{
    (void)state;
    struct rng rng = rng_new(2, 0);
    const struct update update = draw(&rng, ENTRIES_MAX);
    const uint64_t told = digest_of_update(&update);
    for (uint32_t i = 0; i < ENTRIES_MAX; i++)
        level_of[i] = (int8_t)-level_of[i];
    assert_true(told != 0);
    assert_true(digest_add(told, digest_of_update(&update)) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_adds_what_its_entries_add),
        cmocka_unit_test(an_update_told_back_takes_away_what_it_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
