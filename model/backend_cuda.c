#include "backend_cuda.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_kernels.h"

#define IN_FLIGHT       4                  /* steps that may wait for the device at once */
#define BLAS_ROOM_BYTES ((size_t)32 << 20) /* what cuBLAS wants on the newest devices */
#define BLOCKS_OF_ONE   4                  /* blocks that one multiprocessor runs side by side */

/* Memory of the device that grows when more is needed, and is not given back. */
struct room {
    void *memory;
    size_t bytes;
};

struct cuda {
    struct backend table; /* first: a pointer to it is a pointer to the struct */
    int device;
    int blocks; /* that it runs at once, of 256 threads */
    cudaStream_t stream;
    cublasHandle_t blas;
    cublasComputeType_t compute;
    void *blas_room;

    struct room patches;  /* of a convolution: columns ... */
    struct room products; /* ... and what they are multiplied to, or with */
    struct room exchange; /* bins, marks, levels, updates */
    uint64_t rooms;       /* how often one of them has grown: what was recorded is void then */

    cudaEvent_t done[IN_FLIGHT]; /* of the sequences launched last */
    uint64_t launched;
    bool recording;
};

/* What was recorded of a sequence. */
struct recording {
    cudaGraphExec_t graph;
    uint64_t rooms;
};

/* Nothing can be trusted to this device any more, and nothing is lost but what was learned since
 * the last checkpoint. */
static _Noreturn void lost(const char *what, const char *why)
{
    (void)fflush(stdout);
    (void)fprintf(
        stderr,
        "hearsay: the GPU failed (%s: %s); this node ends. Started again, it goes on from "
        "its last checkpoint; 'nvidia-smi' may know more\n",
        what, why);
    _exit(EXIT_FAILURE);
}

static void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        lost(what, cudaGetErrorString(error));
}

static void check_blas(cublasStatus_t status, const char *what)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        lost(what, cublasGetStatusString(status));
}

/* Which device a call is for is remembered by each thread; the learner's is not the one that opened
 * the backend. */
static struct cuda *on(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    check(cudaSetDevice(cuda->device), "choosing the device");
    return cuda;
}

/* Memory. */

static void *take_raw(struct cuda *cuda, size_t bytes)
{
    void *memory = NULL;
    const cudaError_t error = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        size_t left = 0, all = 0;
        (void)cudaMemGetInfo(&left, &all);
        (void)fprintf(stderr,
                      "hearsay: no memory for %zu bytes on GPU %d, of whose %zu MiB %zu are free: "
                      "take a smaller model or batch, or another device\n",
                      bytes, cuda->device, all >> 20, left >> 20);
        _exit(EXIT_FAILURE);
    }
    check(error, "taking memory");
    return memory;
}

static void *cuda_take(struct backend *backend, size_t bytes)
{
    struct cuda *cuda = on(backend);
    void *memory = take_raw(cuda, bytes);
    check(cudaMemsetAsync(memory, 0, bytes, cuda->stream), "clearing memory");
    return memory;
}

static void cuda_give(struct backend *backend, void *memory)
{
    struct cuda *cuda = on(backend);
    check(cudaStreamSynchronize(cuda->stream), "giving back memory");
    check(cudaFree(memory), "giving back memory");
}

/* The host's memory is pageable: it has been read when the call returns. */
static void cuda_upload(struct backend *backend, void *to, const void *host_from, size_t bytes)
{
    struct cuda *cuda = on(backend);
    check(cudaMemcpyAsync(to, host_from, bytes, cudaMemcpyHostToDevice, cuda->stream), "upload");
}

static void cuda_download(struct backend *backend, void *host_to, const void *from, size_t bytes)
{
    struct cuda *cuda = on(backend);
    check(cudaMemcpyAsync(host_to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream), "download");
    check(cudaStreamSynchronize(cuda->stream), "download");
}

/* Room for what only one operation uses. Grows when a larger one is met: in the first step, not in
 * one that is recorded. */
static void *room(struct cuda *cuda, struct room *room, size_t bytes)
{
    if (bytes <= room->bytes)
        return room->memory;
    CHECK(!cuda->recording);
    cuda_give(&cuda->table, room->memory);
    *room = (struct room){.memory = take_raw(cuda, bytes), .bytes = bytes};
    cuda->rooms++;
    return room->memory;
}

