/* Builds cuDNN's graphs of attention and their plans (cuda_flash_graph.h). */
#include "backend/cuda/cuda_flash_graph.h"

#include <stdio.h>
#include <string.h>

#define OPERATIONS_MAX 32
#define ENGINES_MAX    16  /* largest number of engines to try */
#define VIRTUAL_FROM   100 /* first id of virtual tensors, which are not in memory */

#define FLOAT32  CUDNN_DATA_FLOAT
#define BFLOAT16 CUDNN_DATA_BFLOAT16
#define INT32    CUDNN_DATA_INT32
#define BOOLEAN  CUDNN_DATA_BOOLEAN

typedef cudnnBackendDescriptor_t descriptor;

/* A graph that is being built. After the first error, nothing is added to it. */
struct builder {
    struct attention of;
    int64_t batch;
    cudnnStatus_t status;
    struct flash_plan *plan; /* owns all descriptors of the graph */
    descriptor operations[OPERATIONS_MAX];
    int operation_count;
    int64_t next_id;
};

/* Layout of a tensor: dimensions [batch, heads, rows, columns] and their strides. */
struct layout4 {
    int64_t size[4];
    int64_t stride[4];
};

static descriptor make(struct builder *builder, cudnnBackendDescriptorType_t type)
{
    descriptor made = NULL;
    struct flash_plan *plan = builder->plan;
    if (plan->made_count == FLASH_DESCRIPTORS)
        builder->status = CUDNN_STATUS_NOT_SUPPORTED;
    if (builder->status == CUDNN_STATUS_SUCCESS)
        builder->status = cudnnBackendCreateDescriptor(type, &made);
    if (builder->status == CUDNN_STATUS_SUCCESS)
        plan->made[plan->made_count++] = made;
    return made;
}

static void set(struct builder *builder, descriptor of, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count, const void *value)
{
    if (builder->status == CUDNN_STATUS_SUCCESS)
        builder->status = cudnnBackendSetAttribute(of, name, type, count, value);
}

static void set_type(struct builder *builder, descriptor of, cudnnBackendAttributeName_t name,
                     cudnnDataType_t type)
{
    set(builder, of, name, CUDNN_TYPE_DATA_TYPE, 1, &type);
}

static void set_number(struct builder *builder, descriptor of, cudnnBackendAttributeName_t name,
                       int64_t number)
{
    set(builder, of, name, CUDNN_TYPE_INT64, 1, &number);
}

static void set_flag(struct builder *builder, descriptor of, cudnnBackendAttributeName_t name,
                     bool flag)
{
    set(builder, of, name, CUDNN_TYPE_BOOLEAN, 1, &flag);
}

