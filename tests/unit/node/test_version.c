/* Versions: which rumors of every origin are known, and how they are encoded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/history.h"
#include "node/broadcast/version.h"
#include "support/net/stream.h"

#define MAX 40

static const uint8_t context[CONTEXT_BYTES];
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

/* Returns the head of the origin's rumor next - 1. */
static struct signed_head head_of(const struct origin *origin, uint32_t next, uint64_t samples)
{
    return stream_unsigned(origin->id, origin->incarnation, next - 1, samples, context);
}

static void advance(struct origin *origin, uint64_t digest)
{
    const struct signed_head head = head_of(origin, origin->next + 1, 0);
    versions_advance(&versions, origin, &head, digest);
}

static void set_next(struct origin *origin, uint32_t next)
{
    const struct signed_head head = head_of(origin, next, 0);
    versions_set(&versions, origin, next > 0 ? &head : NULL);
}

static struct origin *add(uint8_t number, uint64_t incarnation, uint32_t next)
{
    const uint8_t id[ID_BYTES] = {number};
    struct origin *origin = versions_add(&versions, id, incarnation);
    assert_non_null(origin);
    while (origin->next < next)
        advance(origin, 0);
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
        assert_int_equal(versions_index(&versions, origin), i);
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
    (void)add(2, 7, 0);
    const struct origin *last = add(3, 7, 300);
    uint8_t slice[10 * VERSION_ENTRY_BYTES];
    assert_int_equal(versions_slice(&versions, NULL, 9, slice), 2);
    assert_true(version_entry_at(slice, 0).tag == first->tag);
    assert_int_equal(version_entry_at(slice, 0).next, 3);
    assert_true(version_entry_at(slice, 1).tag == last->tag);
    assert_int_equal(version_entry_at(slice, 1).next, 300);
    assert_int_equal(slice[8], 3); /* the tag is followed by the number, little-endian */
}

static void slices_go_round_and_cover_all(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < MAX; i++)
        (void)add(i, 7, i % 4); /* every fourth origin has published nothing */
    bool seen[MAX] = {false};
    for (int round = 0; round < 4; round++) { /* ceil(30 / 8) rounds */
        uint8_t slice[8 * VERSION_ENTRY_BYTES];
        assert_int_equal(versions_slice(&versions, NULL, 8, slice), 8);
        for (size_t i = 0; i < 8; i++) {
            const struct origin *origin = versions_find(&versions, version_entry_at(slice, i).tag);
            seen[versions_index(&versions, origin)] = true;
        }
    }
    for (uint8_t i = 0; i < MAX; i++)
        assert_int_equal(seen[i], i % 4 > 0);
}

static void a_slice_starts_with_the_readers_own_origin(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < 6; i++)
        (void)add(i, 7, 1);
    const struct origin *reader = &versions.origins[2];
    uint8_t slice[7 * VERSION_ENTRY_BYTES];
    for (int round = 0; round < 5; round++) {
        const size_t entries = versions_slice(&versions, reader, 3, slice);
        assert_in_range(entries, 3, 4);
        assert_true(version_entry_at(slice, 0).tag == reader->tag);
        for (size_t i = 1; i < entries; i++)
            assert_true(version_entry_at(slice, i).tag != reader->tag);
    }
    assert_int_equal(versions_slice(&versions, reader, 0, slice), 1);
    assert_int_equal(versions_slice(&versions, reader, 6, slice), 6);
    assert_int_equal(versions_slice(&versions, add(9, 7, 0), 0, slice), 0);
}

static void the_hash_is_that_of_the_vector_whatever_the_order(void **state)
{
    (void)state;
    (void)add(1, 7, 3);
    (void)add(2, 7, 0);
    (void)add(3, 7, 4);
    const uint64_t hash = versions.hash;
    assert_int_equal(versions.rumors, 7);
    assert_int_equal(versions.publishers, 2);
    versions_init(&versions, &arena, MAX, 0x55);
    assert_int_equal(versions.hash, 0);
    (void)add(3, 7, 1);
    (void)add(1, 7, 3);
    assert_true(versions.hash != hash);
    for (int i = 0; i < 3; i++)
        advance(&versions.origins[0], 0);
    assert_true(versions.hash == hash);
    advance(&versions.origins[1], 0);
    assert_true(versions.hash != hash);
}

