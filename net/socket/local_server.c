#include "socket/local_server.h"

#include <stdlib.h>

#include "base/error.h"
#include "socket/handles.h"

#define BACKLOG 128

static void on_connection(uv_stream_t *listener, int status);

static void on_handle_closed(uv_handle_t *handle)
{
    struct local_client *client = handle->data;
    struct local_server *server = client->server;
    if (--client->handles > 0)
        return;
    free(client->text);
    if (server->client_waits && !uv_is_closing((uv_handle_t *)&server->listener))
        on_connection((uv_stream_t *)&server->listener, 0);
}

static void client_close(struct local_client *client)
{
    if (client->handles == 0 || uv_is_closing((uv_handle_t *)&client->pipe))
        return;
    handles_close((uv_stream_t *)&client->pipe, on_handle_closed);
    uv_close((uv_handle_t *)&client->timeout, on_handle_closed);
}

static void on_written(uv_write_t *write, int error)
{
    (void)error; /* if the client has gone, nothing is left to do */
    client_close(write->data);
}

static void on_timeout(uv_timer_t *timeout)
{
    client_close(timeout->data);
}

static struct local_client *client_new(struct local_server *server)
{
    struct local_client *client = server->clients;
    while (client->handles > 0)
        if (++client == server->clients + LOCAL_CLIENTS_MAX)
            return NULL;
    *client = (struct local_client){.server = server, .handles = 2};
    CHECK(uv_pipe_init(server->listener.loop, &client->pipe, 0) == 0);
    CHECK(uv_timer_init(server->listener.loop, &client->timeout) == 0);
    client->pipe.data = client->timeout.data = client->write.data = client;
    return client;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct local_server *server = listener->data;
    struct local_client *client = status < 0 ? NULL : client_new(server);
    server->client_waits = status == 0 && !client;
    if (!client)
        return;
    size_t count = 0;
    int error = uv_accept(listener, (uv_stream_t *)&client->pipe);
    handles_keep((const uv_stream_t *)&client->pipe);
    if (!error)
        error = uv_timer_start(&client->timeout, on_timeout, LOCAL_CLIENT_TIMEOUT_MS, 0);
    if (!error)
        client->text = server->make(server->self, &count);
    const uv_buf_t buffer = uv_buf_init(client->text, (unsigned)count);
    if (error ||
        uv_write(&client->write, (uv_stream_t *)&client->pipe, &buffer, 1, on_written) != 0)
        client_close(client);
}

void local_server_open(struct local_server *server, uv_loop_t *loop, int socket)
{
    CHECK(!server->is_open && server->make);
    CHECK(uv_pipe_init(loop, &server->listener, 0) == 0);
    server->listener.data = server;
    server->is_open = true;
    CHECK(uv_pipe_open(&server->listener, socket) == 0);
    handles_keep((const uv_stream_t *)&server->listener);
    CHECK(uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection) == 0);
}

void local_server_close(struct local_server *server)
{
    if (!server->is_open)
        return;
    handles_close((uv_stream_t *)&server->listener, NULL);
    for (int i = 0; i < LOCAL_CLIENTS_MAX; i++)
        client_close(&server->clients[i]);
}
