/* The scope of an address, and this machine's own addresses. */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_PLACE_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_PLACE_H

#include "socket/address.h"

/* The scope of an address: no machine's, or the range from which it can be reached, each including
 * the ones before it (IANA's registries of special-purpose addresses, RFC 6890). */
enum place {
    PLACE_RESERVED,      /* 0/8, 240/4, what no registry has given out: for no machine */
    PLACE_DOCUMENTATION, /* 192.0.2/24, 198.51.100/24, 203.0.113/24, 2001:db8::/32, 3fff::/20 */
    PLACE_BENCHMARK,     /* 198.18/15, 2001:2::/48: a test of network devices */
    PLACE_MULTICAST,     /* 224/4, ff00::/8: a group */
    PLACE_LOOPBACK,      /* 127/8, ::1: this machine */
    PLACE_LINK_LOCAL,    /* 169.254/16, fe80::/10: this cable */
    PLACE_PRIVATE,       /* 10/8, 172.16/12, 192.168/16, fc00::/7, fec0::/10: this site */
    PLACE_CARRIER,       /* 100.64/10: this provider, or a VPN that uses it */
    PLACE_PUBLIC,        /* everywhere, as far as the number tells */
    PLACE_NAME           /* no number: not known */
};
enum place place_of(const struct address *address);

/* "a private address (RFC 1918)" */
const char *place_text(enum place place);

/* Can no machine have such an address? */
bool place_is_nobodys(enum place place);

/* Is this numeric address one of this machine? Asked by taking it for a moment. */
bool place_is_here(const struct address *address);

/* The address from which this machine would dial that one, without sending anything; false: there
 * is no route. Its port is 0. */
bool place_towards(const struct address *numeric, struct address *ours);

#endif
