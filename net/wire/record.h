/* A member's record: signed facts that a node publishes about itself, passed between neighbours.
 *
 *   OFFSET SIZE MEANING                                        (numbers little-endian; 224 bytes)
 *        0   32 id
 *       32    8 incarnation: higher at each start of the node
 *       40    8 stamp: higher in each new record of one incarnation
 *       48    8 samples learned since the node's start
 *       56    8 digest of its base
 *       64    4 samples per second, float32; 0: not known yet
 *       68    4 renew: milliseconds until the next record at most, up to RENEW_MS_MAX
 *       72    2 port it listens on; 0: it only dials
 *       74    1 stage (below)
 *       75    1 trains: 1, or 0 for a node that only forwards, has not joined or has finished
 *       76    4 uplink: bytes per second that its links carry at least, float32
 *       80    4 ingress: highest recent bytes per second received, float32
 *       84    4 lag: milliseconds for which its longest-missing rumor has been missing; 0: it
 *               does not lag (broadcast_lags in node/broadcast/broadcast.h)
 *       88    8 samples that the swarm has learned, by its count; 0: unknown or not joined
 *       96   64 host, padded with zeros
 *      160   64 Ed25519 signature over context ‖ bytes 0 .. 160
 *
 * Tests: tests/unit/net/test_record.c refuses every bit flip.
 */
#ifndef HEARSAY_NET_WIRE_RECORD_H
#define HEARSAY_NET_WIRE_RECORD_H

#include "crypto/identity.h"
#include "wire/address.h"
#include "wire/rumor.h"

#define RECORD_BYTES 224
#define RENEW_MS_MAX 3600000u

enum stage {
    STAGE_RUNNING, /* the node trains, or only relays */
    STAGE_LEAVING, /* the node has ended training; its last rumors are not published yet */
    STAGE_SETTLED, /* the node has published its last rumor and relays what it receives */
    STAGE_LEFT,    /* the node has left the swarm */
    STAGES
};

struct record {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint64_t stamp;   /* higher in each newer record of the incarnation */
    uint64_t samples; /* samples learned since the node's start */
    uint64_t digest;
    float samples_per_second; /* 0 = unknown */
    float uplink;             /* bytes per second that the node's links carry, a lower bound */
    float ingress;            /* highest recent bytes per second that the node received */
    uint32_t lag_ms;          /* time for which its longest-missing rumor is missing; 0 = no lag */
    /* Samples learned by the swarm, by the node's count; 0 = unknown or not joined. */
    uint64_t swarm_samples;
    uint32_t renew_ms; /* longest time until the next record */
    enum stage stage;
    bool trains;            /* false = the node only relays, has not joined, or has finished */
    struct address address; /* port 0 = the node only dials */
};

/* The id of the record must be that of `identity`. */
void record_create(const struct record *record, const struct identity *identity,
                   const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RECORD_BYTES]);

/* Does not check the signature. Returns MALFORMED if a field is out of range. */
enum error record_parse(const uint8_t in[static RECORD_BYTES], struct record *record) MUST_USE;

/* Checks only the signature. Returns FORGED if it does not verify. */
enum error record_verify(const uint8_t in[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

#endif
