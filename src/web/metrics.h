/* A node's numbers for Prometheus, in its text format 0.0.4: the page of status (status_watch.h),
 * by one table that says how each field is called there, and in which unit.
 *
 *   page of status ─► /metrics ─► Prometheus ─► configs/deploy/prometheus: alerts, a board
 *
 * What is not known is left out. Names begin with hearsay_, units are seconds, bytes and samples.
 * Held by tests/unit/web/test_metrics.c, and by promtool in tests/process/test_metrics.sh.
 */
#ifndef HEARSAY_WEB_METRICS_H
#define HEARSAY_WEB_METRICS_H

#include <jansson.h>
#include <stddef.h>

/* now_s: of the clock on the wall, since 1970. To be freed. */
char *metrics_text(const json_t *page, double now_s, size_t *count);

#endif
