#include "web/web_server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fork_files.h"
#include "base/memory.h"
#include "crypto/secret.h"
#include "page/page.h"

#define IDLE_S 10
/* Seconds (calls of web_server_renew) in which a request must arrive, and in which a client must
 * read an answer other than /events. A local network needs milliseconds, a line of 64 kbit/s 20 s
 * for a page of 160 KB. */
#define REQUEST_S    10
#define ANSWER_S     60
#define MEMORY_BYTES (16 * 1024)
#define BACKLOG      64
/* largest number of bytes that libmicrohttpd requests in one call of read_event */
#define FRAME_BYTES (16 * 1024)
#define RETRY_MS    2000 /* a disconnected browser connects again after this time */
/* calls of MHD_run after a client was cut off: the one in progress, if any; the one in which
 * libmicrohttpd ends the connection; and the one in which it accepts another client */
#define TURNS_OF_A_CUT 3
/* maximum calls of MHD_run in one web_server_run, so that the loop also does other work */
#define TURNS_MAX    8
#define JSON_TYPE    "application/json"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define PLAIN_TYPE   "text/plain; charset=utf-8"
#define HTML_TYPE    "text/html; charset=utf-8"

/* An event of /events. It is freed when no client receives it any more. */
struct event {
    uint32_t readers; /* clients that still receive it */
    size_t count;
    char *text; /* text in the format of server-sent events */
};

struct watcher {
    struct web_server *server;
    /* a client of /events; NULL = this entry is free */
    struct MHD_Connection *connection;
    /* the client waits for the next event */
    bool is_suspended;
    struct event *event; /* being sent; NULL = none */
    size_t sent;         /* bytes of `event` sent so far */
};

/* A connection, with or without a request. */
struct client {
    int file;                /* its socket; -1 = this entry is free */
    uint64_t number;         /* rises with each connection */
    struct in6_addr address; /* of IPv4 the first four bytes, then zeros */
    unsigned age_s;          /* age of its request or answer: calls of web_server_renew */
    bool is_answered;        /* the request has arrived */
    bool is_watcher;         /* the answer is /events, which has no end */
};

struct web_server {
    struct web_owner owner;
    struct MHD_Daemon *daemon;
    int file;   /* readable when the server has work to do */
    int socket; /* listening socket */
    unsigned port;
    bool has_token, is_closing;
    /* is_judged: the owner was asked for is_ready since the last web_server_renew */
    bool is_judged, is_ready;
    /* made since the last web_server_renew; NULL = not made yet */
    struct MHD_Response *texts[WEB_TEXTS];
    /* hash of the token: the time of comparing hashes reveals nothing about it */
    uint8_t token[HASH_BYTES];
    struct watcher watchers[WEB_WATCHERS_MAX];
    struct client clients[WEB_CONNECTIONS_MAX];
    uint64_t connections; /* connections so far */
    int turns_due;        /* calls of MHD_run that are due although `file` is not readable */
};

static void hash_token(uint8_t out[static HASH_BYTES], const char *token)
{
    secret_blake2b(out, HASH_BYTES, token, strlen(token), NULL, 0);
}

