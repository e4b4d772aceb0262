/* HTTP, for whoever watches a node: libmicrohttpd on the node's own event loop. Only this file's
 * part knows it.
 *
 *   GET /             the page (page/page.h)
 *   GET /story.json   its story; /events: what is new, once a second, as server-sent events
 *   GET /status.json  as hearsay status --json
 *   GET /metrics      for Prometheus
 *   GET /livez        200: the loop turns    /readyz   200: as hearsay status exits 0; else 503
 *
 * It only reads. Without a token whoever can connect may ask, so it then wants to be asked under a
 * name of this machine: a page of somebody else's in a browser here cannot (DNS rebinding). With a
 * token all but the last two want it: "Authorization: Bearer TOKEN", or ?token=TOKEN.
 *
 * WEB_WATCHERS_MAX watch /events at once, WEB_CONNECTIONS_MAX are connected. A watcher that does
 * not read misses events, and costs no memory. A text is made once between two calls of
 * web_server_renew, however many ask: making it takes the loop's time, which is the node's.
 * Held by tests/unit/web/test_web_server.c.
 */
#ifndef HEARSAY_WEB_WEB_SERVER_H
#define HEARSAY_WEB_WEB_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "socket/address.h"

#define WEB_CONNECTIONS_MAX 48
#define WEB_PER_ADDRESS_MAX 32 /* of them from one address: the others are left, so probes get in  \
                                */
#define WEB_WATCHERS_MAX 16
#define WEB_TOKEN_MIN    16 /* characters */

enum web_text { WEB_STORY, WEB_STATUS, WEB_METRICS };
#define WEB_TEXTS (WEB_METRICS + 1)

struct web_owner {
    void *self; /* passed to each call below */
    /* Text for one who asks, made with malloc. */
    char *(*make)(void *self, enum web_text what, size_t *count);
    bool (*is_ready)(void *self);
};

struct web_server;

/* Listens. token: NULL, or what is to be known. FAILED: it cannot. */
enum error web_server_open(struct web_server **made, const struct address *listen,
                           const char *token, const struct web_owner *owner,
                           struct problem *problem) MUST_USE;
/* NULL is allowed. */
void web_server_close(struct web_server *server);

/* Where it listens: of port 0, the one that it got. */
unsigned web_server_port(const struct web_server *server);

/* To be watched: when it can be read, web_server_run does what is due. True: more is due already,
 * which the file does not say; others may have their turn first. */
int web_server_file(const struct web_server *server);
bool web_server_run(struct web_server *server);

/* What was made for who asked is old: once a second. */
void web_server_renew(struct web_server *server);

/* Somebody waits at /events. */
bool web_server_is_watched(const struct web_server *server);
/* News for all of them, one line of JSON by malloc, which is the server's from now on. They are
 * sent by web_server_run. */
void web_server_send(struct web_server *server, char *json);

#endif
