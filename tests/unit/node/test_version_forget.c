/* Origins without rumors that were added last can be forgotten. All other origins are unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/version.h"

#define MAX 40

static struct versions versions;

static struct origin *add(uint8_t number, uint64_t incarnation)
{
    const uint8_t id[ID_BYTES] = {number};
    struct origin *origin = versions_add(&versions, id, incarnation);
    assert_non_null(origin);
    return origin;
}

/* Repeated, so that slots of the hash table collide. */
static void origins_that_were_added_last_can_be_forgotten(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    versions_init(&versions, &arena, MAX, 0x55);
    const struct origin *kept = add(1, 1), *other = add(2, 1);
    const uint64_t hash = versions.hash;
    for (uint64_t round = 0; round < 100; round++) {
        for (uint64_t i = 0; i < MAX - 2; i++)
            (void)add(3, 1 + round * MAX + i);
        versions_forget_beyond(&versions, 2 + round % 8);
        for (uint64_t i = 0; i < MAX - 2; i++) {
            const uint8_t id[ID_BYTES] = {3};
            assert_int_equal(versions_find(&versions, origin_tag(id, 1 + round * MAX + i)) != NULL,
                             i < round % 8);
        }
        assert_ptr_equal(versions_find(&versions, kept->tag), kept);
        assert_ptr_equal(versions_find(&versions, other->tag), other);
        versions_forget_beyond(&versions, 2);
    }
    assert_ptr_equal(versions_older(&versions, NULL), other);
    assert_ptr_equal(versions_older(&versions, other), kept);
    assert_null(versions_older(&versions, kept));
    assert_ptr_equal(versions_newer(&versions, NULL), kept);
    assert_null(versions_newer(&versions, other));
    assert_true(versions.hash == hash);
    versions_forget_beyond(&versions, 2);
    assert_int_equal(versions.count, 2);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(origins_that_were_added_last_can_be_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
