/* Resolves `auto` for keys whose value follows from other keys: optimizer, rate, schedule,
 * weight decay, clip.
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

/* Returns the automatic optimizer: Muon for sequences, otherwise SGD. */
enum optimizer_kind config_usual_optimizer(const struct config *config);

/* Resolves rate, schedule and period as for this optimizer, where they are automatic. A rate that
 * somebody chose stays constant unless they also chose a schedule. */
void config_resolve_rate(struct config_train *train, enum optimizer_kind kind);

#endif
