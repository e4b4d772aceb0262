/* Applies a list of faults (fault.h) to a world at their times, and reverts most of them.
 *
 *   faults ─► event queue (WORLD_USER) ─► begin: kill, cut, pause, add an outsider
 *                                     └─► end: restart, heal, remove the outsider
 *
 * The owner of the world forwards events: world.on_user calls fault_injector_on_event if
 * fault_injector_owns the subject. While one fault keeps a node down, no other fault crashes it.
 * Tests: tests/unit/sim/test_fault_injector.c and test_fault_injector_wire.c.
 */
#ifndef HEARSAY_SIM_FAULTS_FAULT_INJECTOR_H
#define HEARSAY_SIM_FAULTS_FAULT_INJECTOR_H

#include "scenario/fault.h"
#include "world/world.h"

struct fault_injector;

/* Copies the faults. Their times count from WORLD_BEGIN_NS. */
struct fault_injector *fault_injector_new(struct world *world, const struct fault *faults,
                                          uint32_t count, uint64_t seed);

bool fault_injector_owns(uint64_t subject);
void fault_injector_on_event(struct fault_injector *injector, uint64_t subject, uint64_t amount);

/* Returns true if node i may have received nothing from node j since since_ns without a defect: j
 * was down, paused, restarted or leaving, or a fault duplicated i or j or disturbed their network.
 */
bool fault_injector_explains(const struct fault_injector *injector, uint32_t i, uint32_t j,
                             uint64_t since_ns);

/* Ends all faults now: cuts heal, crashed nodes restart, outsiders leave. A running pause is not
 * extended. A fault that has not begun never begins. */
void fault_injector_end(struct fault_injector *injector);

void fault_injector_free(struct fault_injector *injector);

#endif
