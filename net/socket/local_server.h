/* Server for programs on this machine: writes one text to each client of a unix socket and closes
 * the connection. A part of the transport, which owns the event loop.
 *
 * LOCAL_CLIENTS_MAX clients are served at once; others wait in the socket's backlog. If the system
 * has not taken the whole text after LOCAL_CLIENT_TIMEOUT_MS, because the client does not read, the
 * client is dropped. Tests: tests/unit/commands/test_answer.c.
 */
#ifndef HEARSAY_NET_SOCKET_LOCAL_SERVER_H
#define HEARSAY_NET_SOCKET_LOCAL_SERVER_H

#include <stdbool.h>
#include <uv.h>

#define LOCAL_CLIENTS_MAX       4
#define LOCAL_CLIENT_TIMEOUT_MS 2000

struct local_client {
    struct local_server *server;
    int handles; /* handles not closed yet; 0 = this slot is free */
    uv_pipe_t pipe;
    uv_timer_t timeout;
    uv_write_t write;
    char *text; /* text being sent, from malloc */
};

struct local_server {
    /* Returns the text for one client, from malloc, and sets *count to its size in bytes. */
    char *(*make)(void *self, size_t *count);
    void *self;
    bool is_open;
    bool client_waits; /* a client in the backlog waits for a free slot */
    uv_pipe_t listener;
    struct local_client clients[LOCAL_CLIENTS_MAX];
};

/* Starts serving on a bound socket, which the server then owns. `server` is zeroed except for
 * make and self. */
void local_server_open(struct local_server *server, uv_loop_t *loop, int socket);
/* Stops serving. Run the loop once more before freeing the memory. */
void local_server_close(struct local_server *server);

#endif
