/* An HTTP server for a node's status: libmicrohttpd on the node's own event loop. Only this file
 * uses that library.
 *
 *   GET /             the page (page/page.h)
 *   GET /snapshot.json   its snapshot; /events: updates, once a second, as server-sent events
 *   GET /status.json  as hearsay status --json
 *   GET /metrics      for Prometheus
 *   GET /livez        200: the loop turns    /readyz   200: as hearsay status exits 0; else 503
 *
 * The server is read-only. Without a token anyone who can connect may ask. Then the Host header
 * must name this machine, so that a foreign page in a local browser cannot read it (DNS rebinding).
 * With a token all but the last two paths require it: "Authorization: Bearer TOKEN", or
 * ?token=TOKEN.
 *
 * At most WEB_WATCHERS_MAX clients follow /events, and WEB_CONNECTIONS_MAX are connected. A client
 * that does not read misses events and costs no memory. Each text is made once between two calls of
 * web_server_renew, however many clients ask, because that takes the time of the node's loop.
 * Held by tests/unit/web/test_web_server.c.
 */
#ifndef HEARSAY_WEB_WEB_SERVER_H
#define HEARSAY_WEB_WEB_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "socket/address.h"

#define WEB_CONNECTIONS_MAX 48
#define WEB_PER_ADDRESS_MAX 32 /* most connections from one address, so that others get in */
#define WEB_WATCHERS_MAX    16
#define WEB_TOKEN_MIN       16 /* fewest characters of a token */

enum web_text { WEB_STORY, WEB_STATUS, WEB_METRICS };
#define WEB_TEXTS (WEB_METRICS + 1)

struct web_owner {
    void *self; /* first argument of each call below */
    /* Returns a text for a client, made with malloc. */
    char *(*make)(void *self, enum web_text what, size_t *count);
    bool (*is_ready)(void *self);
};

struct web_server;

/* Listens on an address. token: the required token; NULL = none. FAILED: it cannot listen. */
enum error web_server_open(struct web_server **made, const struct address *listen,
                           const char *token, const struct web_owner *owner,
                           struct problem *problem) MUST_USE;
/* Stops the server and frees it; NULL is allowed. */
void web_server_close(struct web_server *server);

/* Returns the listening port, which the system chose if port 0 was given. */
unsigned web_server_port(const struct web_server *server);

/* web_server_file returns a file descriptor to watch. When it is readable, web_server_run does the
 * due work. It returns true if more work is due that the descriptor does not signal; other work may
 * go first. */
int web_server_file(const struct web_server *server);
bool web_server_run(struct web_server *server);

/* Discards the texts made so far; called once a second. */
void web_server_renew(struct web_server *server);

/* Returns true if a client waits at /events. */
bool web_server_is_watched(const struct web_server *server);
/* Sends one line of JSON, made with malloc and taken over, to all clients of /events.
 * web_server_run writes it. */
void web_server_send(struct web_server *server, char *json);

#endif
