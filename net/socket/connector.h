/* Dials a name: lookup, then connection attempts to its addresses. A part of the transport.
 *
 *   lookup (15 s) ──► addresses, alternating families ──► attempts, 250 ms apart
 *                     ──► the first that connects wins, the others are closed
 *
 * This is "Happy Eyeballs" (RFC 8305): an address that swallows packets costs a quarter of a second
 * and not the whole dial. All attempts together have eight seconds. A failure names its step,
 * lookup or connection. Tests: tests/unit/daemon/test_connector.c.
 */
#ifndef HEARSAY_NET_SOCKET_CONNECTOR_H
#define HEARSAY_NET_SOCKET_CONNECTOR_H

#include <uv.h>

#include "socket/address.h"

#define CONNECTOR_ADDRESSES_MAX 16  /* addresses tried for one name, at most */
#define CONNECTOR_WHY_BYTES     256 /* space for the errors of all addresses */

struct connector;

struct connector_times {
    uint64_t lookup_ms;  /* time limit of the name lookup */
    uint64_t connect_ms; /* time limit of all attempts together */
    uint64_t stagger_ms; /* delay between the starts of two attempts */
};
extern const struct connector_times CONNECTOR_USUAL;

struct connector_result {
    /* Nanoseconds from the start of the successful attempt until it connected. */
    uint64_t connect_ns;
    /* errors of the addresses that failed before this one connected, such as "fd00::1: no
     * answer"; "" = none failed */
    char tried[CONNECTOR_WHY_BYTES];
};

/* Of the two functions, exactly one is called, once, after connector_begin or connector_cancel
 * has returned. */
struct connector_owner {
    void *self;
    /* Called when the dial succeeded. Gives the owner the handle, which malloc allocated. */
    void (*on_connected)(void *self, uv_tcp_t *tcp, const struct connector_result *result);
    /* Called when the dial failed. why: the reason if the name has one address, otherwise each
     * address with its reason; "" = cancelled. */
    void (*on_failed)(void *self, const char *why);
};

/* Starts a dial. segment_bytes: largest payload of a packet in both directions, in bytes
 * (TCP_MAXSEG); 0 = the system's default. */
struct connector *connector_begin(uv_loop_t *loop, const struct address *address,
                                  uint32_t segment_bytes, const struct connector_times *times,
                                  const struct connector_owner *owner);
/* Cancels the dial. on_failed is called soon, even if a running lookup cannot be stopped. */
void connector_cancel(struct connector *dial);

/* Writes the found addresses to at[most]. Alternates between IPv4 and IPv6, beginning with the
 * family of the first address, and keeps the order within each family. Returns the number
 * written. */
int connector_order(const struct addrinfo *found, const struct addrinfo **at, int most);

#endif
