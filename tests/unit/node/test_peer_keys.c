/* A swarm that changes its key: two peers with a common key can meet, other peers cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/node/peer_pair.h"

enum { OLD = 1, NEW = 2, NEWEST = 3 }; /* keys, and numbers of the orders that introduced them */

/* Starts a dialer and an acceptor with `count` keys each. The dialer uses its key number `shows`.
 */
static void begin_with(const struct introduced *one, const uint8_t *dialers, uint32_t shows,
                       const uint8_t *acceptors, uint32_t count)
{
    struct swarm_key keys[SWARM_KEYS_MAX] = {0};
    (void)pair_end(NULL);
    side_init(&dialer, 1, one);
    side_init(&acceptor, 2, &USUAL);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct swarm_key){.key = {dialers[i]}, .order = dialers[i]};
    credentials_set_keys(&dialer.credentials, keys, count);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct swarm_key){.key = {acceptors[i]}, .order = acceptors[i]};
    credentials_set_keys(&acceptor.credentials, keys, count);
    peer_start(&dialer.peer, 1, true, &ADDRESS, NOW_NS);
    peer_start(&acceptor.peer, 2, false, &ADDRESS, NOW_NS);
    peer_on_connected(&dialer.peer, &dialer.credentials, shows, NOW_NS);
}

static void must_have_met_by(uint32_t order)
{
    converse();
    assert_true(dialer.met && acceptor.met);
    assert_int_equal(dialer.heard, SAID);
    assert_int_equal(acceptor.heard, SAID);
    assert_int_equal(dialer.peer.key_order, order);
    assert_int_equal(acceptor.peer.key_order, order);
}

static void any_key_that_both_have_lets_in(void **state)
{
    (void)state;
    const uint8_t all[] = {NEWEST, NEW, OLD};
    for (uint32_t i = 0; i < SWARM_KEYS_MAX; i++) {
        begin_with(&USUAL, all, i, all, SWARM_KEYS_MAX);
        must_have_met_by(all[i]);
    }
    begin_with(&USUAL, (uint8_t[]){NEW, OLD}, 1, (uint8_t[]){NEWEST, OLD}, 2);
    must_have_met_by(OLD);
}

static void a_key_that_the_other_has_not_gets_no_byte(void **state)
{
    (void)state;
    begin_with(&USUAL, (uint8_t[]){NEW, OLD}, 0, (uint8_t[]){NEWEST, OLD}, 2);
    converse();
    assert_true(acceptor.refused);
    assert_int_equal(acceptor.out_bytes, 0);
    assert_false(dialer.met || dialer.refused);
}

static void a_key_that_was_given_up_lets_nobody_in(void **state)
{
    (void)state;
    static const struct entry_key none;
    begin_with(&USUAL, (uint8_t[]){NEW, OLD}, 1, (uint8_t[]){NEW, OLD}, 2);
    credentials_set_keys(&acceptor.credentials, &(struct swarm_key){.key = {NEW}}, 1);
    assert_int_equal(acceptor.credentials.keys_count, 1);
    assert_memory_equal(&acceptor.credentials.keys[1], &none, sizeof none);
    converse();
    assert_true(acceptor.refused);
    assert_int_equal(acceptor.out_bytes, 0);
}

static void a_handshake_that_has_begun_ends_by_the_key_it_began_with(void **state)
{
    (void)state;
    begin_with(&USUAL, (uint8_t[]){OLD}, 0, (uint8_t[]){OLD}, 1);
    assert_true(send_once(&dialer, &acceptor)); /* gate and handshake message 1 */
    const struct swarm_key key = {.key = {NEW}, .order = NEW};
    credentials_set_keys(&acceptor.credentials, &key, 1);
    credentials_set_keys(&dialer.credentials, &key, 1);
    must_have_met_by(OLD);
}

static void a_refusal_under_an_old_key_names_the_difference(void **state)
{
    (void)state;
    struct introduced other = USUAL;
    other.swarm = "another";
    begin_with(&other, (uint8_t[]){NEW, OLD}, 1, (uint8_t[]){NEWEST, OLD}, 2);
    converse();
    assert_true(dialer.refused && acceptor.refused);
    assert_int_equal(acceptor.out_bytes, LENGTH_BYTES + REFUSAL_BYTES);
    assert_non_null(strstr(dialer.problem.text, "other swarm id"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(any_key_that_both_have_lets_in),
        TEST(a_key_that_the_other_has_not_gets_no_byte),
        TEST(a_key_that_was_given_up_lets_nobody_in),
        TEST(a_handshake_that_has_begun_ends_by_the_key_it_began_with),
        TEST(a_refusal_under_an_old_key_names_the_difference),
    };
    return cmocka_run_group_tests(tests, open_pair, close_pair);
}
