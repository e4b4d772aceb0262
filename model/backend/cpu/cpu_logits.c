/* Logits and their loss, computed some rows at a time by the operations of a dense layer. */
#include "backend/cpu/cpu.h"
#include "base/error.h"

#define BUDGET ((size_t)1 << 24)

size_t cpu_logits_budget(struct backend *backend)
{
    (void)backend;
    return BUDGET;
}

void cpu_logits_loss(struct backend *backend, const struct logits *logits, struct numbers x,
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
        backend->dense_forward(backend, rows, in, classes, part, w, floats(NULL), LINEAR,
                               floats(y));
        backend->loss.cross_entropy(backend, &loss, y, labels + first, dw ? y : NULL, score);
        if (dw)
            backend->dense_backward(backend, rows, in, classes, part, w, floats(y), LINEAR,
                                    floats(y), dx.at ? numbers_from(dx, at) : dx, dw, NULL,
                                    first > 0);
    }
}
