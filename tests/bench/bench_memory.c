/* Computes the memory that a node reserves per neighbour and incarnation (limits.peers,
 * limits.incarnations), with and without queues. Untouched memory costs nothing, so
 * tests/bench/bench_memory.sh runs this program and also measures used memory. */
#include <stdio.h>

#include "node/inspect.h"
#include "wire/block.h"

#define MIB          1048576.0
#define INCARNATIONS 8192

/* Returns the bytes of a node's arena with the other settings of configs/node.conf. */
static size_t arena_bytes(uint32_t peers, uint32_t incarnations, size_t queue_bytes)
{
    const struct node_options options = {.limits.peers_max = peers,
                                         .limits.members_max = 256,
                                         .limits.incarnations_max = incarnations,
                                         .limits.send_queue_bytes = queue_bytes,
                                         .log_bytes = (size_t)64 << 20,
                                         .parameters = 215370,
                                         .block_entries = BLOCK_ENTRIES};
    return node_arena_bytes(&options);
}

static double per_neighbour(size_t queue_bytes)
{
    const uint32_t few = 32, many = 128;
    return (double)(arena_bytes(many, INCARNATIONS, queue_bytes) -
                    arena_bytes(few, INCARNATIONS, queue_bytes)) /
           (many - few);
}

int main(void)
{
    const size_t queue_bytes = (size_t)1 << 20;
    printf("reserved at birth for 32 neighbours, all in all   %8.2f MiB\n",
           (double)arena_bytes(32, INCARNATIONS, queue_bytes) / MIB);
    printf("for each neighbour, without queues                %8.3f MiB\n", per_neighbour(0) / MIB);
    printf("for each neighbour, with its two queues           %8.3f MiB\n",
           per_neighbour(queue_bytes) / MIB);
    printf("for each life, with 32 neighbours                 %8.0f bytes\n",
           (double)(arena_bytes(32, 2 * INCARNATIONS, 0) - arena_bytes(32, INCARNATIONS, 0)) /
               INCARNATIONS);
    return 0;
}
