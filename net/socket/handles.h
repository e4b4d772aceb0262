/* Sockets held by libuv: a forked child closes them, and handles_close shuts a socket down for
 * every process that shares it. Part of the transport.
 * Tests: tests/unit/daemon/test_transport.c. */
#ifndef HEARSAY_NET_SOCKET_HANDLES_H
#define HEARSAY_NET_SOCKET_HANDLES_H

#include <uv.h>

/* Lets a forked child close the socket (base/fork_files.h). */
void handles_keep(const uv_stream_t *stream);

/* Shuts the socket down, then calls uv_close. */
void handles_close(uv_stream_t *stream, uv_close_cb on_closed);

#endif