static void set_descriptor(struct builder *builder, descriptor of, cudnnBackendAttributeName_t name,
                           descriptor value)
{
    set(builder, of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static void finish(struct builder *builder, descriptor of)
{
    if (builder->status == CUDNN_STATUS_SUCCESS)
        builder->status = cudnnBackendFinalize(of);
}

/* Tensors of the graph: in device memory, virtual (computed and used by the engine only), or a
 * single number in host memory. */

enum kind { MEMORY, VIRTUAL, HOST_NUMBER };

static descriptor tensor(struct builder *builder, int64_t id, cudnnDataType_t type, enum kind kind,
                         struct layout4 layout)
{
    const descriptor made = make(builder, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_number(builder, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    set_type(builder, made, CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    set(builder, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, layout.size);
    set(builder, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, layout.stride);
    set_number(builder, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
               type == FLOAT32 && kind == MEMORY ? (int64_t)sizeof(float) : FLASH_ALIGNMENT);
    set_flag(builder, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, kind == VIRTUAL);
    if (kind == HOST_NUMBER)
        set_flag(builder, made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    finish(builder, made);
    return made;
}

static struct layout4 rows_of(const struct builder *builder, int64_t rows, int64_t columns)
{
    const int64_t heads = builder->of.heads;
    return (struct layout4){{builder->batch, heads, rows, columns},
                            {heads * rows * columns, rows * columns, columns, 1}};
}

static struct layout4 turned(struct layout4 layout)
{
    return (struct layout4){
        {layout.size[0], layout.size[1], layout.size[3], layout.size[2]},
        {layout.stride[0], layout.stride[1], layout.stride[3], layout.stride[2]}};
}

/* Returns the layout of `heads` heads in a tensor whose positions are `stride` numbers apart. */
static struct layout4 heads_of(const struct builder *builder, int heads, size_t stride)
{
    const struct attention *of = &builder->of;
    return (struct layout4){{builder->batch, heads, of->length, of->size},
                            {(int64_t)stride * of->length, of->size, (int64_t)stride, 1}};
}

/* Returns the layout of queries, keys or values in x, or of their gradients in dx. */
static struct layout4 input_layout(const struct builder *builder, enum flash_tensor id)
{
    const bool is_query = id == FLASH_QUERY || id == FLASH_QUERY_GRADIENT;
    return heads_of(builder, is_query ? builder->of.heads : builder->of.kv_heads,
                    attention_input(&builder->of));
}

static descriptor input(struct builder *builder, enum flash_tensor id)
{
    return tensor(builder, id, BFLOAT16, MEMORY, input_layout(builder, id));
}

/* Adds a transposed tensor of keys or values: each column is a position. */
static descriptor turned_input(struct builder *builder, enum flash_tensor id)
{
    return tensor(builder, id, BFLOAT16, MEMORY, turned(input_layout(builder, id)));
}

static descriptor output(struct builder *builder, enum flash_tensor id)
{
    return tensor(builder, id, BFLOAT16, MEMORY,
                  heads_of(builder, builder->of.heads, attention_output(&builder->of)));
}

static descriptor line_memory(struct builder *builder, enum flash_tensor id)
{
    return tensor(builder, id, FLOAT32, MEMORY, rows_of(builder, builder->of.length, 1));
}

static descriptor number(struct builder *builder, enum flash_tensor id)
{
    return tensor(builder, id, FLOAT32, HOST_NUMBER, (struct layout4){{1, 1, 1, 1}, {1, 1, 1, 1}});
}

static descriptor between(struct builder *builder, cudnnDataType_t type, struct layout4 layout)
{
    return tensor(builder, builder->next_id++, type, VIRTUAL, layout);
}

/* Adds a virtual tensor that has a number for each pair of query and key. */
static descriptor pairs(struct builder *builder, cudnnDataType_t type)
{
    return between(builder, type, rows_of(builder, builder->of.length, builder->of.length));
}

static descriptor turned_pairs(struct builder *builder)
{
    const int64_t length = builder->of.length;
    return between(builder, BFLOAT16, turned(rows_of(builder, length, length)));
}

/* Adds a virtual tensor that has a number for each query. */
static descriptor lines(struct builder *builder)
{
    return between(builder, FLOAT32, rows_of(builder, builder->of.length, 1));
}

static void add(struct builder *builder, descriptor operation)
{
    finish(builder, operation);
    if (builder->operation_count == OPERATIONS_MAX)
        builder->status = CUDNN_STATUS_NOT_SUPPORTED;
    if (builder->status == CUDNN_STATUS_SUCCESS)
        builder->operations[builder->operation_count++] = operation;
}

static void multiply(struct builder *builder, descriptor a, descriptor b, descriptor c)
{
    const descriptor how = make(builder, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set_type(builder, how, CUDNN_ATTR_MATMUL_COMP_TYPE, FLOAT32);
    finish(builder, how);
    const descriptor operation = make(builder, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    add(builder, operation);
}

#define NO_AXIS (-1)

/* Adds the operation y = mode(x, b) for each number; t selects between x and b in BINARY_SELECT. b
 * and t may be NULL. axis: dimension for GEN_INDEX, otherwise NO_AXIS. */
static void apply(struct builder *builder, cudnnPointwiseMode_t mode, cudnnDataType_t computes,
                  int64_t axis, descriptor x, descriptor b, descriptor t, descriptor y)
{
    const descriptor how = make(builder, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set(builder, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set_type(builder, how, CUDNN_ATTR_POINTWISE_MATH_PREC, computes);
    if (axis != NO_AXIS)
        set_number(builder, how, CUDNN_ATTR_POINTWISE_AXIS, axis);
    finish(builder, how);
    const descriptor operation = make(builder, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b != NULL)
        set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    if (t != NULL)
        set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    add(builder, operation);
}

static void map(struct builder *builder, cudnnPointwiseMode_t mode, descriptor x, descriptor y)
{
    apply(builder, mode, FLOAT32, NO_AXIS, x, NULL, NULL, y);
}

static void combine(struct builder *builder, cudnnPointwiseMode_t mode, descriptor x, descriptor b,
                    descriptor y)
{
    apply(builder, mode, FLOAT32, NO_AXIS, x, b, NULL, y);
}

/* Adds a reduction of x to y, over the dimensions in which y is smaller. */
static void reduce(struct builder *builder, cudnnReduceTensorOp_t mode, descriptor x, descriptor y)
{
    const descriptor how = make(builder, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set(builder, how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode);
    set_type(builder, how, CUDNN_ATTR_REDUCTION_COMP_TYPE, FLOAT32);
    finish(builder, how);
    const descriptor operation = make(builder, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    add(builder, operation);
}

/* Adds the operation y = xᵀ. */
static void turn(struct builder *builder, descriptor x, descriptor y)
{
    const descriptor operation = make(builder, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    set_descriptor(builder, operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    add(builder, operation);
}

/* Adds the masked scores and returns their tensor: query · key · scale for keys up to the query's
 * position, LOWEST for later keys. */
static descriptor masked_scores(struct builder *builder, descriptor query, descriptor scale)
{
    enum { QUERY_AXIS = 2, KEY_AXIS = 3 };
    const descriptor key = turned_input(builder, FLASH_KEY_TURNED);
    const descriptor products = pairs(builder, FLOAT32), scores = pairs(builder, FLOAT32);
    const descriptor rows = pairs(builder, INT32), columns = pairs(builder, INT32);
    const descriptor seen = pairs(builder, BOOLEAN), masked = pairs(builder, FLOAT32);
    const descriptor lowest = number(builder, FLASH_LOWEST);
    multiply(builder, query, key, products);
    combine(builder, CUDNN_POINTWISE_MUL, products, scale, scores);
    apply(builder, CUDNN_POINTWISE_GEN_INDEX, INT32, QUERY_AXIS, scores, NULL, NULL, rows);
    apply(builder, CUDNN_POINTWISE_GEN_INDEX, INT32, KEY_AXIS, scores, NULL, NULL, columns);
    apply(builder, CUDNN_POINTWISE_CMP_GE, BOOLEAN, NO_AXIS, rows, columns, NULL, seen);
    apply(builder, CUDNN_POINTWISE_BINARY_SELECT, FLOAT32, NO_AXIS, scores, lowest, seen, masked);
    return masked;
}

static void build_forward(struct builder *builder)
{
    const descriptor query = input(builder, FLASH_QUERY), scale = number(builder, FLASH_SCALE);
    const descriptor scores = masked_scores(builder, query, scale);
    const descriptor largest = lines(builder), below = pairs(builder, FLOAT32);
    const descriptor powers = pairs(builder, FLOAT32), sum = lines(builder);
    const descriptor log_sum = lines(builder), softmax = pairs(builder, BFLOAT16);
    reduce(builder, CUDNN_REDUCE_TENSOR_MAX, scores, largest);
    combine(builder, CUDNN_POINTWISE_SUB, scores, largest, below);
    map(builder, CUDNN_POINTWISE_EXP, below, powers);
    reduce(builder, CUDNN_REDUCE_TENSOR_ADD, powers, sum);
    map(builder, CUDNN_POINTWISE_LOG, sum, log_sum);
    combine(builder, CUDNN_POINTWISE_ADD, largest, log_sum, line_memory(builder, FLASH_LOG_SUMS));
    combine(builder, CUDNN_POINTWISE_DIV, powers, sum, softmax);
    multiply(builder, softmax, input(builder, FLASH_VALUE), output(builder, FLASH_OUTPUT));
}

/* Adds the gradient of keys or values: gradientᵀ·b, summed over the query heads that share a key
 * or value head. cuDNN computes that sum only if each query head's gradients are in memory, as
 * tensor each_id. */
static void shared_gradient(struct builder *builder, descriptor gradient, descriptor b,
                            enum flash_tensor id, enum flash_tensor each_id)
{
    const struct attention *of = &builder->of;
    const descriptor left = turned_pairs(builder), to = input(builder, id);
    turn(builder, gradient, left);
    if (of->kv_heads == of->heads) {
        multiply(builder, left, b, to);
        return;
    }
    const descriptor each =
        tensor(builder, each_id, BFLOAT16, MEMORY, rows_of(builder, of->length, of->size));
    multiply(builder, left, b, each);
    reduce(builder, CUDNN_REDUCE_TENSOR_ADD, each, to);
}

/* Adds the operations that compute Σ dY·Y of each query, and returns the tensor of these sums.
 * cuDNN supports the graph only if the sum is multiplied by a number (meant for dropout; here 1).
 * cuDNN before 9.19 may also need the result in memory. */
static descriptor common_gradient(struct builder *builder, descriptor dy)
{
    const struct layout4 all = rows_of(builder, builder->of.length, builder->of.size);
    const descriptor products = between(builder, FLOAT32, all);
    const descriptor sum = lines(builder);
    const descriptor common = line_memory(builder, FLASH_COMMON_GRADIENTS);
    combine(builder, CUDNN_POINTWISE_MUL, dy, output(builder, FLASH_OUTPUT), products);
    reduce(builder, CUDNN_REDUCE_TENSOR_ADD, products, sum);
    combine(builder, CUDNN_POINTWISE_MUL, sum, number(builder, FLASH_ONE), common);
    return common;
}

static void build_backward(struct builder *builder)
{
    const descriptor query = input(builder, FLASH_QUERY), scale = number(builder, FLASH_SCALE);
    const descriptor dy = output(builder, FLASH_OUTPUT_GRADIENT);
    const descriptor common = common_gradient(builder, dy);
    const descriptor scores = masked_scores(builder, query, scale);
    const descriptor below = pairs(builder, FLOAT32), softmax = pairs(builder, FLOAT32);
    combine(builder, CUDNN_POINTWISE_SUB, scores, line_memory(builder, FLASH_LOG_SUMS), below);
    map(builder, CUDNN_POINTWISE_EXP, below, softmax);
    shared_gradient(builder, softmax, dy, FLASH_VALUE_GRADIENT, FLASH_VALUE_GRADIENTS);
    const descriptor products = pairs(builder, FLOAT32), apart = pairs(builder, FLOAT32);
    const descriptor unscaled = pairs(builder, FLOAT32), gradient = pairs(builder, BFLOAT16);
    multiply(builder, dy, turned_input(builder, FLASH_VALUE), products);
    combine(builder, CUDNN_POINTWISE_SUB, products, common, apart);
    combine(builder, CUDNN_POINTWISE_MUL, apart, softmax, unscaled);
    combine(builder, CUDNN_POINTWISE_MUL, unscaled, scale, gradient);
    multiply(builder, gradient, input(builder, FLASH_KEY), input(builder, FLASH_QUERY_GRADIENT));
    shared_gradient(builder, gradient, query, FLASH_KEY_GRADIENT, FLASH_KEY_GRADIENTS);
}

static descriptor graph_of(struct builder *builder, struct flash_device device)
{
    const descriptor graph = make(builder, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(builder, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        builder->operation_count, builder->operations);
    if (device.dnn != NULL)
        set(builder, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &device.dnn);
    finish(builder, graph);
    return graph;
}

/* Makes a search or plan use device.described if device.dnn is NULL. Needs cuDNN 9.19 or later. */
static void set_described(struct builder *builder, descriptor of, bool is_plan,
                          struct flash_device device)
{
#if CUDNN_VERSION >= 91900
    if (device.dnn == NULL)
        set_descriptor(builder, of,
                       is_plan ? CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP
                               : CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                       device.described);
#else
    (void)of;
    (void)is_plan;
    if (device.dnn == NULL)
        builder->status = CUDNN_STATUS_NOT_SUPPORTED;
#endif
}

/* Writes the engines that cuDNN offers for the graph, in the order of their expected speed. Returns
 * their number. */
static int find_engines(struct builder *builder, struct flash_device device, descriptor graph,
                        descriptor engines[ENGINES_MAX])
{
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    int64_t count = 0;
    const descriptor search = make(builder, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_descriptor(builder, search, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(builder, search, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    set_described(builder, search, false, device);
    finish(builder, search);
    for (int i = 0; i < ENGINES_MAX; i++)
        engines[i] = make(builder, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (builder->status == CUDNN_STATUS_SUCCESS)
        builder->status =
            cudnnBackendGetAttribute(search, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                     CUDNN_TYPE_BACKEND_DESCRIPTOR, ENGINES_MAX, &count, engines);
    if (builder->status != CUDNN_STATUS_SUCCESS)
        return 0;
    return count < ENGINES_MAX ? (int)count : ENGINES_MAX;
}

static bool is_deterministic(struct builder *builder, descriptor engine)
{
    descriptor kind = make(builder, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0;
    if (builder->status != CUDNN_STATUS_SUCCESS ||
        cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                 1, &count, &kind) != CUDNN_STATUS_SUCCESS ||
        cudnnBackendGetAttribute(kind, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
                                 notes) != CUDNN_STATUS_SUCCESS)
        return false;
    for (int64_t i = 0; i < count && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++) {
        if (notes[i] == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)
            return false;
    }
    return true;
}

static size_t bytes_of(descriptor of, cudnnBackendAttributeName_t name)
{
    int64_t bytes = 0, count = 0;
    const cudnnStatus_t status =
        cudnnBackendGetAttribute(of, name, CUDNN_TYPE_INT64, 1, &count, &bytes);
    return status == CUDNN_STATUS_SUCCESS ? (size_t)bytes : 0;
}

static bool compile(struct builder *builder, struct flash_device device, descriptor engine)
{
    struct flash_plan *plan = builder->plan;
    const descriptor made = make(builder, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan->workspace_bytes = bytes_of(engine, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE);
    if (device.dnn != NULL)
        set(builder, made, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &device.dnn);
    set_described(builder, made, true, device);
    set_descriptor(builder, made, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
    finish(builder, made);
    if (builder->status != CUDNN_STATUS_SUCCESS)
        return false;
    plan->plan = made;
    plan->workspace_bytes = bytes_of(made, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    return true;
}

static void compile_first(struct builder *builder, struct flash_device device,
                          const descriptor *engines, int count)
{
    struct flash_plan *plan = builder->plan;
    for (int i = 0; i < count && plan->stage != FLASH_DONE; i++) {
        builder->status = CUDNN_STATUS_SUCCESS;
        if (!is_deterministic(builder, engines[i]))
            continue;
        plan->engines++;
        plan->stage = compile(builder, device, engines[i]) ? FLASH_DONE : FLASH_COMPILE;
    }
    if (plan->engines == 0)
        builder->status = CUDNN_STATUS_NOT_SUPPORTED;
}

static void explain(struct flash_plan *plan)
{
    char last[100] = "";
#if CUDNN_MAJOR >= 9
    cudnnGetLastErrorString(last, sizeof last);
#endif
    (void)snprintf(plan->why, sizeof plan->why, "%s%s%s", cudnnGetErrorString(plan->status),
                   last[0] != '\0' ? ": " : "", last);
}

bool flash_fits(const struct attention *attention)
{
    return attention->from == 0 && attention->size <= FLASH_SIZE_MAX &&
           attention->size % FLASH_SIZE_STEP == 0;
}

void flash_plan_init(struct flash_plan *plan, struct flash_device device,
                     const struct attention *attention, int batch, bool backward)
{
    *plan = (struct flash_plan){.stage = FLASH_BUILD};
    struct builder builder = {
        .of = *attention, .batch = batch, .plan = plan, .next_id = VIRTUAL_FROM};
    descriptor engines[ENGINES_MAX];
    if (backward)
        build_backward(&builder);
    else
        build_forward(&builder);
    const descriptor graph = graph_of(&builder, device);
    plan->stage = builder.status == CUDNN_STATUS_SUCCESS ? FLASH_SEARCH : FLASH_BUILD;
    const int count = find_engines(&builder, device, graph, engines);
    if (builder.status == CUDNN_STATUS_SUCCESS)
        compile_first(&builder, device, engines, count);
    plan->status = builder.status;
    if (plan->stage != FLASH_DONE) {
        explain(plan);
        flash_plan_free(plan);
    }
}

void flash_plan_free(struct flash_plan *plan)
{
    while (plan->made_count > 0)
        (void)cudnnBackendDestroyDescriptor(plan->made[--plan->made_count]);
    plan->plan = NULL;
}

static cudnnStatus_t fill(descriptor pack, void *const memory[FLASH_TENSORS], void *workspace)
{
    int64_t ids[FLASH_TENSORS];
    void *pointers[FLASH_TENSORS];
    int64_t count = 0;
    for (int64_t id = 1; id < FLASH_TENSORS; id++) {
        if (memory[id] == NULL)
            continue;
        ids[count] = id;
        pointers[count++] = memory[id];
    }
    cudnnStatus_t status = cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                                    CUDNN_TYPE_INT64, count, ids);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                          CUDNN_TYPE_VOID_PTR, count, pointers);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                                          CUDNN_TYPE_VOID_PTR, 1, &workspace);
    return status == CUDNN_STATUS_SUCCESS ? cudnnBackendFinalize(pack) : status;
}

cudnnStatus_t flash_plan_run(cudnnHandle_t dnn, const struct flash_plan *plan,
                             void *const memory[FLASH_TENSORS], void *workspace)
{
    descriptor pack;
    cudnnStatus_t status =
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
    if (status != CUDNN_STATUS_SUCCESS)
        return status;
    status = fill(pack, memory, workspace);
    if (status == CUDNN_STATUS_SUCCESS)
        status = cudnnBackendExecute(dnn, plan->plan, pack);
    (void)cudnnBackendDestroyDescriptor(pack);
    return status;
}
