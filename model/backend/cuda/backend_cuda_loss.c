/* The last layer of a language model with its loss, on a GPU.
 *
 *   x, w ──rounded once──► logits[rows, stride] ──loss──► gradients[rows, stride] ──► dw, dx
 *                          └──────────── some rows at a time ────────────┘
 *
 * Rows of logits begin at multiples of 16 bytes, for which cuBLAS has fast kernels. So nothing has
 * to be copied between the products. With precision bf16 the loss writes rounded gradients to a
 * separate scratch buffer; otherwise they overwrite the logits. Tests:
 * tests/unit/model/test_logits.c.
 */
#include "backend/cuda/cuda_dense.h"
#include "backend/cuda/cuda_kernels.h"

#define BUDGET_PART 16 /* logits and rounded gradients: at most 1/16 of the free memory */
/* Bytes of a logit and its rounded gradient. */
#define BYTES_OF_LOGIT (sizeof(float) + sizeof(uint16_t))

/* Operands of the products. x and w are for all rows, the gradients for some rows at a time. */
struct logits_operands {
    struct operand x;
    struct operand w;
    /* [at_once, stride] gradients of logits; NULL = they overwrite the logits. */
    uint16_t *gradients;
};

/* Returns the number of logits that a part of the free memory holds. Rounds the bytes of that part
 * down to a power of two, so that slightly different free memory does not change the order of
 * sums. */
static size_t cuda_logits_budget(struct backend *backend)
{
    size_t left = 0, all = 0, budget = 1;
    (void)cuda_on(backend);
    cuda_check(cudaMemGetInfo(&left, &all), "looking for memory");
    while (2 * budget <= left / BUDGET_PART)
        budget *= 2;
    return budget / BYTES_OF_LOGIT;
}

static struct logits_operands prepare(struct cuda *cuda, const struct logits *logits, int at_once,
                                      struct numbers x, struct numbers w, bool learns)
{
    const int rows = logits->loss.rows, classes = logits->loss.classes, in = logits->in;
    const int high = cuda_padded(classes);
    struct layout size = {0}, scratch = {0};
    cuda_operand_measure(cuda, &size, rows, rows, in, x);
    cuda_operand_measure(cuda, &size, classes, high, in, w);
    if (cuda->bf16 && learns)
        (void)cuda_rounded_part(&size, at_once, classes);
    scratch.memory = cuda_step_buffer(cuda, &cuda->operands, size.bytes);
    struct logits_operands operands = {.x = cuda_operand(cuda, &scratch, rows, rows, in, x)};
    operands.w = cuda_operand(cuda, &scratch, classes, high, in, w);
    if (cuda->bf16 && learns)
        operands.gradients = cuda_rounded_part(&scratch, at_once, classes);
    return operands;
}

/* Adds the loss of some rows to the score. Returns the gradients of their logits, valid only if
 * `learns`. */
static struct operand part_loss(struct cuda *cuda, const struct cross_entropy *loss, float *logits,
                                const int32_t *labels, bool learns, uint16_t *gradients,
                                struct score *score)
{
    const int stride = cuda_padded(loss->classes);
    struct score *row_scores = cuda_scratch(cuda, (size_t)loss->rows * sizeof *row_scores);
    cuda_check(gradients != NULL ? kernel_cross_entropy_bf16(cuda->stream, *loss, stride, logits,
                                                             labels, gradients, row_scores, score)
                                 : kernel_cross_entropy(cuda->stream, *loss, stride, logits, labels,
                                                        learns ? logits : NULL, row_scores, score),
               "the loss of logits");
    return gradients != NULL ? cuda_rounded(gradients, loss->classes)
                             : (struct operand){logits, CUDA_R_32F, stride};
}

static void cuda_logits_loss(struct backend *backend, const struct logits *logits, struct numbers x,
                             struct numbers w, const int32_t *labels, struct numbers dx, float *dw,
                             struct score *score)
{
    struct cuda *cuda = cuda_on(backend);
    const int all = logits->loss.rows, classes = logits->loss.classes, in = logits->in;
    const int at_once = int_min(logits->at_once, all);
    CHECK(logits->at_once > 0 && (!dx.at || dw));
    const struct logits_operands operands = prepare(cuda, logits, at_once, x, w, dw != NULL);
    for (int first = 0; first < all; first += at_once) {
        struct cross_entropy loss = logits->loss;
        loss.rows = int_min(all - first, at_once);
        const struct operand part = cuda_operand_from(operands.x, first, in);
        const struct product to_logits = {.turn_b = CUBLAS_OP_T,
                                          .m = loss.rows,
                                          .n = cuda_depth(cuda, classes),
                                          .k = cuda_depth(cuda, in),
                                          .alpha = 1,
                                          .a = part,
                                          .b = operands.w,
                                          .c = {logits->scratch, CUDA_R_32F, cuda_padded(classes)},
                                          .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
        (void)cuda_multiply(cuda, &to_logits);
        const struct operand dy = part_loss(cuda, &loss, logits->scratch, labels + first,
                                            dw != NULL, operands.gradients, score);
        if (dw != NULL)
            cuda_weight_gradient(cuda, loss.rows, in, classes, dy, part, first > 0, dw);
        struct product to_x = {.m = loss.rows,
                               .n = in,
                               .k = cuda_depth(cuda, classes),
                               .alpha = 1,
                               .a = dy,
                               .b = operands.w,
                               .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
        if (dx.at != NULL)
            cuda_product_to(cuda, &to_x, in, numbers_from(dx, (size_t)first * (size_t)in));
    }
}

static void cuda_cross_entropy(struct backend *backend, const struct cross_entropy *loss,
                               const float *logits, const int32_t *labels, float *dlogits,
                               struct score *score)
{
    struct cuda *cuda = cuda_on(backend);
    struct score *row_scores = cuda_scratch(cuda, (size_t)loss->rows * sizeof *row_scores);
    cuda_check(kernel_cross_entropy(cuda->stream, *loss, loss->classes, logits, labels, dlogits,
                                    row_scores, score),
               "cross-entropy");
}

static void cuda_squared_error(struct backend *backend, int rows, int width, int of, const float *y,
                               const float *want, float *dy, struct score *score)
{
    struct cuda *cuda = cuda_on(backend);
    struct score *row_scores = cuda_scratch(cuda, (size_t)rows * sizeof *row_scores);
    cuda_check(kernel_squared_error(cuda->stream, rows, width, of, y, want, dy, row_scores, score),
               "squared error");
}

const struct loss_operations cuda_loss = {
    .cross_entropy = cuda_cross_entropy,
    .logits = cuda_logits_loss,
    .logits_budget = cuda_logits_budget,
    .squared_error = cuda_squared_error,
};
