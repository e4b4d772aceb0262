/* Dials a name: lookup, then connection attempts to its addresses. A part of the transport.
 *
 *   lookup (15 s) ──► addresses, alternating families ──► attempts, at most 250 ms apart
 *                     ──► the first that connects wins, the others are closed
 *
 * This is "Happy Eyeballs" (RFC 8305): an address that swallows packets costs a quarter of a second
 * and not the whole dial. All attempts together have eight seconds. A failure names its step,
 * lookup or connection. Tests: tests/unit/daemon/test_connector.c.
 */
#ifndef HEARSAY_NET_SOCKET_CONNECTOR_H
#define HEARSAY_NET_SOCKET_CONNECTOR_H

#include <uv.h>

#include "wire/address.h"

#define CONNECTOR_ADDRESSES_MAX 16  /* most addresses tried for one name */
#define CONNECTOR_WHY_BYTES     256 /* space for the errors of all addresses */

struct connector;

struct connector_times {
    uint64_t lookup_ms;  /* limit of the name lookup */
    uint64_t connect_ms; /* limit of all attempts together */
    uint64_t stagger_ms; /* longest delay between the starts of two attempts */
};
extern const struct connector_times CONNECTOR_USUAL;

struct connector_result {
    uint64_t connect_ns; /* time from the start of the successful attempt until it connected */
    /* errors of addresses that failed, or that were tried earlier and have not answered, such as
     * "fd00::1: no answer"; "" = none */
    char tried[CONNECTOR_WHY_BYTES];
};

/* Exactly one of the two functions is called, once. Neither is called before connector_begin or
 * connector_cancel returns. */
struct connector_owner {
    void *self;
    /* Gives the owner the connected handle, which is from malloc. */
    void (*on_connected)(void *self, uv_tcp_t *tcp, const struct connector_result *result);
    /* why: the reason, or each address with its reason if the name has several; "" = cancelled. */
    void (*on_failed)(void *self, const char *why);
};

/* Starts a dial; the result is valid until a function of `owner` is called. segment_bytes: largest
 * payload of a packet in both directions (TCP_MAXSEG); 0 = the system's default. */
struct connector *connector_begin(uv_loop_t *loop, const struct address *address,
                                  uint32_t segment_bytes, const struct connector_times *times,
                                  const struct connector_owner *owner);
/* Cancels the dial. on_failed is called soon, even if a running lookup cannot be stopped. */
void connector_cancel(struct connector *dial);

/* Writes the found addresses to at[most] and returns their number. Alternates between IPv4 and
 * IPv6, beginning with the family of the first address, and keeps the order within each family. */
int connector_order(const struct addrinfo *found, const struct addrinfo **at, int most);

#endif
