/* Network addresses as text: "host:port", "1.2.3.4:7770", "[2001:db8::1]:7770".
 * Tests: tests/unit/net/test_address.c. */
#ifndef HEARSAY_NET_WIRE_ADDRESS_H
#define HEARSAY_NET_WIRE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define HOST_BYTES         64 /* capacity for a name or numeric address, with its final zero */
#define ADDRESS_TEXT_BYTES 72

struct address {
    char host[HOST_BYTES]; /* name, or numeric address without brackets; "" = no address */
    uint16_t port;
};

/* Returns MALFORMED unless the text is host:port, and TOO_BIG for a port above 65535. With either
 * error, sets *problem to a sentence. */
enum error address_parse(struct address *address, const char *text,
                         struct problem *problem) MUST_USE;

/* Writes "host:port", with brackets around an IPv6 address, and returns `text`. */
const char *address_text(const struct address *address, char text[static ADDRESS_TEXT_BYTES]);

bool address_equal(const struct address *a, const struct address *b);

/* Returns a number that is equal for addresses of one network (/24 of IPv4, /48 of IPv6); 0 for a
 * name or an address with a zone. */
uint64_t address_network(const struct address *address);

/* Returns false if the host is a name. */
bool address_is_number(const struct address *address);

/* Returns false if the host stands for no machine or for several: 0.0.0.0/8, IPv4 from 224.0.0.0 on
 * (multicast, reserved, broadcast), :: and IPv6 multicast. A name or an address with a zone counts
 * as one machine. */
bool address_is_one_machine(const struct address *address);

/* Returns true if the host is in 127.0.0.0/8 or is ::1. */
bool address_is_loopback(const struct address *address);

struct sockaddr;
/* Converts an IPv4 or IPv6 socket address. An IPv4-mapped IPv6 address becomes IPv4. */
struct address address_of_socket(const struct sockaddr *socket);

#endif
