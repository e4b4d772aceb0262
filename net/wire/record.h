/* A member's record: what a node says of itself, signed, passed from neighbour to neighbour.
 *
 *   OFFSET SIZE MEANING                                        (numbers little-endian; 216 bytes)
 *        0   32 id
 *       32    8 incarnation: which life of the node; later lives have higher ones
 *       40    8 stamp: rises with every new record of one life
 *       48    8 samples learned in this life
 *       56    8 digest of its base
 *       64    4 samples per second, float32; 0: not known yet
 *       68    4 renew: a newer record follows within so many milliseconds, at most RENEW_MS_MAX
 *       72    2 port it listens on; 0: it only dials
 *       74    1 stage (below)
 *       75    1 trains: 1, or 0 for a node that only passes on, or has not joined yet
 *       76    4 uplink: bytes per second that its links carry, at least, float32
 *       80    4 ingress: bytes per second that came in, in the best of the last seconds, float32
 *       84    4 lag: for so many milliseconds it has lacked what most others say
 *       88   64 host, padded with zeros
 *      152   64 Ed25519 signature over context ‖ bytes 0 .. 152
 */
#ifndef HEARSAY_NET_WIRE_RECORD_H
#define HEARSAY_NET_WIRE_RECORD_H

#include "socket/address.h"
#include "crypto/identity.h"
#include "wire/rumor.h"

#define RECORD_BYTES 216
#define RENEW_MS_MAX 3600000u

enum stage {
    STAGE_RUNNING,
    STAGE_LEAVING, /* training has ended, the last telling is not out yet */
    STAGE_SETTLED, /* has told its last; passes on what it hears */
    STAGE_LEFT,
    STAGES
};

struct record {
    uint8_t id[ID_BYTES];
    uint64_t incarnation;
    uint64_t stamp;
    uint64_t samples;
    uint64_t digest;
    float samples_per_second;
    float uplink;
    float ingress;
    uint32_t lag_ms;
    uint32_t renew_ms;
    enum stage stage;
    bool trains;
    struct address address;
};

void record_create(const struct record *record, const struct identity *identity,
                   const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RECORD_BYTES]);

/* Structure only; cheap. MALFORMED when a field is out of its range. */
enum error record_parse(const uint8_t in[static RECORD_BYTES], struct record *record) MUST_USE;

/* The signature; FORGED if it does not hold. */
enum error record_verify(const uint8_t in[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

#endif
