#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_team.h"
#include "base/error.h"
#include "base/memory.h"

#define LARGE_BYTES ((size_t)2 << 20)
#define CACHE_LINE  ((size_t)64)

struct cpu {
    struct backend table; /* must be first: a pointer to it is also a pointer to struct cpu */
    struct team *team;    /* threads for convolutions */
    float *scratch;       /* scratch buffer, as large as the largest use so far */
    size_t scratch_count;
};

/* Header of allocated memory, in the cache line before it. */
struct taken {
    void *start;  /* start of the memory that the system returned */
    size_t bytes; /* bytes reserved by mmap; 0 = allocated by aligned_alloc */
};

static void *behind(void *start, size_t reserved, unsigned char *memory)
{
    const struct taken taken = {.start = start, .bytes = reserved};
    memcpy(memory - CACHE_LINE, &taken, sizeof taken);
    return memory;
}

/* Returns new memory from the system, in large pages if available, because applying a rumor writes
 * entries that are scattered over the whole vector. The pages are zero and take no memory until
 * they are touched. */
static void *take_large(size_t bytes)
{
    const size_t reserved = bytes + 2 * LARGE_BYTES;
    if (reserved < bytes)
        memory_missing(bytes);
    void *start = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        memory_missing(bytes);
    unsigned char *memory = (unsigned char *)start + CACHE_LINE;
    memory += -(uintptr_t)memory & (LARGE_BYTES - 1);
    (void)madvise(memory, (bytes + LARGE_BYTES - 1) & ~(LARGE_BYTES - 1), MADV_HUGEPAGE);
    return behind(start, reserved, memory);
}

static void *cpu_alloc(struct backend *backend, size_t bytes)
{
    (void)backend;
    if (bytes >= LARGE_BYTES)
        return take_large(bytes);
    const size_t whole = (bytes + CACHE_LINE - 1) & ~(CACHE_LINE - 1);
    unsigned char *start = aligned_alloc(CACHE_LINE, CACHE_LINE + whole);
    if (start == NULL)
        memory_missing(bytes);
    memset(start + CACHE_LINE, 0, whole);
    return behind(start, 0, start + CACHE_LINE);
}

static void cpu_free(struct backend *backend, void *memory)
{
    struct taken taken;
    (void)backend;
    if (memory == NULL)
        return;
    memcpy(&taken, (unsigned char *)memory - CACHE_LINE, sizeof taken);
    if (taken.bytes > 0)
        (void)munmap(taken.start, taken.bytes);
    else
        free(taken.start);
}

static void cpu_copy(struct backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (bytes > 0)
        memcpy(to, from, bytes);
}

static void *cpu_keep(struct backend *backend, const void *from, size_t bytes, bool *far)
{
    void *memory = cpu_alloc(backend, bytes);
    cpu_copy(backend, memory, from, bytes);
    *far = false;
    return memory;
}

/* Returns false, so that the caller calls the operations: a recording would save almost no time
 * on the CPU. */
static bool cpu_graph_begin(struct backend *backend, struct step_graph *graph)
{
    (void)backend, (void)graph;
    return false;
}

static void cpu_graph_nothing(struct backend *backend, struct step_graph *graph)
{
    (void)backend, (void)graph;
}

static bool cpu_stream_is_known(struct backend *backend, void *stream)
{
    (void)backend, (void)stream;
    return false;
}

static void cpu_stream_nothing(struct backend *backend, void *stream)
{
    (void)backend, (void)stream;
    CHECK(false); /* not reached: cpu_stream_is_known returns false */
}

static void cpu_watch_begin(struct backend *backend, uint32_t tag)
{
    (void)backend, (void)tag;
}

static void cpu_watch_end(struct backend *backend)
{
    (void)backend;
}

static bool cpu_watch_take(struct backend *backend, struct watch_time *time)
{
    (void)backend, (void)time;
    return false;
}

static void cpu_close(struct backend *backend)
{
    struct cpu *cpu = (struct cpu *)backend;
    team_free(cpu->team);
    cpu_free(backend, cpu->scratch);
    free(cpu);
}

struct team *cpu_team(struct backend *backend)
{
    return ((struct cpu *)backend)->team;
}

float *cpu_scratch(struct backend *backend, size_t count)
{
    struct cpu *cpu = (struct cpu *)backend;
    if (count > cpu->scratch_count) {
        cpu_free(backend, cpu->scratch);
        cpu->scratch = cpu_alloc(backend, count * sizeof(float));
        cpu->scratch_count = count;
    }
    return cpu->scratch;
}

void cpu_gemm(CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b, int m, int n, int k, const float *a,
              const float *b, float beta, float *c)
{
    int stride_a = turn_a == CblasNoTrans ? k : m;
    int stride_b = turn_b == CblasNoTrans ? n : k;
    cblas_sgemm(CblasRowMajor, turn_a, turn_b, m, n, k, 1, a, stride_a, b, stride_b, beta, c, n);
}

