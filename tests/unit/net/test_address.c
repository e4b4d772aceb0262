/* Parsing and writing of addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/address.h"

#define NAME_63 "a123456789b123456789c123456789d123456789e123456789f123456789xyz"

static struct address address_of(const char *text)
{
    struct address address;
    struct problem problem;
    if (address_parse(&address, text, &problem) != OK)
        fail_msg("%s", problem.text);
    return address;
}

static void parses_and_writes_a_good_address(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        uint16_t port;
    } CASES[] = {
        {"node1.example.org:7770", "node1.example.org", 7770},
        {"192.0.2.7:0", "192.0.2.7", 0},
        {"[2001:db8::7]:65535", "2001:db8::7", 65535},
        {"[fe80::1%eth0]:1", "fe80::1%eth0", 1},
        {"my_host-2:80", "my_host-2", 80},
        {NAME_63 ":7770", NAME_63, 7770},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct address address = address_of(CASES[i].text);
        char text[ADDRESS_TEXT_BYTES];
        assert_string_equal(address.host, CASES[i].host);
        assert_int_equal(address.port, CASES[i].port);
        assert_string_equal(address_text(&address, text), CASES[i].text);
    }
}

static void refuses_other_text_and_shows_an_example(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "",
        "host",
        ":7770",
        "host:",
        "host:-1",
        "host:+1",
        "host: 1",
        "host:1x",
        "host:000001",
        "2001:db8::7:7770",
        "[2001:db8::7]",
        "[2001:db8::7]7770",
        "[2001:db8::7",
        "[]:7770",
        "a b:7770",
        "a/b:7770",
        "a\n:7770",
        "ho[st:7770",
        "\xc3\xa9:80",
        "[a]b:80",
        "a" NAME_63 ":7770",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct address address = {.host = "before", .port = 9};
        struct problem problem = {""};
        if (address_parse(&address, TEXTS[i], &problem) != MALFORMED)
            fail_msg("\"%s\" was accepted as an address", TEXTS[i]);
        assert_string_equal(address.host, "before");
        assert_int_equal(address.port, 9);
        assert_non_null(strstr(problem.text, "host:port"));
    }
}

static void names_a_port_that_is_too_large(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"host:65536", "0.0.0.0:99999", "[::]:99999999999999999999"};
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct address address = {.host = "before", .port = 9};
        struct problem problem = {""};
        assert_int_equal(address_parse(&address, TEXTS[i], &problem), TOO_BIG);
        assert_string_equal(address.host, "before");
        assert_non_null(strstr(problem.text, TEXTS[i]));
        assert_non_null(strstr(problem.text, "the port is too large"));
    }
}

static void tells_numeric_addresses_from_names(void **state)
{
    (void)state;
    static const char *const NUMBERS[] = {"192.0.2.7:1", "0.0.0.0:0", "[::]:1", "[fe80::1%eth0]:1"};
    static const char *const NAMES[] = {"localhost:1", "192.0.2:1", "192.0.2.7%eth0:1",
                                        "1.2.3.4.5:1"};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        const struct address number = address_of(NUMBERS[i]), name = address_of(NAMES[i]);
        assert_true(address_is_number(&number));
        assert_false(address_is_number(&name));
    }
}

static void the_longest_address_fits_its_text(void **state)
{
    (void)state;
    struct address address = {.port = 65535};
    memset(address.host, ':', HOST_BYTES - 1);
    char text[ADDRESS_TEXT_BYTES];
    assert_int_equal(strlen(address_text(&address, text)), ADDRESS_TEXT_BYTES - 1);
    assert_string_equal(text + ADDRESS_TEXT_BYTES - 8, "]:65535");
}

static void addresses_are_equal_by_host_and_port(void **state)
{
    (void)state;
    const struct address a = address_of("192.0.2.7:7770"), same = address_of("192.0.2.7:7770");
    const struct address port = address_of("192.0.2.7:7771"), host = address_of("192.0.2.8:7770");
    assert_true(address_equal(&a, &same));
    assert_false(address_equal(&a, &port));
    assert_false(address_equal(&a, &host));
}

static uint64_t network_of(const char *text)
{
    const struct address address = address_of(text);
    return address_network(&address);
}

static void only_close_addresses_share_a_network(void **state)
{
    (void)state;
    assert_true(network_of("192.0.2.7:1") == network_of("192.0.2.200:2"));
    assert_true(network_of("192.0.2.7:1") != network_of("192.0.3.7:1"));
    assert_true(network_of("[2001:db8:1::7]:1") == network_of("[2001:db8:1:ffff::1]:2"));
    assert_true(network_of("[2001:db8:1::7]:1") != network_of("[2001:db8:2::7]:1"));
    assert_true(network_of("0.0.0.0:1") != 0);
    assert_true(network_of("0.0.0.0:1") != network_of("[::]:1"));
    assert_true(network_of("example.org:1") == 0);
}

static void knows_loopback_in_every_spelling(void **state)
{
    (void)state;
    static const char *const LOOP[] = {"127.0.0.1:1", "127.9.8.7:1", "[::1]:1",
                                       "[0:0:0:0:0:0:0:1]:1"};
    static const char *const FAR[] = {"128.0.0.1:1", "[::2]:1", "localhost.example.org:1",
                                      "0.0.0.0:1"};
    for (size_t i = 0; i < sizeof LOOP / sizeof *LOOP; i++) {
        const struct address address = address_of(LOOP[i]);
        assert_true(address_is_loopback(&address));
    }
    for (size_t i = 0; i < sizeof FAR / sizeof *FAR; i++) {
        const struct address address = address_of(FAR[i]);
        assert_false(address_is_loopback(&address));
    }
}

static void knows_addresses_of_more_than_one_machine(void **state)
{
    (void)state;
    static const char *const ONE[] = {"192.0.2.7:1",     "127.0.0.1:1", "223.255.255.255:1",
                                      "[2001:db8::7]:1", "[::1]:1",     "example.org:1",
                                      "[fe80::7%eth0]:1"};
    static const char *const MANY[] = {
        "224.0.0.1:1", "239.255.255.250:1", "255.255.255.255:1", "0.0.0.0:1",
        "[::]:1",      "[ff02::1]:1",       "[ff02::1%eth0]:1",  "[::%1]:1"};
    for (size_t i = 0; i < sizeof ONE / sizeof *ONE; i++) {
        const struct address address = address_of(ONE[i]);
        assert_true(address_is_one_machine(&address));
    }
    for (size_t i = 0; i < sizeof MANY / sizeof *MANY; i++) {
        const struct address address = address_of(MANY[i]);
        assert_false(address_is_one_machine(&address));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_and_writes_a_good_address),
        cmocka_unit_test(refuses_other_text_and_shows_an_example),
        cmocka_unit_test(names_a_port_that_is_too_large),
        cmocka_unit_test(tells_numeric_addresses_from_names),
        cmocka_unit_test(the_longest_address_fits_its_text),
        cmocka_unit_test(addresses_are_equal_by_host_and_port),
        cmocka_unit_test(only_close_addresses_share_a_network),
        cmocka_unit_test(knows_loopback_in_every_spelling),
        cmocka_unit_test(knows_addresses_of_more_than_one_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