static void two_origins_that_change_places_change_the_hash(void **state)
{
    (void)state;
    (void)add(1, 7, 1);
    (void)add(2, 7, 2);
    const uint64_t hash = versions.hash;
    versions_init(&versions, &arena, MAX, 0x55);
    (void)add(1, 7, 2);
    (void)add(2, 7, 1);
    assert_true(versions.hash != hash);
}

static void each_rumor_adds_to_the_digest(void **state)
{
    (void)state;
    struct origin *origin = add(1, 7, 0);
    advance(origin, 0x11);
    advance(origin, 0x0100000000000000);
    assert_true(versions.digest == 0x0100000000000066);
    assert_int_equal(origin->next, 2);
}

static void a_whole_version_says_how_much_each_has_learned_and_how_fast(void **state)
{
    (void)state;
    struct origin *origin = add(1, 7, 3);
    origin->samples = 0x0102030405060708;
    origin = add(2, 7, 4);
    origin->samples = 9;
    origin->rate = 2.5f;
    uint8_t slice[2 * VERSION_ENTRY_BYTES], learned[2 * LEARNED_BYTES];
    assert_int_equal(versions_latest(&versions, NULL, 0, 2, slice, learned), 2);
    assert_int_equal(version_entry_at(slice, 0).next, 4);
    assert_int_equal(version_entry_at(slice, 1).next, 3);
    assert_int_equal(learned_at(learned, 0).samples, 9);
    assert_float_equal(learned_at(learned, 0).rate, 2.5, 0);
    assert_true(learned_at(learned, 1).samples == 0x0102030405060708);
    assert_int_equal(learned[LEARNED_BYTES], 8); /* little-endian */
}

static struct origin *find(uint8_t number)
{
    const uint8_t id[ID_BYTES] = {number};
    struct origin *origin = versions_find(&versions, origin_tag(id, 7));
    assert_non_null(origin);
    return origin;
}

/* Checks the order of origins from the latest to the earliest, and in reverse. */
static void must_be_in_order(const uint8_t *numbers, size_t count)
{
    const struct origin *older = NULL, *newer = NULL;
    for (size_t i = 0; i < count; i++) {
        older = versions_older(&versions, older);
        newer = versions_newer(&versions, newer);
        assert_ptr_equal(older, find(numbers[i]));
        assert_ptr_equal(newer, find(numbers[count - 1 - i]));
    }
    assert_null(versions_older(&versions, older));
    assert_null(versions_newer(&versions, newer));
}

static void the_last_publisher_is_the_latest_origin(void **state)
{
    (void)state;
    must_be_in_order(NULL, 0);
    (void)add(1, 7, 0);
    must_be_in_order((const uint8_t[]){1}, 1);
    versions_touch(&versions, find(1));
    must_be_in_order((const uint8_t[]){1}, 1);
    (void)add(2, 7, 1);
    (void)add(3, 7, 1);
    must_be_in_order((const uint8_t[]){3, 2, 1}, 3);
    advance(find(3), 0);
    must_be_in_order((const uint8_t[]){3, 2, 1}, 3);
    advance(find(2), 0);
    must_be_in_order((const uint8_t[]){2, 3, 1}, 3);
    versions_touch(&versions, find(1));
    must_be_in_order((const uint8_t[]){1, 2, 3}, 3);
    set_next(find(3), 9); /* the head is known, but no rumor was received */
    must_be_in_order((const uint8_t[]){1, 2, 3}, 3);
}

