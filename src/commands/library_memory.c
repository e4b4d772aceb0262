#include "commands/library_memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <uv.h>

#include "base/error.h"
#include "base/memory.h"

static void *take(size_t bytes)
{
    return memory_new(bytes, 1);
}

static void *take_more(void *memory, size_t bytes)
{
    return memory_more(memory, bytes, 1);
}

void library_memory_set(void)
{
    CHECK(uv_replace_allocator(take, take_more, memory_new, free) == 0);
    json_set_alloc_funcs(take, free);
}
