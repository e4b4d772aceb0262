/* Makes libuv and jansson allocate with the program's own functions (base/memory.h), so that a lack
 * of memory ends the program with a message. With malloc, libuv might abort, and jansson would
 * leave out fields. */
#ifndef HEARSAY_COMMANDS_LIBRARY_MEMORY_H
#define HEARSAY_COMMANDS_LIBRARY_MEMORY_H

/* Call before any other call of libuv or jansson. */
void library_memory_set(void);

#endif
