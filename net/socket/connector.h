/* A dial: from a name to a connected socket. A part of the transport.
 *
 *   lookup (15 s) ──► addresses, the families in turn ──► attempts, 250 ms apart
 *                     ──► the first that connects wins, the others are closed
 *
 * This is "Happy Eyeballs" (RFC 8305): an address that swallows packets costs a quarter of a second
 * and not the whole dial. All attempts together have eight seconds. A failure names its step:
 * the lookup or the connection. Held by tests/unit/daemon/test_connector.c.
 */
#ifndef HEARSAY_NET_SOCKET_CONNECTOR_H
#define HEARSAY_NET_SOCKET_CONNECTOR_H

#include <uv.h>

#include "socket/address.h"

#define CONNECTOR_ADDRESSES_MAX 16  /* of one name; the rest are left out */
#define CONNECTOR_WHY_BYTES     256 /* room for what each address said */

struct connector;

struct connector_times {
    uint64_t lookup_ms;  /* for the lookup */
    uint64_t connect_ms; /* for all attempts together */
    uint64_t stagger_ms; /* between the beginnings of two attempts */
};
extern const struct connector_times CONNECTOR_USUAL;

struct connector_result {
    uint64_t connect_ns;             /* from the first packet to this address until it connected */
    char tried[CONNECTOR_WHY_BYTES]; /* addresses that failed before: "" or "fd00::1: no answer" */
};

/* Exactly one of the two is called, later than connector_begin and connector_cancel; nothing
 * follows. */
struct connector_owner {
    void *self;
    /* The handle is the owner's from now on, allocated by malloc. */
    void (*on_connected)(void *self, uv_tcp_t *tcp, const struct connector_result *result);
    /* why: of one address the reason alone, of several each with its address; "": cancelled. */
    void (*on_failed)(void *self, const char *why);
};

/* segment_bytes: of a packet's payload at most, both ways (TCP_MAXSEG); 0: what the system takes.
 */
struct connector *connector_begin(uv_loop_t *loop, const struct address *address,
                                  uint32_t segment_bytes, const struct connector_times *times,
                                  const struct connector_owner *owner);
/* Gives up; on_failed follows soon, even while a lookup cannot be stopped. */
void connector_cancel(struct connector *dial);

/* Into at[most]: the addresses with families in turn, that of the first one first; each family
 * keeps its order. Returns their number. */
int connector_order(const struct addrinfo *found, const struct addrinfo **at, int most);

#endif
