#include "socket/answers.h"

#include <stdlib.h>

#include "base/error.h"
#include "socket/handles.h"

#define BACKLOG 128

static void on_asker(uv_stream_t *door, int status);

static void on_asker_closed(uv_handle_t *handle)
{
    struct asker *asker = handle->data;
    struct answers *answers = asker->answers;
    if (--asker->handles > 0)
        return;
    free(asker->text);
    if (answers->asker_waits && !uv_is_closing((uv_handle_t *)&answers->door))
        on_asker((uv_stream_t *)&answers->door, 0);
}

static void asker_close(struct asker *asker)
{
    if (asker->handles == 0 || uv_is_closing((uv_handle_t *)&asker->pipe))
        return;
    handles_close((uv_stream_t *)&asker->pipe, on_asker_closed);
    uv_close((uv_handle_t *)&asker->patience, on_asker_closed);
}

static void on_written(uv_write_t *write, int error)
{
    (void)error; /* the asker has gone: nothing to do about it */
    asker_close(write->data);
}

static void on_impatience(uv_timer_t *patience)
{
    asker_close(patience->data);
}

static struct asker *asker_new(struct answers *answers)
{
    struct asker *asker = answers->askers;
    while (asker->handles > 0)
        if (++asker == answers->askers + ANSWERS_ASKERS_MAX)
            return NULL;
    *asker = (struct asker){.answers = answers, .handles = 2};
    CHECK(uv_pipe_init(answers->door.loop, &asker->pipe, 0) == 0);
    CHECK(uv_timer_init(answers->door.loop, &asker->patience) == 0);
    asker->pipe.data = asker->patience.data = asker->write.data = asker;
    return asker;
}

static void on_asker(uv_stream_t *door, int status)
{
    struct answers *answers = door->data;
    struct asker *asker = status < 0 ? NULL : asker_new(answers);
    answers->asker_waits = status == 0 && !asker;
    if (!asker)
        return;
    size_t count = 0;
    int error = uv_accept(door, (uv_stream_t *)&asker->pipe);
    handles_keep((const uv_stream_t *)&asker->pipe);
    if (!error)
        error = uv_timer_start(&asker->patience, on_impatience, ANSWERS_PATIENCE_MS, 0);
    if (!error)
        asker->text = answers->make(answers->self, &count);
    const uv_buf_t buffer = uv_buf_init(asker->text, (unsigned)count);
    if (error || uv_write(&asker->write, (uv_stream_t *)&asker->pipe, &buffer, 1, on_written) != 0)
        asker_close(asker);
}

void answers_open(struct answers *answers, uv_loop_t *loop, int socket)
{
    CHECK(!answers->are_open && answers->make);
    CHECK(uv_pipe_init(loop, &answers->door, 0) == 0);
    answers->door.data = answers;
    answers->are_open = true;
    CHECK(uv_pipe_open(&answers->door, socket) == 0);
    handles_keep((const uv_stream_t *)&answers->door);
    CHECK(uv_listen((uv_stream_t *)&answers->door, BACKLOG, on_asker) == 0);
}

void answers_close(struct answers *answers)
{
    if (!answers->are_open)
        return;
    handles_close((uv_stream_t *)&answers->door, NULL);
    for (int i = 0; i < ANSWERS_ASKERS_MAX; i++)
        asker_close(&answers->askers[i]);
}
