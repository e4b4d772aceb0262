/* An HTTP server for a node's status: libmicrohttpd on the node's own event loop. Only web_server.c
 * uses that library.
 *
 *   GET /             the node's page (page/page.h)
 *   GET /snapshot.json   the page's data; /events: updates, once a second, as server-sent events
 *   GET /status.json  the output of hearsay status --json
 *   GET /metrics      metrics for Prometheus
 *   GET /livez        200: the loop runs
 *   GET /readyz       200 if hearsay status would exit with 0; else 503
 *
 * The server is read-only. Without a token it answers anyone who can connect. Then the Host header
 * must name this machine, so that a foreign page in a local browser cannot read the node's data
 * (DNS rebinding). With a token, all paths except /livez and /readyz require it: "Authorization:
 * Bearer TOKEN", or ?token=TOKEN.
 *
 * At most WEB_WATCHERS_MAX clients follow /events, of at most WEB_CONNECTIONS_MAX connections. A
 * client that reads too slowly misses events, so events need bounded memory. Other clients that
 * send or read too slowly are cut off. If a new client takes the last connection, the server ends
 * one of the others: of the address with the most connections, the oldest that does not follow
 * /events. So slow clients keep no other client out, not even one behind their proxy. Each text is
 * made at most once between two calls of web_server_renew, because making it occupies the node's
 * loop. Tests: tests/unit/web/test_web_server.c.
 */
#ifndef HEARSAY_WEB_WEB_SERVER_H
#define HEARSAY_WEB_WEB_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "wire/address.h"

#define WEB_CONNECTIONS_MAX 48
#define WEB_WATCHERS_MAX    16
#define WEB_TOKEN_MIN       16 /* characters */

enum web_text { WEB_STORY, WEB_STATUS, WEB_METRICS };
#define WEB_TEXTS (WEB_METRICS + 1)

struct web_owner {
    void *self;
    /* Makes a text, which the server frees. *count: its bytes. */
    char *(*make)(void *self, enum web_text what, size_t *count);
    bool (*is_ready)(void *self);
};

struct web_server;

/* token: clients must send it; NULL = none. FAILED: the server cannot listen. */
enum error web_server_open(struct web_server **made, const struct address *listen,
                           const char *token, const struct web_owner *owner,
                           struct problem *problem) MUST_USE;
/* NULL is allowed. */
void web_server_close(struct web_server *server);

/* Returns the actual port: if port 0 was given, the system has chosen it. */
unsigned web_server_port(const struct web_server *server);

/* When the descriptor web_server_file is readable, call web_server_run, which does the due work. It
 * returns true if it must be called again soon even if the descriptor is not readable. */
int web_server_file(const struct web_server *server);
bool web_server_run(struct web_server *server);

/* Discards the stored texts, so that later requests get new ones, and cuts off slow clients. Called
 * once a second. */
void web_server_renew(struct web_server *server);

bool web_server_is_watched(const struct web_server *server);
/* Queues an event for the clients of /events that have received the one before. json: one line from
 * malloc, which the server frees. */
void web_server_send(struct web_server *server, char *json);

#endif
