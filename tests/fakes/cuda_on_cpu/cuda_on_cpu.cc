/* See cuda_runtime_api.h: streams, memory, graphs, and blocks of threads, on one processor. */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#include "cuda_runtime.h"

#define THREADS_MAX 256
#define WARP        32
#define STACK_BYTES ((size_t)64 << 10)
#define ALIGN       ((size_t)64)

[[noreturn]] static void refuse(const char *why)
{
    (void)fprintf(stderr, "CUDA on CPU: %s\n", why);
    abort();
}

static long from_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text != nullptr ? atol(text) : otherwise;
}

/* One lock for everything: a daemon opens its device in one thread and uses it in another. */
static std::recursive_mutex everything;
#define LOCKED const std::lock_guard<std::recursive_mutex> lock(everything)

static struct stand_in_count counted;

struct stand_in_count stand_in_counted()
{
    LOCKED;
    return counted;
}

/* Each piece of memory ends at a guard page. Its pages are accessible only while a stream of its
 * device works. */

struct piece {
    char *pages;
    size_t page_bytes; /* without the guard page */
    size_t bytes;
    int device;
};

static thread_local int current; /* device that the thread has chosen */

static std::map<void *, piece> pieces;
static std::map<int, size_t> memory_used; /* bytes used on each device */
static int open_device = -1;              /* device whose memory is accessible; -1 = none */

static size_t memory_all()
{
    return (size_t)from_environment("CUDA_ON_CPU_MIB", 512) << 20;
}

static void protect_all(int device, int protection)
{
    for (const auto &entry : pieces) {
        if (entry.second.device == device &&
            mprotect(entry.second.pages, entry.second.page_bytes, protection) != 0)
            refuse("mprotect failed");
    }
}

/* Makes this device's memory accessible, and no other device's. */
static void switch_to(int device)
{
    if (device == open_device)
        return;
    protect_all(open_device, PROT_NONE);
    protect_all(device, PROT_READ | PROT_WRITE);
    open_device = device;
}

/* Returns the piece that contains all `bytes` bytes, or NULL. */
static const piece *piece_of(const void *memory, size_t bytes)
{
    auto after = pieces.upper_bound(const_cast<void *>(memory));
    if (after == pieces.begin())
        return nullptr;
    const auto &entry = *--after;
    const char *end = (const char *)entry.first + entry.second.bytes;
    return (const char *)memory + bytes <= end ? &entry.second : nullptr;
}

bool stand_in_is_device_memory(const void *memory, size_t bytes)
{
    return bytes == 0 || piece_of(memory, bytes) != nullptr;
}

bool stand_in_is_memory_of(int device, const void *memory, size_t bytes)
{
    LOCKED;
    const piece *has_it = piece_of(memory, bytes);
    return has_it != nullptr && has_it->device == device;
}

typedef std::function<void()> work;

struct stand_in_graph {
    std::vector<work> works;
    cudaStream_t stream; /* stream in which the graph was launched last */
};

struct stand_in_stream {
    int device;
    std::deque<work> waiting;
    uint64_t submitted, done; /* number of works */
    stand_in_graph *recorded; /* graph that the stream records; NULL = it does not record */
    std::thread::id recorder; /* the thread that records must not wait for the stream */
};

/* The point at which a stream reached an event that was recorded. */
struct mark {
    bool is_reached;
    double at_ns; /* time by stand_in_clock_ns() */
};

struct stand_in_event {
    int device;
    bool is_timed;
    cudaStream_t stream;
    uint64_t after; /* number of works of the stream before the event */
    std::shared_ptr<mark> reached;
};

static std::vector<cudaStream_t> streams;

/* Returns true once the file CUDA_ON_CPU_BREAKS exists, and from then on. */
static bool is_broken()
{
    static const char *const when = getenv("CUDA_ON_CPU_BREAKS");
    static bool broken;
    broken = broken || (when != nullptr && access(when, F_OK) == 0);
    return broken;
}

