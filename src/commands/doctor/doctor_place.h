/* What kind of address an address is, and which of them are ours. */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_PLACE_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_PLACE_H

#include "socket/address.h"

/* From where it can be reached; each includes those before it. */
enum place {
    PLACE_LOOPBACK,   /* 127.0.0.0/8, ::1: this machine */
    PLACE_LINK_LOCAL, /* 169.254.0.0/16, fe80::/10: this cable (RFC 3927, RFC 4291) */
    PLACE_PRIVATE,    /* 10/8, 172.16/12, 192.168/16, fc00::/7: this site (RFC 1918, RFC 4193) */
    PLACE_CARRIER,    /* 100.64.0.0/10: this provider, or a VPN that uses it (RFC 6598) */
    PLACE_PUBLIC,     /* everywhere, as far as the number tells */
    PLACE_NAME        /* no number: not known */
};
enum place place_of(const struct address *address);

/* "a private address (RFC 1918)" */
const char *place_text(enum place place);

/* Is this numeric address one of this machine? Asked by taking it for a moment. */
bool place_is_here(const struct address *address);

/* The address this machine would call that one from, without sending anything; false: there is no
 * way. Its port is 0. */
bool place_towards(const struct address *numeric, struct address *ours);

#endif
