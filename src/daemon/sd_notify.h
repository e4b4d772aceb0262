/* Sends notifications to a service manager with the protocol of sd_notify(3): datagrams with lines
 * VARIABLE=value, to the Unix socket that the environment names.
 *
 *   NOTIFY_SOCKET   the socket: a path, or @name in the abstract namespace; unset = no manager
 *   WATCHDOG_USEC   microseconds without WATCHDOG=1 after which the manager kills the process;
 *                   WATCHDOG=1 is sent after half of that time
 *   WATCHDOG_PID    the watched process; unset = this one
 *
 *   READY=1 (the node listens and its loop runs) ─► STATUS=…, WATCHDOG=1 ─► STOPPING=1
 *
 * The event loop sends all messages, so if it hangs, WATCHDOG=1 is missing. Sending never blocks.
 * Undelivered messages are lost, except READY=1, which is repeated; the first loss is printed.
 * Tests: tests/unit/daemon/test_sd_notify.c.
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
    int socket;            /* Unix datagram socket; -1 = no manager is notified */
    struct sockaddr_un to; /* the manager's socket */
    socklen_t to_bytes;    /* used bytes of `to` */
    uint64_t watchdog_ns;  /* nanoseconds between two WATCHDOG=1 messages; 0 = not wanted */
    uint64_t wake_ns;      /* next time at which sd_notify_on_time is due; UINT64_MAX = never */
    bool ready;            /* READY=1 was delivered */
    bool complained;       /* the first failure was reported */
};

/* Reads the environment. If NOTIFY_SOCKET is invalid, prints why, and no manager is notified. */
void sd_notify_open(struct sd_notify *sd_notify);

/* Sends READY=1 or WATCHDOG=1 if due. The loop calls it at the time of sd_notify_wake_ns
 * (UINT64_MAX = never). */
void sd_notify_on_time(struct sd_notify *sd_notify, uint64_t now_ns);
uint64_t sd_notify_wake_ns(const struct sd_notify *sd_notify);

/* Sends one line for `systemctl status`. loss: mean loss of the last second with steps. */
void sd_notify_status(struct sd_notify *sd_notify, uint64_t now_ns, const struct node_stats *stats,
                      double loss, const struct reach *reach);

void sd_notify_stopping(struct sd_notify *sd_notify);

void sd_notify_close(struct sd_notify *sd_notify);

#endif
