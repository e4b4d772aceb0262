/* The transport: sockets, names, the timer, signals. The only file that knows libuv.
 *
 * It carries bytes for whoever owns it and calls the owner back on the one thread that runs it.
 * Connections are named by the owner's 64-bit ids, one at a time for each. What is called here
 * never calls back before it returns, so the owner may act from inside a callback.
 */
#ifndef HEARSAY_NET_SOCKET_TRANSPORT_H
#define HEARSAY_NET_SOCKET_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "socket/address.h"
#include "base/error.h"

struct transport;

struct transport_owner {
    void *self;
    /* Somebody connected: the id to use, or 0 to close at once. */
    uint64_t (*on_accept)(void *self, const struct address *from);
    void (*on_connected)(void *self, uint64_t conn);
    /* bytes are borrowed for the call */
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    void (*on_sent)(void *self, uint64_t conn);
    /* The last word about conn, whoever ended it. why: "" or a reason for a person. */
    void (*on_closed)(void *self, uint64_t conn, const char *why);
    void (*on_timer)(void *self);
    void (*on_wake)(void *self);
    void (*on_signal)(void *self, int signal);
    /* Somebody on this machine asks (transport_answer): the answer, made with malloc, freed here.
     */
    char *(*on_asked)(void *self, size_t *count);
};

struct transport *transport_new(const struct transport_owner *owner);

/* Listen there; *port is the port it got. FAILED and a sentence if it cannot be. */
enum error transport_listen(struct transport *transport, const struct address *address,
                            uint16_t *port, struct problem *problem) MUST_USE;

/* Answer who connects to this bound unix socket, which is the transport's from now on: what
 * on_asked says is written, then the connection is closed. TRANSPORT_ASKERS_MAX at once, others
 * wait; who does not read is dropped after TRANSPORT_ASKER_MS. */
#define TRANSPORT_ASKERS_MAX 4
#define TRANSPORT_ASKER_MS   2000
void transport_answer(struct transport *transport, int socket);

/* Resolve, connect; on_connected or on_closed follows. */
void transport_dial(struct transport *transport, uint64_t conn, const struct address *address);
/* bytes must stay until on_sent or on_closed. */
void transport_send(struct transport *transport, uint64_t conn, const uint8_t *bytes, size_t count);
/* on_closed follows. */
void transport_hang_up(struct transport *transport, uint64_t conn);

/* Monotonic time, and one on_timer at that time (or as soon as it is past). */
uint64_t transport_now_ns(void);
void transport_set_timer(struct transport *transport, uint64_t at_ns);

/* Call on_wake soon; from any thread. */
void transport_wake(struct transport *transport);

/* Run until transport_stop; then close everything that is open. */
void transport_run(struct transport *transport);
void transport_stop(struct transport *transport);
void transport_free(struct transport *transport);

#endif
