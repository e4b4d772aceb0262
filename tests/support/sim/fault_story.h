/* Plays a list of faults in a swarm (swarm_world.h) of five nodes that know each other, and a slot
 * for a twin of node 0. Times are seconds since the world began. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_FAULT_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_FAULT_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "faults/fault_injector.h"
#include "support/sim/swarm_world.h"

#define NODES 5
#define TWIN  NODES /* another process with the identity of node 0 */

extern struct fault_injector *injector;

void begin_faults(const struct fault *faults, uint32_t count, uint64_t seed);
uint64_t seconds(double s);
void run_to(double s);

/* Ends all faults at second `s`, and training 20 s later. Checks that all nodes have one version by
 * second s + 80, and that all nodes run except the twin. */
void heal(double s);
void leave_world(void);
void end_well(double s);
struct fault fault(enum fault_kind kind, double from_s, double to_s, uint32_t victim);

#endif