/* Sequences: called once, recorded the second time, launched as one from the third. */

static void launched(struct cuda *cuda)
{
    check(cudaEventRecord(cuda->done[cuda->launched++ % IN_FLIGHT], cuda->stream), "a step");
}

static void cuda_sequence_drop(struct backend *backend, struct sequence *sequence)
{
    (void)on(backend);
    struct recording *recording = sequence->recorded;
    if (recording != NULL)
        check(cudaGraphExecDestroy(recording->graph), "dropping a step");
    free(recording);
    *sequence = (struct sequence){0};
}

static bool cuda_sequence_begin(struct backend *backend, struct sequence *sequence)
{
    struct cuda *cuda = on(backend);
    const struct recording *recording = sequence->recorded;
    /* Whoever calls may be ahead of the device, but not by more than it does in a moment. */
    check(cudaEventSynchronize(cuda->done[cuda->launched % IN_FLIGHT]), "a step");
    if (recording != NULL && recording->rooms != cuda->rooms) {
        cuda_sequence_drop(backend, sequence);
        recording = NULL;
    }
    if (recording != NULL) {
        check(cudaGraphLaunch(recording->graph, cuda->stream), "a step");
        launched(cuda);
        return true;
    }
    cuda->recording = sequence->times == 1;
    if (cuda->recording)
        check(cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal), "recording");
    return false;
}

static void cuda_sequence_end(struct backend *backend, struct sequence *sequence)
{
    struct cuda *cuda = on(backend);
    if (cuda->recording) {
        cudaGraph_t graph;
        struct recording *recording = malloc(sizeof *recording);
        CHECK(recording);
        recording->rooms = cuda->rooms;
        check(cudaStreamEndCapture(cuda->stream, &graph), "recording");
        check(cudaGraphInstantiate(&recording->graph, graph, 0), "recording");
        check(cudaGraphDestroy(graph), "recording");
        check(cudaGraphLaunch(recording->graph, cuda->stream), "a step");
        sequence->recorded = recording;
        cuda->recording = false;
    }
    sequence->times++;
    launched(cuda);
}

/* Layers. */

/* c[m,n] = a·b, row major; a[m,k] and b[k,n], or transposed as they lie in memory. cuBLAS counts
 * by columns: to it all three are transposed, and cᵀ = bᵀ·aᵀ. */
static void gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m,
                 int n, int k, const float *a, const float *b, float *c)
{
    const float one = 1, zero = 0;
    const int stride_a = turn_a == CUBLAS_OP_N ? k : m, stride_b = turn_b == CUBLAS_OP_N ? n : k;
    check_blas(cublasGemmEx(cuda->blas, turn_b, turn_a, n, m, k, &one, b, CUDA_R_32F, stride_b, a,
                            CUDA_R_32F, stride_a, &zero, c, CUDA_R_32F, n, cuda->compute,
                            CUBLAS_GEMM_DEFAULT),
               "a matrix product");
}

static void cuda_dense_forward(struct backend *backend, int batch, int in, int out, const float *x,
                               const float *w, const float *b, float *y)
{
    struct cuda *cuda = on(backend);
    gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_T, batch, out, in, x, w, y);
    check(kernel_add_bias(cuda->stream, batch, out, b, y), "dense");
}

static void cuda_dense_backward(struct backend *backend, int batch, int in, int out, const float *x,
                                const float *w, const float *dy, float *dx, float *dw, float *db)
{
    struct cuda *cuda = on(backend);
    gemm(cuda, CUBLAS_OP_T, CUBLAS_OP_N, out, in, batch, dy, x, dw);
    check(kernel_sum_columns(cuda->stream, batch, out, dy, db), "dense");
    if (dx != NULL)
        gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_N, batch, in, out, dy, w, dx);
}

/* A convolution as one product for the whole batch: of the filters with columns[height, width], in
 * which each place of each image has one. Planes of y lie image by image, those of the product
 * filter by filter. */
