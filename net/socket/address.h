/* Where a node can be reached, as text: "host:port", "1.2.3.4:7770", "[2001:db8::1]:7770".
 * Held by tests/unit/net/test_address.c. */
#ifndef HEARSAY_NET_SOCKET_ADDRESS_H
#define HEARSAY_NET_SOCKET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define HOST_BYTES         64 /* a name or a number, with its final zero */
#define ADDRESS_TEXT_BYTES 72

struct address {
    char host[HOST_BYTES]; /* without brackets; "" is no address */
    uint16_t port;         /* TCP */
};

/* MALFORMED and a sentence: the text is not host:port. TOO_BIG and a sentence: its port is above
 * 65535. */
enum error address_parse(struct address *address, const char *text,
                         struct problem *problem) MUST_USE;

/* Writes "host:port", with brackets round IPv6, and returns text. */
const char *address_text(const struct address *address, char text[static ADDRESS_TEXT_BYTES]);

bool address_equal(const struct address *a, const struct address *b);

/* The network that a numeric address belongs to (/24 of IPv4, /48 of IPv6), as a number; 0 for a
 * name. */
uint64_t address_network(const struct address *address);

/* IPv4 or IPv6, not a name. */
bool address_is_number(const struct address *address);

/* Neither multicast nor broadcast, nor 0.0.0.0/8 or ::; a name may be. */
bool address_is_one_machine(const struct address *address);

/* 127.0.0.0/8 or ::1. */
bool address_is_loopback(const struct address *address);

/* The address of an IPv4 or IPv6 socket; IPv4 inside IPv6 is written as IPv4. */
struct sockaddr;
struct address address_of_socket(const struct sockaddr *socket);

#endif
