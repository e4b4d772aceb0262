/* Memory of libraries: libuv and jansson allocate as the rest of the program does (base/memory.h),
 * so a failure ends the program with a sentence. Without this libuv may abort, and jansson would
 * leave fields out of a page or a log. */
#ifndef HEARSAY_COMMANDS_LIBRARY_MEMORY_H
#define HEARSAY_COMMANDS_LIBRARY_MEMORY_H

/* Sets the allocation functions. Call it before any other call of these libraries. */
void library_memory_set(void);

#endif
