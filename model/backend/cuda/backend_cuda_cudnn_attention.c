/* Computes attention with cuDNN's graphs (cuda_flash.h). */
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_cudnn.h"
#include "backend/cuda/cuda_flash.h"
#include "backend/cuda/cuda_flash_graph.h"
#include "base/memory.h"

#define WORKSPACE_PART 16 /* a backward pass's scores take at most 1/16 of the device's memory */

struct planned {
    struct attention of;
    int batch;
    bool backward;
    struct flash_plan plan;
};

struct flash {
    struct planned **plans; /* [count] one plan for each shape and direction so far */
    int count;
    size_t workspace_max;
};

/* Tensors of a forward or backward pass. dy and dx are NULL in a forward pass. */
struct pass {
    const uint16_t *x;
    uint16_t *y;
    float *log_sums;
    const uint16_t *dy;
    uint16_t *dx;
};

static struct flash *flash_of(struct cuda *cuda)
{
    if (cuda->flash != NULL)
        return cuda->flash;
    size_t left = 0, all = 0;
    cuda_check(cudaMemGetInfo(&left, &all), "looking for memory");
    cuda->flash = memory_new(1, sizeof *cuda->flash);
    cuda->flash->workspace_max = all / WORKSPACE_PART;
    return cuda->flash;
}

static void note(const struct attention *attention, const char *why)
{
    static atomic_flag is_noted = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_noted))
        (void)fprintf(stderr,
                      "cuDNN does not compute attention of %d positions, %d heads of %d (%s): the "
                      "node's own kernels do, which are slower\n",
                      attention->length, attention->heads, attention->size, why);
}

static struct planned *add_plan(struct cuda *cuda, const struct attention *attention, int batch,
                                bool backward)
{
    struct flash *all = cuda->flash;
    struct planned *planned = memory_new(1, sizeof *planned);
    /* The first call makes the plan, and the first call is never recorded. */
    CHECK(!cuda->recording);
    all->plans = memory_more(all->plans, (size_t)all->count + 1, sizeof(struct planned *));
    all->plans[all->count++] = planned;
    *planned = (struct planned){.of = *attention, .batch = batch, .backward = backward};
    flash_plan_init(&planned->plan, (struct flash_device){.dnn = cuda_cudnn(cuda)}, attention,
                    batch, backward);
    if (planned->plan.stage != FLASH_DONE)
        note(attention, planned->plan.why);
    return planned;
}

/* Returns the plan for this shape, made on first use; NULL if cuDNN cannot compute this shape. */
static const struct planned *plan_of(struct cuda *cuda, const struct attention *attention,
                                     int batch, bool backward)
{
    const struct flash *all = flash_of(cuda);
    struct planned *found = NULL;
    for (int i = 0; i < all->count && found == NULL; i++) {
        struct planned *planned = all->plans[i];
        if (planned->batch == batch && planned->backward == backward &&
            memcmp(&planned->of, attention, sizeof *attention) == 0)
            found = planned;
    }
    if (found == NULL)
        found = add_plan(cuda, attention, batch, backward);
    return found->plan.stage == FLASH_DONE ? found : NULL;
}

/* Returns the number of samples to compute at a time: the whole batch, or in a backward pass as
 * many as workspace_max allows, at 2 bytes for each pair of positions of a head. Returns 0 if not
 * even one sample fits. */
static int samples_at_once(const struct cuda *cuda, const struct attention *attention, int batch,
                           bool backward)
{
    const size_t length = (size_t)attention->length;
    const size_t bytes = (size_t)attention->heads * length * length * sizeof(uint16_t);
    const size_t most = cuda->flash->workspace_max / bytes;
    return backward && most < (size_t)batch ? (int)most : batch;
}

static void *tensor_at(const uint16_t *first, size_t numbers)
{
    return first != NULL ? (void *)(first + numbers) : NULL;
}

static void *scratch_part(struct layout *layout, bool is_needed, size_t bytes)
{
    return is_needed ? cuda_part(layout, bytes) : NULL;
}

/* Sets the addresses of the pass's scratch tensors in `memory`. Returns the start of cuDNN's
 * workspace. */
static void *lay(struct layout *layout, const struct planned *planned, void *memory[FLASH_TENSORS])
{
    const struct attention *attention = &planned->of;
    const size_t lines =
        (size_t)planned->batch * (size_t)attention->heads * (size_t)attention->length;
    const size_t each = lines * (size_t)attention->size * sizeof(uint16_t);
    const bool shares = planned->backward && attention->kv_heads < attention->heads;
    memory[FLASH_COMMON_GRADIENTS] = scratch_part(layout, planned->backward, lines * sizeof(float));
    memory[FLASH_KEY_GRADIENTS] = scratch_part(layout, shares, each);
    memory[FLASH_VALUE_GRADIENTS] = scratch_part(layout, shares, each);
    return cuda_part(layout, planned->plan.workspace_bytes);
}

