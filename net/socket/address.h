/* Network addresses as text: "host:port", "1.2.3.4:7770", "[2001:db8::1]:7770".
 * Tests: tests/unit/net/test_address.c. */
#ifndef HEARSAY_NET_SOCKET_ADDRESS_H
#define HEARSAY_NET_SOCKET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define HOST_BYTES         64 /* capacity for a name or numeric address, with its final zero */
#define ADDRESS_TEXT_BYTES 72

struct address {
    char host[HOST_BYTES]; /* name, or numeric address without brackets; "" = no address */
    uint16_t port;         /* TCP port */
};

/* Parses host:port. Returns MALFORMED for any other text and TOO_BIG for a port above 65535, and
 * then sets *problem to a sentence. */
enum error address_parse(struct address *address, const char *text,
                         struct problem *problem) MUST_USE;

/* Writes "host:port", with brackets around an IPv6 address, and returns `text`. */
const char *address_text(const struct address *address, char text[static ADDRESS_TEXT_BYTES]);

bool address_equal(const struct address *a, const struct address *b);

/* Returns the network of a numeric address (/24 of IPv4, /48 of IPv6), as a number that is equal
 * for two addresses of one network; 0 for a name. */
uint64_t address_network(const struct address *address);

/* Returns true if the host is an IPv4 or IPv6 address; false if it is a name. */
bool address_is_number(const struct address *address);

/* Returns false if the host stands for no machine or for several machines: multicast, broadcast,
 * 0.0.0.0/8 and ::. A name counts as one machine. */
bool address_is_one_machine(const struct address *address);

/* Returns true if the host is in 127.0.0.0/8 or is ::1. */
bool address_is_loopback(const struct address *address);

struct sockaddr;
/* Returns a socket address of IPv4 or IPv6 as an address. An IPv4-mapped IPv6 address becomes
 * IPv4. */
struct address address_of_socket(const struct sockaddr *socket);

#endif