struct product {
    int height; /* channels·kernel·kernel */
    int places; /* of the output */
    int width;  /* batch·places */
    float *columns;
    float *planes; /* [filters, width] */
};

static struct product product_of(struct cuda *cuda, const struct conv *conv, int batch)
{
    const struct shape out = conv_output(conv);
    struct product product = {.height = conv->in.channels * conv->kernel * conv->kernel,
                              .places = out.height * out.width};
    CHECK((size_t)batch * (size_t)product.places <= INT32_MAX);
    product.width = batch * product.places;
    const size_t width = (size_t)product.width * sizeof(float);
    product.columns = room(cuda, &cuda->patches, (size_t)product.height * width);
    product.planes = room(cuda, &cuda->products, (size_t)conv->filters * width);
    return product;
}

static void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch,
                              const float *x, const float *w, const float *b, float *y)
{
    struct cuda *cuda = on(backend);
    const struct product product = product_of(cuda, conv, batch);
    check(kernel_patches(cuda->stream, *conv, batch, x, product.columns), "conv");
    gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_N, conv->filters, product.width, product.height, w,
         product.columns, product.planes);
    check(kernel_swap(cuda->stream, conv->filters, batch, product.places, product.planes, b, y),
          "conv");
}

static void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch,
                               const float *x, const float *w, const float *dy, float *dx,
                               float *dw, float *db)
{
    struct cuda *cuda = on(backend);
    const struct product product = product_of(cuda, conv, batch);
    check(kernel_swap(cuda->stream, batch, conv->filters, product.places, dy, NULL, product.planes),
          "conv");
    check(kernel_sum_rows(cuda->stream, conv->filters, (size_t)product.width, product.planes, db),
          "conv");
    check(kernel_patches(cuda->stream, *conv, batch, x, product.columns), "conv");
    gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_T, conv->filters, product.height, product.width,
         product.planes, product.columns, dw);
    if (dx == NULL)
        return;
    gemm(cuda, CUBLAS_OP_T, CUBLAS_OP_N, product.height, product.width, conv->filters, w,
         product.planes, product.columns);
    check(kernel_unpatch(cuda->stream, *conv, batch, product.columns, dx), "conv");
}

static void cuda_pool_forward(struct backend *backend, const struct pool *pool, int batch,
                              const float *x, float *y, uint8_t *winner)
{
    check(kernel_pool(on(backend)->stream, *pool, batch, x, y, winner), "maxpool");
}

static void cuda_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                               const float *dy, const uint8_t *winner, float *dx)
{
    check(kernel_unpool(on(backend)->stream, *pool, batch, dy, winner, dx), "maxpool");
}

static void cuda_activate(struct backend *backend, enum activation activation, size_t count,
                          const float *x, float *y)
{
    check(kernel_activate(on(backend)->stream, activation, count, x, y), "activation");
}

static void cuda_activate_backward(struct backend *backend, enum activation activation,
                                   size_t count, const float *y, const float *dy, float *dx)
{
    check(kernel_activate_backward(on(backend)->stream, activation, count, y, dy, dx),
          "activation");
}

static void cuda_cross_entropy(struct backend *backend, int batch, int classes, const float *logits,
                               const uint8_t *labels, float *dlogits, struct score *score)
{
    check(kernel_cross_entropy(on(backend)->stream, batch, classes, logits, labels, dlogits, score),
          "cross-entropy");
}

static void cuda_sgd(struct backend *backend, const struct sgd *sgd, size_t count, float *w,
                     const float *g, float *m)
{
    check(kernel_sgd(on(backend)->stream, sgd, count, w, g, m), "SGD");
}

static void cuda_adam(struct backend *backend, const struct adam *adam, size_t count, float *w,
                      const float *g, float *m, float *v)
{
    check(kernel_adam(on(backend)->stream, adam, count, w, g, m, v), "Adam");
}

static void cuda_gather(struct backend *backend, int batch, size_t sample_size,
                        const uint8_t *pixels, const uint8_t *labels, const uint32_t *pick,
                        float mean, float scale, float *x, uint8_t *y)
{
    check(kernel_gather(on(backend)->stream, batch, sample_size, pixels, labels, pick, mean, scale,
                        x, y),
          "gathering a batch");
}

