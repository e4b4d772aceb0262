#include "daemon/reach.h"

#include <stdio.h>

#include "base/error.h"

void reach_start(struct reach *reach, uint32_t peers, uint64_t now_ns)
{
    *reach = (struct reach){.peers = peers, .since_ns = now_ns};
}

void reach_on_note(struct reach *reach, const struct note *note)
{
    CHECK(note->kind < NOTE_KINDS);
    const bool differs = note->kind == NOTE_MISMATCH;
    if (!differs && (note->kind != NOTE_DIAL_FAILED || reach->differs))
        return; /* of several reasons the one that stays */
    reach->differs = differs;
    (void)snprintf(reach->why, sizeof reach->why, "%s %s", note->where, note->text);
}

void reach_on_neighbours(struct reach *reach, uint64_t now_ns, uint32_t neighbours)
{
    CHECK(now_ns >= reach->since_ns);
    if (neighbours == 0)
        return;
    reach->since_ns = now_ns;
    reach->had_one = true;
    reach->differs = false;
}

bool reach_is_alone(const struct reach *reach, uint64_t now_ns)
{
    return reach->peers > 0 && reach->why[0] && now_ns >= reach->since_ns + REACH_ALONE_NS;
}

bool reach_is_shut_out(const struct reach *reach, uint64_t now_ns)
{
    return reach->differs && !reach->had_one && reach_is_alone(reach, now_ns);
}

double reach_alone_s(const struct reach *reach, uint64_t now_ns)
{
    CHECK(now_ns >= reach->since_ns);
    return (double)(now_ns - reach->since_ns) * 1e-9;
}
