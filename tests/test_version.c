/* Versions: what is known of every origin, and its bytes on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "version.h"

#define MAX 40

static struct arena arena;
static struct versions versions;

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    versions_init(&versions, &arena, MAX, 0x55);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static struct origin *add(uint8_t number, uint64_t incarnation, uint32_t next)
{
    const uint8_t id[ID_BYTES] = {number};
    struct origin *origin = versions_add(&versions, id, incarnation);
    assert_non_null(origin);
    origin->next = next;
    return origin;
}

static void a_tag_names_one_life_of_one_node(void **state)
{
    (void)state;
    const uint8_t a[ID_BYTES] = {1}, b[ID_BYTES] = {2};
    assert_true(origin_tag(a, 1) == origin_tag(a, 1));
    assert_true(origin_tag(a, 1) != origin_tag(a, 2));
    assert_true(origin_tag(a, 1) != origin_tag(b, 1));
}

static void an_origin_is_found_by_its_tag(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < MAX; i++)
        (void)add(i, 7, i);
    for (uint8_t i = 0; i < MAX; i++) {
        const uint8_t id[ID_BYTES] = {i};
        const struct origin *origin = versions_find(&versions, origin_tag(id, 7));
        assert_non_null(origin);
        assert_memory_equal(origin->id, id, ID_BYTES);
        assert_int_equal(origin->incarnation, 7);
        assert_int_equal(versions_place(&versions, origin), i);
        assert_null(versions_find(&versions, origin_tag(id, 8)));
    }
}

static void a_full_table_takes_no_other(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < MAX; i++)
        (void)add(i, 7, 0);
    const uint8_t id[ID_BYTES] = {MAX};
    assert_null(versions_add(&versions, id, 7));
    assert_int_equal(versions.count, MAX);
}

static void the_wire_lists_tag_and_next_of_origins_that_told(void **state)
{
    (void)state;
    const struct origin *first = add(1, 7, 3);
    (void)add(2, 7, 0); /* has told nothing */
    const struct origin *last = add(3, 7, UINT32_MAX);
    uint8_t vector[10 * VERSION_ENTRY_BYTES];
    const size_t bytes = versions_encode(&versions, vector, sizeof vector);
    assert_int_equal(bytes, 2 * VERSION_ENTRY_BYTES);
    assert_true(version_entry_at(vector, 0).tag == first->tag);
    assert_int_equal(version_entry_at(vector, 0).next, 3);
    assert_true(version_entry_at(vector, 1).tag == last->tag);
    assert_true(version_entry_at(vector, 1).next == UINT32_MAX);
    assert_int_equal(vector[8], 3); /* little-endian behind the tag */
}

static void what_does_not_fit_is_left_out_whole(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < 5; i++)
        (void)add(i, 7, 1);
    uint8_t vector[3 * VERSION_ENTRY_BYTES - 1];
    assert_int_equal(versions_encode(&versions, vector, sizeof vector), 2 * VERSION_ENTRY_BYTES);
}

static void our_own_vector_is_equal_in_any_order(void **state)
{
    (void)state;
    (void)add(1, 7, 3);
    (void)add(2, 7, 0);
    (void)add(3, 7, 4);
    uint8_t vector[2 * VERSION_ENTRY_BYTES], turned[sizeof vector];
    assert_int_equal(versions_encode(&versions, vector, sizeof vector), sizeof vector);
    memcpy(turned, vector + VERSION_ENTRY_BYTES, VERSION_ENTRY_BYTES);
    memcpy(turned + VERSION_ENTRY_BYTES, vector, VERSION_ENTRY_BYTES);
    assert_true(versions_equal(&versions, vector, sizeof vector));
    assert_true(versions_equal(&versions, turned, sizeof turned));
}

static void another_vector_is_not_equal(void **state)
{
    (void)state;
    struct origin *origin = add(1, 7, 3);
    (void)add(3, 7, 4);
    uint8_t vector[2 * VERSION_ENTRY_BYTES];
    const size_t bytes = versions_encode(&versions, vector, sizeof vector);
    assert_false(versions_equal(&versions, vector, VERSION_ENTRY_BYTES));
    assert_false(versions_equal(&versions, vector, 0));
    vector[0] ^= 1; /* a tag unknown here */
    assert_false(versions_equal(&versions, vector, bytes));
    vector[0] ^= 1;
    origin->next++; /* we know more */
    assert_false(versions_equal(&versions, vector, bytes));
    (void)versions_encode(&versions, vector, sizeof vector);
    assert_true(versions_equal(&versions, vector, bytes));
}

int main(void)
{
    secret_start();
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_tag_names_one_life_of_one_node),
        TEST(an_origin_is_found_by_its_tag),
        TEST(a_full_table_takes_no_other),
        TEST(the_wire_lists_tag_and_next_of_origins_that_told),
        TEST(what_does_not_fit_is_left_out_whole),
        TEST(our_own_vector_is_equal_in_any_order),
        TEST(another_vector_is_not_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
