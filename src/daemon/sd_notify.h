/* Notifications for a service manager, by the protocol of sd_notify(3): datagrams of lines
 * VARIABLE=value to the Unix socket that the environment names.
 *
 *   NOTIFY_SOCKET   the socket: a path, or @name in the abstract namespace; unset: none is notified
 *   WATCHDOG_USEC   the time of silence after which it kills: WATCHDOG=1 comes twice as often
 *   WATCHDOG_PID    the process that it watches; unset: this one
 *
 *   READY=1 (the node listens and its loop runs) ─► STATUS=…, WATCHDOG=1 ─► STOPPING=1
 *
 * All comes from the loop, so a loop that hangs falls silent. Nothing here blocks; undelivered
 * messages are lost, except READY=1, and the first loss is printed. Held by
 * tests/unit/daemon/test_sd_notify.c.
 */
#ifndef HEARSAY_DAEMON_SD_NOTIFY_H
#define HEARSAY_DAEMON_SD_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "daemon/reach.h"
#include "node/inspect.h"

struct sd_notify {
    int socket;            /* -1: none is notified */
    struct sockaddr_un to; /* the manager's address */
    socklen_t to_bytes;    /* of it that count */
    uint64_t watchdog_ns;  /* between two WATCHDOG=1; 0: none are wanted */
    uint64_t wake_ns;      /* when sd_notify_on_time is to be called */
    bool ready;            /* READY=1 was delivered */
    bool complained;       /* a loss was printed */
};

/* Read the environment. A fault in it is printed, and then none is notified. */
void sd_notify_open(struct sd_notify *sd_notify);

/* Called at sd_notify_wake_ns at the latest (UINT64_MAX: need not be), from the loop. */
void sd_notify_on_time(struct sd_notify *sd_notify, uint64_t now_ns);
uint64_t sd_notify_wake_ns(const struct sd_notify *sd_notify);

/* One line for `systemctl status`. loss: of the last second's steps. */
void sd_notify_status(struct sd_notify *sd_notify, uint64_t now_ns, const struct node_stats *stats,
                      double loss, const struct reach *reach);

/* The node has begun to leave. */
void sd_notify_stopping(struct sd_notify *sd_notify);

void sd_notify_close(struct sd_notify *sd_notify);

#endif
