/* Writes a node's metrics for Prometheus, in text format 0.0.4. A table maps fields of the status
 * JSON (daemon/status_watch.h) to metric names.
 *
 *   status JSON ─► /metrics ─► Prometheus ─► configs/deploy/prometheus: alerts, a dashboard
 *
 * Unknown values are left out. Names start with hearsay_; units are seconds, bytes and samples.
 * Tests: tests/unit/web/test_metrics.c, and by promtool in tests/process/test_metrics.sh.
 */
#ifndef HEARSAY_WEB_METRICS_H
#define HEARSAY_WEB_METRICS_H

#include <jansson.h>
#include <stddef.h>

/* page: the status JSON. now_s: wall clock, seconds since 1970. *count: bytes of the text, which
 * the caller frees. */
char *metrics_text(const json_t *page, double now_s, size_t *count);

#endif
