/* Trouble: a list of faults (fault.h), done to a world when their time comes, and undone.
 *
 *   faults ─► agenda (WORLD_USER) ─► begin: kill, cut, pause, an outsider enters, …
 *                                └► end: start again, heal, the outsider goes
 *
 * Whose world it is hands on the events: world.on_user ─► fault_injector_on_event, if
 * fault_injector_owns it. What a fault draws comes from its own seed. A node that another fault has
 * already taken down is left alone. Held by tests/unit/sim/test_fault_injector.c and
 * test_trouble_wire.c.
 */
#ifndef HEARSAY_SIM_FAULTS_FAULT_INJECTOR_H
#define HEARSAY_SIM_FAULTS_FAULT_INJECTOR_H

#include "faults/fault.h"
#include "world/world.h"

struct fault_injector;

/* Times of the faults count from WORLD_BEGIN_NS. The faults are copied. */
struct fault_injector *fault_injector_new(struct world *world, const struct fault *faults,
                                          uint32_t count, uint64_t seed);

bool fault_injector_owns(uint64_t subject);
void fault_injector_on_event(struct fault_injector *injector, uint64_t subject, uint64_t amount);

/* Is there a reason why i has not heard j: has j, at any time since then, been down, stood still,
 * left, or had another with its identity, or was anything on the way between the two? */
bool fault_injector_explains(const struct fault_injector *injector, uint32_t i, uint32_t j,
                             uint64_t since_ns);

/* All is well again from now on: cuts heal, processes run, those that crashed start, outsiders
 * leave. What would begin later does not. */
void fault_injector_end(struct fault_injector *injector);

void fault_injector_free(struct fault_injector *injector);

#endif
