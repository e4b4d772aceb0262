/* Repair of missing rumors: which neighbour node 0 asks for them, when, and for how many at once.
 * There are two idle nodes and two puppets (puppet.h). The teller publishes in several
 * incarnations. The shower announces more of the teller's rumors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/broadcast/broadcast.h"
#include "node/broadcast/version.h"
#include "support/sim/puppet.h"

#define INCARNATIONS 6

static struct puppet teller, shower;
static uint32_t shown;  /* number of rumors that the shower announces of each incarnation */
static uint32_t wanted; /* incarnations of which node 0 requested rumors, one bit each */
/* Incarnations of which node 0 requested rumors from the teller, one bit each. */
static uint32_t wanted_of_teller;

static void on_heard_by_teller(struct puppet *puppet, const struct message *message)
{
    for (uint32_t incarnation = 1; incarnation <= INCARNATIONS; incarnation++)
        if (message->kind == WANT && message->tag == origin_tag(puppet->identity.id, incarnation))
            wanted_of_teller |= 1u << incarnation;
}

/* Records in `wanted` the incarnation of which a WANT requests a shown rumor. A WANT before a
 * MEMBER_QUERY about its origin only checks that the origin is alive, so it does not count. */
static void on_heard(struct puppet *puppet, const struct message *message)
{
    (void)puppet;
    static uint32_t before;
    if (message->kind == MEMBER_QUERY && message->tag)
        wanted = before;
    if (message->kind == WANT)
        before = wanted;
    const bool wants = message->kind == WANT && message->seq < shown;
    for (uint32_t incarnation = 1; wants && incarnation <= INCARNATIONS; incarnation++)
        if (message->tag == origin_tag(teller.identity.id, incarnation))
            wanted |= 1u << incarnation;
}

static int puppets_meet(void **state)
{
    (void)state;
    begin_world(1);
    start_usual_swarm(2);
    run(5 * SECOND_NS);
    world_rest(&world);
    run(3 * SECOND_NS);
    world.check.outsiders_publish = true;
    puppet_init(&teller, 0, 77);
    puppet_init(&shower, 0, 78);
    shower.on_heard = on_heard;
    teller.on_heard = on_heard_by_teller;
    shown = wanted = wanted_of_teller = 0;
    puppet_meet(&teller);
    puppet_hello(&teller);
    puppet_meet(&shower);
    puppet_hello(&shower);
    return 0;
}

static int puppets_leave(void **state)
{
    (void)state;
    puppet_free(&shower);
    puppet_free(&teller);
    world_free(&world);
    return 0;
}

/* Makes rumor `seq` of one of the teller's incarnations. Returns its size in bytes. */
static size_t make_rumor(uint64_t incarnation, uint32_t seq, uint8_t rumor[static RUMOR_MAX])
{
    uint32_t index = 5;
    int8_t level = 1;
    const struct update update = {
        .tau = 0.5f, .amount = 1000, .count = 1, .index = &index, .level = &level};
    struct rumor_head head = {.incarnation = incarnation};
    memcpy(head.origin, teller.identity.id, ID_BYTES);
    size_t bytes = 0;
    for (head.seq = 0; head.seq <= seq; head.seq++) {
        uint32_t taken;
        struct signed_head made;
        rumor_encode(&head, &update, 0, RUMOR_MAX, &teller.identity, teller.context, rumor, &taken,
                     &bytes);
        rumor_signed_head(rumor, bytes, teller.context, &made);
        memcpy(head.prev, made.hash, HEAD_HASH_BYTES);
    }
    return bytes;
}

/* Sends a rumor of the teller from the puppet `mouth`. */
static void say_rumor(struct puppet *mouth, uint64_t incarnation, uint32_t seq)
{
    uint8_t rumor[RUMOR_MAX];
    puppet_say_bulk(mouth, RUMOR, rumor, make_rumor(incarnation, seq, rumor));
}

/* Makes a puppet announce the first `next` rumors of the teller's incarnations 1 to
 * `incarnations`. */
