/* The transport: sockets, names, the timer, signals. Only transport.c, and answers.c, connector.c
 * and handles.c for it, know libuv.
 *
 *   owner ── dial, send, hang_up, set_timer ──► transport ──► the system
 *   owner ◄── on_accept, on_bytes, on_sent, on_closed, on_timer ... ──┘
 *
 * It carries bytes for its owner and calls the owner back on the one thread that runs it.
 * Connections are named by the owner's 64-bit ids; each id names one connection at a time. No
 * function here calls back before it returns, so the owner may act from inside a callback.
 * Held by tests/unit/daemon/test_transport.c and test_answer.c.
 */
#ifndef HEARSAY_NET_SOCKET_TRANSPORT_H
#define HEARSAY_NET_SOCKET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "socket/address.h"

#define TRANSPORT_WHY_BYTES 256

struct transport;

struct transport_owner {
    void *self; /* passed to each call below */
    /* A connection was accepted. Returns the id to use, or 0 to close it at once. */
    uint64_t (*on_accept)(void *self, const struct address *from);
    /* The connection that transport_dial asked for stands. */
    void (*on_connected)(void *self, uint64_t conn);
    /* Bytes were received; they are borrowed for the call. */
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    /* The bytes of transport_send are with the system: the next may be sent. */
    void (*on_sent)(void *self, uint64_t conn);
    /* The connection is over, whoever ended it; nothing follows about conn. why: "" or a reason. */
    void (*on_closed)(void *self, uint64_t conn, const char *why);
    /* The time of transport_set_timer has come. */
    void (*on_timer)(void *self);
    /* transport_wake was called, once or more often. */
    void (*on_wake)(void *self);
    /* SIGINT or SIGTERM was received, or SIGHUP, if transport_take_hangups was called. NULL: the
     * signals of the process are somebody else's, and the thread that runs this blocks SIGPIPE. */
    void (*on_signal)(void *self, int signal);
    /* A program on this machine asks (transport_answer). Returns the answer, made with malloc;
     * the transport frees it. */
    char *(*on_asked)(void *self, size_t *count);
    /* The file of transport_watch is ready. */
    void (*on_ready)(void *self);
};

struct transport_reached {
    struct address address;          /* that it has */
    uint64_t connect_ns;             /* one round trip, as the system connects */
    char tried[TRANSPORT_WHY_BYTES]; /* what others of the name said: "" or "fd00::1: no answer" */
};

/* NULL: the system gives no event loop, since this process has too many open files. */
struct transport *transport_try_new(const struct transport_owner *owner);
/* The same; without an event loop it ends the program with a sentence (fatal). */
struct transport *transport_new(const struct transport_owner *owner);

/* Listens there; *port is the port that it got. FAILED and a sentence: it cannot. */
enum error transport_listen(struct transport *transport, const struct address *address,
                            uint16_t *port, struct problem *problem) MUST_USE;

/* Answers whoever connects to this bound unix socket, which is the transport's from now on, with
 * what on_asked returns (answers.h). */
void transport_answer(struct transport *transport, int socket);

/* Calls on_ready whenever something can be read from this file; one file, until the end. */
void transport_watch(struct transport *transport, int file);

/* Resolves and connects (connector.h); on_connected follows, or on_closed, which says whether the
 * lookup or the connection failed. segment_bytes: of a packet's payload at most, both ways; 0: what
 * the system takes. */
void transport_dial(struct transport *transport, uint64_t conn, const struct address *address,
                    uint32_t segment_bytes);
/* How a dialled connection came about. False: it is not connected. */
bool transport_reached(const struct transport *transport, uint64_t conn,
                       struct transport_reached *reached);
/* Bytes that were sent on this connection and that the other system has not acknowledged; and of
 * how many a packet has room. 0: all have arrived, or it is not connected. */
size_t transport_unacknowledged(const struct transport *transport, uint64_t conn,
                                uint32_t *segment_bytes);
/* One send per connection at a time; bytes must stay until on_sent or on_closed. */
void transport_send(struct transport *transport, uint64_t conn, const uint8_t *bytes, size_t count);
/* Closes the connection; on_closed follows. */
void transport_hang_up(struct transport *transport, uint64_t conn);

/* Monotonic time. set_timer asks for one on_timer at that time, or at once if it is past; it
 * replaces an earlier request. */
uint64_t transport_now_ns(void);
void transport_set_timer(struct transport *transport, uint64_t at_ns);

/* SIGHUP no longer ends the process: on_signal is called, if there is one. */
void transport_take_hangups(struct transport *transport);

/* Asks for on_wake soon; may be called from any thread. */
void transport_wake(struct transport *transport);

/* Runs until transport_stop. */
void transport_run(struct transport *transport);
void transport_stop(struct transport *transport);
/* Closes everything that is open, without further callbacks. */
void transport_free(struct transport *transport);

#endif
