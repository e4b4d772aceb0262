/* Tests attention's graphs for cuDNN on described devices, without a GPU: whether cuDNN has engines
 * for them and compiles these engines. Only loading the compiled code fails here, in the CUDA
 * Toolkit's stub of libcuda. test_flash.c checks results.
 *
 * The workspace shows whether an engine is fused. A fused engine stores at most the gradients of
 * the scores, and only in the backward pass. Any other engine also stores the softmax.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "backend/cuda/cuda_flash_graph.h"

#define SKIP 77
/* Upper limit of a workspace that does not grow with the pairs of positions. */
#define FEW_BYTES ((size_t)1 << 20)

/* Describes a device with the attributes that cuDNN requires. */
#define DEVICE(name, capability, processors, shared, l2)                                           \
    "{\"cudaDeviceId\": 0, \"deviceVer\": " capability ", \"driverVer\": 13000, "                  \
    "\"maxGridSize\": [2147483647, 65535, 65535], \"maxBlockSize\": [1024, 1024, 64], "            \
    "\"regsPerBlock\": 65536, \"multiProcessorCount\": " processors ", \"warpSize\": 32, "         \
    "\"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": " shared ", "           \
    "\"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": 65536, "                       \
    "\"maxCtasPerSM\": 32, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": 2048, "              \
    "\"pciDeviceId\": 0, \"isTccDriver\": 0, \"supportCoopLaunch\": 1, "                           \
    "\"smClockRateKHz\": 1500000, \"memClockRateKHz\": 2000000, \"l2CacheSize\": " l2 ", "         \
    "\"deviceName\": \"" name "\", \"totalGlobalMem\": 85000000000}"

static const char h100[] = DEVICE("NVIDIA H100", "900", "132", "232448", "52428800");
static const char a100[] = DEVICE("NVIDIA A100", "800", "108", "166912", "41943040");
/* a device without bfloat16 */
static const char t4[] = DEVICE("Tesla T4", "750", "40", "65536", "4194304");

#if CUDNN_VERSION >= 91900
static cudnnBackendDescriptor_t describe(const char *json)
{
    cudnnBackendDescriptor_t device;
    assert_int_equal(cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &device), 0);
    assert_int_equal(cudnnBackendSetAttribute(device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                                              CUDNN_TYPE_CHAR, (int64_t)strlen(json), json),
                     0);
    assert_int_equal(cudnnBackendFinalize(device), 0);
    return device;
}
#else
static cudnnBackendDescriptor_t describe(const char *json)
{
    (void)json;
    return NULL;
}
#endif

static struct flash_plan plan_on(const char *json, const struct attention *attention, int batch,
                                 bool backward)
{
    struct flash_plan plan;
    const cudnnBackendDescriptor_t device = describe(json);
    flash_plan_init(&plan, (struct flash_device){.described = device}, attention, batch, backward);
    flash_plan_free(&plan);
    (void)cudnnBackendDestroyDescriptor(device);
    return plan;
}

static void check(const char *json, const struct attention *attention, int batch, bool backward)
{
    const struct flash_plan plan = plan_on(json, attention, batch, backward);
    const size_t length = (size_t)(attention->length + 127) / 128 * 128;
    const size_t pairs = (size_t)batch * (size_t)attention->heads * length * length;
    if (plan.stage != FLASH_DONE &&
        (plan.stage != FLASH_COMPILE || plan.status != CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER))
        fail_msg("stage %d with %d engines: %s", (int)plan.stage, plan.engines, plan.why);
    assert_true(plan.engines > 0);
    assert_true(plan.workspace_bytes <= (backward ? pairs * sizeof(uint16_t) : 0) + FEW_BYTES);
}

static void an_h100_has_engines_for_both_passes(void **state)
{
    const struct attention gpt2 = {.length = 1024, .heads = 12, .kv_heads = 12, .size = 64};
    (void)state;
    check(h100, &gpt2, 2, false);
    check(h100, &gpt2, 2, true);
}

static void an_a100_has_engines_for_shared_keys_and_odd_lengths(void **state)
{
    const struct attention shared = {.length = 333, .heads = 6, .kv_heads = 2, .size = 128};
    (void)state;
    check(a100, &shared, 3, false);
    check(a100, &shared, 3, true);
}

static void a_device_without_bfloat16_has_no_engine_and_says_so(void **state)
{
    const struct attention small = {.length = 64, .heads = 2, .kv_heads = 2, .size = 64};
    (void)state;
    const struct flash_plan plan = plan_on(t4, &small, 1, true);
    assert_int_equal(plan.stage, FLASH_SEARCH);
    assert_int_equal(plan.engines, 0);
    assert_null(plan.plan);
    assert_true(plan.why[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_h100_has_engines_for_both_passes),
        cmocka_unit_test(an_a100_has_engines_for_shared_keys_and_odd_lengths),
        cmocka_unit_test(a_device_without_bfloat16_has_no_engine_and_says_so),
    };
    if (CUDNN_VERSION < 91900 || cudnnGetVersion() < 91900) {
        print_message("skipped: cuDNN %zu cannot compile for a described device; that takes 9.19\n",
                      cudnnGetVersion());
        return SKIP;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
