#include "daemon/unsaved.h"

#include <stdio.h>

#define AGAIN_NS 5000000000ull

bool unsaved_on_tried(struct unsaved *unsaved, enum error error, const struct problem *problem,
                      enum note_kind kind, const char *what, struct event_log *report,
                      uint64_t now_ns)
{
    char text[160];
    if (error != OK && !unsaved->has_failed)
        event_log_say(report, now_ns, kind, LEVEL_ERROR, problem->text);
    if (error == OK && unsaved->has_failed) {
        (void)snprintf(text, sizeof text, "%s is on disk now", what);
        event_log_say(report, now_ns, kind, LEVEL_INFO, text);
    }
    unsaved->has_failed = error != OK;
    unsaved->again_ns = error == OK ? 0 : now_ns + AGAIN_NS;
    return error == OK;
}
