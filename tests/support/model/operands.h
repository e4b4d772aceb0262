/* The operands of one operation, and what its reference says of them: for tests of every backend.
 */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_OPERANDS_H
#define HEARSAY_TESTS_SUPPORT_MODEL_OPERANDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "support/model/host_backend.h"

#define GEMM_NMSE 1e-10
#define LOOP_NMSE 1e-12
#define BF16_NMSE 1e-4 /* of results that are rounded to 8 bits */
#define ROOM      8192 /* more entries than any case here needs */

/* Operands of `rows` rows. */
#define LOSS(n, all) (&(struct cross_entropy){.rows = (n), .classes = (all), .of = (n)})

extern struct rng rng;

/* The operands of one case, and what the reference says. */
extern float x[ROOM], w[ROOM], b[ROOM], y[ROOM], dx[ROOM], dy[ROOM], dw[ROOM], db[ROOM];
extern double want_y[ROOM], want_dx[ROOM], want_dy[ROOM], want_dw[ROOM], want_db[ROOM];
extern uint8_t winner[ROOM];

void fill(float *values, size_t count);

/* Fresh operands; results are NaN, so that one that is added to, or left out, is seen. */
int case_begin(void **state);
double activation_reference(enum activation activation, double value);
double activation_gradient(enum activation activation, double value);
void check_near(const float *got, const double *want, size_t count, double nmse_max);

#endif
