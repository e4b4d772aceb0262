/* The scope of an address, and this machine's own addresses. */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_PLACE_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_PLACE_H

#include "wire/address.h"

/* Scope of an address. From PLACE_LOOPBACK to PLACE_PUBLIC, each scope is wider than the one
 * before it. The ranges are those of IANA's registries of special-purpose addresses (RFC 6890). */
enum place {
    /* 0/8, 192.0.0/24, 240/4 and unassigned IPv6 ranges: no machine has such an address. */
    PLACE_RESERVED,
    PLACE_DOCUMENTATION, /* 192.0.2/24, 198.51.100/24, 203.0.113/24, 2001:db8::/32, 3fff::/20 */
    PLACE_BENCHMARK,     /* 198.18/15, 2001:2::/48: tests of network devices */
    PLACE_MULTICAST,     /* 224/4, ff00::/8: a multicast group */
    PLACE_LOOPBACK,      /* 127/8, ::1: reached only from this machine */
    PLACE_LINK_LOCAL,    /* 169.254/16, fe80::/10: reached only on this cable or radio link */
    /* 10/8, 172.16/12, 192.168/16, fc00::/7, fec0::/10: reached only at this site. */
    PLACE_PRIVATE,
    /* 100.64/10: reached only at this provider, or in a VPN that uses the range. */
    PLACE_CARRIER,
    /* Any other address: its range does not limit from where it can be reached. */
    PLACE_PUBLIC,
    PLACE_NAME /* a host name, whose scope is unknown */
};
enum place place_of(const struct address *address);

/* Returns words for the scope, such as "a private address (RFC 1918)". */
const char *place_text(enum place place);

/* Returns true if no machine can have an address of this scope. */
bool place_is_nobodys(enum place place);

/* Returns true if this machine has the numeric address. Finds out by binding a socket to it. */
bool place_is_here(const struct address *address);

/* Finds the address from which this machine would dial a numeric address, and sets its port to 0.
 * Sends no packet. Returns false if there is no route. */
bool place_towards(const struct address *numeric, struct address *ours);

#endif
