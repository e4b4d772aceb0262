/* Where a node can be reached, as text: "host:port", "1.2.3.4:7770", "[2001:db8::1]:7770". */
#ifndef HEARSAY_NET_SOCKET_ADDRESS_H
#define HEARSAY_NET_SOCKET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define HOST_BYTES         64 /* a name or a number, with its final zero */
#define ADDRESS_TEXT_BYTES 72

struct address {
    char host[HOST_BYTES]; /* without brackets; "" is no address */
    uint16_t port;
};

/* MALFORMED and a sentence when the text is not host:port, TOO_BIG when its port is above 65535. */
enum error address_parse(struct address *address, const char *text,
                         struct problem *problem) MUST_USE;

/* "host:port", brackets round IPv6. Returns text. */
const char *address_text(const struct address *address, char text[static ADDRESS_TEXT_BYTES]);

bool address_equal(const struct address *a, const struct address *b);

/* The network a numeric address belongs to, as a number: /24 of IPv4, /48 of IPv6; 0 for a name. */
uint64_t address_network(const struct address *address);

/* IPv4 or IPv6, not a name. */
bool address_is_number(const struct address *address);

/* 127.0.0.0/8 or ::1. */
bool address_is_loopback(const struct address *address);

/* Of an IPv4 or IPv6 socket; IPv4 inside IPv6 is written as IPv4. */
struct sockaddr;
struct address address_of_socket(const struct sockaddr *socket);

#endif
