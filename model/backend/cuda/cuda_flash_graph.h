/* The graphs with which cuDNN computes causal attention in bfloat16 without a matrix of scores (Dao
 * et al. 2022), through its C backend interface.
 *
 *   struct attention, batch ──► graph of operations ──► cuDNN's engines ──compiled──► flash_plan
 *
 * forward    scores = scale · Q·Kᵀ, or LOWEST where the key comes after the query
 *            Y = softmax(scores) · V, log_sums = max + log Σ exp(scores - max)
 * backward   P = exp(scores - log_sums); dV = Pᵀ·dY
 *            dS = P · (dY·Vᵀ - Σ dY·Y) · scale; dQ = dS·K; dK = dSᵀ·Q
 *
 * cuDNN recognises the graph by its operations. A single operation for attention also exists, but
 * before cuDNN 9.21 it has no mask. dQ is multiplied from dS in the workspace, 2 bytes for each
 * pair of positions: cuDNN can also add it up in place, but then in any order. Held by
 * tests/unit/model/test_flash.c, and on the stand-in, which computes the graph term by term.
 * https://docs.nvidia.com/deeplearning/cudnn/latest/api/cudnn-graph-library.html
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_GRAPH_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_GRAPH_H

#include <cudnn.h>

#include "backend/backend.h"

#define FLASH_SIZE_MAX  128 /* largest size of a head */
#define FLASH_SIZE_STEP 8   /* divisor of head sizes, so that all rows are aligned */
#define FLASH_ALIGNMENT 16  /* bytes: alignment of bfloat16 tensors */

/* Tensors in memory; an id names one layout. Those from FLASH_SCALE on are numbers in host
 * memory. */
enum flash_tensor {
    FLASH_QUERY = 1,
    FLASH_KEY,
    FLASH_KEY_TURNED, /* memory of FLASH_KEY, transposed */
    FLASH_VALUE,
    FLASH_OUTPUT,
    FLASH_LOG_SUMS,
    FLASH_OUTPUT_GRADIENT,
    FLASH_QUERY_GRADIENT,
    FLASH_KEY_GRADIENT,
    FLASH_VALUE_GRADIENT,
    FLASH_COMMON_GRADIENTS, /* scratch buffer: Σ dY·Y of each query, float32 */
    FLASH_KEY_GRADIENTS,    /* scratch buffer if heads share keys: gradients of each head */
    FLASH_VALUE_GRADIENTS,  /* scratch buffer if heads share values: gradients of each head */
    FLASH_SCALE,
    FLASH_LOWEST, /* score of a masked key */
    FLASH_ONE,
    FLASH_TENSORS
};

/* Device on which a plan is to run. */
struct flash_device {
    cudnnHandle_t dnn;
    /* Device description for tests without such a device; replaces dnn. */
    cudnnBackendDescriptor_t described;
};

/* Last stage that cuDNN reached with a graph. */
enum flash_stage { FLASH_BUILD, FLASH_SEARCH, FLASH_COMPILE, FLASH_DONE };

#define FLASH_DESCRIPTORS 192 /* most descriptors of a graph and its plan */

struct flash_plan {
    cudnnBackendDescriptor_t plan; /* NULL unless the stage is FLASH_DONE */
    size_t workspace_bytes;        /* workspace of the plan, or of the engine compiled last */
    enum flash_stage stage;
    int engines;          /* engines that compute the graph in a fixed order */
    cudnnStatus_t status; /* status of the last step */
    char why[160];        /* cuDNN's message if the last step failed */
    cudnnBackendDescriptor_t made[FLASH_DESCRIPTORS];
    int made_count;
};

/* Returns whether a plan may exist for this attention: it covers all positions, and the size
 * fits. */
bool flash_fits(const struct attention *attention);

/* Makes a plan of the first engine that can be compiled and adds in a fixed order. plan->stage
 * tells whether there is one. */
void flash_plan_init(struct flash_plan *plan, struct flash_device device,
                     const struct attention *attention, int batch, bool backward);
void flash_plan_free(struct flash_plan *plan);

/* Runs the plan. memory[FLASH_TENSORS]: start of each tensor, NULL for those that the pass does not
 * use. */
cudnnStatus_t flash_plan_run(cudnnHandle_t dnn, const struct flash_plan *plan,
                             void *const memory[FLASH_TENSORS], void *workspace);

#endif
