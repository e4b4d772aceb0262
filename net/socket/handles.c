#include "socket/handles.h"

#include <sys/socket.h>

#include "base/fork_files.h"

void handles_keep(const uv_stream_t *stream)
{
    uv_os_fd_t file;
    if (uv_fileno((const uv_handle_t *)stream, &file) == 0)
        fork_files_add(file);
}

void handles_close(uv_stream_t *stream, uv_close_cb on_closed)
{
    uv_os_fd_t file;
    if (uv_fileno((const uv_handle_t *)stream, &file) == 0) {
        fork_files_remove(file);
        (void)shutdown(file, SHUT_RDWR);
    }
    uv_close((uv_handle_t *)stream, on_closed);
}
