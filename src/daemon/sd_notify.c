#include "daemon/sd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_NS 1000000000ull /* READY=1, when it could not be delivered */

static void complain(struct notify *notify, const char *why)
{
    if (!notify->complained)
        (void)fprintf(stderr, "hearsay: cannot tell the service manager (NOTIFY_SOCKET): %s\n",
                      why);
    notify->complained = true;
}

/* An abstract name begins with a zero byte and ends where the address ends. */
static bool address_read(struct notify *notify, const char *name)
{
    const size_t bytes = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || bytes < 2 || bytes >= sizeof notify->to.sun_path) {
        complain(notify, "not the address of a Unix socket");
        return false;
    }
    notify->to.sun_family = AF_UNIX;
    memcpy(notify->to.sun_path, name, bytes + 1);
    if (name[0] == '@')
        notify->to.sun_path[0] = '\0';
    notify->to_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
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

/* Half of the time that we may be silent; 0 if nobody watches, or watches another process. */
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

void notify_open(struct notify *notify)
{
    *notify = (struct notify){.socket = -1, .wake_ns = UINT64_MAX};
    const char *name = getenv("NOTIFY_SOCKET");
    if (!name || !name[0] || !address_read(notify, name))
        return;
    notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (notify->socket < 0) {
        complain(notify, strerror(errno));
        return;
    }
    notify->watchdog_ns = watchdog_read();
    notify->wake_ns = 0;
}

static bool tell(struct notify *notify, const char *text)
{
    if (notify->socket < 0)
        return false;
    const ssize_t sent = sendto(notify->socket, text, strlen(text), MSG_NOSIGNAL,
                                (const struct sockaddr *)&notify->to, notify->to_bytes);
    if (sent < 0)
        complain(notify, strerror(errno));
    return sent >= 0;
}

void notify_on_time(struct notify *notify, uint64_t now_ns)
{
    if (now_ns < notify->wake_ns)
        return;
    if (notify->ready)
        (void)tell(notify, "WATCHDOG=1");
    else
        notify->ready = tell(notify, "READY=1");
    if (!notify->ready)
        notify->wake_ns = now_ns + RETRY_NS;
    else
        notify->wake_ns = notify->watchdog_ns ? now_ns + notify->watchdog_ns : UINT64_MAX;
}

uint64_t notify_wake_ns(const struct notify *notify)
{
    return notify->wake_ns;
}

void notify_status(struct notify *notify, const struct node_stats *stats, double loss)
{
    char doing[96];
    char text[256];
    if (stats->steps > 0)
        (void)snprintf(doing, sizeof doing, "%.0f samples/s, loss %.4f", stats->samples_per_second,
                       loss);
    else
        (void)snprintf(doing, sizeof doing, "not training yet");
    (void)snprintf(text, sizeof text,
                   "STATUS=%s, neighbours %u, members %u, told %" PRIu64 ", heard %" PRIu64, doing,
                   (unsigned)stats->neighbours, (unsigned)stats->members_live, stats->rumors_told,
                   stats->rumors_heard);
    (void)tell(notify, text);
}

void notify_stopping(struct notify *notify)
{
    (void)tell(notify, "STOPPING=1\nSTATUS=leaving: the last rumors travel");
}

void notify_close(struct notify *notify)
{
    if (notify->socket >= 0)
        (void)close(notify->socket);
    notify->socket = -1;
    notify->wake_ns = UINT64_MAX;
}
