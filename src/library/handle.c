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
        return handle_return(node, handle_fail_plainly(node, HEARSAY_CLOSED));
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

int handle_fail_plainly(struct hearsay *node, int error)
{
    return handle_fail(node, error, "%s", handle_meaning(error));
}

const char *handle_meaning(int error)
{
    static const char *const MEANINGS[HANDLE_ERRORS] = {
        [HEARSAY_OK] = "the call succeeded",
        [HEARSAY_TIMEOUT] = "the timeout passed before the call was done; call again to continue",
        [HEARSAY_ARGUMENT] = "an argument is missing or wrong; see hearsay.h",
        [HEARSAY_ABI_UNKNOWN] = "the program was compiled with the hearsay.h of another library; "
                                "compile it again, or install that library",
        [HEARSAY_UNSUPPORTED] = "this library does not support the device, type or flag",
        [HEARSAY_BUSY] = "another thread is inside a call for this node; make one call at a time",
        [HEARSAY_CLOSED] = "the node is closed or was not opened: open another node",
        [HEARSAY_FORKED] = "this process is a child of the process that opened the node and cannot "
                           "use it; open another node",
        [HEARSAY_NOT_JOINED] = "the node has not joined; call hearsay_join until it returns 0",
        [HEARSAY_TOO_SMALL] = "the buffer is too small; *bytes is the required size",
        [HEARSAY_CONFIG] = "the configuration is wrong",
        [HEARSAY_FAILED] = "a system call failed",
        [HEARSAY_REFUSED] = "no peer accepts this node",
        [HEARSAY_ENDED] = "the node has ended; close it and open another node",
    };
    return error >= 0 && error < HANDLE_ERRORS ? MEANINGS[error] : "unknown error";
}
