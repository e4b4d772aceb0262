#include "daemon/reach.h"

#include <stdio.h>

#include "base/error.h"
#include "base/min_max.h"

void reach_start(struct reach *reach, uint32_t peers, uint64_t now_ns)
{
    *reach = (struct reach){.peers = peers, .since_ns = now_ns};
}

void reach_on_neighbours(struct reach *reach, uint64_t now_ns, uint32_t neighbours)
{
    CHECK(now_ns >= reach->since_ns);
    if (neighbours == 0)
        return;
    reach->since_ns = now_ns;
    reach->had_one = true;
    reach->differs = false;
    reach->certainty = NOTE_GUESSED;
    reach->why[0] = '\0';
}

void reach_on_note(struct reach *reach, const struct note *note)
{
    CHECK(note->kind < NOTE_KINDS);
    if (note->kind == NOTE_NEIGHBOUR)
        reach_on_neighbours(reach, u64_max(note->at_ns, reach->since_ns), 1);
    if (note->kind != NOTE_DIAL_FAILED && note->kind != NOTE_MISMATCH &&
        note->kind != NOTE_NEIGHBOUR_LOST && note->kind != NOTE_IDENTITY_TAKEN)
        return;
    if (note->certainty < reach->certainty)
        return;
    reach->certainty = note->certainty;
    reach->differs = note->kind == NOTE_MISMATCH;
    (void)snprintf(reach->why, sizeof reach->why, "%s %s", note->where, note->text);
}

bool reach_is_alone(const struct reach *reach, uint64_t now_ns)
{
    const bool is_refused = reach->had_one && reach->certainty == NOTE_LASTING;
    return (reach->peers > 0 || is_refused) && reach->why[0] &&
           now_ns >= reach->since_ns + REACH_ALONE_NS;
}

bool reach_is_shut_out(const struct reach *reach, uint64_t now_ns)
{
    return reach->differs && !reach->had_one && reach_is_alone(reach, now_ns);
}

bool reach_is_shared(const struct reach *reach, uint64_t now_ns)
{
    return reach->had_one && now_ns < reach->since_ns + REACH_ALONE_NS;
}

double reach_alone_s(const struct reach *reach, uint64_t now_ns)
{
    CHECK(now_ns >= reach->since_ns);
    return (double)(now_ns - reach->since_ns) * 1e-9;
}
