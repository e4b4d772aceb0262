/* State transfers whose other end the test plays: one node with rumors, and a puppet (puppet.h)
 * connected to it.
 *
 *   start_talk, start_talk_at_rest ─► puppet_say, fetch ─► must_…
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SERVE_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_SERVE_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sim/fetch_story.h"
#include "support/sim/puppet.h"

extern struct puppet puppet;

struct node_options patient_options(void);

/* Start one node with rumors, and connect the puppet to it. At rest, the node no longer trains. */
void start_talk(const struct node_options *options);
void start_talk_at_rest(void);
void start_talk_at_rest_as(const struct node_options *options);
int conversation_ends(void **state);
void must_have_the_base_it_had(void);

/* Makes the puppet request `count` blocks from number `block` on. */
void fetch(uint64_t block, uint64_t count);

#define TALK(name) cmocka_unit_test_setup_teardown(name, world_begins, conversation_ends)

#endif
