/* Asking the node of a state folder how it is, over the socket in it (status_door.h). */
#ifndef HEARSAY_COMMANDS_STATUS_STATUS_ASK_H
#define HEARSAY_COMMANDS_STATUS_STATUS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "config/config.h"
#include "base/error.h"

#define STATUS_SOCKET     "status.sock"
#define STATUS_PATH_BYTES (CONFIG_PATH_BYTES + 32)
#define STATUS_ANSWER_MAX ((size_t)16 << 20)

/* The answer, as it came (then a zero), to be freed; within wait_ms. MISSING: no node answers
 * there, FAILED: it is there and does not answer; the sentence says what to do. */
enum error status_ask(const char *dir, int wait_ms, char **bytes, size_t *count,
                      struct problem *problem) MUST_USE;

/* The name of a unix socket holds 108 bytes, a path of a state folder more: it goes through the
 * open folder. False, with errno, when there is no such folder. */
struct status_place {
    int folder;
    struct sockaddr_un address;
};
bool status_place_open(struct status_place *place, const char *dir);
void status_place_close(struct status_place *place);

#endif
