#include "library/handle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "base/memory.h"

struct hearsay *handle_new(void)
{
    struct hearsay *node = memory_new(1, sizeof *node);
    node->process = getpid();
    node->last.abi = HEARSAY_ABI;
    atomic_flag_clear(&node->is_busy);
    CHECK(pthread_mutex_init(&node->gate, NULL) == 0);
    note_queue_init(&node->notes);
    return node;
}

void handle_free(struct hearsay *node)
{
    CHECK(!node->engine);
    CHECK(pthread_mutex_destroy(&node->gate) == 0);
    note_queue_free(&node->notes);
    free(node);
}

void handle_lock(struct hearsay *node)
{
    CHECK(pthread_mutex_lock(&node->gate) == 0);
}

void handle_unlock(struct hearsay *node)
{
    CHECK(pthread_mutex_unlock(&node->gate) == 0);
}

int handle_enter_any(struct hearsay *node)
{
    if (!node)
        return HEARSAY_ARGUMENT;
    if (node->process != getpid())
        return HEARSAY_FORKED;
    if (atomic_flag_test_and_set(&node->is_busy))
        return HEARSAY_BUSY;
    c_locale_enter();
    if (node->engine)
        caller_learner_enter(&node->engine->caller);
    return HEARSAY_OK;
}

int handle_enter(struct hearsay *node)
{
    const int error = handle_enter_any(node);
    if (error == HEARSAY_OK && !node->engine)
        return handle_return(node, HEARSAY_CLOSED);
    return error;
}

void handle_leave(struct hearsay *node)
{
    CHECK(!node->engine || caller_learner_is_inside(&node->engine->caller));
    c_locale_leave();
    atomic_flag_clear(&node->is_busy);
}

int handle_return(struct hearsay *node, int error)
{
    handle_leave(node);
    return error;
}

int handle_fail(struct hearsay *node, int error, const char *format, ...)
{
    va_list arguments;
    CHECK(error > HEARSAY_OK && error < HANDLE_ERRORS);
    struct problem *sentence = &node->sentences[error];
    va_start(arguments, format);
    handle_lock(node);
    (void)vsnprintf(sentence->text, sizeof sentence->text, format, arguments);
    handle_unlock(node);
    va_end(arguments);
    return error;
}

const char *handle_meaning(int error)
{
    static const char *const MEANINGS[HANDLE_ERRORS] = {
        [HEARSAY_OK] = "nothing is wrong",
        [HEARSAY_TIMEOUT] = "the time was over before it was done; call again to go on waiting",
        [HEARSAY_ARGUMENT] = "an argument is missing or wrong; see hearsay.h",
        [HEARSAY_ABI_UNKNOWN] = "the program was compiled with another hearsay.h than this library "
                                "has; compile it again, or install the library it was made for",
        [HEARSAY_UNSUPPORTED] = "a device, type or flag that this library cannot use",
        [HEARSAY_BUSY] = "another thread is inside a call for this node; one may be at a time",
        [HEARSAY_CLOSED] = "the node is not open; hearsay_open makes a new one",
        [HEARSAY_FORKED] = "this process is a child of the one that opened the node, and cannot "
                           "use it; open one of its own",
        [HEARSAY_NOT_JOINED] = "the node has not joined; call hearsay_join until it returns 0",
        [HEARSAY_TOO_SMALL] = "the buffer is too small; *bytes says what is needed",
        [HEARSAY_CONFIG] = "the configuration is wrong",
        [HEARSAY_FAILED] = "the system refused something",
        [HEARSAY_REFUSED] = "nobody takes this node in",
        [HEARSAY_ENDED] = "the node has ended by itself; close it and open another one",
    };
    return error >= 0 && error < HANDLE_ERRORS ? MEANINGS[error] : "there is no such error";
}
