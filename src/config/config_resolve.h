/* Resolves `auto` for keys that depend on the rest of the configuration: optimizer, rate, weight
 * decay, clip.
 *
 *   data.source ─► optimizer ─► rate, weight decay, clip
 *
 * Keys that a running node adapts to measurements (exchange.gain and others) stay auto. Measured in
 * tests/decisions/001-weight-decay-by-default.md. Held by tests/unit/config/test_config.c.
 */
#ifndef HEARSAY_CONFIG_CONFIG_RESOLVE_H
#define HEARSAY_CONFIG_CONFIG_RESOLVE_H

#include "config/config.h"

void config_resolve(struct config *config);

/* Return the automatic choices: Muon for sequences and SGD otherwise, and a rate that suits the
 * optimizer. */
enum optimizer_kind config_usual_optimizer(const struct config *config);
double config_usual_rate(enum optimizer_kind kind);

#endif
