/* A member claims more samples than all other members in sum, but publishes nothing. It must lose
 * its share within a minute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "support/sim/puppet.h"

static struct puppet puppet;

static int liar_begins(void **state)
{
    (void)state;
    begin_world(1);
    start_usual_swarm(3);
    run(5 * SECOND_NS);
    puppet_init(&puppet, 0, 77);
    puppet_meet(&puppet);
    puppet_hello(&puppet);
    return 0;
}

static int liar_ends(void **state)
{
    (void)state;
    puppet_free(&puppet);
    world_free(&world);
    return 0;
}

/* Sends a new record of the puppet. The record announces its next renewal in RENEW_MS_MAX. */
static void claim(float samples_per_second)
{
    static uint32_t stamp = 1;
    uint8_t bytes[RECORD_BYTES];
    struct record record = puppet_record(&puppet);
    record.stamp = ++stamp;
    record.trains = true;
    record.samples_per_second = samples_per_second;
    record.renew_ms = RENEW_MS_MAX;
    record_create(&record, &puppet.identity, puppet.context, bytes);
    puppet_say_bulk(&puppet, MEMBER_UPDATE, bytes, sizeof bytes);
}

static void everybody_has_a_share_of(double least, double most)
{
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(stats_of(i).share > least);
        assert_true(stats_of(i).share < most);
    }
}

static void a_claim_without_rumors_takes_no_share(void **state)
{
    (void)state;
    everybody_has_a_share_of(0.3, 0.37);
    claim(1e30f);
    run(5 * SECOND_NS);
    /* for a minute, the puppet's share equals that of other members */
    everybody_has_a_share_of(0.22, 0.3);
    run(60 * SECOND_NS);
    everybody_has_a_share_of(0.3, 0.37);
}

/* A member whose claim is doubtful again and again, but never for a minute, is not named. */
static void only_a_claim_that_stays_doubtful_for_a_minute_is_named(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        claim(1e30f);
        run(50 * SECOND_NS);
        claim(1);
        run(5 * SECOND_NS);
    }
    assert_int_equal(world.nodes[0].notes[NOTE_DOUBT], 0);
    for (int i = 0; i < 2; i++) {
        claim(1e30f);
        run(50 * SECOND_NS);
    }
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(world.nodes[i].notes[NOTE_DOUBT], 1);
}

static void an_announced_silence_of_an_hour_is_not_accepted(void **state)
{
    (void)state;
    claim(100);
    run(5 * SECOND_NS);
    assert_int_equal(stats_of(1).members_live, 4);
    run(90 * SECOND_NS);
    assert_int_equal(stats_of(1).members_live, 3);
}

#define LIAR(name) cmocka_unit_test_setup_teardown(name, liar_begins, liar_ends)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIAR(a_claim_without_rumors_takes_no_share),
        LIAR(only_a_claim_that_stays_doubtful_for_a_minute_is_named),
        LIAR(an_announced_silence_of_an_hour_is_not_accepted),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
