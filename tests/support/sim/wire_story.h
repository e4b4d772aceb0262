/* Parties on simulated wires that record what arrives and when, for tests of timing.
 *
 * Parties 0 to 2 are in region 0, party 3 is in region 1. Every path takes 40 ms one way. Time
 * begins at 0. A test makes parties dial, send and hang up, and checks what arrived when.
 */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_WIRE_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_WIRE_STORY_H

#include <string.h>

#include "base/error.h"
#include "network/wire.h"

#define PARTIES   4
#define BASE      10 /* first number of the wire's event kinds */
#define SLOTS     16
#define HEARD_MAX (1u << 18)
#define DELAY_NS  (40 * MS_NS)
#define MS(n)     ((n)*MS_NS)
#define MBIT      125000u /* bytes per second of a link of 1 Mbit/s */
#define TEN_KB    10000

/* Data that a party received on one of its connections. */
struct received {
    uint64_t conn;
    bool is_taken;
    uint32_t from;
    uint64_t begun_ns; /* time at which this party accepted or opened the connection; 0 = not yet */
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t sent_ns;
    uint64_t closed_ns; /* time at which the connection ended; 0 = still open */
    uint32_t sends_done;
    uint32_t pieces;
    char why[32];
    size_t count;
    uint8_t bytes[HEARD_MAX];
};

extern struct event_queue event_queue;
extern struct wire wire;
extern struct path wire_paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
extern struct rate rates[PARTIES][2]; /* rates of each party's uplink [0] and downlink [1] */
extern struct received received[PARTIES][SLOTS];
extern uint8_t text[HEARD_MAX];

void story_begins(uint64_t seed);
void story_ends(void);
void run_until(uint64_t until_ns);

/* Dials from party `from` to party `to` in this slot. Returns the data that the dialer receives. */
struct received *call(uint32_t from, uint32_t slot, uint32_t to);

/* Returns the data that a party received on the connection that it accepted last. */
struct received *taken_by(uint32_t party);

extern struct received *a, *b; /* both ends of party 0's connection to party 1 */

/* Dials from party 0 to party 1 and runs until 100 ms. They are connected after 80 ms. */
void meet(void);

void say(uint32_t party, const struct received *here, size_t count);

/* Returns true if exactly the first `count` bytes of `text` have arrived. */
bool has_text(const struct received *here, size_t count);

#endif
