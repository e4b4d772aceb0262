#include "socket/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"
#include "base/system_clock.h"
#include "socket/handles.h"

const struct connector_times CONNECTOR_USUAL = {
    .lookup_ms = 15000, .connect_ms = 8000, .stagger_ms = 250};

/* A connection attempt to one address. It is freed when its handle is closed, unless on_connected
 * has given the handle to the owner. */
struct attempt {
    uv_tcp_t tcp; /* must be the first member, because freeing the handle frees the attempt */
    uv_connect_t connect;
    struct connector *dial; /* NULL = this attempt, or the whole dial, is over */
    int index;              /* index in dial->order */
    uint64_t begun_ns;
};

/* A dial of one name. It is freed when its timer is closed and no lookup is running. */
struct connector {
    uv_loop_t *loop;
    struct connector_owner owner;
    struct connector_times times;
    uint32_t segment_bytes;
    /* Fires when the lookup or the attempts took too long, or when the next attempt is due. */
    uv_timer_t timer;
    bool has_timer; /* the timer is not closed yet */
    bool is_resolving;
    bool is_over;    /* the dial has ended and waits for its handles to close */
    bool has_failed; /* the dial failed: on_failed is called when the timer is closed */
    uv_getaddrinfo_t lookup;
    struct addrinfo *found;
    const struct addrinfo *order[CONNECTOR_ADDRESSES_MAX];
    /* running attempts, indexed like `order`; NULL = none */
    struct attempt *attempt[CONNECTOR_ADDRESSES_MAX];
    int count, next;               /* addresses in `order`; index of the next address to try */
    uint64_t end_ms;               /* time at which all attempts end, by the loop's clock */
    char why[CONNECTOR_WHY_BYTES]; /* errors of the addresses that have failed so far */
};

int connector_order(const struct addrinfo *found, const struct addrinfo **at, int most)
{
    const struct addrinfo *first = found, *other = found;
    int count = 0;
    const int family = found ? found->ai_family : AF_UNSPEC;
    for (bool wants_first = true; count < most && (first || other); wants_first = !wants_first) {
        const struct addrinfo **next = wants_first ? &first : &other;
        while (*next && ((*next)->ai_family == family) != wants_first)
            *next = (*next)->ai_next;
        if (!*next)
            continue;
        at[count++] = *next;
        *next = (*next)->ai_next;
    }
    return count;
}

static void free_if_done(struct connector *dial)
{
    if (dial->has_timer || dial->is_resolving)
        return;
    if (dial->found)
        uv_freeaddrinfo(dial->found);
    free(dial);
}

static void on_timer_closed(uv_handle_t *timer)
{
    struct connector *dial = timer->data;
    const struct connector_owner owner = dial->owner;
    char why[CONNECTOR_WHY_BYTES];
    const bool has_failed = dial->has_failed;
    memcpy(why, dial->why, sizeof why);
    dial->has_timer = false;
    free_if_done(dial);
    if (has_failed)
        owner.on_failed(owner.self, why);
}

static void on_attempt_closed(uv_handle_t *handle)
{
    free(handle);
}

static void attempt_drop(struct connector *dial, int index)
{
    struct attempt *attempt = dial->attempt[index];
    if (!attempt)
        return;
    dial->attempt[index] = NULL;
    attempt->dial = NULL;
    handles_close((uv_stream_t *)&attempt->tcp, on_attempt_closed);
}

static void connector_end(struct connector *dial, bool has_failed)
{
    if (dial->is_over)
        return;
    dial->is_over = true;
    dial->has_failed = has_failed;
    for (int i = 0; i < dial->count; i++)
        attempt_drop(dial, i);
    if (dial->is_resolving)
        (void)uv_cancel((uv_req_t *)&dial->lookup);
    uv_close((uv_handle_t *)&dial->timer, on_timer_closed);
}

static void connector_fail(struct connector *dial, const char *why)
{
    (void)snprintf(dial->why, sizeof dial->why, "%s", why);
    connector_end(dial, true);
}

void connector_cancel(struct connector *dial)
{
    connector_fail(dial, "");
}

/* Appends an error to dial->why, and names the address if the dialled name has several. */
static void append_error(struct connector *dial, int index, const char *why)
{
    const struct address address = address_of_socket(dial->order[index]->ai_addr);
    const size_t used = strlen(dial->why);
    (void)snprintf(dial->why + used, sizeof dial->why - used, "%s%s%s%s", used ? "; " : "",
                   dial->count > 1 ? address.host : "", dial->count > 1 ? ": " : "", why);
}

/* Appends a timeout to dial->why for each of the first `count` addresses whose attempt is still
 * running. */
static void append_timeouts(struct connector *dial, int count)
{
    char silent[48];
    (void)snprintf(silent, sizeof silent, "no answer within %g s",
                   (double)dial->times.connect_ms * 1e-3);
    for (int i = 0; i < count; i++)
        if (dial->attempt[i])
            append_error(dial, i, dial->count > 1 ? "no answer" : silent);
}

static bool is_under_way(const struct connector *dial)
{
    for (int i = 0; i < dial->count; i++)
        if (dial->attempt[i])
            return true;
    return false;
}

static void try_next(struct connector *dial);