static void the_latest_are_listed_as_far_as_there_is_room(void **state)
{
    (void)state;
    for (uint8_t i = 1; i <= 6; i++)
        (void)add(i, 7, i == 4 ? 0 : i);
    static const uint8_t latest[] = {6, 5, 3}; /* origin 4 has published nothing */
    uint8_t out[6 * VERSION_ENTRY_BYTES];
    assert_int_equal(versions_latest(&versions, NULL, 0, 3, out, NULL), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(version_entry_at(out, i).next, latest[i]);
    assert_int_equal(versions_latest(&versions, NULL, 0, 9, out, NULL), 5);
    assert_true(entries_hash(out, 5) == versions.hash);
    assert_int_equal(versions_latest(&versions, NULL, 1, 2, out, NULL), 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(version_entry_at(out, i).next, latest[1 + i]);
    assert_int_equal(versions_latest(&versions, NULL, 4, 9, out, NULL), 1);
    assert_int_equal(versions_latest(&versions, NULL, 5, 9, out, NULL), 0);

    /* rumors of each origin in an older base */
    const uint32_t next[6] = {1, 2, 0, 0, 4, 0};
    struct signed_head of[6];
    const struct signed_head *heads[6];
    for (uint8_t i = 0; i < 6; i++) {
        of[i] = head_of(&versions.origins[i], next[i], 0);
        heads[i] = next[i] > 0 ? &of[i] : NULL;
    }
    assert_int_equal(versions_latest(&versions, heads, 0, 9, out, NULL), 3);
    assert_int_equal(version_entry_at(out, 0).next, 4);
    assert_int_equal(version_entry_at(out, 2).next, 1);
    assert_true(entries_hash(out, 3) == versions_hash(&versions, heads));
    for (uint8_t i = 0; i < 6; i++)
        heads[i] = versions.origins[i].next > 0 ? &versions.origins[i].last : NULL;
    assert_true(versions_hash(&versions, heads) == versions.hash);
}

/* The forty origins' rumors that another node knows, and its version entries as it sends them. */

static uint32_t theirs[MAX];
static uint8_t shown[(MAX + 1) * VERSION_ENTRY_BYTES];

/* Adds forty origins. This node and the other node know all their rumors. */
static void both_know(void)
{
    for (uint8_t i = 0; i < MAX; i++)
        theirs[i] = add(i, 7, 1 + i % 5u)->next;
}

/* Returns the last heads that the other node knows. */
static const struct signed_head *const *their_heads(void)
{
    static struct signed_head of[MAX];
    static const struct signed_head *heads[MAX];
    for (uint32_t i = 0; i < MAX; i++) {
        of[i] = head_of(&versions.origins[i], theirs[i], 0);
        heads[i] = theirs[i] > 0 ? &of[i] : NULL;
    }
    return heads;
}

/* The other node shows its `most` latest origins. Returns true if the hash confirms which of our
 * origins it knows. *known: receives these origins, one bit each. */
static bool knows(uint32_t most, uint64_t *known)
{
    const size_t count = versions_latest(&versions, their_heads(), 0, most, shown, NULL);
    const uint64_t hash = versions_hash(&versions, their_heads());
    *known = UINT64_MAX;
    return versions_known(&versions, shown, count, hash, known);
}

static uint64_t all_but(uint32_t from, uint32_t to)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < MAX; i++)
        bits |= (uint64_t)(i < from || i >= to) << i;
    return bits;
}

static void an_equal_rest_is_recognised_by_its_hash(void **state)
{
    (void)state;
    uint64_t known;
    both_know();
    for (uint32_t most = 0; most <= MAX; most += 5) {
        assert_true(knows(most, &known));
        assert_true(known == all_but(MAX, MAX));
    }
    theirs[MAX - 1] += 5; /* more or fewer rumors of an origin that is shown */
    assert_true(knows(3, &known));
    assert_true(known == all_but(MAX, MAX));
    theirs[MAX - 2] = 1;
    assert_true(knows(3, &known));
    assert_true(known == all_but(MAX, MAX));
}

static void a_missing_latest_origin_is_recognised(void **state)
{
    (void)state;
    uint64_t known;
    both_know();
    for (uint32_t unknown = 1; unknown <= MAX; unknown++) {
        theirs[MAX - unknown] = 0;
        for (uint32_t most = 0; most <= MAX; most += 4) {
            assert_true(knows(most, &known));
            assert_true(known == all_but(MAX - unknown, MAX));
        }
    }
}

/* A list of all origins shows which origins the other version lacks, in any order. */
static void a_complete_list_needs_no_order(void **state)
{
    (void)state;
    uint64_t known;
    both_know();
    theirs[0] = theirs[3] = theirs[17] = theirs[MAX - 1] = 0;
    assert_true(knows(MAX, &known));
    assert_true(known ==
                (all_but(MAX, MAX) & ~(1ull | 1ull << 3 | 1ull << 17 | 1ull << (MAX - 1))));
}

static void an_unexplained_hash_is_reported_as_uncertain(void **state)
{
    (void)state;
    uint64_t known;
    both_know();
    theirs[5]++; /* a rumor of an early origin */
    assert_false(knows(10, &known));
    assert_true(known == all_but(MAX, MAX));
    assert_true(knows(MAX, &known)); /* the early origin is shown */
    theirs[5] = 0;
    assert_false(knows(10, &known));
    assert_true(known == all_but(MAX, MAX));
}

