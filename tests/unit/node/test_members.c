/* Members: the newest record of each, and which members are alive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/membership/members.h"

#define MAX        6
#define SILENCE_NS 1000

static const uint8_t context[CONTEXT_BYTES] = {1, 2, 3};
static struct arena arena;
static struct members members;

static struct identity identity_of(uint8_t number)
{
    const uint8_t seed[SEED_BYTES] = {number};
    struct identity identity;
    identity_from_seed(&identity, seed);
    return identity;
}

static struct record record_of(uint8_t number, uint64_t incarnation, uint64_t stamp)
{
    const struct identity identity = identity_of(number);
    struct record record = {
        .incarnation = incarnation, .stamp = stamp, .samples_per_second = 100, .trains = true};
    memcpy(record.id, identity.id, ID_BYTES);
    return record;
}

static enum error learn(uint8_t number, const struct record *record, uint64_t now_ns,
                        struct member **changed)
{
    const struct identity identity = identity_of(number);
    uint8_t bytes[RECORD_BYTES];
    record_create(record, &identity, context, bytes);
    return members_learn(&members, bytes, context, now_ns, changed);
}

static void meet(uint8_t number, float samples_per_second, uint64_t now_ns)
{
    struct member *changed;
    struct record record = record_of(number, 1, now_ns);
    record.samples_per_second = samples_per_second;
    assert_int_equal(learn(number, &record, now_ns, &changed), OK);
}

static void be(float samples_per_second)
{
    const struct identity own = identity_of(1);
    struct record record = record_of(1, 1, 1);
    record.samples_per_second = samples_per_second;
    members_update_own(&members, &record, &own, context, 0);
}

static int start(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    members_init(&members, &arena, MAX, SILENCE_NS);
    be(100);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void the_first_member_is_the_node_itself(void **state)
{
    (void)state;
    const struct identity own = identity_of(1);
    assert_int_equal(members.count, 1);
    assert_ptr_equal(members_find(&members, own.id), members.members);
    be(200);
    assert_int_equal(members.count, 1);
    assert_int_equal(record_verify(members.members[0].bytes, context), OK);
}

static void a_record_is_news_once(void **state)
{
    (void)state;
    struct member *changed = NULL;
    const struct record record = record_of(2, 1, 5);
    assert_int_equal(learn(2, &record, 10, &changed), OK);
    assert_ptr_equal(changed, members_find(&members, record.id));
    assert_int_equal(changed->advanced_ns, 10);
    assert_int_equal(learn(2, &record, 20, &changed), MISSING);
    assert_int_equal(changed->advanced_ns, 10);
    assert_int_equal(members.count, 2);
}

static void a_later_stamp_or_life_replaces_and_an_older_never(void **state)
{
    (void)state;
    static const struct {
        uint64_t incarnation, stamp;
        enum error expected;
    } STORY[] = {{2, 5, OK},       {2, 6, OK}, {2, 5, MISSING},
                 {1, 99, MISSING}, {3, 0, OK}, {2, 100, MISSING}};
    struct member *changed;
    for (size_t i = 0; i < sizeof STORY / sizeof *STORY; i++) {
        const struct record record = record_of(2, STORY[i].incarnation, STORY[i].stamp);
        assert_int_equal(learn(2, &record, i, &changed), STORY[i].expected);
    }
    const struct identity identity = identity_of(2);
    assert_int_equal(members_find(&members, identity.id)->record.incarnation, 3);
    assert_int_equal(members.count, 2);
}

static void a_forged_record_changes_nothing(void **state)
{
    (void)state;
    struct member *changed = NULL;
    const struct record record = record_of(2, 1, 5);
    assert_int_equal(learn(3, &record, 0, &changed), FORGED); /* another member has signed it */
    assert_null(changed);
    assert_int_equal(members.count, 1);
}

static void a_malformed_record_changes_nothing(void **state)
{
    (void)state;
    struct member *changed = NULL;
    struct record record = record_of(2, 1, 5);
    record.samples_per_second = -1;
    assert_int_equal(learn(2, &record, 0, &changed), MALFORMED);
    assert_int_equal(members.count, 1);
}

