#include "daemon/sd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* READY=1 is sent again after this time if it was not delivered */
#define RETRY_NS 1000000000ull

static void complain(struct sd_notify *sd_notify, const char *why)
{
    if (!sd_notify->complained)
        (void)fprintf(stderr, "hearsay: cannot notify the service manager (NOTIFY_SOCKET): %s\n",
                      why);
    sd_notify->complained = true;
}

/* "@name" is an abstract name: its first byte becomes zero, and the length of the address marks its
 * end. */
static bool address_read(struct sd_notify *sd_notify, const char *name)
{
    const size_t bytes = strlen(name);
    CHECK(bytes > 0);
    if ((name[0] != '/' && name[0] != '@') || bytes < 2 || bytes >= sizeof sd_notify->to.sun_path) {
        complain(sd_notify, "not the address of a Unix socket");
        return false;
    }
    sd_notify->to.sun_family = AF_UNIX;
    memcpy(sd_notify->to.sun_path, name, bytes + 1);
    if (name[0] == '@')
        sd_notify->to.sun_path[0] = '\0';
    sd_notify->to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
    return true;
}

static bool number_read(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno)
        return false;
    *out = value;
    return true;
}

/* Returns half of WATCHDOG_USEC in nanoseconds; 0 = the manager wants no WATCHDOG=1 of this
 * process. */
static uint64_t watchdog_read(void)
{
    const char *usec_text = getenv("WATCHDOG_USEC");
    const char *pid_text = getenv("WATCHDOG_PID");
    uint64_t usec;
    uint64_t pid;
    if (!usec_text || !number_read(usec_text, &usec) || usec > UINT64_MAX / 1000)
        return 0;
    if (pid_text && (!number_read(pid_text, &pid) || pid != (uint64_t)getpid()))
        return 0;
    return usec * 1000 / 2;
}

void sd_notify_open(struct sd_notify *sd_notify)
{
    *sd_notify = (struct sd_notify){.socket = -1, .wake_ns = UINT64_MAX};
    const char *name = getenv("NOTIFY_SOCKET");
    if (!name || !name[0] || !address_read(sd_notify, name))
        return;
    sd_notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (sd_notify->socket < 0) {
        complain(sd_notify, strerror(errno));
        return;
    }
    sd_notify->watchdog_ns = watchdog_read();
    sd_notify->wake_ns = 0;
}

static bool send_text(struct sd_notify *sd_notify, const char *text)
{
    CHECK(text[0]);
    if (sd_notify->socket < 0)
        return false;
    const ssize_t sent = sendto(sd_notify->socket, text, strlen(text), MSG_NOSIGNAL,
                                (const struct sockaddr *)&sd_notify->to, sd_notify->to_bytes);
    if (sent < 0)
        complain(sd_notify, strerror(errno));
    return sent >= 0;
}

void sd_notify_on_time(struct sd_notify *sd_notify, uint64_t now_ns)
{
    if (now_ns < sd_notify->wake_ns)
        return;
    CHECK(sd_notify->socket >= 0); /* without a socket wake_ns is UINT64_MAX */
    if (sd_notify->ready)
        (void)send_text(sd_notify, "WATCHDOG=1");
    else
        sd_notify->ready = send_text(sd_notify, "READY=1");
    if (!sd_notify->ready)
        sd_notify->wake_ns = now_ns + RETRY_NS;
    else
        sd_notify->wake_ns = sd_notify->watchdog_ns ? now_ns + sd_notify->watchdog_ns : UINT64_MAX;
}

uint64_t sd_notify_wake_ns(const struct sd_notify *sd_notify)
{
    return sd_notify->wake_ns;
}

void sd_notify_status(struct sd_notify *sd_notify, uint64_t now_ns, const struct node_stats *stats,
                      double loss, const struct reach *reach)
{
    char doing[96];
    char text[320];
    if (stats->phase == NODE_LEAVING)
        return; /* sd_notify_stopping has said so */
    if (!stats->trains)
        (void)strcpy(doing, "only relaying");
    else if (stats->steps > 0)
        (void)snprintf(doing, sizeof doing, "%.0f samples/s, loss %.4f", stats->samples_per_second,
                       loss);
    else
        (void)strcpy(doing, stats->phase == NODE_EXPELLED ? "expelled by an order"
                                                          : "not training yet");
    const int length =
        snprintf(text, sizeof text,
                 "STATUS=%s%s, neighbours %u, members %u, published %" PRIu64 ", received %" PRIu64,
                 reach_is_alone(reach, now_ns) ? "alone: no neighbour; " : "", doing,
                 (unsigned)stats->neighbours, (unsigned)stats->members_live,
                 stats->rumors_published, stats->rumors_received);
    CHECK(length > 0 && (size_t)length < sizeof text);
    (void)send_text(sd_notify, text);
}

void sd_notify_stopping(struct sd_notify *sd_notify)
{
    (void)send_text(sd_notify, "STOPPING=1\nSTATUS=leaving: the last rumors spread");
}

void sd_notify_close(struct sd_notify *sd_notify)
{
    if (sd_notify->socket >= 0)
        (void)close(sd_notify->socket);
    sd_notify->socket = -1;
    sd_notify->wake_ns = UINT64_MAX;
}
