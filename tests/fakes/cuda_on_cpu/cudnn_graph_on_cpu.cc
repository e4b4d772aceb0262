/* Graphs of cuDNN's backend interface: see cudnn.h. */
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "cudnn.h"

#define HEAD_MAX 128 /* largest head size for which an engine computes attention */

/* Engines, in the order in which they are listed. */
enum { IN_ANY_ORDER, NOT_COMPILED, COMPUTES, ENGINES };

/* An attribute as it was set. */
struct attribute {
    cudnnBackendAttributeType_t type;
    int64_t count;
    std::vector<char> bytes;
};

struct tensor_of_graph {
    int64_t id, size[4], stride[4];
    size_t alignment;
    cudnnDataType_t type;
    bool is_virtual, is_by_value;

    size_t numbers() const
    {
        int64_t last = 0;
        for (int i = 0; i < 4; i++)
            last += (size[i] - 1) * stride[i];
        return (size_t)last + 1;
    }
};

struct operation_of_graph {
    cudnnBackendDescriptorType_t type;
    int mode;
    int64_t axis;
    tensor_of_graph x, b, t, y; /* operands and result; a product computes x·b */
    bool has_b, has_t;
};

struct stand_in_descriptor {
    cudnnBackendDescriptorType_t type;
    bool is_final;
    std::map<int, attribute> attributes;
    std::vector<operation_of_graph> operations; /* operations of a graph, engine or plan */
    int engine;
};

static std::atomic<uint64_t> runs;
static thread_local const char *last_error = "";

uint64_t stand_in_flash_runs()
{
    return runs;
}

void cudnnGetLastErrorString(char *text, size_t room)
{
    (void)snprintf(text, room, "%s", last_error);
}

static cudnnStatus_t refuse(cudnnStatus_t status, const char *why)
{
    last_error = why;
    return status;
}

static cudnnStatus_t good(bool is_good, const char *why)
{
    return is_good ? CUDNN_STATUS_SUCCESS : refuse(CUDNN_STATUS_BAD_PARAM, why);
}

static size_t bytes_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_BOOLEAN:
        return sizeof(bool);
    case CUDNN_TYPE_INT64:
        return sizeof(int64_t);
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return sizeof(void *);
    default:
        return sizeof(int);
    }
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *made)
{
    *made = new stand_in_descriptor{type, false, {}, {}, 0};
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t of)
{
    delete of;
    return CUDNN_STATUS_SUCCESS;
}

/* As in cuDNN, descriptors must be final before they are set as attributes. */
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t of,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *values)
{
    const char *bytes = (const char *)values;
    if (of->is_final || count < 1)
        return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute of a final descriptor");
    for (int64_t i = 0; i < count && type == CUDNN_TYPE_BACKEND_DESCRIPTOR; i++) {
        if (!((const cudnnBackendDescriptor_t *)values)[i]->is_final)
            return refuse(CUDNN_STATUS_BAD_PARAM, "a descriptor that is not final");
    }
    of->attributes[name] = {type, count, {bytes, bytes + (size_t)count * bytes_of(type)}};
    return CUDNN_STATUS_SUCCESS;
}

template <typename Value>
static bool get(cudnnBackendDescriptor_t of, int name, cudnnBackendAttributeType_t type,
                int64_t count, Value *to)
{
    const auto found = of->attributes.find(name);
    if (found == of->attributes.end() || found->second.type != type || found->second.count != count)
        return false;
    memcpy(to, found->second.bytes.data(), found->second.bytes.size());
    return true;
}

static bool get_descriptor(cudnnBackendDescriptor_t of, int name, cudnnBackendDescriptorType_t type,
                           cudnnBackendDescriptor_t *to)
{
    return get(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, to) && (*to)->type == type;
}