static bool is_recording()
{
    for (const cudaStream_t stream : streams) {
        if (stream->recorded != nullptr && stream->recorder == std::this_thread::get_id())
            return true;
    }
    return false;
}

int stand_in_device_of(cudaStream_t stream)
{
    return stream->device;
}

static double clock_ns, work_ns;

double stand_in_clock_ns()
{
    return clock_ns;
}

void stand_in_took(double ns)
{
    work_ns = ns;
}

static void run_timed(const work &work)
{
    const auto begun = std::chrono::steady_clock::now();
    work_ns = NAN;
    work();
    const std::chrono::duration<double, std::nano> passed =
        std::chrono::steady_clock::now() - begun;
    clock_ns += std::isnan(work_ns) ? passed.count() : work_ns;
}

void stand_in_run_until(cudaStream_t stream, const std::function<bool()> &is_so)
{
    const int before = open_device;
    while (!is_so()) {
        if (stream->waiting.empty())
            refuse("a stream waits for another in vain");
        const work next = stream->waiting.front();
        stream->waiting.pop_front();
        switch_to(stream->device);
        run_timed(next);
        stream->done++;
    }
    switch_to(before);
}

static void finish(cudaStream_t stream)
{
    stand_in_run_until(stream, [=] { return stream->waiting.empty(); });
}

/* Returns an error if this thread records a stream, when it may not wait, or if the device is
 * broken. */
static cudaError_t may_wait()
{
    if (is_broken())
        return cudaErrorECCUncorrectable;
    return is_recording() ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t stand_in_submit(cudaStream_t stream, work next)
{
    LOCKED;
    if (is_broken())
        return cudaErrorECCUncorrectable;
    if (stream == nullptr)
        refuse("nothing here uses the default stream");
    if (stream->recorded != nullptr)
        stream->recorded->works.push_back(next);
    else {
        stream->waiting.push_back(next);
        stream->submitted++;
    }
    return cudaSuccess;
}

/* Blocks of threads. Each thread has a stack, and runs until it ends or must wait for others. */

dim3 gridDim, blockIdx, threadIdx;

enum standing { RUNS, WAITS_FOR_BLOCK, WAITS_FOR_WARP, DONE };

static struct thread {
    ucontext_t context;
    char *stack;
    standing paused;
    uint32_t shown[2]; /* shown to the warp, in two turns: a lane may be one turn ahead */
    unsigned turns;
} threads[THREADS_MAX];

static ucontext_t scheduler;
static const work *running;

static void thread_main()
{
    (*running)();
    threads[threadIdx.x].paused = DONE;
}

static void wait_for_others(standing why)
{
    const unsigned self = threadIdx.x;
    threads[self].paused = why;
    (void)swapcontext(&threads[self].context, &scheduler);
}

void __syncthreads()
{
    wait_for_others(WAITS_FOR_BLOCK);
}

/* Shows `bits` to the warp once all lanes have come. Returns the turn, 0 or 1. */
static unsigned show(uint32_t mask, uint32_t bits)
{
    const unsigned self = threadIdx.x, turn = threads[self].turns++ % 2;
    if (mask != 0xFFFFFFFFu)
        refuse("only whole warps vote and shuffle here");
    threads[self].shown[turn] = bits;
    wait_for_others(WAITS_FOR_WARP);
    return turn;
}

uint32_t __ballot_sync(uint32_t mask, bool vote)
{
    const unsigned first = threadIdx.x / WARP * WARP, turn = show(mask, vote);
    uint32_t word = 0;
    for (unsigned half = 0; half < WARP; half++)
        word |= threads[first + half].shown[turn] << half;
    return word;
}

uint32_t stand_in_shuffle(uint32_t mask, uint32_t bits, unsigned apart)
{
    const unsigned other = threadIdx.x ^ apart, turn = show(mask, bits);
    if (apart >= WARP)
        refuse("a shuffle reaches beyond the warp");
    return threads[other].shown[turn];
}

static void start_thread(unsigned i)
{
    thread &thread = threads[i];
    if (thread.stack == nullptr)
        thread.stack = (char *)malloc(STACK_BYTES);
    (void)getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack;
    thread.context.uc_stack.ss_size = STACK_BYTES;
    thread.context.uc_link = &scheduler;
    thread.paused = RUNS;
    thread.turns = 0;
    makecontext(&thread.context, thread_main, 0);
}

/* Returns true if all threads wait for the block. After a round all lanes of a warp wait for the
 * same thing. A warp may wait for the block only if no thread has ended. */
static bool all_wait_for_block(unsigned count)
{
    unsigned waiting = 0, done = 0;
    for (unsigned i = 0; i < count; i++) {
        if (threads[i].paused != threads[i / WARP * WARP].paused)
            refuse("some threads of a warp wait where others do not come");
        waiting += threads[i].paused == WAITS_FOR_BLOCK;
        done += threads[i].paused == DONE;
    }
    if (waiting > 0 && done > 0)
        refuse("some threads of a block wait where others do not come");
    return waiting == count;
}

static bool all_done(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (threads[i].paused != DONE)
            return false;
    }
    return true;
}

