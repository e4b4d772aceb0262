/* The memory of libraries: libuv and jansson take it as the rest of the program does
 * (base/memory.h), so they end it with a sentence when there is none, too. Left to itself libuv may
 * abort, and what jansson lacks would be missing from a page or a log. */
#ifndef HEARSAY_COMMANDS_LIBRARY_MEMORY_H
#define HEARSAY_COMMANDS_LIBRARY_MEMORY_H

/* Before anything else is asked of either. */
void library_memory_set(void);

#endif