/* The exchange. */

/* What one operation needs of the room, part after part. */
struct layout {
    char *memory; /* NULL while it is only measured */
    size_t bytes;
};

static void *part(struct layout *layout, size_t bytes)
{
    const size_t at = layout->bytes;
    layout->bytes += (bytes + 255) & ~(size_t)255;
    return layout->memory != NULL ? layout->memory + at : NULL;
}

struct survey_room {
    uint32_t *bins;
    uint32_t *picked;
    struct marks marks;
    void *scan;
    size_t scan_bytes;
};

static struct survey_room lay_survey(struct layout *layout, size_t count)
{
    const size_t words = marks_words(count);
    struct survey_room room = {.scan_bytes = kernel_scan_bytes(words)};
    room.bins = part(layout, HISTOGRAM_BINS * sizeof *room.bins);
    room.picked = part(layout, sizeof *room.picked);
    room.marks.bits = part(layout, words * sizeof *room.marks.bits);
    room.marks.before = part(layout, words * sizeof *room.marks.before);
    room.scan = part(layout, room.scan_bytes);
    return room;
}

static struct survey_room survey_room(struct cuda *cuda, size_t count)
{
    struct layout measured = {0};
    (void)lay_survey(&measured, count);
    struct layout laid = {.memory = room(cuda, &cuda->exchange, measured.bytes)};
    return lay_survey(&laid, count);
}

static uint32_t cuda_survey(struct backend *backend, const struct survey *survey, size_t count,
                            float *w, const int32_t *base, int32_t *since,
                            uint32_t host_bins[HISTOGRAM_BINS])
{
    struct cuda *cuda = on(backend);
    const struct survey_room room = survey_room(cuda, count);
    const size_t bytes = HISTOGRAM_BINS * sizeof *host_bins;
    uint32_t picked;
    check(cudaMemsetAsync(room.bins, 0, bytes, cuda->stream), "survey");
    check(kernel_survey(cuda->stream, cuda->blocks, survey, count, w, base, since, room.bins,
                        room.marks),
          "survey");
    check(kernel_scan(cuda->stream, room.scan, room.scan_bytes, marks_words(count),
                      room.marks.before),
          "survey");
    check(
        kernel_pick(cuda->stream, count, room.marks, survey->picks, survey->picks_max, room.picked),
        "survey");
    check(
        cudaMemcpyAsync(&picked, room.picked, sizeof picked, cudaMemcpyDeviceToHost, cuda->stream),
        "survey");
    cuda_download(backend, host_bins, room.bins, bytes);
    return picked;
}

static void cuda_refine(struct backend *backend, uint32_t picked, const uint32_t *picks,
                        const float *w, const int32_t *base, uint32_t bin,
                        uint32_t host_parts[BIN_PARTS])
{
    struct cuda *cuda = on(backend);
    const size_t bytes = BIN_PARTS * sizeof *host_parts;
    uint32_t *parts = room(cuda, &cuda->exchange, bytes);
    check(cudaMemsetAsync(parts, 0, bytes, cuda->stream), "refine");
    check(kernel_refine(cuda->stream, picked, picks, w, base, bin, parts), "refine");
    cuda_download(backend, host_parts, parts, bytes);
}

struct cut_room {
    struct cut cut;
    void *scan;
    size_t scan_bytes;
};

static struct cut_room lay_cut(struct layout *layout, uint32_t picked, uint32_t capacity)
{
    struct cut_room room = {.cut = {.picked = picked, .capacity = capacity},
                            .scan_bytes = kernel_scan_bytes(picked)};
    room.cut.levels = part(layout, picked);
    room.cut.told_before = part(layout, picked * sizeof *room.cut.told_before);
    room.cut.index = part(layout, capacity * sizeof *room.cut.index);
    room.cut.level = part(layout, capacity);
    room.cut.count = part(layout, sizeof *room.cut.count);
    room.scan = part(layout, room.scan_bytes);
    return room;
}

static struct cut_room cut_room(struct cuda *cuda, uint32_t picked, uint32_t capacity)
{
    struct layout measured = {0};
    (void)lay_cut(&measured, picked, capacity);
    struct layout laid = {.memory = room(cuda, &cuda->exchange, measured.bytes)};
    return lay_cut(&laid, picked, capacity);
}