static void nobody_tells_us_about_ourselves(void **state)
{
    (void)state;
    struct member *changed;
    const struct record record = record_of(1, 99, 99);
    assert_int_equal(learn(1, &record, 0, &changed), MISSING);
    assert_int_equal(members.members[0].record.incarnation, 1);
}

static void a_full_table_still_hears_of_those_in_it(void **state)
{
    (void)state;
    struct member *changed;
    for (uint8_t number = 2; number <= MAX; number++)
        meet(number, 100, 1);
    struct record record = record_of(MAX + 1, 1, 1);
    assert_int_equal(learn(MAX + 1, &record, 1, &changed), TOO_BIG);
    record = record_of(2, 1, 2);
    assert_int_equal(learn(2, &record, 1, &changed), OK);
    assert_int_equal(members.count, MAX);
}

static void evicts_the_member_that_is_dead_for_longest(void **state)
{
    (void)state;
    struct member *changed;
    for (uint8_t number = 2; number <= MAX; number++)
        meet(number, 100, number == 4 ? 1 : number == 5 ? 2 : 2 * SILENCE_NS);
    const struct record stranger = record_of(MAX + 1, 1, 1);
    assert_int_equal(learn(MAX + 1, &stranger, 2 * SILENCE_NS + 1, &changed), TOO_BIG);
    assert_int_equal(learn(MAX + 1, &stranger, 2 * SILENCE_NS + 2, &changed), OK);
    assert_int_equal(members.count, MAX);
    const struct identity forgotten = identity_of(4), kept = identity_of(5);
    assert_null(members_find(&members, forgotten.id));
    assert_non_null(members_find(&members, kept.id));
    assert_memory_equal(changed->record.id, identity_of(MAX + 1).id, ID_BYTES);
    assert_ptr_equal(members_find(&members, changed->record.id), changed);
}

static void a_silent_member_is_dead_until_it_says_something_new(void **state)
{
    (void)state;
    meet(2, 100, 10);
    assert_int_equal(members_live(&members, 10 + SILENCE_NS - 1), 2);
    assert_int_equal(members_live(&members, 10 + SILENCE_NS), 1);
    struct member *changed;
    const struct record record = record_of(2, 1, 11);
    assert_int_equal(learn(2, &record, 5000, &changed), OK);
    assert_int_equal(members_live(&members, 5001), 2);
}

static void we_are_never_dead_by_silence(void **state)
{
    (void)state;
    assert_int_equal(members_live(&members, 1000000), 1);
}

static void a_member_that_left_is_not_live(void **state)
{
    (void)state;
    meet(2, 100, 1);
    struct member *changed;
    struct record record = record_of(2, 1, 2);
    record.stage = STAGE_LEFT;
    assert_int_equal(learn(2, &record, 2, &changed), OK);
    assert_false(member_is_live(&members, changed, 2));
}

static void a_long_renewal_period_permits_a_longer_silence(void **state)
{
    (void)state;
    struct member *changed;
    struct record record = record_of(2, 1, 1);
    record.renew_ms = 3;
    assert_int_equal(learn(2, &record, 10, &changed), OK);
    assert_int_equal(member_silence_ns(&members, changed), 12000000);
    assert_true(member_is_live(&members, changed, 10 + 11999999));
    assert_false(member_is_live(&members, changed, 10 + 12000000));
}

/* Member 2 announces its next record in an hour. The limit for two members is four times 17 s: 15 s
 * and one second for each member. */
static void nobody_is_believed_to_need_an_hour(void **state)
{
    (void)state;
    struct member *changed;
    struct record record = record_of(2, 1, 1);
    record.renew_ms = RENEW_MS_MAX;
    assert_int_equal(learn(2, &record, 10, &changed), OK);
    assert_int_equal(member_silence_ns(&members, changed), 4 * 17000000000ull);
}

