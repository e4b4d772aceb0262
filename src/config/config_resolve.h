/* Resolves `auto` for keys whose value follows from other keys: optimizer, rate, weight decay,
 * clip.
 *
 *   data.source ─► optimizer ─► rate, weight decay, clip
 *
 * Keys that a running node adapts to measurements (such as exchange.gain) stay auto. Measured in
 * tests/decisions/001-weight-decay-by-default.md. Tests: tests/unit/config/test_config.c.
 */
#ifndef HEARSAY_CONFIG_CONFIG_RESOLVE_H
#define HEARSAY_CONFIG_CONFIG_RESOLVE_H

#include "config/config.h"

void config_resolve(struct config *config);

/* config_usual_optimizer returns the automatic optimizer: Muon for sequences, otherwise SGD.
 * config_usual_rate returns the automatic learning rate for an optimizer. */
enum optimizer_kind config_usual_optimizer(const struct config *config);
double config_usual_rate(enum optimizer_kind kind);

#endif
