/* A few parties on simulated wires that record what arrives and when: for stories about time.
 *
 * Party 0, 1, 2 .. live in region 0, party 3 in region 1; every path takes 40 ms one way. Time
 * begins at 0. A test dials, sends and hangs up for them, and looks at what arrived when. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_WIRE_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_WIRE_STORY_H

#include <string.h>

#include "base/error.h"
#include "network/wire.h"

#define PARTIES   4
#define BASE      10 /* first number of the wire's kinds of events */
#define SLOTS     16
#define HEARD_MAX (1u << 18)
#define DELAY_NS  (40 * MS_NS)
#define MS(n)     ((n)*MS_NS)
#define MBIT      125000u /* bytes per second of a link of 1 Mbit/s */
#define TEN_KB    10000

/* Data received by a party on one of its connections. */
struct received {
    uint64_t conn;
    bool is_taken; /* the other party has dialled */
    uint32_t from;
    uint64_t begun_ns;   /* time at which the connection was accepted or opened; 0 = not yet */
    uint64_t first_ns;   /* arrival of the first byte */
    uint64_t last_ns;    /* arrival of the last byte */
    uint64_t sent_ns;    /* completion of the last send */
    uint64_t closed_ns;  /* end of the connection; 0 = still open */
    uint32_t sends_done; /* number of completed sends */
    uint32_t pieces;
    char why[32];
    size_t count;
    uint8_t bytes[HEARD_MAX];
};

extern struct event_queue event_queue;
extern struct wire wire;
extern struct path wire_paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
extern struct rate rates[PARTIES][2]; /* rates of each party's uplink and downlink */
extern struct received received[PARTIES][SLOTS];
extern uint8_t text[HEARD_MAX];

void story_begins(uint64_t seed);
void story_ends(void);
void run_until(uint64_t until_ns);

/* Dials from one party to another in this slot. Returns the data received by the dialer. */
struct received *call(uint32_t from, uint32_t slot, uint32_t to);

/* Returns the data received by a party on the connection that it accepted last. */
struct received *taken_by(uint32_t party);

extern struct received *a, *b; /* both ends of party 0's connection to party 1 */

/* Dials from party 0 to party 1 and runs to 100 ms. They are connected from 80 ms on. */
void meet(void);

/* Sends the first `count` bytes of the text. */
void say(uint32_t party, const struct received *here, size_t count);

/* Returns whether exactly the first `count` bytes of the text have arrived. */
bool has_text(const struct received *here, size_t count);

#endif
