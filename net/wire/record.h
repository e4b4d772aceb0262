/* A member's record: what a node says of itself, signed, and passed from neighbour to neighbour.
 *
 *   OFFSET SIZE MEANING                                        (numbers little-endian; 224 bytes)
 *        0   32 id
 *       32    8 incarnation: a later start of the node has a higher one
 *       40    8 stamp: rises with every new record of one incarnation
 *       48    8 samples learned in this incarnation
 *       56    8 digest of its base
 *       64    4 samples per second, float32; 0: not known yet
 *       68    4 renew: a newer record follows within so many milliseconds, at most RENEW_MS_MAX
 *       72    2 port it listens on; 0: it only dials
 *       74    1 stage (below)
 *       75    1 trains: 1, or 0 for a node that only passes on, or has not joined yet
 *       76    4 uplink: bytes per second that its links carry, at least, float32
 *       80    4 ingress: bytes per second received, in the best of the last seconds, float32
 *       84    4 lag: for so many milliseconds it has lacked what most others know
 *       88    8 samples that all have learned, as it counts them; 0: not known yet
 *       96   64 host, padded with zeros
 *      160   64 Ed25519 signature over context ‖ bytes 0 .. 160
 *
 * Held by tests/unit/net/test_record.c: every bit flip is refused.
 */
#ifndef HEARSAY_NET_WIRE_RECORD_H
#define HEARSAY_NET_WIRE_RECORD_H

#include "crypto/identity.h"
#include "socket/address.h"
#include "wire/rumor.h"

#define RECORD_BYTES 224
#define RENEW_MS_MAX 3600000u

enum stage {
    STAGE_RUNNING, /* trains, or passes on */
    STAGE_LEAVING, /* training has ended, the last rumors are not published yet */
    STAGE_SETTLED, /* has published its last, and passes on what it receives */
    STAGE_LEFT,    /* is gone */
    STAGES
};

struct record {
    uint8_t id[ID_BYTES];     /* who says it */
    uint64_t incarnation;     /* of that node */
    uint64_t stamp;           /* higher in each newer record of the incarnation */
    uint64_t samples;         /* learned in this incarnation */
    uint64_t digest;          /* of its base */
    float samples_per_second; /* how fast it learns; 0: not known yet */
    float uplink;             /* bytes per second that its links carry, at least */
    float ingress;            /* bytes per second received in the best of the last seconds */
    uint32_t lag_ms;          /* for how long it has lacked what most others know */
    uint64_t swarm_samples;   /* learned by all, as it counts them; 0: not known yet */
    uint32_t renew_ms;        /* a newer record follows within this time */
    enum stage stage;         /* how far it is on its way out */
    bool trains;              /* false: it only passes on, or has not joined yet */
    struct address address;   /* where it can be dialled; port 0: nowhere */
};

/* Writes and signs a record; its id must be that of the identity. */
void record_create(const struct record *record, const struct identity *identity,
                   const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RECORD_BYTES]);

/* Reads the fields, without a look at the signature. MALFORMED: a field is out of its range. */
enum error record_parse(const uint8_t in[static RECORD_BYTES], struct record *record) MUST_USE;

/* Checks the signature alone. FORGED: it does not hold. */
enum error record_verify(const uint8_t in[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

#endif
