#include "daemon/resets.h"

#include <string.h>

void resets_add(struct resets *resets, uint64_t now_ns)
{
    resets->count++;
    memmove(resets->at_ns, resets->at_ns + 1, (RESETS_MAX - 1) * sizeof *resets->at_ns);
    resets->at_ns[RESETS_MAX - 1] = now_ns;
    resets->are_too_many |= resets->at_ns[0] > 0 && now_ns - resets->at_ns[0] < RESETS_NS;
}
