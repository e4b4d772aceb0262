/* The graphs by which cuDNN computes causal attention in bfloat16 without a matrix of scores (Dao
 * et al. 2022), by its C backend interface.
 *
 *   struct attention, batch ──► graph of operations ──► cuDNN's engines ──compiled──► flash_plan
 *
 * forward    scores = scale · Q·Kᵀ, or LOWEST where the key comes after the query
 *            Y = softmax(scores) · V, log_sums = max + log Σ exp(scores - max)
 * backward   P = exp(scores - log_sums); dV = Pᵀ·dY
 *            dS = P · (dY·Vᵀ - Σ dY·Y) · scale; dQ = dS·K; dK = dSᵀ·Q
 *
 * cuDNN recognises the graph by its operations. One operation for all of attention exists too, but
 * it masks nothing before cuDNN 9.21. dQ is multiplied from dS in the workspace, 2 bytes for each
 * pair of positions: cuDNN can also add it up in place, but then in any order. Held by
 * tests/unit/model/test_flash.c, and on the stand-in, which computes the graph term by term.
 * https://docs.nvidia.com/deeplearning/cudnn/latest/api/cudnn-graph-library.html
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_GRAPH_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_GRAPH_H

#include <cudnn.h>

#include "backend/backend.h"

#define FLASH_SIZE_MAX  128 /* numbers of a head */
#define FLASH_SIZE_STEP 8   /* that divides them, so that rows are aligned as the first one is */
#define FLASH_ALIGNMENT 16  /* bytes: of tensors of bfloat16 */

/* Tensors that are memory; an id names one layout. Those from FLASH_SCALE on are numbers of the
 * host. */
enum flash_tensor {
    FLASH_QUERY = 1,
    FLASH_KEY,
    FLASH_KEY_TURNED, /* the same memory with rows as columns */
    FLASH_VALUE,
    FLASH_OUTPUT,
    FLASH_LOG_SUMS,
    FLASH_OUTPUT_GRADIENT,
    FLASH_QUERY_GRADIENT,
    FLASH_KEY_GRADIENT,
    FLASH_VALUE_GRADIENT,
    FLASH_COMMON_GRADIENTS, /* scratch: Σ dY·Y of each query, float32 */
    FLASH_KEY_GRADIENTS,    /* scratch where heads share keys: of each head */
    FLASH_VALUE_GRADIENTS,  /* scratch where heads share values: of each head */
    FLASH_SCALE,
    FLASH_LOWEST, /* the score of a key that is masked */
    FLASH_ONE,
    FLASH_TENSORS
};

/* Where a plan is to run. */
struct flash_device {
    cudnnHandle_t dnn;
    cudnnBackendDescriptor_t
        described; /* instead of dnn, for tests: there is no such device here */
};

/* How far cuDNN came with a graph. */
enum flash_stage { FLASH_BUILD, FLASH_SEARCH, FLASH_COMPILE, FLASH_DONE };

#define FLASH_DESCRIPTORS 192 /* of a graph and its plan */

struct flash_plan {
    cudnnBackendDescriptor_t plan; /* NULL unless the stage is FLASH_DONE */
    size_t workspace_bytes;        /* of the plan, or of the engine that was compiled last */
    enum flash_stage stage;
    int engines;          /* that compute the graph in a fixed order */
    cudnnStatus_t status; /* of the last step */
    char why[160];        /* the last step failed; cuDNN's words */
    cudnnBackendDescriptor_t made[FLASH_DESCRIPTORS];
    int made_count;
};

/* Whether a plan may exist for this attention: all positions, and a size that fits. */
bool flash_fits(const struct attention *attention);

/* Makes a plan of the first engine that can be compiled and adds in a fixed order. The stage says
 * whether there is one. */
void flash_plan_init(struct flash_plan *plan, struct flash_device device,
                     const struct attention *attention, int batch, bool backward);
void flash_plan_free(struct flash_plan *plan);

/* Computes it. memory[FLASH_TENSORS]: where each tensor begins, NULL for those that the pass has
 * none of. */
cudnnStatus_t flash_plan_run(cudnnHandle_t dnn, const struct flash_plan *plan,
                             void *const memory[FLASH_TENSORS], void *workspace);

#endif
