#include "node/notes.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

static const char *const NAMES[NOTE_KINDS] = {
    [NOTE_STARTED] = "started",
    [NOTE_DEVICE] = "device",
    [NOTE_SANDBOX] = "sandbox",
    [NOTE_WEB] = "web",
    [NOTE_RESUMED] = "resumed",
    [NOTE_STATUS] = "status",
    [NOTE_JOINED] = "joined",
    [NOTE_NEIGHBOUR] = "neighbour",
    [NOTE_NEIGHBOUR_LOST] = "neighbour_lost",
    [NOTE_DIAL_FAILED] = "dial_failed",
    [NOTE_STALLED] = "stalled",
    [NOTE_REFUSED] = "refused",
    [NOTE_MEMBER] = "member",
    [NOTE_MEMBER_DEAD] = "member_dead",
    [NOTE_MEMBER_LEFT] = "member_left",
    [NOTE_CATCHING_UP] = "catching_up",
    [NOTE_SAVED] = "saved",
    [NOTE_DIGEST] = "digest_mismatch",
    [NOTE_FALSE_BASE] = "false_base",
    [NOTE_IDENTITY_TAKEN] = "identity_taken",
    [NOTE_FULL] = "full",
    [NOTE_LEAVING] = "leaving",
    [NOTE_LEFT] = "left",
    [NOTE_EVALUATED] = "evaluated",
    [NOTE_BATCH] = "batch",
    [NOTE_DIVERGED] = "diverged",
    [NOTE_SATURATED] = "saturated",
    [NOTE_TRAINING] = "training",
    [NOTE_DOUBT] = "doubt",
    [NOTE_HARM] = "harm",
    [NOTE_EXPELLED] = "expelled",
    [NOTE_EXCESS] = "excess",
    [NOTE_MISMATCH] = "mismatch",
    [NOTE_FIRST_WEIGHTS] = "first_weights",
    [NOTE_SETTINGS] = "settings",
    [NOTE_ADMISSION] = "admission",
    [NOTE_REKEY] = "rekey",
    [NOTE_FINISHED] = "finished",
    [NOTE_SUPPRESSED] = "suppressed",
};

const char *note_kind_name(enum note_kind kind)
{
    CHECK(kind < NOTE_KINDS);
    return NAMES[kind];
}

void notes_init(struct notes *notes, struct arena *arena, uint32_t max, double per_second)
{
    CHECK(max > 0 && per_second >= 0);
    *notes = (struct notes){
        .ring = arena_alloc(arena, max, sizeof *notes->ring),
        .max = max,
        .tokens = per_second,
        .tokens_per_second = per_second,
    };
}

static struct note *push(struct notes *notes)
{
    CHECK(notes->from < notes->max && notes->count <= notes->max);
    if (notes->count == notes->max) {
        notes->from = (notes->from + 1) % notes->max;
        notes->count--;
        notes->suppressed++;
    }
    return &notes->ring[(notes->from + notes->count++) % notes->max];
}

struct note *notes_add(struct notes *notes, uint64_t now_ns, enum note_kind kind,
                       enum note_level level, const char *format, ...)
{
    CHECK(kind < NOTE_KINDS && level <= LEVEL_ERROR);
    struct note *note = push(notes);
    *note = (struct note){.at_ns = now_ns, .kind = kind, .level = level};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(note->text, sizeof note->text, format, arguments);
    va_end(arguments);
    return note;
}

bool notes_allow(struct notes *notes, uint64_t now_ns)
{
    if (now_ns > notes->refilled_ns) {
        notes->tokens += (double)(now_ns - notes->refilled_ns) * 1e-9 * notes->tokens_per_second;
        notes->refilled_ns = now_ns;
    }
    if (notes->tokens > notes->tokens_per_second)
        notes->tokens = notes->tokens_per_second;
    if (notes->tokens < 1) {
        notes->suppressed++;
        return false;
    }
    notes->tokens -= 1;
    if (notes->suppressed) {
        uint64_t held = notes->suppressed;
        notes->suppressed = 0;
        (void)notes_add(notes, now_ns, NOTE_SUPPRESSED, LEVEL_WARNING,
                        "%llu notes about other nodes were suppressed (limits.notes_per_s)",
                        (unsigned long long)held);
    }
    return true;
}

/* Continues an FNV-1a hash with a text and its final zero. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

bool notes_allow_once(struct notes *notes, uint64_t now_ns, enum note_kind kind, const char *who,
                      const char *text)
{
    CHECK(kind < NOTE_KINDS);
    const uint64_t hash = hash_text(hash_text(0xcbf29ce484222325u ^ (uint64_t)kind, who), text);
    uint32_t chosen = 0; /* index of the cause that was allowed longest ago */
    for (uint32_t i = 0; i < NOTES_CAUSES; i++) {
        if (notes->causes[i].hash == hash && now_ns < notes->causes[i].again_ns)
            return false;
        if (notes->causes[i].again_ns < notes->causes[chosen].again_ns)
            chosen = i;
    }
    if (!notes_allow(notes, now_ns))
        return false;
    notes->causes[chosen].hash = hash;
    notes->causes[chosen].again_ns = now_ns + NOTES_AGAIN_NS;
    return true;
}

bool notes_next(struct notes *notes, struct note *note)
{
    if (notes->count == 0)
        return false;
    CHECK(notes->from < notes->max && notes->count <= notes->max);
    *note = notes->ring[notes->from];
    notes->from = (notes->from + 1) % notes->max;
    notes->count--;
    return true;
}
