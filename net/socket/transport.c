#include "socket/transport.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/memory.h"
#include "base/min_max.h"
#include "socket/connector.h"
#include "socket/handles.h"
#include "socket/local_server.h"

#define READ_BYTES   (64 * 1024)
#define BACKLOG      128
#define SIGNALS      3
#define FILES_NEEDED 12 /* file descriptors that an event loop and its pipes need, plus one */
/* Signals that the transport passes to on_signal; SIGHUP only after transport_take_hangups. */
static const int TAKEN[SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

_Static_assert(TRANSPORT_WHY_BYTES == CONNECTOR_WHY_BYTES, "a dial's reason fits");

/* One connection. It is freed when its dial is over and its handle is closed. */
struct link {
    struct transport *transport;
    struct link *next;
    uint64_t conn; /* id, chosen by the owner; 0 = the owner refused the connection */
    uv_tcp_t *tcp; /* handle allocated with malloc; NULL = not connected, or closed */
    bool is_closing;
    uint64_t held_ns;                /* time until which nothing is read; 0 = bytes are read */
    struct connector *dial;          /* running dial; NULL = none */
    uv_write_t write;                /* request of the send in progress */
    struct connector_result dialled; /* valid if the link was dialled */
    char why[CONNECTOR_WHY_BYTES];   /* reason for on_closed; "" = none */
};

struct transport {
    struct transport_owner owner;
    uv_loop_t loop;
    uv_tcp_t listener;
    bool listens;
    uv_timer_t timer;
    uv_timer_t resume; /* fires when the next held connection is read again */
    uv_async_t wake;
    uv_signal_t signals[SIGNALS];
    struct link *links;
    struct local_server local;
    uv_poll_t watched; /* file of transport_watch */
    bool watches;
    char *buffer; /* [READ_BYTES] buffer of the read in progress */
    bool freeing; /* transport_free has begun: the owner is no longer called */
};

static void on_timer(uv_timer_t *timer)
{
    struct transport *transport = timer->data;
    transport->owner.on_timer(transport->owner.self);
}

static void on_wake(uv_async_t *wake)
{
    struct transport *transport = wake->data;
    transport->owner.on_wake(transport->owner.self);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct transport *transport = handle->data;
    transport->owner.on_signal(transport->owner.self, number);
}

/* Returns true if FILES_NEEDED file descriptors are free. Without them, libuv would abort the
 * process when it creates its first loop. */
static bool has_files(void)
{
    int files[FILES_NEEDED], count = 0;
    while (count < FILES_NEEDED && (files[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        (void)close(files[i]);
    return count == FILES_NEEDED;
}

struct transport *transport_new(const struct transport_owner *owner)
{
    struct transport *transport = transport_try_new(owner);
    if (!transport)
        fatal("cannot create an event loop: too few file descriptors; raise the limit (ulimit -n)");
    return transport;
}

struct transport *transport_try_new(const struct transport_owner *owner)
{
    struct transport *transport = memory_new(1, sizeof *transport);
    if (!has_files() || uv_loop_init(&transport->loop) != 0) {
        free(transport);
        return NULL;
    }
    transport->owner = *owner;
    transport->local.make = owner->on_local_client;
    transport->local.self = owner->self;
    transport->buffer = memory_new(READ_BYTES, 1);
    CHECK(uv_timer_init(&transport->loop, &transport->timer) == 0);
    CHECK(uv_timer_init(&transport->loop, &transport->resume) == 0);
    transport->resume.data = transport;
    CHECK(uv_async_init(&transport->loop, &transport->wake, on_wake) == 0);
    transport->timer.data = transport->wake.data = transport;
    for (int i = 0; owner->on_signal && i < SIGNALS; i++) {
        (void)signal(SIGPIPE, SIG_IGN);
        CHECK(uv_signal_init(&transport->loop, &transport->signals[i]) == 0);
        transport->signals[i].data = transport;
        CHECK(i == 2 || uv_signal_start(&transport->signals[i], on_signal, TAKEN[i]) == 0);
    }
    return transport;
}

void transport_take_hangups(struct transport *transport)
{
    CHECK(!transport->owner.on_signal ||
          uv_signal_start(&transport->signals[2], on_signal, SIGHUP) == 0);
}

static struct link *link_new(struct transport *transport)
{
    struct link *link = memory_new(1, sizeof *link);
    link->transport = transport;
    link->write.data = link;
    link->next = transport->links;
    transport->links = link;
    return link;
}

static struct link *link_find(const struct transport *transport, uint64_t conn)
{
    struct link *link = transport->links;
    while (link && link->conn != conn)
        link = link->next;
    return link;
}

static void link_forget(struct link *link)
{
    struct link **at = &link->transport->links;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    free(link);
}

static void link_ended(struct link *link)
{
    struct transport *transport = link->transport;
    CHECK(!link->dial && !link->tcp);
    if (link->conn && !transport->freeing)
        transport->owner.on_closed(transport->owner.self, link->conn, link->why);
    link_forget(link);
}

static void on_tcp_closed(uv_handle_t *handle)
{
    struct link *link = handle->data;
    free(link->tcp);
    link->tcp = NULL;
    link_ended(link);
}

static void link_close(struct link *link, const char *why)
{
    if (link->is_closing)
        return;
    link->is_closing = true;
    (void)snprintf(link->why, sizeof link->why, "%s", why);
    if (link->dial)
        connector_cancel(link->dial);
    else
        handles_close((uv_stream_t *)link->tcp, on_tcp_closed);
}

static void on_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    struct link *link = handle->data;
    *buffer = uv_buf_init(link->transport->buffer, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct link *link = stream->data;
    struct transport *transport = link->transport;
    if (count > 0 && !link->is_closing)
        transport->owner.on_bytes(transport->owner.self, link->conn, (const uint8_t *)buffer->base,
                                  (size_t)count);
    else if (count < 0)
        link_close(link, count == UV_EOF ? "" : uv_strerror((int)count));
}

static void link_read(struct link *link)
{
    int error = uv_read_start((uv_stream_t *)link->tcp, on_buffer, on_read);
    if (error)
        link_close(link, uv_strerror(error));
}

static void link_start(struct link *link)
{
    (void)uv_tcp_nodelay(link->tcp, 1);
    (void)uv_tcp_keepalive(link->tcp, 1, 60);
    link_read(link);
}

static void start_timer(uv_timer_t *timer, uv_timer_cb call, uint64_t at_ns)
{
    const uint64_t now_ns = monotonic_ns();
    const uint64_t wait_ms = at_ns > now_ns ? (at_ns - now_ns + 999999) / 1000000 : 0;
    uv_update_time(timer->loop);
    CHECK(uv_timer_start(timer, call, wait_ms, 0) == 0);
}

/* Resumes reading from each connection whose held_ns has passed. Sets the timer again. */
static void on_resume(uv_timer_t *timer)
{
    struct transport *transport = timer->data;
    const uint64_t now_ns = monotonic_ns();
    uint64_t next_ns = UINT64_MAX;
    for (struct link *link = transport->links; link; link = link->next) {
        if (link->held_ns > now_ns) {
            next_ns = u64_min(next_ns, link->held_ns);
        } else if (link->held_ns > 0) {
            link->held_ns = 0;
            if (!link->is_closing)
                link_read(link);
        }
    }
    if (next_ns < UINT64_MAX)
        start_timer(timer, on_resume, next_ns);
}

static void on_connection(uv_stream_t *listener, int error)
{
    struct transport *transport = listener->data;
    if (error < 0)
        return; /* for example no free file descriptor: libuv calls again later */
    struct link *link = link_new(transport);
    link->tcp = memory_new(1, sizeof *link->tcp);
    CHECK(uv_tcp_init(&transport->loop, link->tcp) == 0);
    link->tcp->data = link;
    struct sockaddr_storage from = {0};
    int bytes = sizeof from;
    if (uv_accept(listener, (uv_stream_t *)link->tcp) != 0 ||
        uv_tcp_getpeername(link->tcp, (struct sockaddr *)&from, &bytes) != 0) {
        link_close(link, "");
        return;
    }
    handles_keep((const uv_stream_t *)link->tcp);
    const struct address address = address_of_socket((const struct sockaddr *)&from);
    link->conn = transport->owner.on_accept(transport->owner.self, &address);
    if (link->conn)
        link_start(link);
    else
        link_close(link, "");
}

static int bind_to(struct transport *transport, const struct address *address)
{
    struct sockaddr_storage to = {0};
    if (uv_ip4_addr(address->host, address->port, (struct sockaddr_in *)&to) != 0 &&
        uv_ip6_addr(address->host, address->port, (struct sockaddr_in6 *)&to) != 0)
        return UV_EINVAL;
    int error = uv_tcp_bind(&transport->listener, (const struct sockaddr *)&to, 0);
    handles_keep((const uv_stream_t *)&transport->listener);
    return error ? error : uv_listen((uv_stream_t *)&transport->listener, BACKLOG, on_connection);
}

static const char *remedy_for(int error)
{
    switch (error) {
    case UV_EADDRINUSE:
        return "another program (another node?) uses this port; stop it or choose another "
               "node.listen port";
    case UV_EACCES:
        return "ports below 1024 need privileges; choose a higher node.listen port";
    case UV_EADDRNOTAVAIL:
        return "this machine has no such address; listen on 0.0.0.0 or [::]";
    case UV_EINVAL:
        return "node.listen takes a numeric address, not a name; write 0.0.0.0 or [::] for all";
    default:
        return "check node.listen";
    }
}

enum error transport_listen(struct transport *transport, const struct address *address,
                            uint16_t *port, struct problem *problem)
{
    CHECK(!transport->listens);
    CHECK(uv_tcp_init(&transport->loop, &transport->listener) == 0);
    transport->listener.data = transport;
    transport->listens = true;
    struct sockaddr_storage bound = {0};
    int bytes = sizeof bound;
    int error = bind_to(transport, address);
    if (!error)
        error = uv_tcp_getsockname(&transport->listener, (struct sockaddr *)&bound, &bytes);
    if (error) {
        char text[ADDRESS_TEXT_BYTES];
        return problem_set(problem, FAILED, "cannot listen on %s: %s; %s",
                           address_text(address, text), uv_strerror(error), remedy_for(error));
    }
    *port = address_of_socket((const struct sockaddr *)&bound).port;
    return OK;
}

static void on_dialled(void *self, uv_tcp_t *tcp, const struct connector_result *result)
{
    struct link *link = self;
    CHECK(!link->is_closing);
    link->dial = NULL;
    link->tcp = tcp;
    tcp->data = link;
    link->dialled = *result;
    link_start(link);
    if (!link->is_closing)
        link->transport->owner.on_connected(link->transport->owner.self, link->conn);
}

static void on_dial_failed(void *self, const char *why)
{
    struct link *link = self;
    link->dial = NULL;
    if (!link->is_closing)
        (void)snprintf(link->why, sizeof link->why, "%s", why);
    link_ended(link);
}

void transport_dial(struct transport *transport, uint64_t conn, const struct address *address,
                    uint32_t segment_bytes)
{
    struct link *link = link_new(transport);
    const struct connector_owner owner = {
        .self = link, .on_connected = on_dialled, .on_failed = on_dial_failed};
    link->conn = conn;
    link->dial =
        connector_begin(&transport->loop, address, segment_bytes, &CONNECTOR_USUAL, &owner);
}

bool transport_reached(const struct transport *transport, uint64_t conn,
                       struct transport_reached *reached)
{
    const struct link *link = link_find(transport, conn);
    struct sockaddr_storage to = {0};
    int bytes = sizeof to;
    if (!link || !link->tcp || link->is_closing ||
        uv_tcp_getpeername(link->tcp, (struct sockaddr *)&to, &bytes) != 0)
        return false;
    reached->address = address_of_socket((const struct sockaddr *)&to);
    reached->connect_ns = link->dialled.connect_ns;
    memcpy(reached->tried, link->dialled.tried, sizeof reached->tried);
    return true;
}

size_t transport_unacknowledged(const struct transport *transport, uint64_t conn,
                                uint32_t *segment_bytes)
{
    const struct link *link = link_find(transport, conn);
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    uv_os_fd_t file;
    int bytes = 0;
    if (!link || !link->tcp || link->is_closing ||
        uv_fileno((const uv_handle_t *)link->tcp, &file) != 0 ||
        ioctl(file, SIOCOUTQ, &bytes) != 0 ||
        getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        return 0;
    *segment_bytes = info.tcpi_snd_mss;
    return (size_t)bytes;
}

static void on_written(uv_write_t *request, int error)
{
    struct link *link = request->data;
    if (link->is_closing)
        return;
    if (error < 0)
        link_close(link, uv_strerror(error));
    else
        link->transport->owner.on_sent(link->transport->owner.self, link->conn);
}

void transport_send(struct transport *transport, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct link *link = link_find(transport, conn);
    if (!link || link->is_closing)
        return; /* after an error, on_closed follows and reports it */
    CHECK(link->tcp);
    uv_buf_t buffer = uv_buf_init((char *)bytes, (unsigned)count);
    int error = uv_write(&link->write, (uv_stream_t *)link->tcp, &buffer, 1, on_written);
    if (error)
        link_close(link, uv_strerror(error));
}

void transport_hold(struct transport *transport, uint64_t conn, uint64_t until_ns)
{
    struct link *link = link_find(transport, conn);
    if (!link || link->is_closing || !link->tcp)
        return;
    (void)uv_read_stop((uv_stream_t *)link->tcp);
    link->held_ns = until_ns;
    on_resume(&transport->resume);
}

void transport_hang_up(struct transport *transport, uint64_t conn)
{
    struct link *link = link_find(transport, conn);
    if (link)
        link_close(link, "");
}

void transport_serve_local(struct transport *transport, int socket)
{
    local_server_open(&transport->local, &transport->loop, socket);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct transport *transport = poll->data;
    (void)status; /* a broken file also counts as readable: reading it shows the error */
    (void)events;
    transport->owner.on_ready(transport->owner.self);
}

void transport_watch(struct transport *transport, int file)
{
    CHECK(!transport->watches && transport->owner.on_ready);
    CHECK(uv_poll_init(&transport->loop, &transport->watched, file) == 0);
    transport->watched.data = transport;
    transport->watches = true;
    CHECK(uv_poll_start(&transport->watched, UV_READABLE, on_ready) == 0);
}

void transport_set_timer(struct transport *transport, uint64_t at_ns)
{
    start_timer(&transport->timer, on_timer, at_ns);
}

void transport_wake(struct transport *transport)
{
    (void)uv_async_send(&transport->wake);
}

void transport_run(struct transport *transport)
{
    (void)uv_run(&transport->loop, UV_RUN_DEFAULT);
}

void transport_stop(struct transport *transport)
{
    uv_stop(&transport->loop);
}

void transport_free(struct transport *transport)
{
    transport->freeing = true;
    for (struct link *link = transport->links; link; link = link->next)
        link_close(link, "");
    local_server_close(&transport->local);
    if (transport->watches)
        uv_close((uv_handle_t *)&transport->watched, NULL);
    if (transport->listens)
        handles_close((uv_stream_t *)&transport->listener, NULL);
    uv_close((uv_handle_t *)&transport->timer, NULL);
    uv_close((uv_handle_t *)&transport->resume, NULL);
    uv_close((uv_handle_t *)&transport->wake, NULL);
    for (int i = 0; transport->owner.on_signal && i < SIGNALS; i++)
        uv_close((uv_handle_t *)&transport->signals[i], NULL);
    (void)uv_run(&transport->loop, UV_RUN_DEFAULT);
    CHECK(uv_loop_close(&transport->loop) == 0);
    free(transport->buffer);
    free(transport);
}
