/* Sockets that libuv holds: kept from forked children, and ended for everyone who shares them. A
 * part of the transport. Held by tests/unit/daemon/test_transport.c. */
#ifndef HEARSAY_NET_SOCKET_HANDLES_H
#define HEARSAY_NET_SOCKET_HANDLES_H

#include <uv.h>

/* The handle has its socket now: a forked child closes it (base/fork_files.h). */
void handles_keep(const uv_stream_t *stream);

/* uv_close, after the socket was shut down: its conversation ends even if a child shares it. */
void handles_close(uv_stream_t *stream, uv_close_cb on_closed);

#endif
