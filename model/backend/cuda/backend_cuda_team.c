/* Several GPUs together, by NCCL. The library is loaded only for several GPUs, so that one GPU
 * needs no libnccl. The environment variable HEARSAY_NCCL names another file. */
#include <dlfcn.h>
#include <nccl.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "base/memory.h"

#define LIBRARY "libnccl.so.2"

/* Functions of the loaded library. */
struct nccl {
    ncclResult_t (*init_all)(ncclComm_t *comms, int count, const int *devices);
    ncclResult_t (*destroy)(ncclComm_t comm);
    ncclResult_t (*group_start)(void);
    ncclResult_t (*group_end)(void);
    ncclResult_t (*broadcast)(const void *from, void *to, size_t count, ncclDataType_t type,
                              int root, ncclComm_t comm, cudaStream_t stream);
    ncclResult_t (*reduce)(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream);
    const char *(*error_text)(ncclResult_t error);
};

struct cuda_team {
    struct team table; /* must be first: a pointer to it is also a pointer to struct cuda_team */
    struct nccl nccl;
    ncclComm_t comm[TEAM_MAX]; /* [count] one communicator for each device */
};

/* Loads the library. It stays loaded, because it may have threads of its own. Returns false and
 * sets the problem if the library or one of its functions is missing. */
static bool load(struct nccl *nccl, struct problem *problem)
{
    const struct {
        const char *name;
        void *to; /* address of the pointer in struct nccl */
    } wanted[] = {
        {"ncclCommInitAll", &nccl->init_all},      {"ncclCommDestroy", &nccl->destroy},
        {"ncclGroupStart", &nccl->group_start},    {"ncclGroupEnd", &nccl->group_end},
        {"ncclBroadcast", &nccl->broadcast},       {"ncclReduce", &nccl->reduce},
        {"ncclGetErrorString", &nccl->error_text},
    };
    const char *given = getenv("HEARSAY_NCCL");
    void *library = dlopen(given ? given : LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = library != NULL;
    for (size_t i = 0; is_whole && i < sizeof wanted / sizeof *wanted; i++) {
        void *symbol = dlsym(library, wanted[i].name);
        is_whole = symbol != NULL;
        memcpy(wanted[i].to, &symbol, sizeof symbol);
    }
    if (!is_whole) {
        const char *why = dlerror();
        (void)problem_set(problem, MISSING,
                          "several GPUs need NCCL, which cannot be loaded (%.300s): install "
                          "libnccl2, or name one GPU",
                          why ? why : LIBRARY);
    }
    return is_whole;
}

static void check(const struct cuda_team *team, ncclResult_t error, const char *what)
{
    if (error != ncclSuccess)
        cuda_lost(what, team->nccl.error_text(error));
}

static cudaStream_t stream_of(const struct team *team, int i)
{
    const struct cuda *cuda = (const struct cuda *)team->backend[i];
    CHECK(!cuda->recording);
    return cuda->stream;
}

/* One thread makes the calls for all devices. This needs an NCCL group, in which no call waits for
 * the calls of other devices. */
static void team_broadcast(struct team *table, float *const memory[], size_t count)
{
    const struct cuda_team *team = (const struct cuda_team *)table;
    check(team, team->nccl.group_start(), "sending weights");
    for (int i = 0; i < table->count; i++)
        check(team,
              team->nccl.broadcast(memory[i], memory[i], count, ncclFloat32, 0, team->comm[i],
                                   stream_of(table, i)),
              "sending weights");
    check(team, team->nccl.group_end(), "sending weights");
}

static void team_reduce(struct team *table, float *const memory[], size_t count)
{
    const struct cuda_team *team = (const struct cuda_team *)table;
    check(team, team->nccl.group_start(), "adding gradients");
    for (int i = 0; i < table->count; i++)
        check(team,
              team->nccl.reduce(memory[i], memory[i], count, ncclFloat32, ncclSum, 0, team->comm[i],
                                stream_of(table, i)),
              "adding gradients");
    check(team, team->nccl.group_end(), "adding gradients");
}

static void team_close(struct team *table)
{
    struct cuda_team *team = (struct cuda_team *)table;
    for (int i = 0; i < table->count; i++)
        cuda_check(cudaStreamSynchronize(cuda_on(table->backend[i])->stream), "closing");
    for (int i = 0; i < table->count; i++)
        check(team, team->nccl.destroy(team->comm[i]), "closing");
    for (int i = 1; i < table->count; i++)
        table->backend[i]->close(table->backend[i]);
    free(team);
}

static const struct team team_table = {
    .broadcast = team_broadcast, .reduce = team_reduce, .close = team_close};

/* Makes NCCL's threads, which are all in this process, connect over the loopback interface. A
 * setting in the environment takes precedence. Returns false and sets the problem if memory is
 * exhausted. */
static bool stay_here(struct problem *problem)
{
    if (setenv("NCCL_SOCKET_IFNAME", "=lo", 0) == 0)
        return true;
    (void)problem_set(problem, FAILED, "the environment cannot be set: out of memory");
    return false;
}

enum error cuda_team_open(struct backend *const backends[], int count, struct team **opened,
                          struct problem *problem)
{
    int devices[TEAM_MAX];
    struct nccl nccl;
    CHECK(count >= 2 && count <= TEAM_MAX);
    if (!load(&nccl, problem))
        return MISSING;
    if (!stay_here(problem))
        return FAILED;
    struct cuda_team *team = memory_new(1, sizeof *team);
    team->table = team_table;
    team->table.count = count;
    team->nccl = nccl;
    for (int i = 0; i < count; i++) {
        team->table.backend[i] = backends[i];
        devices[i] = cuda_on(backends[i])->device;
    }
    const ncclResult_t error = nccl.init_all(team->comm, count, devices);
    if (error == ncclSuccess) {
        *opened = &team->table;
        return OK;
    }
    free(team);
    return problem_set(problem, FAILED,
                       "the GPUs cannot work together (NCCL: %s; with NCCL_DEBUG=INFO it says "
                       "more): name one",
                       nccl.error_text(error));
}