static void cuda_cut(struct backend *backend, uint32_t picked, const uint32_t *picks, float *w,
                     int32_t *base, uint32_t capacity, struct update *host_update)
{
    struct cuda *cuda = on(backend);
    host_update->count = 0;
    if (picked == 0 || capacity == 0)
        return;
    struct cut_room room = cut_room(cuda, picked, capacity < picked ? capacity : picked);
    room.cut.tau = host_update->tau;
    room.cut.amount = host_update->amount;
    room.cut.picks = picks;
    check(kernel_levels(cuda->stream, room.cut, w, base), "cut");
    check(kernel_scan(cuda->stream, room.scan, room.scan_bytes, picked, room.cut.told_before),
          "cut");
    check(kernel_cut(cuda->stream, room.cut, w, base), "cut");
    cuda_download(backend, &host_update->count, room.cut.count, sizeof host_update->count);
    check(cudaMemcpyAsync(host_update->index, room.cut.index,
                          host_update->count * sizeof *host_update->index, cudaMemcpyDeviceToHost,
                          cuda->stream),
          "cut");
    cuda_download(backend, host_update->level, room.cut.level, host_update->count);
}

static void hear(struct backend *backend, const struct update *host_update, bool own, float *w,
                 int32_t *base)
{
    struct cuda *cuda = on(backend);
    const size_t index_bytes = host_update->count * sizeof *host_update->index;
    struct update update = *host_update;
    update.index = room(cuda, &cuda->exchange, index_bytes + host_update->count);
    update.level = (int8_t *)update.index + index_bytes;
    cuda_upload(backend, update.index, host_update->index, index_bytes);
    cuda_upload(backend, update.level, host_update->level, host_update->count);
    check(kernel_hear(cuda->stream, &update, own, w, base), "hearing");
}

static void cuda_hear(struct backend *backend, const struct update *host_update, float *w,
                      int32_t *base)
{
    hear(backend, host_update, false, w, base);
}

static void cuda_hear_own(struct backend *backend, const struct update *host_update, float *w,
                          int32_t *base)
{
    hear(backend, host_update, true, w, base);
}

static void cuda_rebase(struct backend *backend, size_t count, const int32_t *host_base, float *w,
                        int32_t *base)
{
    struct cuda *cuda = on(backend);
    int32_t *to = room(cuda, &cuda->exchange, count * sizeof *to);
    cuda_upload(backend, to, host_base, count * sizeof *to);
    check(kernel_rebase(cuda->stream, count, to, w, base), "taking over a base");
}

static uint64_t cuda_digest(struct backend *backend, size_t count, const int32_t *base)
{
    struct cuda *cuda = on(backend);
    uint32_t lanes[2], *sums = room(cuda, &cuda->exchange, sizeof lanes);
    check(cudaMemsetAsync(sums, 0, sizeof lanes, cuda->stream), "digest");
    check(kernel_digest(cuda->stream, count, base, sums), "digest");
    cuda_download(backend, lanes, sums, sizeof lanes);
    return (uint64_t)lanes[1] << 32 | lanes[0];
}

/* The device itself. */

static void cuda_close(struct backend *backend)
{
    struct cuda *cuda = on(backend);
    struct room *rooms[] = {&cuda->patches, &cuda->products, &cuda->exchange};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++)
        cuda_give(backend, rooms[i]->memory);
    for (int i = 0; i < IN_FLIGHT; i++)
        check(cudaEventDestroy(cuda->done[i]), "closing");
    check_blas(cublasDestroy(cuda->blas), "closing");
    cuda_give(backend, cuda->blas_room);
    check(cudaStreamDestroy(cuda->stream), "closing");
    free(cuda);
}

