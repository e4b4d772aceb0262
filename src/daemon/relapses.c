#include "daemon/relapses.h"

#include <string.h>

void relapses_add(struct relapses *relapses, uint64_t now_ns)
{
    relapses->count++;
    memmove(relapses->at_ns, relapses->at_ns + 1, (RELAPSES_MAX - 1) * sizeof *relapses->at_ns);
    relapses->at_ns[RELAPSES_MAX - 1] = now_ns;
    relapses->are_too_many |= relapses->at_ns[0] > 0 && now_ns - relapses->at_ns[0] < RELAPSES_NS;
}
