/* Losses. Logits are computed some rows at a time, by the operations of a dense layer. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

#define BUDGET ((size_t)1 << 24)

static size_t cpu_logits_budget(struct backend *backend)
{
    (void)backend;
    return BUDGET;
}

static void cpu_logits_loss(struct backend *backend, const struct logits *logits, struct numbers x,
                            struct numbers w, const int32_t *labels, struct numbers dx, float *dw,
                            struct score *score)
{
    const int in = logits->in, classes = logits->loss.classes;
    float *y = logits->scratch;
    CHECK(logits->at_once > 0 && (!dx.at || dw));
    for (int first = 0; first < logits->loss.rows; first += logits->at_once) {
        const int left = logits->loss.rows - first;
        const int rows = int_min(left, logits->at_once);
        const size_t at = (size_t)first * (size_t)in;
        struct cross_entropy loss = logits->loss;
        loss.rows = rows;
        const struct numbers part = numbers_from(x, at);
        backend->dense->forward(backend, rows, in, classes, part, w, floats(NULL), LINEAR,
                                floats(y));
        backend->loss->cross_entropy(backend, &loss, y, labels + first, dw ? y : NULL, score);
        if (dw)
            backend->dense->backward(backend, rows, in, classes, part, w, floats(y), LINEAR,
                                     floats(y), dx.at ? numbers_from(dx, at) : dx, dw, NULL,
                                     first > 0);
    }
}

static int first_largest(int classes, const float *logits)
{
    int largest = 0;
    for (int c = 1; c < classes; c++) {
        if (logits[c] > logits[largest])
            largest = c;
    }
    return largest;
}

/* Computes out[c] = exp(logits[c] - top). Returns their sum in double precision: in a vocabulary of
 * 50,000 most terms are small beside the largest, and float would lose them. */
EACH_WIDTH static double exponentials(int classes, float top, const float *logits, float *out)
{
    double sum = 0;
    for (int c = 0; c < classes; c++)
        out[c] = vector_exp(logits[c] - top);
    for (int c = 0; c < classes;) {
        const int part = int_min(classes - c, 256);
        sum += (double)vector_sum(out + c, part);
        c += part;
    }
    return sum;
}

/* Turns a row of exponentials, whose sum is `sum`, into gradients of the loss with label
 * smoothing. */
static void smooth_gradients(const struct cross_entropy *loss, int label, double sum,
                             float *gradients)
{
    const float scale = (float)(1 / (sum * loss->of)), one = 1 / (float)loss->of;
    const float spread = loss->smoothing / (float)loss->classes * one;
    for (int c = 0; c < loss->classes; c++)
        gradients[c] = gradients[c] * scale - spread;
    gradients[label] -= (1 - loss->smoothing) * one;
}

/* Returns the mean of the row's logits, weighted by the smoothed label; without smoothing the
 * label's logit. */
static double smooth_logit(const struct cross_entropy *loss, int label, const float *logits)
{
    const double smoothing = (double)loss->smoothing;
    if (smoothing == 0)
        return (double)logits[label];
    const double mean = (double)vector_sum(logits, loss->classes) / loss->classes;
    return (1 - smoothing) * (double)logits[label] + smoothing * mean;
}

/* Subtracts the largest logit first, so that no exponential overflows and their sum is at least 1.
 * Without dlogits the exponentials go to the scratch buffer. */
static void cpu_cross_entropy(struct backend *backend, const struct cross_entropy *loss,
                              const float *logits, const int32_t *labels, float *dlogits,
                              struct score *score)
{
    const int classes = loss->classes;
    float *scratch = dlogits ? NULL : cpu_scratch(backend, (size_t)classes);
    for (int i = 0; i < loss->rows; i++, logits += classes) {
        const int label = labels[i];
        float *gradients = dlogits ? dlogits + (size_t)i * (size_t)classes : scratch;
        CHECK(label == LABEL_IGNORED || (label >= 0 && label < classes));
        if (label == LABEL_IGNORED) {
            memset(gradients, 0, (size_t)classes * sizeof *gradients);
            continue;
        }
        const int largest = first_largest(classes, logits);
        const float top = logits[largest];
        const double own = smooth_logit(loss, label, logits);
        const double sum = exponentials(classes, top, logits, gradients);
        score->loss += log(sum) - (own - (double)top);
        score->labels++;
        score->correct += largest == label;
        if (dlogits)
            smooth_gradients(loss, label, sum, gradients);
    }
}

static void cpu_squared_error(struct backend *backend, int rows, int width, int of, const float *y,
                              const float *want, float *dy, struct score *score)
{
    (void)backend;
    const float gradient = 2 / ((float)of * (float)width);
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int k = 0; k < width; k++, y++, want++) {
            const float apart = *y - *want;
            sum += (double)apart * (double)apart;
            if (dy)
                *dy++ = gradient * apart;
        }
        score->loss += sum / width;
        score->labels++;
    }
}

const struct loss_operations cpu_loss = {
    .cross_entropy = cpu_cross_entropy,
    .logits = cpu_logits_loss,
    .logits_budget = cpu_logits_budget,
    .squared_error = cpu_squared_error,
};