static const struct backend cuda_table = {
    .name = "cuda",
    .take = cuda_take,
    .give = cuda_give,
    .upload = cuda_upload,
    .download = cuda_download,
    .close = cuda_close,
    .sequence_begin = cuda_sequence_begin,
    .sequence_end = cuda_sequence_end,
    .sequence_drop = cuda_sequence_drop,
    .dense_forward = cuda_dense_forward,
    .dense_backward = cuda_dense_backward,
    .conv_forward = cuda_conv_forward,
    .conv_backward = cuda_conv_backward,
    .pool_forward = cuda_pool_forward,
    .pool_backward = cuda_pool_backward,
    .activate = cuda_activate,
    .activate_backward = cuda_activate_backward,
    .cross_entropy = cuda_cross_entropy,
    .sgd = cuda_sgd,
    .adam = cuda_adam,
    .gather = cuda_gather,
    .survey = cuda_survey,
    .refine = cuda_refine,
    .cut = cuda_cut,
    .hear = cuda_hear,
    .hear_own = cuda_hear_own,
    .rebase = cuda_rebase,
    .digest = cuda_digest,
};

static cublasComputeType_t compute_type(enum precision precision)
{
    switch (precision) {
    case PRECISION_FP32:
        return CUBLAS_COMPUTE_32F;
    case PRECISION_TF32:
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    case PRECISION_BF16:
        return CUBLAS_COMPUTE_32F_FAST_16BF;
    }
    CHECK(false);
}

/* The first calls for a device, in which it turns out whether it can be used. */
static enum status reach(struct cuda *cuda, struct problem *problem)
{
    int processors = 0;
    cudaError_t error = cudaSetDevice(cuda->device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, cuda->device);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking);
    cuda->blocks = BLOCKS_OF_ONE * processors;
    if (error == cudaSuccess)
        return OK;
    return problem_set(problem, FAILED,
                       "GPU %d cannot be used: %s; is another program using all of it? See "
                       "'nvidia-smi', or write device = cpu",
                       cuda->device, cudaGetErrorString(error));
}

enum status backend_cuda(int i, enum precision precision, struct backend **backend,
                         struct problem *problem)
{
    struct cuda *cuda = calloc(1, sizeof *cuda);
    CHECK(cuda);
    cuda->table = cuda_table;
    cuda->device = i;
    cuda->compute = compute_type(precision);
    const enum status status = reach(cuda, problem);
    if (status != OK) {
        free(cuda);
        return status;
    }
    cuda->blas_room = take_raw(cuda, BLAS_ROOM_BYTES);
    check_blas(cublasCreate(&cuda->blas), "cuBLAS");
    check_blas(cublasSetStream(cuda->blas, cuda->stream), "cuBLAS");
    check_blas(cublasSetWorkspace(cuda->blas, cuda->blas_room, BLAS_ROOM_BYTES), "cuBLAS");
    for (int k = 0; k < IN_FLIGHT; k++)
        check(cudaEventCreateWithFlags(&cuda->done[k], cudaEventDisableTiming), "an event");
    *backend = &cuda->table;
    return OK;
}

int cuda_devices(void)
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void cuda_describe(char *text, size_t room)
{
    int runtime = 0, driver = 0, count = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        (void)snprintf(text, room, "CUDA %d.%d: %s", runtime / 1000, runtime % 1000 / 10,
                       cudaGetErrorString(error));
    else
        (void)snprintf(text, room, "CUDA %d.%d, driver for %d.%d", runtime / 1000,
                       runtime % 1000 / 10, driver / 1000, driver % 1000 / 10);
}

/* As nvidia-smi writes it. */
static void write_uuid(const cudaUUID_t *uuid, char text[DEVICE_UUID_TEXT])
{
    size_t at = (size_t)snprintf(text, DEVICE_UUID_TEXT, "GPU");
    for (int i = 0; i < 16; i++) {
        const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += (size_t)snprintf(text + at, DEVICE_UUID_TEXT - at, "%s%02x", group ? "-" : "",
                               (unsigned)(unsigned char)uuid->bytes[i]);
    }
}

bool cuda_device(int i, struct gpu *gpu)
{
    struct cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess)
        return false;
    *gpu = (struct gpu){
        .major = properties.major, .minor = properties.minor, .bytes = properties.totalGlobalMem};
    (void)snprintf(gpu->name, sizeof gpu->name, "%.*s", (int)sizeof gpu->name - 1, properties.name);
    write_uuid(&properties.uuid, gpu->uuid);
    return true;
}
