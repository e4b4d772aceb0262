#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/error.h"

_Noreturn void memory_missing(size_t bytes)
{
    char text[AMOUNT_BYTES];
    fatal("out of memory: the system does not give %s more; take a smaller model or batch, or give "
          "this process more memory (free some, raise ulimit -v or the memory limit of its unit)",
          amount_bytes((double)bytes, text));
}

/* Returns the product, or SIZE_MAX if it does not fit. */
static size_t whole(size_t count, size_t item_bytes)
{
    return item_bytes > 0 && count > SIZE_MAX / item_bytes ? SIZE_MAX : count * item_bytes;
}

void *memory_new(size_t count, size_t item_bytes)
{
    const size_t bytes = whole(count, item_bytes);
    void *memory = bytes < SIZE_MAX ? calloc(1, bytes > 0 ? bytes : 1) : NULL;
    if (!memory)
        memory_missing(bytes);
    return memory;
}

void *memory_more(void *memory, size_t count, size_t item_bytes)
{
    const size_t bytes = whole(count, item_bytes);
    void *moved = bytes < SIZE_MAX ? realloc(memory, bytes > 0 ? bytes : 1) : NULL;
    if (!moved)
        memory_missing(bytes);
    return moved;
}

char *memory_text(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    return memcpy(memory_new(bytes, 1), text, bytes);
}
