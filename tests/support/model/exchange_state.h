/* Weights, base and residuals for tests of the threshold and of the backend's exchange operations.
 */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_EXCHANGE_STATE_H
#define HEARSAY_TESTS_SUPPORT_MODEL_EXCHANGE_STATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "support/model/host_backend.h"

#define P 20000

extern float weights[P], w_before[P];
extern int32_t base[P], base_before[P];
extern uint32_t bins[HISTOGRAM_BINS];
extern uint32_t candidates[P];
extern uint32_t index_[P];
extern int8_t level[P];

double normal(struct rng *rng);

uint32_t survey(float floor);
void cut_all(uint32_t capacity, struct update *cut);

#endif
