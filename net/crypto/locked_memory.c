#include "crypto/locked_memory.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/error.h"
#include "crypto/secret.h"

#define ALIGN ((size_t)64)

static void wipe(void *context)
{
    const struct locked_memory *memory = context;
    secret_wipe(memory->arena.start, memory->arena.size_bytes);
}

void locked_memory_init(struct locked_memory *memory, size_t bytes)
{
    CHECK(bytes > 0 && !memory->arena.start);
    bytes = (bytes + ALIGN - 1) & ~(ALIGN - 1);
    arena_init_in(&memory->arena, secret_memory_new(bytes, &memory->refusal), bytes);
    memory->hook = (struct check_hook){.run = wipe, .context = memory};
    check_on_failure(&memory->hook);
}

void locked_memory_text(const struct locked_memory *memory,
                        char text[static LOCKED_MEMORY_TEXT_BYTES])
{
    const unsigned kib = (unsigned)((memory->arena.size_bytes + 1023) / 1024);
    if (memory->refusal == 0)
        (void)snprintf(text, LOCKED_MEMORY_TEXT_BYTES,
                       "%u KiB for keys are locked in memory and left out of core dumps", kib);
    else
        (void)snprintf(text, LOCKED_MEMORY_TEXT_BYTES,
                       "keys may be swapped out: %u KiB cannot be locked in memory: %s; allow it "
                       "(ulimit -l, or LimitMEMLOCK= of a unit)",
                       kib, strerror(memory->refusal));
}

/* A build with AddressSanitizer skips this: its leak check attaches like a debugger, which a
 * process that is not dumpable refuses. */
void locked_memory_refuse_dumps(void)
{
#ifndef __SANITIZE_ADDRESS__
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void locked_memory_free(struct locked_memory *memory)
{
    if (!memory->arena.start)
        return;
    check_forget(&memory->hook);
    secret_memory_free(memory->arena.start);
    *memory = (struct locked_memory){.refusal = 0};
}