static void cpu_dense_forward(struct backend *backend, int batch, int in, int out,
                              struct numbers xs, struct numbers ws, struct numbers bs,
                              enum activation activation, struct numbers ys)
{
    const float *x = floats_of(xs);
    const float *w = floats_of(ws);
    const float *b = floats_of(bs);
    float *y = floats_of(ys);
    for (int i = 0; i < batch && b; i++)
        memcpy(y + (size_t)i * (size_t)out, b, (size_t)out * sizeof *y);
    if (batch == 1) /* cblas_sgemv reads w in place; a matrix product copies it first */
        cblas_sgemv(CblasRowMajor, CblasNoTrans, out, in, 1, w, in, x, 1, b ? 1 : 0, y, 1);
    else
        cpu_gemm(CblasNoTrans, CblasTrans, batch, out, in, x, w, b ? 1 : 0, y);
    cpu_activation.forward(backend, activation, (size_t)batch * (size_t)out, ys, ys);
}

static void cpu_dense_backward(struct backend *backend, int batch, int in, int out,
                               struct numbers xs, struct numbers ws, struct numbers ys,
                               enum activation activation, struct numbers dys, struct numbers dxs,
                               float *dw, float *restrict db, bool adds)
{
    const float *x = floats_of(xs);
    const float *w = floats_of(ws);
    float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    CHECK(!adds || !db);
    cpu_activation.backward(backend, activation, (size_t)batch * (size_t)out, ys, dys, dys);
    cpu_gemm(CblasTrans, CblasNoTrans, out, in, batch, dy, x, adds ? 1 : 0, dw);
    if (db)
        memset(db, 0, (size_t)out * sizeof *db);
    for (int i = 0; i < batch && db; i++) {
        const float *row = dy + (size_t)i * (size_t)out;
        for (int j = 0; j < out; j++)
            db[j] += row[j];
    }
    if (dx != NULL)
        cpu_gemm(CblasNoTrans, CblasNoTrans, batch, in, out, dy, w, 0, dx);
}

static void cpu_dense_activate_forward(struct backend *backend, int batch, int in, int out,
                                       struct numbers x, struct numbers w, struct numbers b,
                                       enum activation activation, struct numbers before,
                                       struct numbers y)
{
    cpu_dense_forward(backend, batch, in, out, x, w, b, LINEAR, before);
    cpu_activation.forward(backend, activation, (size_t)batch * (size_t)out, before, y);
}

static void cpu_dense_activate_backward(struct backend *backend, int batch, int in, int out,
                                        struct numbers x, struct numbers w, struct numbers dy,
                                        enum activation activation, struct numbers before,
                                        struct numbers dx, float *dw, float *db)
{
    cpu_dense_backward(backend, batch, in, out, x, w, floats(NULL), LINEAR, dy, dx, dw, db, false);
    cpu_activation.backward(backend, activation, (size_t)batch * (size_t)in, before, dx, dx);
}

static struct device_memory cpu_memory(struct backend *backend)
{
    (void)backend;
    return (struct device_memory){0};
}

static const struct dense_operations cpu_dense = {
    .forward = cpu_dense_forward,
    .backward = cpu_dense_backward,
    .activate_forward = cpu_dense_activate_forward,
    .activate_backward = cpu_dense_activate_backward,
};

static const struct graph_operations cpu_graph = {
    .begin = cpu_graph_begin,
    .end = cpu_graph_nothing,
    .drop = cpu_graph_nothing,
};

static const struct stream_operations cpu_stream = {
    .is_known = cpu_stream_is_known,
    .wait_for = cpu_stream_nothing,
    .hold_back = cpu_stream_nothing,
};

static const struct watch_operations cpu_watch = {
    .begin = cpu_watch_begin,
    .end = cpu_watch_end,
    .take = cpu_watch_take,
};

struct backend *backend_cpu(int threads)
{
    CHECK(threads >= 0);
    struct cpu *cpu = memory_new(1, sizeof *cpu);
    if (threads > 0)
        openblas_set_num_threads(threads);
    cpu->team = team_new(threads > 0 ? threads : 1);
    cpu->table = (struct backend){
        .name = "cpu",
        .alloc = cpu_alloc,
        .free = cpu_free,
        .upload = cpu_copy,
        .download = cpu_copy,
        .peek = cpu_copy,
        .memory = cpu_memory,
        .keep = cpu_keep,
        .close = cpu_close,
        .graph = &cpu_graph,
        .dense = &cpu_dense,
        .elements = &cpu_elements,
        .sequence = &cpu_sequence,
        .attention = &cpu_attention,
        .conv = &cpu_conv,
        .pool = &cpu_pool,
        .activation = &cpu_activation,
        .channels = &cpu_channels,
        .loss = &cpu_loss,
        .optimize = &cpu_optimize,
        .gather = &cpu_gather,
        .exchange = &cpu_exchange,
        .stream = &cpu_stream,
        .watch = &cpu_watch,
    };
    return &cpu->table;
}
