/* See nccl.h. Each operation has work in every device's stream. Work that needs values of another
 * device runs that device's stream until it has shown them, and no further. Other streams may be
 * ahead or behind, as on real devices. */
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda_runtime.h"
#include "nccl.h"

/* Devices that share a communicator. */
struct clique {
    std::vector<int> devices;
};

struct ncclComm {
    std::shared_ptr<clique> all;
    int rank;
};

struct call {
    bool adds; /* true = adds, false = sends */
    const float *from;
    float *to;
    size_t count;
    int root;
    ncclComm_t comm;
    cudaStream_t stream;
};

/* Values that the devices have shown in one operation. */
struct operation {
    std::vector<call> calls; /* calls by rank */
    std::vector<std::vector<float>> shown;
    std::vector<bool> has_shown;
};

static thread_local int groups;
static thread_local std::vector<call> waiting;

const char *ncclGetErrorString(ncclResult_t error)
{
    switch (error) {
    case ncclSuccess:
        return "no error";
    case ncclUnhandledCudaError:
        return "unhandled cuda error";
    case ncclSystemError:
        return "unhandled system error";
    case ncclInvalidArgument:
        return "invalid argument";
    default:
        return "invalid usage";
    }
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    int there = 0;
    if (getenv("NCCL_ON_CPU_FAILS") != nullptr)
        return ncclSystemError;
    if (cudaGetDeviceCount(&there) != cudaSuccess || count < 1)
        return ncclInvalidArgument;
    const auto all = std::make_shared<clique>();
    for (int i = 0; i < count; i++) {
        for (const int other : all->devices) {
            if (other == devices[i])
                return ncclInvalidUsage;
        }
        if (devices[i] < 0 || devices[i] >= there)
            return ncclInvalidArgument;
        all->devices.push_back(devices[i]);
    }
    for (int i = 0; i < count; i++)
        comms[i] = new ncclComm{all, i};
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    delete comm;
    return ncclSuccess;
}

static void show(operation &shared, int rank)
{
    const call &own = shared.calls[rank];
    shared.shown[rank].assign(own.from, own.from + own.count);
    shared.has_shown[rank] = true;
}

static const std::vector<float> &wait_for(const operation &shared, int rank)
{
    stand_in_run_until(shared.calls[rank].stream, [&] { return shared.has_shown[rank]; });
    return shared.shown[rank];
}

static void add_up(operation &shared, int root)
{
    const int count = (int)shared.calls.size();
    std::vector<float> sum = wait_for(shared, (root + 1) % count);
    for (int i = 2; i <= count; i++) {
        const std::vector<float> &next = wait_for(shared, (root + i) % count);
        for (size_t at = 0; at < sum.size(); at++)
            sum[at] += next[at];
    }
    for (size_t at = 0; at < sum.size(); at++)
        shared.calls[root].to[at] = sum[at];
}

static void work(operation &shared, int rank)
{
    const call &own = shared.calls[rank];
    if (own.adds || rank == own.root)
        show(shared, rank);
    if (own.adds && rank == own.root)
        add_up(shared, rank);
    if (own.adds)
        return;
    const std::vector<float> &sent = wait_for(shared, own.root);
    for (size_t at = 0; at < sent.size(); at++)
        own.to[at] = sent[at];
}

static bool is_sound(const call &own)
{
    const int device = own.comm->all->devices[own.comm->rank];
    const size_t bytes = own.count * sizeof(float);
    return stand_in_device_of(own.stream) == device &&
           stand_in_is_memory_of(device, own.from, bytes) &&
           stand_in_is_memory_of(device, own.to, bytes);
}

/* Takes each rank's first remaining call. Fails if the calls are of different operations. */
static ncclResult_t take(std::vector<call> &calls)
{
    const auto shared = std::make_shared<operation>();
    const std::shared_ptr<clique> all = calls.front().comm->all;
    const int count = (int)all->devices.size();
    for (int rank = 0; rank < count; rank++) {
        size_t at = 0;
        while (at < calls.size() && (calls[at].comm->all != all || calls[at].comm->rank != rank))
            at++;
        if (at == calls.size() || !is_sound(calls[at]))
            return ncclInvalidUsage;
        shared->calls.push_back(calls[at]);
        calls.erase(calls.begin() + (long)at);
        const call &first = shared->calls.front(), &last = shared->calls.back();
        if (first.adds != last.adds || first.count != last.count || first.root != last.root)
            return ncclInvalidUsage;
    }
    shared->shown.resize((size_t)count);
    shared->has_shown.resize((size_t)count);
    for (int rank = 0; rank < count; rank++) {
        if (stand_in_submit(shared->calls[rank].stream, [=] { work(*shared, rank); }) !=
            cudaSuccess)
            return ncclUnhandledCudaError;
    }
    return ncclSuccess;
}

ncclResult_t ncclGroupStart(void)
{
    groups++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    if (groups == 0)
        return ncclInvalidUsage;
    if (--groups > 0)
        return ncclSuccess;
    std::vector<call> calls;
    calls.swap(waiting);
    ncclResult_t result = ncclSuccess;
    while (result == ncclSuccess && !calls.empty())
        result = take(calls);
    return result;
}

static ncclResult_t ask(const call &own)
{
    if (own.root < 0 || own.root >= (int)own.comm->all->devices.size())
        return ncclInvalidArgument;
    if (groups == 0)
        return ncclInvalidUsage; /* the thread would wait for itself */
    waiting.push_back(own);
    return ncclSuccess;
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    (void)type; /* there is only one type */
    return ask({false, (const float *)from, (float *)to, count, root, comm, stream});
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream)
{
    (void)type, (void)operation; /* there is only one type and one operation */
    return ask({true, (const float *)from, (float *)to, count, root, comm, stream});
}
