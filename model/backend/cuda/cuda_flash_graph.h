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
 * cuDNN recognises attention by the operations of the graph. A single operation for attention also
 * exists, but before cuDNN 9.21 it has no mask. In the backward pass dS is stored in the workspace,
 * 2 bytes for each pair of positions, and then multiplied with K. cuDNN could also add up dQ in
 * place, but in varying order. Tests: tests/unit/model/test_flash.c, also on the stand-in of
 * tests/fakes/cuda_on_cpu, which computes the graph operation by operation.
 * https://docs.nvidia.com/deeplearning/cudnn/latest/api/cudnn-graph-library.html
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_GRAPH_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_FLASH_GRAPH_H

#include <cudnn.h>

#include "backend/backend.h"

#define FLASH_SIZE_MAX  128 /* largest size of a head that cuDNN computes */
#define FLASH_SIZE_STEP 8   /* head sizes must be multiples of it, so that all rows are aligned */
#define FLASH_ALIGNMENT 16  /* alignment of bfloat16 tensors in bytes */

/* Ids of the graph's tensors in memory. Tensors from FLASH_SCALE on are single numbers in host
 * memory. */
enum flash_tensor {
    FLASH_QUERY = 1,
    FLASH_KEY,
    FLASH_KEY_TURNED, /* transposed view of FLASH_KEY's memory */
    FLASH_VALUE,
    FLASH_OUTPUT,
    FLASH_LOG_SUMS,
    FLASH_OUTPUT_GRADIENT,
    FLASH_QUERY_GRADIENT,
    FLASH_KEY_GRADIENT,
    FLASH_VALUE_GRADIENT,
    FLASH_COMMON_GRADIENTS, /* scratch buffer: Σ dY·Y of each query, float32 */
    FLASH_KEY_GRADIENTS,    /* scratch buffer if heads share keys: gradients for each query head */
    FLASH_VALUE_GRADIENTS, /* scratch buffer if heads share values: gradients for each query head */
    FLASH_SCALE,
    FLASH_LOWEST, /* score of a masked key */
    FLASH_ONE,
    FLASH_TENSORS
};

struct flash_device {
    cudnnHandle_t dnn;
    /* Used if dnn is NULL: description of a device, for tests on a machine without that device. */
    cudnnBackendDescriptor_t described;
};

/* Last stage that cuDNN reached with a graph. */
enum flash_stage { FLASH_BUILD, FLASH_SEARCH, FLASH_COMPILE, FLASH_DONE };

#define FLASH_DESCRIPTORS 192 /* largest number of descriptors of a graph and its plan */

struct flash_plan {
    cudnnBackendDescriptor_t plan; /* NULL unless the stage is FLASH_DONE */
    size_t workspace_bytes;        /* workspace of the plan, or of the engine that was tried last */
    enum flash_stage stage;
    int engines;          /* number of deterministic engines that were tried */
    cudnnStatus_t status; /* status of the last call of cuDNN */
    char why[160];        /* cuDNN's message if `stage` is not FLASH_DONE */
    cudnnBackendDescriptor_t made[FLASH_DESCRIPTORS];
    int made_count;
};

/* Returns whether a plan may exist for this attention: it computes all positions (from is 0), and
 * cuDNN supports the head size. */
bool flash_fits(const struct attention *attention);

/* Makes a plan with the first deterministic engine that can be compiled. plan->stage is FLASH_DONE
 * if there is such an engine. */
void flash_plan_init(struct flash_plan *plan, struct flash_device device,
                     const struct attention *attention, int batch, bool backward);
void flash_plan_free(struct flash_plan *plan);

/* Runs the plan. memory[FLASH_TENSORS]: start of each tensor by its id; NULL for tensors that the
 * pass does not use. */
cudnnStatus_t flash_plan_run(cudnnHandle_t dnn, const struct flash_plan *plan,
                             void *const memory[FLASH_TENSORS], void *workspace);

#endif