static void an_origin_of_which_we_do_not_know_takes_nothing_from_that(void **state)
{
    (void)state;
    uint64_t known = 0;
    both_know();
    theirs[MAX - 1] = 0;
    const size_t count = versions_latest(&versions, their_heads(), 0, 4, shown, NULL);
    version_entry_put(shown + count * VERSION_ENTRY_BYTES, 0x1234, 9, shown);
    const uint64_t other = entries_hash(shown + count * VERSION_ENTRY_BYTES, 1);
    assert_true(versions_known(&versions, shown, count + 1,
                               versions_hash(&versions, their_heads()) + other, &known));
    assert_true(known == all_but(MAX - 1, MAX));
}

static void an_entry_of_a_history_is_a_signed_head(void **state)
{
    (void)state;
    const uint8_t id[ID_BYTES] = {9, [ID_BYTES - 1] = 7};
    const struct signed_head head =
        stream_unsigned(id, 0x1122334455667788, 0x99AABBCB, 0x030405060708, context);
    const struct history_entry got = history_entry_at(head.bytes);
    assert_memory_equal(got.id, id, ID_BYTES);
    assert_true(got.incarnation == 0x1122334455667788);
    assert_true(got.next == 0x99AABBCC);
    assert_true(got.samples == 0x030405060708);
}

/* A different rumor with an equal number gives a different version. */
static void the_hash_is_of_what_the_rumors_are_and_not_of_their_count(void **state)
{
    (void)state;
    struct origin *origin = add(1, 7, 3);
    const uint64_t hash = versions.hash;
    const struct signed_head other = head_of(origin, 3, 1);
    versions_set(&versions, origin, &other);
    assert_int_equal(origin->next, 3);
    assert_true(versions.hash != hash);
    const struct version_entry entry = {.tag = origin->tag, .next = 3, .hash = other.hash};
    const struct signed_head before = head_of(origin, 3, 0);
    assert_true(version_entry_shows(&entry, other.hash));
    assert_false(version_entry_shows(&entry, before.hash));
}

/* Sets more rumors of an origin than before, fewer, none, and then some. */
static void rumors_that_are_set_count_as_received(void **state)
{
    (void)state;
    (void)add(1, 7, 3);
    const struct origin *heard = add(2, 7, 5);
    const uint64_t hash = versions.hash, digest = versions.digest;
    struct origin *origin = add(3, 7, 2);
    for (uint32_t next = 9; next > 0; next--) {
        set_next(origin, next);
        assert_int_equal(origin->next, next);
        assert_int_equal(origin->applied, next);
        assert_int_equal(versions.rumors, 3 + 5 + next);
        assert_int_equal(versions.publishers, 3);
        assert_true(versions.hash != hash);
    }
    set_next(origin, 0);
    assert_int_equal(versions.rumors, 3 + 5);
    assert_int_equal(versions.publishers, 2);
    assert_true(versions.hash == hash);
    set_next(origin, 2);
    const uint64_t set = versions.hash;
    set_next(origin, 0);
    advance(origin, 0);
    advance(origin, 0);
    assert_true(versions.hash == set);
    assert_int_equal(heard->next, 5);
    assert_true(versions.digest == digest); /* versions_set leaves the digest unchanged */
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
        TEST(slices_go_round_and_cover_all),
        TEST(a_slice_starts_with_the_readers_own_origin),
        TEST(the_hash_is_that_of_the_vector_whatever_the_order),
        TEST(two_origins_that_change_places_change_the_hash),
        TEST(each_rumor_adds_to_the_digest),
        TEST(a_whole_version_says_how_much_each_has_learned_and_how_fast),
        TEST(the_last_publisher_is_the_latest_origin),
        TEST(the_latest_are_listed_as_far_as_there_is_room),
        TEST(an_equal_rest_is_recognised_by_its_hash),
        TEST(a_missing_latest_origin_is_recognised),
        TEST(a_complete_list_needs_no_order),
        TEST(an_unexplained_hash_is_reported_as_uncertain),
        TEST(an_origin_of_which_we_do_not_know_takes_nothing_from_that),
        TEST(an_entry_of_a_history_is_a_signed_head),
        TEST(the_hash_is_of_what_the_rumors_are_and_not_of_their_count),
        TEST(rumors_that_are_set_count_as_received),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