static void show_by(struct puppet *puppet, uint32_t incarnations, uint32_t next)
{
    uint8_t entries[INCARNATIONS * VERSION_ENTRY_BYTES];
    shown = next;
    for (uint32_t incarnation = 1; incarnation <= incarnations; incarnation++) {
        uint8_t rumor[RUMOR_MAX];
        struct signed_head last;
        rumor_signed_head(rumor, make_rumor(incarnation, next - 1, rumor), teller.context, &last);
        version_entry_put(entries + (incarnation - 1) * VERSION_ENTRY_BYTES,
                          origin_tag(teller.identity.id, incarnation), next, last.hash);
    }
    puppet_say_bulk(puppet, VERSION, entries, incarnations * VERSION_ENTRY_BYTES);
}

static void show(uint32_t incarnations, uint32_t next)
{
    show_by(&shower, incarnations, next);
}

/* Sends the teller's record with this stamp. A new record makes the teller node 0's parent. */
static void say_record(uint64_t stamp)
{
    uint8_t bytes[RECORD_BYTES];
    struct record record = puppet_record(&teller);
    record.stamp = stamp;
    record_create(&record, &teller.identity, teller.context, bytes);
    puppet_say_bulk(&teller, MEMBER_UPDATE, bytes, sizeof bytes);
}

/* Makes the shower repeatedly announce two rumors of each incarnation. Returns the incarnations of
 * which node 0 requested rumors, one bit each. */
static uint32_t asked_in(int seconds)
{
    wanted = 0;
    for (int part = 0; part < 4 * seconds; part++) {
        show(INCARNATIONS, 2);
        /* keeps the teller alive */
        puppet_say(&teller, &(struct message){.kind = PING, .token = 1});
        run(SECOND_NS / 4);
    }
    return wanted;
}

/* Four members are alive and node 0 has three neighbours, so it requests rumors of one origin at a
 * time from each neighbour. */
static void requests_no_more_than_a_share_from_each_neighbour(void **state)
{
    (void)state;
    for (uint32_t incarnation = 1; incarnation <= INCARNATIONS; incarnation++)
        say_rumor(&teller, incarnation, 0);
    assert_int_equal(stats_of(0).neighbours, 3);
    for (uint32_t brought = 0; brought < INCARNATIONS; brought++) {
        const uint32_t asked = asked_in(3);
        uint32_t incarnation = 1;
        while (incarnation < INCARNATIONS && asked != 1u << incarnation)
            incarnation++;
        assert_int_equal(asked, 1u << incarnation);
        say_rumor(&shower, incarnation, 1);
        run(SECOND_NS / 4); /* until repeated requests have arrived */
    }
    assert_int_equal(asked_in(3), 0);
}

/* Rumors that a neighbour never sends do not block it permanently. */
static void a_neighbour_that_sends_nothing_is_asked_for_other_rumors(void **state)
{
    (void)state;
    for (uint32_t incarnation = 1; incarnation <= INCARNATIONS; incarnation++)
        say_rumor(&teller, incarnation, 0);
    const uint32_t first = asked_in(3);
    assert_int_not_equal(first, 0);
    assert_int_not_equal(asked_in(20) & ~first, 0);
}

/* The teller sends a rumor every 0.4 s, but falls behind the shower. */
static void a_neighbour_that_falls_behind_is_replaced(void **state)
{
    (void)state;
    say_rumor(&teller, 1, 0);
    uint32_t told = 1;
    while (wanted == 0 && told < 30) {
        show(1, 3 * told + 1);
        run(SECOND_NS / 5);
        say_rumor(&teller, 1, told++);
        run(SECOND_NS / 5);
    }
    assert_int_equal(wanted, 1u << 1);
    assert_true(told > 5 && told < 20); /* the request comes after a while, not at once */
    run(SECOND_NS / 10);
    /* Node 0 never sends PRUNE to an origin about its own rumors. */
    assert_int_equal(teller.heard[PRUNE], 0);
}