static void a_rumor_keeps_alive_and_raises_nobody_from_the_dead(void **state)
{
    (void)state;
    meet(2, 100, 10);
    const struct identity identity = identity_of(2);
    struct member *member = members_find(&members, identity.id);
    member->known_live = true;
    members_on_rumor(&members, identity.id, 1, 900);
    assert_true(member_is_live(&members, member, 900 + SILENCE_NS - 1));
    members_on_rumor(&members, identity.id, 2, 1500); /* a rumor of another incarnation */
    assert_int_equal(member->advanced_ns, 900);
    member->known_live = false;
    members_on_rumor(&members, identity.id, 1, 5000);
    assert_int_equal(member->advanced_ns, 900);
}

static void every_member_is_found_by_its_id(void **state)
{
    (void)state;
    struct arena wide;
    arena_init(&wide, 1 << 22);
    members_init(&members, &wide, 256, SILENCE_NS);
    be(100);
    for (int number = 2; number < 256; number++)
        meet((uint8_t)number, 100, 1);
    for (int number = 1; number < 256; number++) {
        const struct identity identity = identity_of((uint8_t)number);
        assert_ptr_equal(members_find(&members, identity.id), &members.members[number - 1]);
    }
    const struct identity stranger = identity_of(0);
    assert_null(members_find(&members, stranger.id));
    arena_release(&wide);
}

static void records_are_listed_as_they_were_signed(void **state)
{
    (void)state;
    uint8_t out[MAX * RECORD_BYTES];
    uint32_t from = 0;
    for (uint8_t number = 2; number <= 4; number++)
        meet(number, 100, 1);
    assert_int_equal(members_encode(&members, 1, &from, MAX, out), 4 * RECORD_BYTES);
    assert_int_equal(from, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_memory_equal(out + i * RECORD_BYTES, members.members[i].bytes, RECORD_BYTES);
        assert_int_equal(record_verify(out + i * RECORD_BYTES, context), OK);
    }
}

static void a_list_goes_on_where_it_ended_and_leaves_out_who_was_silent_for_long(void **state)
{
    (void)state;
    uint8_t out[2 * RECORD_BYTES];
    uint32_t from = 1;
    for (uint8_t number = 2; number <= MAX; number++)
        meet(number, 100, number == 3 ? 1 : 500);
    /* more than half of member 3's timeout has passed */
    const uint64_t now_ns = 2 + SILENCE_NS / 2;
    assert_int_equal(members_live(&members, now_ns), MAX);
    assert_int_equal(members_encode(&members, now_ns, &from, 2, out), 2 * RECORD_BYTES);
    assert_memory_equal(out, members.members[1].bytes, RECORD_BYTES);
    assert_memory_equal(out + RECORD_BYTES, members.members[3].bytes, RECORD_BYTES);
    assert_int_equal(members_encode(&members, now_ns, &from, 2, out), 2 * RECORD_BYTES);
    assert_memory_equal(out, members.members[4].bytes, RECORD_BYTES);
    assert_int_equal(members_encode(&members, now_ns, &from, 2, out), 0);
    assert_int_equal(from, MAX);
}

int main(void)
{
    secret_start();
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(the_first_member_is_the_node_itself),
        TEST(a_record_is_news_once),
        TEST(a_later_stamp_or_life_replaces_and_an_older_never),
        TEST(a_forged_record_changes_nothing),
        TEST(a_malformed_record_changes_nothing),
        TEST(nobody_tells_us_about_ourselves),
        TEST(a_full_table_still_hears_of_those_in_it),
        TEST(evicts_the_member_that_is_dead_for_longest),
        TEST(a_silent_member_is_dead_until_it_says_something_new),
        TEST(we_are_never_dead_by_silence),
        TEST(a_member_that_left_is_not_live),
        TEST(a_long_renewal_period_permits_a_longer_silence),
        TEST(nobody_is_believed_to_need_an_hour),
        TEST(a_rumor_keeps_alive_and_raises_nobody_from_the_dead),
        TEST(every_member_is_found_by_its_id),
        TEST(records_are_listed_as_they_were_signed),
        TEST(a_list_goes_on_where_it_ended_and_leaves_out_who_was_silent_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