static bool get_tensor(cudnnBackendDescriptor_t of, int name, tensor_of_graph *tensor)
{
    cudnnBackendDescriptor_t from;
    int64_t alignment = 0;
    *tensor = {};
    if (!get_descriptor(of, name, CUDNN_BACKEND_TENSOR_DESCRIPTOR, &from))
        return false;
    (void)get(from, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &tensor->is_by_value);
    (void)get(from, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &tensor->is_virtual);
    const bool is_whole =
        get(from, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &tensor->id) &&
        get(from, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &tensor->type) &&
        get(from, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, tensor->size) &&
        get(from, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, tensor->stride) &&
        get(from, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    tensor->alignment = (size_t)alignment;
    return is_whole && alignment > 0;
}

static bool get_mode(cudnnBackendDescriptor_t of, int how_name, cudnnBackendDescriptorType_t how_is,
                     int name, cudnnBackendAttributeType_t type, operation_of_graph *operation)
{
    cudnnBackendDescriptor_t how;
    if (!get_descriptor(of, how_name, how_is, &how))
        return false;
    operation->axis = -1;
    (void)get(how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &operation->axis);
    return get(how, name, type, 1, &operation->mode);
}

static bool get_operation(cudnnBackendDescriptor_t of, operation_of_graph *operation)
{
    *operation = {};
    operation->type = of->type;
    switch (of->type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
        return get_mode(of, CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_BACKEND_MATMUL_DESCRIPTOR,
                        CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, operation) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_MATMUL_ADESC, &operation->x) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_MATMUL_BDESC, &operation->b) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_MATMUL_CDESC, &operation->y);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
        operation->has_b = get_tensor(of, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &operation->b);
        operation->has_t = get_tensor(of, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, &operation->t);
        return get_mode(of, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                        CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_ATTR_POINTWISE_MODE,
                        CUDNN_TYPE_POINTWISE_MODE, operation) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &operation->x) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &operation->y);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
        return get_mode(of, CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_BACKEND_REDUCTION_DESCRIPTOR,
                        CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,
                        operation) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &operation->x) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &operation->y);
    default:
        return get_tensor(of, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &operation->x) &&
               get_tensor(of, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &operation->y);
    }
}

/* Returns true if the operation is a product of bfloat16 operands. Heads of the right operand may
 * be shared. */
static bool is_product(const operation_of_graph &of)
{
    const int64_t *a = of.x.size, *b = of.b.size, *c = of.y.size;
    return of.x.type == CUDNN_DATA_BFLOAT16 && of.b.type == CUDNN_DATA_BFLOAT16 &&
           of.mode == CUDNN_DATA_FLOAT && a[0] == c[0] && b[0] == c[0] && a[1] == c[1] &&
           c[1] % b[1] == 0 && a[2] == c[2] && a[3] == b[2] && b[3] == c[3];
}

/* Returns true if each dimension of x is 1 or equals that of y. */
static bool is_spread(const tensor_of_graph &x, const tensor_of_graph &y)
{
    for (int i = 0; i < 4; i++) {
        if (x.size[i] != y.size[i] && x.size[i] != 1)
            return false;
    }
    return true;
}

