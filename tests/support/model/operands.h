/* Operands of one operation and results of its reference, for tests of every backend. */
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
#define BF16_NMSE                                                                                  \
    1e-4 /* largest normalized mean squared error of results that are rounded to bfloat16 */
#define ROOM 8192

/* A loss over n rows, none of which is masked. */
#define LOSS(n, all) (&(struct cross_entropy){.rows = (n), .classes = (all), .of = (n)})

extern struct rng rng;

/* Operands of the current case, and the reference's results. */
extern float x[ROOM], w[ROOM], b[ROOM], y[ROOM], dx[ROOM], dy[ROOM], dw[ROOM], db[ROOM];
extern double want_y[ROOM], want_dx[ROOM], want_dy[ROOM], want_dw[ROOM], want_db[ROOM];
extern uint8_t winner[ROOM];

void fill(float *values, size_t count);

/* Fills the operands with random numbers, equal in every test. Fills the results with NaN, so that
 * a test notices a result that an operation does not write or only adds to. */
int case_begin(void **state);
double activation_reference(enum activation activation, double value);
double activation_gradient(enum activation activation, double value);
void check_near(const float *got, const double *want, size_t count, double nmse_max);

#endif
