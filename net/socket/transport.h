/* The transport: sockets, name lookup, the timer, signals. Outside this folder, only
 * daemon/fork_exit.c uses a libuv loop.
 *
 *   owner ── dial, send, hang_up, set_timer ──► transport ──► the system
 *   owner ◄── on_accept, on_bytes, on_sent, on_closed, on_timer ... ──┘
 *
 * The transport carries bytes and calls its owner back on the thread that runs it. The owner names
 * connections by 64-bit ids; each id names one connection at a time. Except for transport_run, no
 * function calls back before it returns, so the owner may call all others but transport_free from a
 * callback. Tests: tests/unit/daemon/test_transport.c and tests/unit/commands/test_answer.c.
 */
#ifndef HEARSAY_NET_SOCKET_TRANSPORT_H
#define HEARSAY_NET_SOCKET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/system_clock.h"
#include "wire/address.h"

#define TRANSPORT_WHY_BYTES 256

struct transport;

struct transport_owner {
    void *self;
    /* A connection was accepted. Returns its id, or 0 to close it at once. */
    uint64_t (*on_accept)(void *self, const struct address *from);
    /* The connection of transport_dial is established. */
    void (*on_connected)(void *self, uint64_t conn);
    /* Bytes were received; they are valid during the call. */
    void (*on_bytes)(void *self, uint64_t conn, const uint8_t *bytes, size_t count);
    /* The system has taken the bytes of transport_send: the next send is allowed. */
    void (*on_sent)(void *self, uint64_t conn);
    /* The connection was closed by either side, or its dial failed; no call about conn follows.
     * why: the reason, or "". */
    void (*on_closed)(void *self, uint64_t conn, const char *why);
    void (*on_timer)(void *self);
    /* transport_wake was called, once or more. */
    void (*on_wake)(void *self);
    /* SIGINT or SIGTERM was received, or SIGHUP after transport_take_hangups. NULL: the process
     * handles its own signals, and must block SIGPIPE in the thread that runs the transport. */
    void (*on_signal)(void *self, int signal);
    /* Returns the text for a client of transport_serve_local, from malloc, and sets *count to its
     * size. The transport frees the text. */
    char *(*on_local_client)(void *self, size_t *count);
    /* The file of transport_watch is readable. */
    void (*on_ready)(void *self);
};

struct transport_reached {
    struct address address;
    uint64_t connect_ns; /* round-trip time, measured while connecting */
    /* errors of other addresses of the name (connector_result.tried); "" = none */
    char tried[TRANSPORT_WHY_BYTES];
};

/* Returns NULL if the system provides no event loop because this process has too many open
 * files. */
struct transport *transport_try_new(const struct transport_owner *owner);
/* Like transport_try_new, but ends the program with an error message if there is no event loop. */
struct transport *transport_new(const struct transport_owner *owner);

/* Listens and sets *port to the actual port: the system chooses it if the address has port 0.
 * Returns FAILED and sets *problem if it cannot listen. */
enum error transport_listen(struct transport *transport, const struct address *address,
                            uint16_t *port, struct problem *problem) MUST_USE;

/* Sends each client of this bound unix socket the text that on_local_client returns
 * (local_server.h). The transport then owns the socket. */
void transport_serve_local(struct transport *transport, int socket);

/* Calls on_ready whenever this file is readable, until transport_free. Only one file can be
 * watched. */
void transport_watch(struct transport *transport, int file);

/* Looks up the name and connects (connector.h). on_connected follows, or on_closed with the step
 * that failed. segment_bytes: largest payload of a packet in both directions; 0 = the system's
 * default. */
void transport_dial(struct transport *transport, uint64_t conn, const struct address *address,
                    uint32_t segment_bytes);
/* Describes a dialled connection. Returns false if the connection is not open. */
bool transport_reached(const struct transport *transport, uint64_t conn,
                       struct transport_reached *reached);
/* Returns how many bytes of transport_send the system has taken and the other side's system has not
 * acknowledged; 0 also if conn is not connected. For a connected conn, sets *segment_bytes to the
 * largest payload of a packet. */
size_t transport_unacknowledged(const struct transport *transport, uint64_t conn,
                                uint32_t *segment_bytes);
/* Sends bytes, which must stay valid until on_sent or on_closed. Each connection has at most one
 * send at a time. */
void transport_send(struct transport *transport, uint64_t conn, const uint8_t *bytes, size_t count);
/* Reads nothing from the connection until this time of monotonic_ns. The other side then soon
 * waits, since the system's buffers fill. */
void transport_hold(struct transport *transport, uint64_t conn, uint64_t until_ns);
/* Closes the connection; on_closed follows. */
void transport_hang_up(struct transport *transport, uint64_t conn);

/* Requests one call of on_timer at this time of monotonic_ns, or at once if the time has passed.
 * Replaces an earlier request. */
void transport_set_timer(struct transport *transport, uint64_t at_ns);

/* Lets SIGHUP call on_signal instead of ending the process. No effect if on_signal is NULL. */
void transport_take_hangups(struct transport *transport);

/* Requests one call of on_wake. May be called from any thread. */
void transport_wake(struct transport *transport);

/* Returns after transport_stop. */
void transport_run(struct transport *transport);
void transport_stop(struct transport *transport);
/* Closes everything without further callbacks and frees the transport. */
void transport_free(struct transport *transport);

#endif
