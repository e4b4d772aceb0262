#include "support/model/operands.h"

struct rng rng;

float x[ROOM], w[ROOM], b[ROOM], y[ROOM], dx[ROOM], dy[ROOM], dw[ROOM], db[ROOM];
double want_y[ROOM], want_dx[ROOM], want_dy[ROOM], want_dw[ROOM], want_db[ROOM];
uint8_t winner[ROOM];

void fill(float *values, size_t count)
{
    assert_true(count <= ROOM);
    for (size_t i = 0; i < count; i++)
        values[i] = number_rounded((float)(2 * rng_uniform(&rng) - 1));
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

static double gelu_tanh(double value)
{
    return tanh(sqrt(2 / 3.14159265358979323846) * (value + 0.044715 * pow(value, 3)));
}

double activation_reference(enum activation activation, double value)
{
    switch (activation) {
    case LINEAR:
        return value;
    case RELU:
        return value > 0 ? value : 0;
    case SIGMOID:
        return 1 / (1 + exp(-value));
    case TANH:
        return tanh(value);
    case GELU:
        return value / 2 * (1 + gelu_tanh(value));
    case SILU:
        return value / (1 + exp(-value));
    }
    abort();
}

double activation_gradient(enum activation activation, double value)
{
    const double result = activation_reference(activation, value);
    const double sigmoid = 1 / (1 + exp(-value)), t = gelu_tanh(value);
    switch (activation) {
    case LINEAR:
        return 1;
    case RELU:
        return value > 0 ? 1 : 0;
    case SIGMOID:
        return result * (1 - result);
    case TANH:
        return 1 - result * result;
    case GELU:
        return (1 + t) / 2 + value / 2 * (1 - t * t) * sqrt(2 / 3.14159265358979323846) *
                                 (1 + 3 * 0.044715 * value * value);
    case SILU:
        return sigmoid + result * (1 - sigmoid);
    }
    abort();
}

void check_near(const float *got, const double *want, size_t count, double nmse_max)
{
    double error = 0, power = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
        power += want[i] * want[i];
    }
    const double most =
        numbers_under_test == BFLOAT16 && nmse_max < BF16_NMSE ? BF16_NMSE : nmse_max;
    if (!(error <= most * power))
        fail_msg("error %g, power %g over %zu entries", error, power, count);
}
