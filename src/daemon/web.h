/* Serves a node's web page and metrics: owns the HTTP server and the history that the page shows.
 *
 *   host ─ second by second ─► trail, happened ─┐
 *   page of status ───────────────────────────────┴─► snapshot, metrics ─► web_server
 *
 * Texts are made only when a client requests them. Tests: tests/process/test_metrics.sh and
 * tests/process/test_web_page.py.
 */
#ifndef HEARSAY_DAEMON_WEB_H
#define HEARSAY_DAEMON_WEB_H

#include <jansson.h>

#include "config/config.h"
#include "node/notes.h"
#include "web/node_snapshot.h"
#include "web/trail.h"
#include "web/web_server.h"

struct web {
    struct web_server *server; /* NULL = node.http is none */
    struct trail trail;
    struct happened happened;
    bool is_due;                 /* web_on_ready must be called again soon */
    uint32_t told;               /* number of notes at the last call of web_on_second */
    json_t *(*page)(void *host); /* status page; the caller releases it */
    void *host;
    uint64_t start_ns; /* time at which the node started */
};

/* Does nothing if node.http is none. Before, the caller zeroes *web, then sets page, host and
 * start_ns. */
enum error web_open(struct web *web, const struct config_node *config,
                    struct problem *problem) MUST_USE;
void web_close(struct web *web);

/* Shows the note on the page, unless its level is debug. */
void web_on_note(struct web *web, const struct note *note);
/* Adds the values of one second to the history, and sends an update to the clients of /events. */
void web_on_second(struct web *web, const double second[static TRAIL_VALUES]);
/* Serves the web clients, and updates is_due. Call it when the server's file descriptor is
 * readable, or when is_due is set. */
void web_on_ready(struct web *web);

#endif