static void put_headers(struct MHD_Response *response, const char *type)
{
    static const char *const HEADERS[][2] = {{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
                                             {"X-Content-Type-Options", "nosniff"},
                                             {"X-Frame-Options", "DENY"},
                                             {"Referrer-Policy", "no-referrer"}};
    if (!response)
        memory_missing(BUFSIZ);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++)
        (void)MHD_add_response_header(response, HEADERS[i][0], HEADERS[i][1]);
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const char *type,
                              struct MHD_Response *response)
{
    put_headers(response, type);
    if (code == MHD_HTTP_UNAUTHORIZED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    const enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

/* text: a string literal */
static enum MHD_Result say(struct MHD_Connection *connection, unsigned code, const char *text)
{
    return answer(connection, code, PLAIN_TYPE,
                  MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                  MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result serve_page(struct MHD_Connection *connection)
{
    size_t bytes;
    const char *page = page_live(&bytes);
    return answer(
        connection, MHD_HTTP_OK, HTML_TYPE,
        MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)page, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result serve_text(struct web_server *server, struct MHD_Connection *connection,
                                  enum web_text what)
{
    size_t count;
    CHECK(what < WEB_TEXTS);
    if (!server->texts[what]) {
        char *text = server->owner.make(server->owner.self, what, &count);
        server->texts[what] = MHD_create_response_from_buffer(count, text, MHD_RESPMEM_MUST_FREE);
        put_headers(server->texts[what], what == WEB_METRICS ? METRICS_TYPE : JSON_TYPE);
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, server->texts[what]);
}

static bool is_ready(struct web_server *server)
{
    if (!server->is_judged)
        server->is_ready = server->owner.is_ready(server->owner.self);
    server->is_judged = true;
    return server->is_ready;
}

static void forget_texts(struct web_server *server)
{
    server->is_judged = false;
    for (int what = 0; what < WEB_TEXTS; what++) {
        if (server->texts[what])
            MHD_destroy_response(server->texts[what]);
        server->texts[what] = NULL;
    }
}

/* The functions below deliver events to the clients of /events. */

static void drop_event(struct watcher *watcher)
{
    struct event *event = watcher->event;
    watcher->event = NULL;
    watcher->sent = 0;
    if (!event || --event->readers > 0)
        return;
    free(event->text);
    free(event);
}

/* libmicrohttpd calls it when the connection can take more bytes. */
static ssize_t read_event(void *self, uint64_t position, char *out, size_t most)
{
    struct watcher *watcher = self;
    (void)position;
    if (!watcher->event) {
        if (watcher->server->is_closing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        watcher->is_suspended = true;
        MHD_suspend_connection(watcher->connection);
        return 0;
    }
    const size_t left = watcher->event->count - watcher->sent, count = left < most ? left : most;
    memcpy(out, watcher->event->text + watcher->sent, count);
    watcher->sent += count;
    if (watcher->sent == watcher->event->count)
        drop_event(watcher);
    return (ssize_t)count;
}

static void forget_watcher(void *self)
{
    struct watcher *watcher = self;
    drop_event(watcher);
    watcher->connection = NULL;
    watcher->is_suspended = false;
}

static struct event *event_new(char *text, size_t count)
{
    struct event *event = memory_new(1, sizeof *event);
    *event = (struct event){.count = count, .text = text};
    return event;
}

static void give_event(struct watcher *watcher, struct event *event)
{
    CHECK(!watcher->event);
    watcher->event = event;
    watcher->sent = 0;
    event->readers++;
}

static enum MHD_Result serve_events(struct web_server *server, struct MHD_Connection *connection)
{
    struct watcher *watcher = server->watchers;
    while (watcher->connection)
        if (++watcher == server->watchers + WEB_WATCHERS_MAX)
            return say(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "too many browsers watch this node; close one\n");
    char *text = memory_new(1, 32);
    const int count = snprintf(text, 32, "retry: %d\n\n", RETRY_MS);
    *watcher = (struct watcher){.server = server, .connection = connection};
    give_event(watcher, event_new(text, (size_t)count));
    return answer(connection, MHD_HTTP_OK, "text/event-stream",
                  MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, FRAME_BYTES, read_event,
                                                    watcher, forget_watcher));
}

bool web_server_is_watched(const struct web_server *server)
{
    for (int i = 0; i < WEB_WATCHERS_MAX; i++)
        if (server->watchers[i].connection)
            return true;
    return false;
}

void web_server_send(struct web_server *server, char *json)
{
    const size_t bytes = strlen(json) + sizeof "data: \n\n";
    char *text = memory_new(1, bytes);
    struct event *made = event_new(text, bytes - 1);
    (void)snprintf(text, bytes, "data: %s\n\n", json);
    free(json);
    for (int i = 0; i < WEB_WATCHERS_MAX; i++) {
        struct watcher *watcher = &server->watchers[i];
        if (!watcher->is_suspended)
            continue; /* the client still reads the previous event, or the entry is free */
        give_event(watcher, made);
        watcher->is_suspended = false;
        MHD_resume_connection(watcher->connection);
    }
    if (made->readers == 0) {
        free(text);
        free(made);
    }
}

static bool knows_token(const struct web_server *server, struct MHD_Connection *connection)
{
    static const char BEARER[] = "Bearer ";
    const char *header =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    const char *said = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
    uint8_t hash[HASH_BYTES];
    if (header && strncmp(header, BEARER, sizeof BEARER - 1) == 0)
        said = header + sizeof BEARER - 1;
    if (!said)
        return false;
    hash_token(hash, said);
    return memcmp(hash, server->token, HASH_BYTES) == 0;
}

static bool is_own_name(const char *host)
{
    static const char *const OWN[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; host && i < sizeof OWN / sizeof OWN[0]; i++) {
        const size_t length = strlen(OWN[i]);
        if (strncmp(host, OWN[i], length) == 0 && (host[length] == '\0' || host[length] == ':'))
            return true;
    }
    return false;
}

static bool may_ask(const struct web_server *server, struct MHD_Connection *connection)
{
    if (server->has_token)
        return knows_token(server, connection);
    return is_own_name(
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST));
}

static enum MHD_Result refuse(const struct web_server *server, struct MHD_Connection *connection)
{
    if (server->has_token)
        return say(
            connection, MHD_HTTP_UNAUTHORIZED,
            "this node requires its password: Authorization: Bearer TOKEN, or ?token=TOKEN\n");
    return say(connection, MHD_HTTP_FORBIDDEN,
               "use the name localhost; other names require a password: set node.http_token\n");
}

static enum MHD_Result serve_health(struct MHD_Connection *connection, bool is_well)
{
    return say(connection, is_well ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
               is_well ? "ok\n" : "not ready\n");
}

static enum MHD_Result serve(struct web_server *server, struct MHD_Connection *connection,
                             const char *path)
{
    if (strcmp(path, "/livez") == 0)
        return serve_health(connection, true);
    if (strcmp(path, "/readyz") == 0)
        return serve_health(connection, is_ready(server));
    if (!may_ask(server, connection))
        return refuse(server, connection);
    if (strcmp(path, "/") == 0)
        return serve_page(connection);
    if (strcmp(path, "/snapshot.json") == 0)
        return serve_text(server, connection, WEB_STORY);
    if (strcmp(path, "/status.json") == 0)
        return serve_text(server, connection, WEB_STATUS);
    if (strcmp(path, "/metrics") == 0)
        return serve_text(server, connection, WEB_METRICS);
    if (strcmp(path, "/events") == 0)
        return serve_events(server, connection);
    return say(connection, MHD_HTTP_NOT_FOUND,
               "unknown path; known: /, /status.json, /snapshot.json, /events, /metrics, /livez "
               "and /readyz\n");
}

static struct client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    CHECK(info && info->socket_context);
    return info->socket_context;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state)
{
    static char seen;
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return *upload_bytes > 0 ? MHD_NO
                                 : say(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    /* the first call for a request: its headers have arrived, its body has not */
    if (*state != &seen) {
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_bytes > 0)
        return MHD_NO;
    struct client *client = client_of(connection);
    client->is_answered = true;
    client->is_watcher = strcmp(path, "/events") == 0;
    client->age_s = 0;
    return serve(self, connection, path);
}

/* The following functions limit how long clients occupy connections. */

/* Called when an answer was sent, or its connection has ended: another request may follow. */
static void on_completed(void *self, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct client *client = client_of(connection);
    (void)self;
    (void)state;
    (void)code;
    client->is_answered = client->is_watcher = false;
    client->age_s = 0;
}

/* Shuts the socket down, so that libmicrohttpd finds the connection closed by its client. */
static void cut_off(struct web_server *server, const struct client *client)
{
    CHECK(client->file >= 0);
    server->turns_due = TURNS_OF_A_CUT;
    (void)shutdown(client->file, SHUT_RDWR);
}

static unsigned clients_at(const struct web_server *server, const struct in6_addr *address)
{
    unsigned count = 0;
    for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
        count += server->clients[i].file >= 0 &&
                 memcmp(&server->clients[i].address, address, sizeof *address) == 0;
    return count;
}

/* Returns the client whose connection may be ended for another client: the oldest one that does not
 * follow /events, of the address with the most connections. NULL = none. */
static struct client *least_needed(struct web_server *server, const struct client *except)
{
    struct client *found = NULL;
    unsigned most = 0;
    for (int i = 0; i < WEB_CONNECTIONS_MAX; i++) {
        struct client *client = &server->clients[i];
        if (client == except || client->file < 0 || client->is_watcher)
            continue;
        const unsigned count = clients_at(server, &client->address);
        if (count > most || (count == most && client->number < found->number)) {
            found = client;
            most = count;
        }
    }
    return found;
}

static struct in6_addr address_of(const struct sockaddr *from)
{
    struct in6_addr address = {0};
    if (from && from->sa_family == AF_INET6)
        address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
    else if (from && from->sa_family == AF_INET)
        memcpy(&address, &((const struct sockaddr_in *)(const void *)from)->sin_addr,
               sizeof(struct in_addr));
    return address;
}

/* The new connection may be the last one that libmicrohttpd accepts. Then another one is cut off,
 * so that the next client also gets in. */
static struct client *client_begin(struct web_server *server, int file, const struct sockaddr *from)
{
    struct client *client = server->clients;
    unsigned count = 1;
    for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
        count += server->clients[i].file >= 0;
    CHECK(count <= WEB_CONNECTIONS_MAX);
    while (client->file >= 0)
        client++;
    *client =
        (struct client){.file = file, .number = ++server->connections, .address = address_of(from)};
    const struct client *given_up =
        count == WEB_CONNECTIONS_MAX ? least_needed(server, client) : NULL;
    if (given_up)
        cut_off(server, given_up);
    return client;
}

/* Records a connection that begins or ends, also for fork_files, which closes it in forked
 * children. */
static void on_connection(void *self, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    CHECK(info);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        fork_files_add(info->connect_fd);
        *state = client_begin(self, info->connect_fd, from ? from->client_addr : NULL);
    } else {
        /* libmicrohttpd closes the descriptor after this call */
        fork_files_remove(info->connect_fd);
        *(struct client *)*state = (struct client){.file = -1};
    }
}

static void cut_off_slow_clients(struct web_server *server)
{
    for (int i = 0; i < WEB_CONNECTIONS_MAX; i++) {
        struct client *client = &server->clients[i];
        if (client->file >= 0 && !client->is_watcher &&
            ++client->age_s > (client->is_answered ? ANSWER_S : REQUEST_S))
            cut_off(server, client);
    }
}

/* A client that is receiving a discarded text still gets all of it, unless it is too slow. */
void web_server_renew(struct web_server *server)
{
    forget_texts(server);
    cut_off_slow_clients(server);
}

static void no_log(void *self, const char *format, va_list values)
{
    (void)self;
    (void)format;
    (void)values;
}

static int listen_at(const struct addrinfo *found)
{
    const int one = 1;
    const int file =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (file < 0)
        return -1;
    (void)setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(file, found->ai_addr, found->ai_addrlen) == 0 && listen(file, BACKLOG) == 0)
        return file;
    const int reason = errno;
    (void)close(file);
    errno = reason;
    return -1;
}

static enum error open_socket(const struct address *listen, int *file, struct problem *problem)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    char port[8], text[ADDRESS_TEXT_BYTES];
    (void)snprintf(port, sizeof port, "%u", (unsigned)listen->port);
    const int error = getaddrinfo(listen->host, port, &hints, &found);
    if (error != 0)
        return problem_set(problem, FAILED, "node.http = %s: %s", address_text(listen, text),
                           gai_strerror(error));
    *file = listen_at(found);
    freeaddrinfo(found);
    if (*file >= 0)
        return OK;
    return problem_set(problem, FAILED,
                       "cannot listen at node.http = %s: %s; choose another port, or none",
                       address_text(listen, text), strerror(errno));
}

static unsigned port_of(int file)
{
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof bound;
    CHECK(getsockname(file, (struct sockaddr *)&bound, &bytes) == 0);
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&bound;
    const struct sockaddr_in *four = (const struct sockaddr_in *)&bound;
    return ntohs(bound.ss_family == AF_INET6 ? six->sin6_port : four->sin_port);
}

enum error web_server_open(struct web_server **made, const struct address *listen,
                           const char *token, const struct web_owner *owner,
                           struct problem *problem)
{
    const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
    int file;
    const enum error error = open_socket(listen, &file, problem);
    if (error != OK)
        return error;
    struct web_server *server = memory_new(1, sizeof *server);
    server->owner = *owner;
    server->port = port_of(file);
    server->has_token = token != NULL;
    for (int i = 0; i < WEB_CONNECTIONS_MAX; i++)
        server->clients[i].file = -1;
    if (token)
        hash_token(server->token, token);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, no_log, NULL,
        MHD_OPTION_LISTEN_SOCKET, file, MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)MEMORY_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    if (!server->daemon) {
        (void)close(file);
        free(server);
        return problem_set(problem, FAILED,
                           "libmicrohttpd cannot start; raise the limit of open files (ulimit -n)");
    }
    server->socket = file;
    fork_files_add(file);
    server->file = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    *made = server;
    return OK;
}

void web_server_close(struct web_server *server)
{
    if (!server)
        return;
    server->is_closing = true;
    for (int i = 0; i < WEB_WATCHERS_MAX; i++)
        if (server->watchers[i].is_suspended)
            MHD_resume_connection(server->watchers[i].connection);
    fork_files_remove(server->socket);
    MHD_stop_daemon(server->daemon); /* also closes the listening socket */
    forget_texts(server);
    free(server);
}

unsigned web_server_port(const struct web_server *server)
{
    return server->port;
}

int web_server_file(const struct web_server *server)
{
    return server->file;
}

/* The descriptor does not signal resumed connections, nor bytes that were read but not parsed. */
bool web_server_run(struct web_server *server)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool is_due = true;
    for (int turn = 0; turn < TURNS_MAX && is_due; turn++) {
        (void)MHD_run(server->daemon);
        server->turns_due -= server->turns_due > 0;
        is_due = server->turns_due > 0 ||
                 (MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES && wait_ms == 0);
    }
    return is_due;
}