/* The shower announces 40 rumors, which the teller sends one by one. */
static void a_neighbour_that_catches_up_is_not_replaced(void **state)
{
    (void)state;
    for (uint32_t told = 0; told < 40; told++) {
        say_rumor(&teller, 1, told);
        show(1, 40);
        run(SECOND_NS / 5);
    }
    assert_int_equal(wanted, 0);
}

/* The teller becomes node 0's parent again and again by its records. It has the first rumor, which
 * did not arrive, and the shower never sends it. */
static void a_parent_by_its_records_is_asked_too(void **state)
{
    (void)state;
    for (uint32_t part = 0; part < 100 && wanted_of_teller == 0; part++) {
        say_record(2 + part);
        show_by(&teller, 1, 2);
        show(1, 2);
        run(SECOND_NS / 10);
    }
    assert_int_equal(wanted_of_teller, 1u << 1);
}

/* After the shower's GONE, node 0 asks the origin of the rumors and not its third neighbour. */
static void after_a_gone_the_origin_is_asked(void **state)
{
    (void)state;
    for (uint32_t incarnation = 1; incarnation <= INCARNATIONS; incarnation++) {
        say_rumor(&teller, incarnation, 0);
        puppet_say(&shower, &(struct message){.kind = GONE,
                                              .tag = origin_tag(teller.identity.id, incarnation),
                                              .seq = 1});
        run(SECOND_NS / 10);
    }
    assert_int_equal(wanted_of_teller, (2u << INCARNATIONS) - 2);
}

/* A copy of node 0's machine publishes with node 0's identity. If node 0 kept the rumor, it could
 * not start that incarnation itself. */
static void ignores_a_rumor_of_our_future_incarnation(void **state)
{
    (void)state;
    const struct node *node = world.nodes[0].node;
    const uint32_t known = node_origins(node);
    teller.identity = world.nodes[0].identity;
    say_rumor(&teller, node_incarnation(node) + 1, 0);
    assert_false(teller.closed);
    assert_int_equal(node_origins(node), known);
}

#define WITH_PUPPETS(name) cmocka_unit_test_setup_teardown(name, puppets_meet, puppets_leave)

/* The shower alone has the teller's second rumor. It then takes over a base without that rumor. */
static void lag_until_the_shower_drops_its_rumor(void)
{
    say_rumor(&teller, 1, 0);
    show(1, 2);
    run(5 * SECOND_NS);
    assert_true(stats_of(0).lag_ns > 4 * SECOND_NS);
}

static void a_rumor_that_its_only_holder_drops_causes_no_more_lag(void **state)
{
    (void)state;
    lag_until_the_shower_drops_its_rumor();
    show(1, 1);
    run(SECOND_NS / 10);
    assert_int_equal(stats_of(0).lag_ns, 0);
}

static void a_holder_with_an_equal_version_causes_no_more_lag(void **state)
{
    (void)state;
    lag_until_the_shower_drops_its_rumor();
    const struct versions *versions = broadcast_versions(world.nodes[0].node);
    puppet_say(&shower, &(struct message){.kind = VERSION,
                                          .base = true,
                                          .hash = versions->hash,
                                          .rumors = versions->rumors,
                                          .digest = versions->digest});
    run(SECOND_NS / 10);
    assert_int_equal(stats_of(0).lag_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PUPPETS(requests_no_more_than_a_share_from_each_neighbour),
        WITH_PUPPETS(a_neighbour_that_sends_nothing_is_asked_for_other_rumors),
        WITH_PUPPETS(a_neighbour_that_falls_behind_is_replaced),
        WITH_PUPPETS(a_neighbour_that_catches_up_is_not_replaced),
        WITH_PUPPETS(a_parent_by_its_records_is_asked_too),
        WITH_PUPPETS(after_a_gone_the_origin_is_asked),
        WITH_PUPPETS(ignores_a_rumor_of_our_future_incarnation),
        WITH_PUPPETS(a_rumor_that_its_only_holder_drops_causes_no_more_lag),
        WITH_PUPPETS(a_holder_with_an_equal_version_causes_no_more_lag),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