static void run(struct cuda *cuda, struct pass pass, const struct planned *planned)
{
    const struct attention *attention = &planned->of;
    const size_t size = (size_t)attention->size;
    const size_t keys = (size_t)attention->heads * size;
    const size_t values = keys + (size_t)attention->kv_heads * size;
    float scale = 1 / sqrtf((float)attention->size), lowest = -FLT_MAX, one = 1;
    void *memory[FLASH_TENSORS] = {
        [FLASH_QUERY] = tensor_at(pass.x, 0),
        [FLASH_KEY] = planned->backward ? tensor_at(pass.x, keys) : NULL,
        [FLASH_KEY_TURNED] = tensor_at(pass.x, keys),
        [FLASH_VALUE] = tensor_at(pass.x, values),
        [FLASH_OUTPUT] = pass.y,
        [FLASH_LOG_SUMS] = pass.log_sums,
        [FLASH_OUTPUT_GRADIENT] = tensor_at(pass.dy, 0),
        [FLASH_QUERY_GRADIENT] = tensor_at(pass.dx, 0),
        [FLASH_KEY_GRADIENT] = tensor_at(pass.dx, keys),
        [FLASH_VALUE_GRADIENT] = tensor_at(pass.dx, values),
        [FLASH_SCALE] = &scale,
        [FLASH_LOWEST] = &lowest,
        [FLASH_ONE] = planned->backward ? &one : NULL,
    };
    struct layout measured = {0};
    (void)lay(&measured, planned, memory);
    struct layout scratch = {.memory = cuda_scratch(cuda, measured.bytes)};
    void *workspace = lay(&scratch, planned, memory);
    cudnn_check(flash_plan_run(cuda_cudnn(cuda), &planned->plan, memory, workspace), "attention");
}

/* Returns the pass with pointers to the tensors from sample number `sample` on. */
static struct pass pass_from(const struct attention *attention, struct pass pass, int sample)
{
    const size_t rows = (size_t)sample * (size_t)attention->length;
    const size_t in = rows * attention_input(attention), out = rows * attention_output(attention);
    return (struct pass){.x = pass.x + in,
                         .y = pass.y + out,
                         .log_sums = pass.log_sums + rows * (size_t)attention->heads,
                         .dy = tensor_at(pass.dy, out),
                         .dx = tensor_at(pass.dx, in)};
}

static bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % FLASH_ALIGNMENT == 0;
}

static bool fits(const struct attention *attention, struct pass pass)
{
    return flash_fits(attention) && is_aligned(pass.x) && is_aligned(pass.y) &&
           is_aligned(pass.dy) && is_aligned(pass.dx);
}

static bool compute(struct cuda *cuda, const struct attention *attention, int batch,
                    struct pass pass)
{
    const bool backward = pass.dx != NULL;
    (void)flash_of(cuda);
    const int at_once = samples_at_once(cuda, attention, batch, backward);
    if (!fits(attention, pass))
        return false;
    if (at_once == 0)
        note(attention, "its workspace is too large for this device");
    const int last = at_once > 0 ? batch % at_once : 0;
    if (at_once == 0 || plan_of(cuda, attention, at_once, backward) == NULL ||
        (last > 0 && plan_of(cuda, attention, last, backward) == NULL))
        return false;
    for (int sample = 0; sample < batch; sample += at_once) {
        const int count = int_min(batch - sample, at_once);
        run(cuda, pass_from(attention, pass, sample), plan_of(cuda, attention, count, backward));
    }
    return true;
}

bool cuda_flash_forward(struct cuda *cuda, const struct attention *attention, int batch,
                        const uint16_t *x, uint16_t *y, float *log_sums)
{
    return compute(cuda, attention, batch, (struct pass){.x = x, .y = y, .log_sums = log_sums});
}

bool cuda_flash_backward(struct cuda *cuda, const struct attention *attention, int batch,
                         const uint16_t *x, const uint16_t *y, const float *log_sums,
                         const uint16_t *dy, uint16_t *dx)
{
    return compute(
        cuda, attention, batch,
        (struct pass){
            .x = x, .y = (uint16_t *)y, .log_sums = (float *)log_sums, .dy = dy, .dx = dx});
}

void cuda_flash_close(struct cuda *cuda)
{
    struct flash *all = cuda->flash;
    if (all == NULL)
        return;
    for (int i = 0; i < all->count; i++) {
        flash_plan_free(&all->plans[i]->plan);
        free(all->plans[i]);
    }
    free(all->plans);
    free(all);
}