/* Runs a block's threads. In every second block the last thread runs first, so results that depend
 * on the order differ. */
static void run_block(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        start_thread(i);
    for (bool released = true; !all_done(count); released = all_wait_for_block(count)) {
        for (unsigned turn = 0; turn < count; turn++) {
            const unsigned i = blockIdx.x % 2 ? count - 1 - turn : turn;
            if (threads[i].paused == DONE || (threads[i].paused == WAITS_FOR_BLOCK && !released))
                continue;
            threadIdx.x = i;
            (void)swapcontext(&scheduler, &threads[i].context);
        }
    }
}

cudaError_t stand_in_launch(const cudaLaunchConfig_t *config, work kernel)
{
    LOCKED;
    counted.kernels++;
    const dim3 grid = config->gridDim;
    const unsigned count = config->blockDim.x;
    if (grid.x == 0 || count == 0 || count > THREADS_MAX || count % WARP != 0)
        return cudaErrorInvalidConfiguration;
    if (config->stream != nullptr && config->stream->device != current)
        return cudaErrorInvalidResourceHandle;
    return stand_in_submit(config->stream, [=] {
        running = &kernel;
        gridDim = grid;
        for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
            run_block(count);
    });
}

static int devices()
{
    return (int)from_environment("CUDA_ON_CPU_DEVICES", 1);
}

const char *cudaGetErrorString(cudaError_t error)
{
    static const char *const texts[] = {
        "no error",
        "invalid argument",
        "out of memory",
        "invalid configuration argument",
        "invalid device ordinal",
        "uncorrectable ECC error encountered",
        "operation not permitted when stream is capturing",
        "no CUDA-capable device is detected",
        "no kernel image is available for execution on the device",
        "invalid resource handle",
        "OS call failed or operation not supported on this OS",
        "device not ready",
        "CUDA driver version is insufficient for CUDA runtime version"};
    return texts[error];
}

cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

cudaError_t stand_in_kernels()
{
    return from_environment("CUDA_ON_CPU_KERNELS", 1) ? cudaSuccess
                                                      : cudaErrorNoKernelImageForDevice;
}

/* The driver names a thread at its start. If the thread cannot be named, there is no GPU. */
static bool names_a_thread()
{
    bool is_named = false;
    std::thread([&is_named] {
        const std::string path = "/proc/self/task/" + std::to_string(gettid()) + "/comm";
        FILE *file = fopen(path.c_str(), "w");
        is_named = file != nullptr && fputs("cuda-on-cpu", file) >= 0;
        is_named = file != nullptr && fclose(file) == 0 && is_named;
    }).join();
    return is_named;
}

