/* A node's web page and metrics: its HTTP server, and what it keeps for those who watch.
 *
 *   host ─ second by second ─► trail, happened ─┐
 *   page of status ───────────────────────────────┴─► story, metrics ─► web_server
 *
 * Nothing is made but when somebody asks. Held by tests/process/test_metrics.sh and
 * tests/process/test_web_page.py.
 */
#ifndef HEARSAY_DAEMON_WEB_H
#define HEARSAY_DAEMON_WEB_H

#include <jansson.h>

#include "config/config.h"
#include "node/notes.h"
#include "web/node_story.h"
#include "web/trail.h"
#include "web/web_server.h"

struct web {
    struct web_server *server; /* NULL: node.http = none */
    struct trail trail;
    struct happened happened;
    bool is_due;                 /* the server was left with something to do */
    uint32_t told;               /* of happened, to those who watch */
    json_t *(*page)(void *host); /* the page of status, as it is now */
    void *host;                  /* passed to it */
    uint64_t start_ns;           /* of the process */
};

/* Opens the server if configured. web is zeroed except page, host and start_ns. */
enum error web_open(struct web *web, const struct config_node *config,
                    struct problem *problem) MUST_USE;
void web_close(struct web *web);

/* A note for a person joins what happened. */
void web_on_note(struct web *web, const struct note *note);
/* Once a second, with what it was like. */
void web_on_second(struct web *web, const double second[static TRAIL_VALUES]);
/* The server's file is ready, or it was left with something to do; sets is_due. */
void web_on_ready(struct web *web);

#endif
