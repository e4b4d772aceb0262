/* A node takes over a base from a peer that breaks rules, the puppet of serve_story.h. The puppet
 * announces a newer version, is asked for it, and sends a history.
 *
 *   start_talk_of_much_more ─► say_history(history_of(…)) ─► must_…
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_TAKEOVER_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_TAKEOVER_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/broadcast/history.h"
#include "support/sim/serve_story.h"

#define MANY    10000   /* rumors that the puppet announces */
#define LEARNED 1000000 /* samples that the puppet announces */

void must_go_on_with_its_own_base(void);

/* Makes the puppet announce this many rumors that the node lacks. */
void say_knows(uint32_t rumors);
void say_ahead(void);
void must_ask_within(uint64_t within_ns);
void start_talk_of_much_more(void);

/* Makes a history of `incarnations` incarnations of the puppet, with `next` rumors each. Returns
 * its size in bytes. */
size_t history_of(uint32_t incarnations, uint32_t next);
/* Makes a history of `nodes` unknown nodes with one rumor each. Returns its size in bytes. */
size_t history_of_strangers(uint32_t nodes);
void say_history(uint64_t part, uint64_t parts, size_t bytes);
void say_whole_history(size_t bytes);

#endif