/* The driver keeps kernels that it has compiled in folders of the cache's folder. */
static void keep_kernels()
{
    const char *cache = getenv("CUDA_CACHE_PATH");
    if (cache == nullptr)
        return;
    const std::string folder = std::string(cache) + "/1", path = folder + "/kernels";
    (void)mkdir(folder.c_str(), 0700);
    FILE *file = fopen(path.c_str(), "w");
    if (file != nullptr) {
        (void)fputs("compiled", file);
        (void)fclose(file);
    }
}

#define RUNTIME 13000

cudaError_t cudaGetDeviceCount(int *count)
{
    static const bool is_started = [] {
        keep_kernels();
        return names_a_thread();
    }();
    *count = devices();
    if (from_environment("CUDA_ON_CPU_DRIVER", RUNTIME) < RUNTIME)
        return cudaErrorInsufficientDriver;
    if (!is_started)
        return cudaErrorOperatingSystem;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

static int capability()
{
    return (int)from_environment("CUDA_ON_CPU_CAPABILITY", 9);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device < 0 || device >= devices())
        return cudaErrorInvalidDevice;
    *properties = {};
    (void)snprintf(properties->name, sizeof properties->name, "a GPU played by a CPU");
    for (int i = 0; i < 16; i++)
        properties->uuid.bytes[i] = (char)(i * 17 + device);
    properties->totalGlobalMem = memory_all();
    properties->major = capability();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? capability()
             : attribute == cudaDevAttrClockRate            ? 1000000
                                                            : 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    current = device;
    if (is_broken())
        return cudaErrorECCUncorrectable;
    return device >= 0 && device < devices() ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = (int)from_environment("CUDA_ON_CPU_DRIVER", RUNTIME);
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    LOCKED;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    const size_t page_bytes = (whole + page - 1) / page * page;
    const cudaError_t may = may_wait();
    if (may != cudaSuccess)
        return may;
    if (memory_used[current] + page_bytes > memory_all())
        return cudaErrorMemoryAllocation;
    void *pages = mmap(nullptr, page_bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    *memory = (char *)pages + page_bytes - whole;
    pieces[*memory] = {(char *)pages, page_bytes, whole, current};
    memory_used[current] += page_bytes;
    if (mprotect(pages, page_bytes, PROT_READ | PROT_WRITE) != 0)
        refuse("mprotect failed");
    memset(pages, 0xCD, page_bytes); /* cudaMalloc does not clear memory */
    (void)mprotect(pages, page_bytes, PROT_NONE);
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    LOCKED;
    const cudaError_t may = may_wait();
    if (may != cudaSuccess || memory == nullptr)
        return may;
    if (pieces.count(memory) == 0)
        return cudaErrorInvalidValue;
    counted.synchronizations++;
    for (const cudaStream_t stream : streams)
        finish(stream);
    const piece gone = pieces[memory];
    pieces.erase(memory);
    memory_used[gone.device] -= gone.page_bytes;
    (void)munmap(gone.pages, gone.page_bytes + (size_t)sysconf(_SC_PAGESIZE));
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *all)
{
    LOCKED;
    *all = memory_all();
    *left = *all - memory_used[current];
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    LOCKED;
    counted.set_bytes += bytes;
    if (!stand_in_is_device_memory(memory, bytes))
        return cudaErrorInvalidValue;
    return stand_in_submit(stream, [=] { memset(memory, value, bytes); });
}

/* Host memory is read and written when the stream reaches the copy. This also holds for pageable
 * memory, for which a device promises nothing. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    LOCKED;
    counted.copied_bytes += bytes;
    const bool to_device = kind != cudaMemcpyDeviceToHost;
    const bool from_device = kind != cudaMemcpyHostToDevice;
    if (stream->recorded != nullptr && !(to_device && from_device))
        return cudaErrorStreamCaptureUnsupported; /* host memory may differ when the graph runs */
    if ((to_device && !stand_in_is_device_memory(to, bytes)) ||
        (from_device && !stand_in_is_device_memory(from, bytes)))
        return cudaErrorInvalidValue;
    return stand_in_submit(stream, [=] {
        if (bytes > 0)
            memcpy(to, from, bytes);
    });
}

