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
    int socket;            /* the socket; -1 = no manager is notified */
    struct sockaddr_un to; /* address of the manager's socket */
    socklen_t to_bytes;    /* bytes of that address that count */
    uint64_t watchdog_ns;  /* time between two WATCHDOG=1; 0 = not wanted */
    uint64_t wake_ns;      /* time at which sd_notify_on_time is to be called */
    bool ready;            /* READY=1 was delivered */
    bool complained;       /* a lost message was reported */
};

/* Reads the environment. If it is invalid, prints that, and no manager is notified. */
void sd_notify_open(struct sd_notify *sd_notify);

/* Does periodic work; the loop calls it by sd_notify_wake_ns (UINT64_MAX = not needed). */
void sd_notify_on_time(struct sd_notify *sd_notify, uint64_t now_ns);
uint64_t sd_notify_wake_ns(const struct sd_notify *sd_notify);

/* Sends one line for `systemctl status`. loss: mean over the last second's steps. */
void sd_notify_status(struct sd_notify *sd_notify, uint64_t now_ns, const struct node_stats *stats,
                      double loss, const struct reach *reach);

/* Reports that the node has begun to leave. */
void sd_notify_stopping(struct sd_notify *sd_notify);

void sd_notify_close(struct sd_notify *sd_notify);

#endif
