/* Locked memory: the only place where a process keeps its keys.
 *
 *   one region, allocated at start ─► an arena ─► identity, swarm keys, handshakes, sessions
 *
 * The region is never swapped out and is in no core dump (secret_memory_new), so a core dump of a
 * node can be shared. A failed CHECK wipes the region before the abort. If RLIMIT_MEMLOCK is too
 * low to lock the region, keys may be swapped out; all other guarantees remain. Code that computes
 * with keys leaves copies on the stack during the computation and wipes them afterwards. Tests:
 * tests/unit/net/test_locked_memory.c, tests/world/test_keys_apart.c and
 * tests/process/test_keys.sh, which searches the memory of a process.
 */
#ifndef HEARSAY_NET_CRYPTO_LOCKED_MEMORY_H
#define HEARSAY_NET_CRYPTO_LOCKED_MEMORY_H

#include "base/arena.h"
#include "base/error.h"

struct locked_memory {
    struct arena arena;
    struct check_hook hook; /* wipes the region when a CHECK fails */
    int refusal; /* errno of the failed attempt to lock the region in memory; 0 = locked */
};

/* Allocates a region of at least `bytes` bytes for the arena. The struct must be zeroed, and must
 * not move: it registers a check_hook (base/error.h) until locked_memory_free. */
void locked_memory_init(struct locked_memory *memory, size_t bytes);
#define LOCKED_MEMORY_TEXT_BYTES 160
/* Writes whether the region is locked; if not, also why and how to allow it. */
void locked_memory_text(const struct locked_memory *memory,
                        char text[static LOCKED_MEMORY_TEXT_BYTES]);

/* Disables core dumps of this process, except in a build with AddressSanitizer. Meant for commands
 * that hold keys only briefly. */
void locked_memory_refuse_dumps(void);

/* Wipes and frees the region, if there is one. */
void locked_memory_free(struct locked_memory *memory);

#endif
