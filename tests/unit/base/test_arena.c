/* Arenas of a fixed size and growing ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"

#define TAKEN 500

/* Allocates pieces of many sizes, fills each one, and checks all of them at the end. */
static void take_and_look(struct arena *arena, uint32_t bytes_max)
{
    static unsigned char *taken[TAKEN];
    static size_t bytes[TAKEN];
    struct rng rng = rng_new(1, 1);
    for (int i = 0; i < TAKEN; i++) {
        bytes[i] = rng_below(&rng, bytes_max);
        taken[i] = arena_alloc(arena, bytes[i], 1);
        assert_int_equal((uintptr_t)taken[i] % 64, 0);
        for (size_t at = 0; at < bytes[i]; at++)
            assert_int_equal(taken[i][at], 0);
        memset(taken[i], i % 255 + 1, bytes[i]);
    }
    for (int i = 0; i < TAKEN; i++)
        for (size_t at = 0; at < bytes[i]; at++)
            assert_int_equal(taken[i][at], i % 255 + 1);
}

static void allocations_are_zeroed_aligned_and_disjoint(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, (size_t)TAKEN * 2000);
    take_and_look(&arena, 1900);
    arena_release(&arena);
    assert_null(arena.start);
}

/* Returns the bytes of this process's address space. */
static size_t reserved_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    (void)fclose(file);
    return pages * 4096;
}

static void an_arena_that_grows_takes_about_what_is_taken_and_gives_all_back(void **state)
{
    (void)state;
    struct arena arena;
    const size_t before = reserved_bytes();
    arena_init_growing(&arena);
    assert_true(reserved_bytes() == before);
    take_and_look(&arena, 200000);
    const size_t large = (size_t)100 << 20;
    unsigned char *one = arena_alloc(&arena, large, 1); /* larger than a chunk of the arena */
    one[0] = one[large - 1] = 1;
    take_and_look(&arena, 1000);
    const size_t grown = reserved_bytes() - before;
    assert_true(grown > large && grown < ((size_t)256 << 20));
    arena_release(&arena);
    assert_true(reserved_bytes() <= before + ((size_t)1 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_zeroed_aligned_and_disjoint),
        cmocka_unit_test(an_arena_that_grows_takes_about_what_is_taken_and_gives_all_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