static bool fits(const operation_of_graph &of)
{
    if (of.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
        return is_product(of);
    if (of.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
        return is_spread(of.x, of.y) && (!of.has_b || is_spread(of.b, of.y)) &&
               (!of.has_t || (is_spread(of.t, of.y) && of.t.type == CUDNN_DATA_BOOLEAN));
    if (of.type != CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        return of.x.is_virtual && of.y.is_virtual && of.x.numbers() == of.y.numbers();
    for (int i = 0; i < 4; i++) {
        if (of.x.size[i] % of.y.size[i] != 0)
            return false;
    }
    return true;
}

static cudnnStatus_t finish_graph(cudnnBackendDescriptor_t of)
{
    cudnnHandle_t dnn;
    const auto found = of->attributes.find(CUDNN_ATTR_OPERATIONGRAPH_OPS);
    if (found == of->attributes.end() ||
        !get(of, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn))
        return refuse(CUDNN_STATUS_BAD_PARAM, "a graph without operations or handle");
    const auto all = (const cudnnBackendDescriptor_t *)found->second.bytes.data();
    for (int64_t i = 0; i < found->second.count; i++) {
        operation_of_graph operation;
        if (!get_operation(all[i], &operation) || !fits(operation))
            return refuse(CUDNN_STATUS_BAD_PARAM, "an operation that does not fit its tensors");
        of->operations.push_back(operation);
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finish_search(cudnnBackendDescriptor_t of)
{
    cudnnBackendDescriptor_t graph;
    int mode;
    if (!get_descriptor(of, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                        CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &graph) ||
        !get(of, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode))
        return refuse(CUDNN_STATUS_BAD_PARAM, "a search without a graph");
    of->operations = graph->operations;
    for (const operation_of_graph &operation : of->operations) {
        if (!operation.x.is_virtual && operation.x.stride[3] == 1 && operation.x.size[3] > HEAD_MAX)
            return refuse(CUDNN_STATUS_NOT_SUPPORTED, "heads of more than 128 numbers");
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finish_plan(cudnnBackendDescriptor_t of)
{
    cudnnBackendDescriptor_t engine;
    cudnnHandle_t dnn;
    if (!get_descriptor(of, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                        CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &engine) ||
        !get(of, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &dnn))
        return refuse(CUDNN_STATUS_BAD_PARAM, "a plan without an engine or handle");
    of->operations = engine->operations;
    of->engine = engine->engine;
    return of->engine == NOT_COMPILED
               ? refuse(CUDNN_STATUS_NOT_SUPPORTED, "the engine cannot be compiled")
               : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t of)
{
    cudnnStatus_t status = good(!of->is_final, "final already");
    if (status == CUDNN_STATUS_SUCCESS && of->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
        status = finish_graph(of);
    if (status == CUDNN_STATUS_SUCCESS && of->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)
        status = finish_search(of);
    if (status == CUDNN_STATUS_SUCCESS && of->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)
        status = finish_plan(of);
    of->is_final = status == CUDNN_STATUS_SUCCESS;
    return status;
}

/* Returns the bytes of the workspace. A gradient that is multiplied takes 2 bytes for each pair of
 * positions. */
static int64_t workspace_of(const stand_in_descriptor &of)
{
    int64_t bytes = 256;
    for (const operation_of_graph &operation : of.operations) {
        const int64_t *size = operation.x.size;
        if (operation.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR &&
            operation.x.type == CUDNN_DATA_BFLOAT16)
            bytes += 2 * size[0] * size[1] * size[2] * size[3];
    }
    return bytes;
}

static cudnnStatus_t give(cudnnBackendDescriptor_t to, cudnnBackendDescriptorType_t type,
                          const stand_in_descriptor &from, int engine)
{
    if (to->type != type || to->is_final)
        return refuse(CUDNN_STATUS_BAD_PARAM, "a result of another type");
    to->operations = from.operations;
    to->engine = engine;
    to->is_final = true;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t of,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t most,
                                       int64_t *count, void *values)
{
    cudnnStatus_t status = good(of->is_final && most >= 1, "an attribute before the end");
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    *count = 1;
    const auto results = (cudnnBackendDescriptor_t *)values;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS && type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        for (*count = 0; *count < ENGINES && *count < most && status == CUDNN_STATUS_SUCCESS;
             ++*count)
            status = give(results[*count], CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, *of, (int)*count);
        return status;
    }
    if (name == CUDNN_ATTR_ENGINECFG_ENGINE && type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
        return give(results[0], CUDNN_BACKEND_ENGINE_DESCRIPTOR, *of, of->engine);
    if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE && type == CUDNN_TYPE_NUMERICAL_NOTE) {
        *(cudnnBackendNumericalNote_t *)values = of->engine == IN_ANY_ORDER
                                                     ? CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC
                                                     : CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
        return CUDNN_STATUS_SUCCESS;
    }
    if (type != CUDNN_TYPE_INT64)
        return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute of another type");
    *(int64_t *)values = workspace_of(*of);
    return CUDNN_STATUS_SUCCESS;
}

/* Numbers of a graph's tensors by tensor id. `given` is the caller's memory, `own` has virtual
 * tensors. */

typedef int64_t place[4];

struct memory_of_graph {
    std::map<int64_t, void *> given;
    std::map<int64_t, std::vector<float>> own;
    std::map<int64_t, float> by_value;
};

static size_t offset(const tensor_of_graph &of, const place &at)
{
    int64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (of.size[i] == 1 ? 0 : at[i]) * of.stride[i];
    return (size_t)sum;
}

static float to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value == value)
        bits += 0x7FFF + (bits >> 16 & 1);
    bits &= 0xFFFF0000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct view {
    tensor_of_graph of;
    void *at; /* bfloat16 if the tensor has that type and is in memory, otherwise float32 */
    float by_value;

    view(memory_of_graph &memory, const tensor_of_graph &tensor)
        : of(tensor), at(nullptr), by_value(0)
    {
        if (of.is_by_value) {
            by_value = memory.by_value[of.id];
            at = &by_value;
        } else if (of.is_virtual) {
            memory.own[of.id].resize(of.numbers(), NAN);
            at = memory.own[of.id].data();
        } else {
            at = memory.given[of.id];
        }
    }

    view(const view &) = delete;

    bool is_half() const
    {
        return of.type == CUDNN_DATA_BFLOAT16 && !of.is_virtual;
    }

    float read(const place &place) const
    {
        if (!is_half())
            return ((const float *)at)[offset(of, place)];
        const uint32_t bits = (uint32_t)((const uint16_t *)at)[offset(of, place)] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }

    void write(const place &place, float value) const
    {
        uint32_t bits;
        value = of.type == CUDNN_DATA_BFLOAT16 ? to_bf16(value) : value;
        memcpy(&bits, &value, sizeof bits);
        if (is_half())
            ((uint16_t *)at)[offset(of, place)] = (uint16_t)(bits >> 16);
        else
            ((float *)at)[offset(of, place)] = value;
    }
};

template <typename Visit> static void each_place(const int64_t size[4], Visit visit)
{
    place at;
    for (at[0] = 0; at[0] < size[0]; at[0]++)
        for (at[1] = 0; at[1] < size[1]; at[1]++)
            for (at[2] = 0; at[2] < size[2]; at[2]++)
                for (at[3] = 0; at[3] < size[3]; at[3]++)
                    visit(at);
}

static void multiply(memory_of_graph &memory, const operation_of_graph &of)
{
    const int64_t shared = of.y.size[1] / of.b.size[1];
    const view left(memory, of.x), right(memory, of.b), to(memory, of.y);
    each_place(of.y.size, [&](const place &at) {
        float sum = 0;
        for (int64_t i = 0; i < of.x.size[3]; i++)
            sum +=
                left.read({at[0], at[1], at[2], i}) * right.read({at[0], at[1] / shared, i, at[3]});
        to.write(at, sum);
    });
}

static float apply(const operation_of_graph &of, const place &at, float x, float b, float t)
{
    switch (of.mode) {
    case CUDNN_POINTWISE_ADD:
        return x + b;
    case CUDNN_POINTWISE_SUB:
        return x - b;
    case CUDNN_POINTWISE_MUL:
        return x * b;
    case CUDNN_POINTWISE_DIV:
        return x / b;
    case CUDNN_POINTWISE_EXP:
        return expf(x);
    case CUDNN_POINTWISE_LOG:
        return logf(x);
    case CUDNN_POINTWISE_GEN_INDEX:
        return (float)at[of.axis];
    case CUDNN_POINTWISE_CMP_GE:
        return x >= b ? 1 : 0;
    case CUDNN_POINTWISE_BINARY_SELECT:
        return t != 0 ? x : b;
    default:
        return NAN;
    }
}

static void map(memory_of_graph &memory, const operation_of_graph &of)
{
    const view x(memory, of.x), b(memory, of.has_b ? of.b : of.x),
        t(memory, of.has_t ? of.t : of.x);
    const view y(memory, of.y);
    each_place(of.y.size, [&](const place &at) {
        y.write(at, apply(of, at, x.read(at), b.read(at), t.read(at)));
    });
}

static void reduce(memory_of_graph &memory, const operation_of_graph &of)
{
    const bool adds = of.mode == CUDNN_REDUCE_TENSOR_ADD;
    std::vector<float> sums(of.y.numbers(), adds ? 0 : -INFINITY);
    const view x(memory, of.x), y(memory, of.y);
    place ratio;
    for (int i = 0; i < 4; i++)
        ratio[i] = of.x.size[i] / of.y.size[i];
    each_place(of.x.size, [&](const place &at) {
        const place to = {at[0] / ratio[0], at[1] / ratio[1], at[2] / ratio[2], at[3] / ratio[3]};
        float &sum = sums[offset(of.y, to)];
        sum = adds ? sum + x.read(at) : fmaxf(sum, x.read(at));
    });
    each_place(of.y.size, [&](const place &at) { y.write(at, sums[offset(of.y, at)]); });
}

/* Copies a tensor's numbers in another order. */
static void turn(memory_of_graph &memory, const operation_of_graph &of)
{
    const std::vector<float> &from = memory.own[of.x.id];
    std::vector<float> &to = memory.own[of.y.id];
    to.clear();
    for (const float value : from)
        to.push_back(of.y.type == CUDNN_DATA_BFLOAT16 ? to_bf16(value) : value);
}

static void compute(memory_of_graph &memory, const operation_of_graph &of)
{
    if (of.type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
        multiply(memory, of);
    else if (of.type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        reduce(memory, of);
    else if (of.type == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
        map(memory, of);
    else
        turn(memory, of);
}

/* Returns true if the tensor is virtual, is a number of the host, which is read now, or has valid
 * device memory. */
static bool take(memory_of_graph &memory, const tensor_of_graph &of)
{
    if (of.is_virtual || of.numbers() == 0)
        return true;
    const auto found = memory.given.find(of.id);
    if (found == memory.given.end())
        return false;
    if (of.is_by_value) {
        memory.by_value[of.id] = *(const float *)found->second;
        return true;
    }
    const size_t bytes = of.type == CUDNN_DATA_FLOAT ? sizeof(float) : sizeof(uint16_t);
    return (uintptr_t)found->second % of.alignment == 0 &&
           stand_in_is_device_memory(found->second, of.numbers() * bytes);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t dnn, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack)
{
    cudnnHandle_t own;
    char *workspace;
    const auto memory = std::make_shared<memory_of_graph>();
    const attribute &ids = pack->attributes[CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS];
    const attribute &pointers = pack->attributes[CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS];
    const size_t bytes = (size_t)workspace_of(*plan);
    if (!plan->is_final || !pack->is_final || plan->engine != COMPUTES ||
        ids.count != pointers.count ||
        !get(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &own) || own != dnn ||
        !get(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace) ||
        !stand_in_is_device_memory(workspace, bytes))
        return refuse(CUDNN_STATUS_BAD_PARAM, "a plan, pack or workspace that does not fit");
    for (int64_t i = 0; i < ids.count; i++)
        memory->given[((const int64_t *)ids.bytes.data())[i]] =
            ((void *const *)pointers.bytes.data())[i];
    for (const operation_of_graph &of : plan->operations) {
        if (!take(*memory, of.x) || !take(*memory, of.y) || (of.b.id != 0 && !take(*memory, of.b)))
            return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor without memory, or not aligned");
    }
    runs++;
    const auto operations = plan->operations;
    return good(stand_in_submit(stand_in_stream_of(dnn),
                                [=] {
                                    memory->own.clear();
                                    memset(workspace, 0xEE, bytes);
                                    for (const operation_of_graph &of : operations)
                                        compute(*memory, of);
                                }) == cudaSuccess,
                "the stream");
}
