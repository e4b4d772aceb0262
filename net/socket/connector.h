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

#define CONNECTOR_ADDRESSES_MAX 16  /* most addresses tried for one name */
#define CONNECTOR_WHY_BYTES     256 /* space for the error of each address */

struct connector;

struct connector_times {
    uint64_t lookup_ms;  /* timeout of the lookup */
    uint64_t connect_ms; /* timeout of all attempts together */
    uint64_t stagger_ms; /* delay between the starts of two attempts */
};
extern const struct connector_times CONNECTOR_USUAL;

struct connector_result {
    /* Nanoseconds from the start of the successful attempt until it connected. */
    uint64_t connect_ns;
    /* errors of the addresses that failed before, such as "fd00::1: no answer"; or "" */
    char tried[CONNECTOR_WHY_BYTES];
};

/* Exactly one of the two functions is called, once, after connector_begin and connector_cancel have
 * returned. */
struct connector_owner {
    void *self;
    /* Called when the dial succeeded. The owner receives the handle, which malloc allocated. */
    void (*on_connected)(void *self, uv_tcp_t *tcp, const struct connector_result *result);
    /* Called when the dial failed. why: the reason for one address, or each address with its
     * reason; "" = cancelled. */
    void (*on_failed)(void *self, const char *why);
};

/* Starts a dial. segment_bytes: most payload bytes of a packet in both directions (TCP_MAXSEG); 0 =
 * the system's default. */
struct connector *connector_begin(uv_loop_t *loop, const struct address *address,
                                  uint32_t segment_bytes, const struct connector_times *times,
                                  const struct connector_owner *owner);
/* Cancels the dial. on_failed is called soon, even if a lookup cannot be stopped. */
void connector_cancel(struct connector *dial);

/* Writes the addresses to at[most], alternating families from that of the first address and keeping
 * the order within each family. Returns their number. */
int connector_order(const struct addrinfo *found, const struct addrinfo **at, int most);

#endif
