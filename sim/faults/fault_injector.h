/* Trouble: a list of faults (fault.h), done to a world when their time comes, and undone.
 *
 *   faults ─► agenda (WORLD_USER) ─► begin: kill, cut, pause, an outsider enters, …
 *                                └► end: start again, heal, the outsider goes
 *
 * Whose world it is hands on the events: world.on_user ─► trouble_on_event, if trouble_owns it.
 * What a fault draws comes from its own seed. A node that another fault has already taken down is
 * left alone. Held by tests/unit/sim/test_fault_injector.c and test_trouble_wire.c.
 */
#ifndef HEARSAY_TROUBLE_H
#define HEARSAY_TROUBLE_H

#include "faults/fault.h"
#include "world/world.h"

struct trouble;

/* Times of the faults count from WORLD_BEGIN_NS. The faults are copied. */
struct trouble *trouble_new(struct world *world, const struct fault *faults, uint32_t count,
                            uint64_t seed);

bool trouble_owns(uint64_t subject);
void trouble_on_event(struct trouble *trouble, uint64_t subject, uint64_t amount);

/* Is there a reason why i has not heard j: has j, at any time since then, been down, stood still,
 * left, or had another with its identity, or was anything on the way between the two? */
bool trouble_explains(const struct trouble *trouble, uint32_t i, uint32_t j, uint64_t since_ns);

/* All is well again from now on: cuts heal, processes run, those that crashed start, outsiders
 * leave. What would begin later does not. */
void trouble_end(struct trouble *trouble);

void trouble_free(struct trouble *trouble);

#endif
