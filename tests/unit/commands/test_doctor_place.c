/* The scope of addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/doctor/doctor_place.h"

static enum place place(const char *host)
{
    struct address address = {.port = 7770};
    (void)snprintf(address.host, sizeof address.host, "%s", host);
    return place_of(&address);
}

static const struct {
    const char *host;
    enum place place;
} CASES[] = {
    {"126.255.255.255", PLACE_PUBLIC},
    {"127.0.0.0", PLACE_LOOPBACK},
    {"127.255.255.255", PLACE_LOOPBACK},
    {"128.0.0.0", PLACE_PUBLIC},
    {"9.255.255.255", PLACE_PUBLIC},
    {"10.0.0.0", PLACE_PRIVATE},
    {"10.255.255.255", PLACE_PRIVATE},
    {"11.0.0.0", PLACE_PUBLIC},
    {"172.15.255.255", PLACE_PUBLIC},
    {"172.16.0.0", PLACE_PRIVATE},
    {"172.31.255.255", PLACE_PRIVATE},
    {"172.32.0.0", PLACE_PUBLIC},
    {"192.167.255.255", PLACE_PUBLIC},
    {"192.168.0.0", PLACE_PRIVATE},
    {"192.168.255.255", PLACE_PRIVATE},
    {"192.169.0.0", PLACE_PUBLIC},
    {"100.63.255.255", PLACE_PUBLIC},
    {"100.64.0.0", PLACE_CARRIER},
    {"100.127.255.255", PLACE_CARRIER},
    {"100.128.0.0", PLACE_PUBLIC},
    {"169.253.255.255", PLACE_PUBLIC},
    {"169.254.0.0", PLACE_LINK_LOCAL},
    {"169.254.255.255", PLACE_LINK_LOCAL},
    {"169.255.0.0", PLACE_PUBLIC},
    {"0.0.0.0", PLACE_RESERVED},
    {"0.255.255.255", PLACE_RESERVED},
    {"1.0.0.0", PLACE_PUBLIC},
    {"191.255.255.255", PLACE_PUBLIC},
    {"192.0.0.0", PLACE_RESERVED},
    {"192.0.0.255", PLACE_RESERVED},
    {"192.0.1.255", PLACE_PUBLIC},
    {"192.0.2.0", PLACE_DOCUMENTATION},
    {"192.0.2.255", PLACE_DOCUMENTATION},
    {"192.0.3.0", PLACE_PUBLIC},
    {"198.17.255.255", PLACE_PUBLIC},
    {"198.18.0.0", PLACE_BENCHMARK},
    {"198.19.255.255", PLACE_BENCHMARK},
    {"198.20.0.0", PLACE_PUBLIC},
    {"198.51.99.255", PLACE_PUBLIC},
    {"198.51.100.0", PLACE_DOCUMENTATION},
    {"198.51.100.255", PLACE_DOCUMENTATION},
    {"198.51.101.0", PLACE_PUBLIC},
    {"203.0.112.255", PLACE_PUBLIC},
    {"203.0.113.0", PLACE_DOCUMENTATION},
    {"203.0.113.255", PLACE_DOCUMENTATION},
    {"203.0.114.0", PLACE_PUBLIC},
    {"223.255.255.255", PLACE_PUBLIC},
    {"224.0.0.0", PLACE_MULTICAST},
    {"239.255.255.255", PLACE_MULTICAST},
    {"240.0.0.0", PLACE_RESERVED},
    {"255.255.255.255", PLACE_RESERVED},
    {"::", PLACE_RESERVED},
    {"::1", PLACE_LOOPBACK},
    {"::2", PLACE_RESERVED},
    {"::ffff:192.0.2.1", PLACE_DOCUMENTATION},
    {"::ffff:8.8.8.8", PLACE_PUBLIC},
    {"64:ff9b::808:808", PLACE_PUBLIC},
    {"64:ff9b:1::1", PLACE_RESERVED},
    {"1fff:ffff::1", PLACE_RESERVED},
    {"2000::1", PLACE_PUBLIC},
    {"2001:1:ffff::1", PLACE_PUBLIC},
    {"2001:2::1", PLACE_BENCHMARK},
    {"2001:2:0:ffff::1", PLACE_BENCHMARK},
    {"2001:2:1::1", PLACE_PUBLIC},
    {"2001:db7:ffff::1", PLACE_PUBLIC},
    {"2001:db8::1", PLACE_DOCUMENTATION},
    {"2001:db8:ffff::1", PLACE_DOCUMENTATION},
    {"2001:db9::1", PLACE_PUBLIC},
    {"3ffe:ffff::1", PLACE_PUBLIC},
    {"3fff::1", PLACE_DOCUMENTATION},
    {"3fff:fff:ffff::1", PLACE_DOCUMENTATION},
    {"3fff:1000::1", PLACE_PUBLIC},
    {"4000::1", PLACE_RESERVED},
    {"fbff::1", PLACE_RESERVED},
    {"fc00::1", PLACE_PRIVATE},
    {"fdff::1", PLACE_PRIVATE},
    {"fe00::1", PLACE_RESERVED},
    {"fe7f::1", PLACE_RESERVED},
    {"fe80::1", PLACE_LINK_LOCAL},
    {"febf::1", PLACE_LINK_LOCAL},
    {"fec0::1", PLACE_PRIVATE},
    {"feff::1", PLACE_PRIVATE},
    {"ff02::1", PLACE_MULTICAST},
    {"node1.example.org", PLACE_NAME},
    {"10.0.0", PLACE_NAME},
};

static void addresses_are_told_apart_at_their_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (place(CASES[i].host) != CASES[i].place)
            fail_msg("%s is %s", CASES[i].host, place_text(place(CASES[i].host)));
}

static void only_our_own_addresses_are_here(void **state)
{
    (void)state;
    const struct address ours = {.host = "127.0.0.1", .port = 1};
    /* an address reserved for documentation (RFC 5737) */
    const struct address theirs = {.host = "203.0.113.77", .port = 1};
    const struct address name = {.host = "localhost", .port = 1};
    assert_true(place_is_here(&ours));
    assert_false(place_is_here(&theirs));
    assert_false(place_is_here(&name));
}

static void we_would_call_ourselves_from_here(void **state)
{
    (void)state;
    const struct address to = {.host = "127.0.0.1", .port = 7770};
    const struct address name = {.host = "localhost", .port = 7770};
    struct address from;
    assert_true(place_towards(&to, &from));
    assert_string_equal(from.host, "127.0.0.1");
    assert_int_equal(from.port, 0);
    assert_false(place_towards(&name, &from));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_told_apart_at_their_bounds),
        cmocka_unit_test(only_our_own_addresses_are_here),
        cmocka_unit_test(we_would_call_ourselves_from_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