static void on_connect(uv_connect_t *request, int error)
{
    struct attempt *attempt = request->data;
    struct connector *dial = attempt->dial;
    if (!dial)
        return;
    if (error) {
        append_error(dial, attempt->index, uv_strerror(error));
        attempt_drop(dial, attempt->index);
        try_next(dial);
        return;
    }
    dial->attempt[attempt->index] = NULL;
    attempt->dial = NULL;
    /* Attempts begun after the winner had less time, so they do not count as timed out. */
    append_timeouts(dial, attempt->index);
    const struct connector_owner owner = dial->owner;
    struct connector_result result = {.connect_ns = monotonic_ns() - attempt->begun_ns};
    memcpy(result.tried, dial->why, sizeof result.tried);
    connector_end(dial, false);
    owner.on_connected(owner.self, &attempt->tcp, &result);
}

/* Sets the largest segment. Call it before connecting; otherwise the other side does not learn the
 * limit. */
static void limit_segments(const struct connector *dial, const struct attempt *attempt)
{
    const int most = (int)dial->segment_bytes;
    uv_os_fd_t file;
    if (most > 0 && uv_fileno((const uv_handle_t *)&attempt->tcp, &file) == 0)
        (void)setsockopt(file, IPPROTO_TCP, TCP_MAXSEG, &most, sizeof most);
}

/* Returns a libuv error, or 0. */
static int attempt_begin(struct connector *dial, int index)
{
    const struct sockaddr *to = dial->order[index]->ai_addr;
    struct attempt *attempt = memory_new(1, sizeof *attempt);
    int error = uv_tcp_init_ex(dial->loop, &attempt->tcp, to->sa_family);
    if (error) {
        free(attempt);
        return error;
    }
    attempt->connect.data = attempt;
    attempt->dial = dial;
    attempt->index = index;
    attempt->begun_ns = monotonic_ns();
    dial->attempt[index] = attempt;
    handles_keep((const uv_stream_t *)&attempt->tcp);
    limit_segments(dial, attempt);
    error = uv_tcp_connect(&attempt->connect, &attempt->tcp, to, on_connect);
    if (error)
        attempt_drop(dial, index);
    return error;
}

static void on_timer(uv_timer_t *timer)
{
    struct connector *dial = timer->data;
    if (dial->is_resolving) {
        char why[64];
        (void)snprintf(why, sizeof why, "looking up its name took longer than %g s",
                       (double)dial->times.lookup_ms * 1e-3);
        connector_fail(dial, why);
    } else if (uv_now(dial->loop) < dial->end_ms) {
        try_next(dial);
    } else {
        append_timeouts(dial, dial->count);
        connector_end(dial, true);
    }
}

/* Begins an attempt to the next address for which that succeeds, then sets the timer. Ends the dial
 * if no attempt runs. */
static void try_next(struct connector *dial)
{
    bool has_begun = false;
    while (!has_begun && dial->next < dial->count) {
        const int index = dial->next++, error = attempt_begin(dial, index);
        has_begun = error == 0;
        if (error)
            append_error(dial, index, uv_strerror(error));
    }
    if (!is_under_way(dial)) {
        connector_end(dial, true);
        return;
    }
    const uint64_t now_ms = uv_now(dial->loop);
    const uint64_t left_ms = dial->end_ms > now_ms ? dial->end_ms - now_ms : 0;
    const bool has_more = dial->next < dial->count && left_ms > dial->times.stagger_ms;
    CHECK(uv_timer_start(&dial->timer, on_timer, has_more ? dial->times.stagger_ms : left_ms, 0) ==
          0);
}

static void on_resolved(uv_getaddrinfo_t *request, int error, struct addrinfo *found)
{
    struct connector *dial = request->data;
    dial->is_resolving = false;
    dial->found = found;
    if (dial->is_over) {
        free_if_done(dial);
        return;
    }
    dial->count = connector_order(found, dial->order, CONNECTOR_ADDRESSES_MAX);
    if (error || dial->count == 0) {
        char why[128];
        (void)snprintf(why, sizeof why, "its name cannot be resolved (%s)",
                       error ? uv_strerror(error) : "no address");
        connector_fail(dial, why);
        return;
    }
    uv_update_time(dial->loop);
    dial->end_ms = uv_now(dial->loop) + dial->times.connect_ms;
    try_next(dial);
}

struct connector *connector_begin(uv_loop_t *loop, const struct address *address,
                                  uint32_t segment_bytes, const struct connector_times *times,
                                  const struct connector_owner *owner)
{
    struct connector *dial = memory_new(1, sizeof *dial);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char port[8], why[128];
    dial->loop = loop;
    dial->owner = *owner;
    dial->times = *times;
    dial->segment_bytes = segment_bytes;
    dial->timer.data = dial->lookup.data = dial;
    CHECK(uv_timer_init(loop, &dial->timer) == 0);
    dial->has_timer = true;
    (void)snprintf(port, sizeof port, "%u", (unsigned)address->port);
    const int error = uv_getaddrinfo(loop, &dial->lookup, on_resolved, address->host, port, &hints);
    dial->is_resolving = error == 0;
    if (error) { /* only for an error: uv_strerror(0) would allocate a text and leak it */
        (void)snprintf(why, sizeof why, "its name cannot be resolved (%s)", uv_strerror(error));
        connector_fail(dial, why);
    } else {
        CHECK(uv_timer_start(&dial->timer, on_timer, times->lookup_ms, 0) == 0);
    }
    return dial;
}
