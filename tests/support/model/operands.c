#include "support/model/operands.h"

struct rng rng;

float x[ROOM], w[ROOM], b[ROOM], y[ROOM], dx[ROOM], dy[ROOM], dw[ROOM], db[ROOM];
double want_y[ROOM], want_dx[ROOM], want_dy[ROOM], want_dw[ROOM], want_db[ROOM];
uint8_t winner[ROOM];

void fill(float *values, size_t count)
{
    assert_true(count <= ROOM);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(2 * rng_uniform(&rng) - 1);
}

int case_begin(void **state)
{
    (void)state;
    rng = rng_new(7, 7);
    fill(x, ROOM);
    fill(w, ROOM);
    fill(b, ROOM);
    fill(dy, ROOM);
    for (int i = 0; i < ROOM; i++) {
        y[i] = dx[i] = dw[i] = db[i] = NAN;
        want_y[i] = want_dx[i] = want_dy[i] = want_dw[i] = want_db[i] = 0;
    }
    memset(winner, 0xFF, sizeof winner);
    return 0;
}

double activation_reference(enum activation activation, double value)
{
    if (activation == LINEAR)
        return value;
    if (activation == RELU)
        return value > 0 ? value : 0;
    return activation == SIGMOID ? 1 / (1 + exp(-value)) : tanh(value);
}

double activation_slope(enum activation activation, double value)
{
    if (activation == LINEAR)
        return 1;
    if (activation == RELU)
        return value > 0 ? 1 : 0;
    double result = activation_reference(activation, value);
    return activation == SIGMOID ? result * (1 - result) : 1 - result * result;
}

void check_near(const float *got, const double *want, size_t count, double nmse_max)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        power += want[i] * want[i];
    }
    if (!(error <= nmse_max * power))
        fail_msg("error %g, power %g over %zu entries", error, power, count);
}
