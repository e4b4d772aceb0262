/* The ring between two threads. Also run under ThreadSanitizer. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/ring.h"
#include "base/rng.h"

#define RING_BYTES  1024
#define RECORDS     50000
#define ARENA_BYTES ((size_t)1 << 20)

static struct arena arena;
static struct ring ring;
static uint8_t *behind; /* [RING_BYTES] memory behind the ring, which must stay unchanged */

static int ring_start(void **state)
{
    (void)state;
    arena_init(&arena, ARENA_BYTES);
    ring_init(&ring, &arena, RING_BYTES);
    behind = arena_alloc(&arena, RING_BYTES, 1);
    return 0;
}

static int arena_stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static int ring_stop(void **state)
{
    for (int i = 0; i < RING_BYTES; i++)
        assert_int_equal(behind[i], 0);
    return arena_stop(state);
}

/* Returns the size of record `number`. The number also determines the record's content. */
static uint32_t record_bytes(uint32_t number)
{
    struct rng rng = rng_new(number, 1);
    return 4 + rng_below(&rng, RING_BYTES / 2 - 16);
}

static bool put(uint32_t number)
{
    const uint32_t bytes = record_bytes(number);
    uint8_t *room = ring_room(&ring, bytes);
    if (!room)
        return false;
    memset(room, (int)(number & 0xff), bytes);
    memcpy(room, &number, sizeof number);
    ring_put(&ring, bytes);
    return true;
}

static bool take(uint32_t number)
{
    const uint8_t *record = ring_peek(&ring);
    if (!record)
        return false;
    uint32_t found;
    memcpy(&found, record, sizeof found);
    assert_int_equal(found, number);
    for (uint32_t i = sizeof found; i < record_bytes(number); i++)
        assert_int_equal(record[i], number & 0xff);
    ring_done(&ring);
    return true;
}

static void an_empty_ring_has_nothing(void **state)
{
    (void)state;
    assert_null(ring_peek(&ring));
    assert_true(put(0) && take(0));
    assert_null(ring_peek(&ring));
}

static void a_full_ring_takes_no_more_until_something_is_taken(void **state)
{
    (void)state;
    uint32_t count = 0;
    while (put(count))
        count++;
    assert_true(count >= 2);
    assert_true(take(0));
    assert_true(take(1));
    for (uint32_t i = 2; i < count; i++)
        assert_true(take(i));
    assert_null(ring_peek(&ring));
}

static void room_is_aligned_and_asking_twice_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 200; number++) {
        void *room = ring_room(&ring, 4 + number % 60);
        assert_non_null(room);
        assert_int_equal((uintptr_t)room % 8, 0);
        assert_ptr_equal(ring_room(&ring, 4 + number % 60), room);
        ring_put(&ring, 4 + number % 60);
        ring_done(&ring);
    }
}

/* If the ring is empty, a record of nearly half its size fits, wherever its head is. */
static void the_largest_record_fits_at_every_place(void **state)
{
    (void)state;
    const uint32_t largest = RING_BYTES / 2 - 8;
    for (uint32_t round = 0; round < RING_BYTES; round++) {
        void *room = ring_room(&ring, largest);
        assert_non_null(room);
        memset(room, 0xff, largest);
        ring_put(&ring, largest);
        assert_non_null(ring_peek(&ring));
        ring_done(&ring);
        assert_non_null(ring_room(&ring, 1)); /* moves the head by the smallest step */
        ring_put(&ring, 1);
        ring_done(&ring);
    }
}

static void *put_all(void *unused)
{
    (void)unused;
    for (uint32_t number = 0; number < RECORDS; number++)
        while (!put(number))
            (void)sched_yield();
    return NULL;
}

static void between_two_threads_nothing_is_lost_or_turned_round(void **state)
{
    (void)state;
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, put_all, NULL), 0);
    for (uint32_t number = 0; number < RECORDS; number++)
        while (!take(number))
            (void)sched_yield();
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_null(ring_peek(&ring));
}

int main(void)
{
#define RING(name) cmocka_unit_test_setup_teardown(name, ring_start, ring_stop)
    const struct CMUnitTest tests[] = {
        RING(an_empty_ring_has_nothing),
        RING(a_full_ring_takes_no_more_until_something_is_taken),
        RING(room_is_aligned_and_asking_twice_changes_nothing),
        RING(the_largest_record_fits_at_every_place),
        RING(between_two_threads_nothing_is_lost_or_turned_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