static std::set<const void *> pinned;

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    LOCKED;
    *memory = malloc(bytes);
    pinned.insert(*memory);
    return *memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFreeHost(void *memory)
{
    LOCKED;
    if (pinned.erase(memory) == 0)
        return cudaErrorInvalidValue;
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *about, const void *memory)
{
    LOCKED;
    about->type = cudaMemoryTypeUnregistered;
    if (pieces.count(const_cast<void *>(memory)) > 0)
        about->type = cudaMemoryTypeDevice;
    else if (pinned.count(memory) > 0)
        about->type = cudaMemoryTypeHost;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    LOCKED;
    *stream = new stand_in_stream();
    (*stream)->device = current;
    streams.push_back(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    LOCKED;
    finish(stream);
    for (size_t i = 0; i < streams.size(); i++) {
        if (streams[i] == stream)
            streams.erase(streams.begin() + (long)i--);
    }
    delete stream;
    return cudaSuccess;
}

static cudaError_t synchronize(cudaStream_t stream)
{
    LOCKED;
    const cudaError_t may = may_wait();
    if (may == cudaSuccess)
        finish(stream);
    return may;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    counted.synchronizations++;
    return synchronize(stream);
}

/* Runs the event's stream to its end, because a device could be that fast. */
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned)
{
    LOCKED;
    if (is_broken())
        return cudaErrorECCUncorrectable;
    if (event->stream != nullptr)
        finish(event->stream);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    *event = new stand_in_event();
    (*event)->device = current;
    (*event)->is_timed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

static bool is_open(cudaStream_t stream)
{
    LOCKED;
    for (const cudaStream_t open : streams) {
        if (open == stream)
            return true;
    }
    return false;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (!is_open(stream))
        return cudaErrorInvalidResourceHandle;
    if (event->device != stream->device)
        return cudaErrorInvalidResourceHandle;
    event->stream = stream;
    event->after = stream->submitted;
    if (!event->is_timed)
        return is_broken() ? cudaErrorECCUncorrectable : cudaSuccess;
    const auto reached = event->reached = std::make_shared<mark>();
    return stand_in_submit(stream, [=] {
        *reached = {true, clock_ns};
        stand_in_took(0);
    });
}

/* The backend only queries timed events. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    LOCKED;
    if (!event->is_timed || event->reached == nullptr)
        return cudaErrorInvalidResourceHandle;
    return event->reached->is_reached ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begun, cudaEvent_t ended)
{
    LOCKED;
    const cudaError_t first = cudaEventQuery(begun), last = cudaEventQuery(ended);
    if (first != cudaSuccess || last != cudaSuccess)
        return first != cudaSuccess ? first : last;
    *ms = (float)((ended->reached->at_ns - begun->reached->at_ns) * 1e-6);
    return cudaSuccess;
}

/* Also runs the stream's later work, because a device could be that fast. */
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (event->stream == nullptr || event->stream->done >= event->after)
        return may_wait();
    counted.synchronizations++;
    return synchronize(event->stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    LOCKED;
    if (is_recording())
        return cudaErrorStreamCaptureUnsupported;
    stream->recorded = new stand_in_graph();
    stream->recorder = std::this_thread::get_id();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    LOCKED;
    *graph = stream->recorded;
    stream->recorded = nullptr;
    return *graph != nullptr ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    *made = new stand_in_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    LOCKED;
    cudaError_t error = cudaSuccess;
    graph->stream = stream;
    for (const work &next : graph->works)
        error = error == cudaSuccess ? stand_in_submit(stream, next) : error;
    return error;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    LOCKED;
    for (const cudaStream_t stream : streams) {
        if (stream == graph->stream && !stream->waiting.empty())
            refuse("a graph is destroyed that may be in flight");
    }
    delete graph;
    return cudaSuccess;
}
