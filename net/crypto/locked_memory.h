/* Locked memory: where the keys of a process lie, and nothing else does.
 *
 *   one region, taken at birth ─► an arena ─► identity, swarm keys, what handshakes and sessions
 * keep
 *
 * It is never swapped out and is in no core dump (secret_memory_new), so that a dump of a node may
 * be shown to others; a failed CHECK wipes it first. Locking needs RLIMIT_MEMLOCK; without it the
 * keys may be swapped out, and all else holds. What computes with keys leaves copies on the stack
 * for as long as it takes, and wipes them. Held by tests/unit/net/test_locked_memory.c,
 * tests/world/test_keys_apart.c and, looking into a process, tests/process/test_keys.sh.
 */
#ifndef HEARSAY_NET_CRYPTO_LOCKED_MEMORY_H
#define HEARSAY_NET_CRYPTO_LOCKED_MEMORY_H

#include "base/arena.h"
#include "base/error.h"

struct locked_memory {
    struct arena arena;     /* hands it out */
    struct check_hook hook; /* wipes it when a CHECK has failed */
    int refusal;            /* errno of what refused to lock it; 0: it is locked */
};

/* At least so many bytes, for an arena; the struct must stay where it is. One hook of failed
 * CHECKs (base/error.h) is registered until the end. */
void locked_memory_init(struct locked_memory *memory, size_t bytes);
/* How it is with these bytes, and what to do about it: "... locked", or "... may be swapped out".
 */
#define LOCKED_MEMORY_TEXT_BYTES 160
void locked_memory_text(const struct locked_memory *memory,
                        char text[static LOCKED_MEMORY_TEXT_BYTES]);

/* For a command that holds keys for a moment: this process leaves no core dump at all. */
void locked_memory_refuse_dumps(void);

/* Wipes it and gives it back; does nothing if it was never taken. */
void locked_memory_free(struct locked_memory *memory);

#endif
