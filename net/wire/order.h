/* An order of the operator: a member is put out of the swarm, and what it published is taken out of
 * the base, all of it or what is beyond the rumors that the order keeps; or a member is admitted.
 *
 *   OFFSET SIZE MEANING                                             (numbers little-endian)
 *        0    8 number: 1, 2, 3 … in the swarm, at most ORDERS_MAX
 *        8    1 kind: 1, expel; 2, admit
 *        9    1 n: pairs, at most ORDER_PAIRS_MAX
 *       10   32 subject: the id of the member
 *       42    8 issued: milliseconds since 1970
 *       50   64 reason, or name: printable ASCII, padded with zeros; not empty
 *      114 12·n pairs, by rising incarnation: incarnation 8 · keep 4, above 0
 * 114+12·n   64 Ed25519 signature of the operator over "hearsay order" ‖ context ‖ all before it
 *
 * An admission has no pair, or one, whose keep is 0: of this incarnation and earlier ones there
 * stays what an earlier order left.
 *
 * Of an incarnation of the subject that a pair names the rumors before number `keep` stay in the
 * base; of every other nothing does. So what stays follows from the order alone, and is the same on
 * all nodes. Held by tests/unit/net/test_order.c: every truncation and bit flip is refused.
 */
#ifndef HEARSAY_NET_WIRE_ORDER_H
#define HEARSAY_NET_WIRE_ORDER_H

#include "crypto/identity.h"
#include "wire/rumor.h"

#define ORDERS_MAX         256
#define ORDER_PAIRS_MAX    32
#define ORDER_REASON_BYTES 64
#define ORDER_HEAD_BYTES   114
#define ORDER_PAIR_BYTES   12
#define ORDER_BYTES_MAX    (ORDER_HEAD_BYTES + ORDER_PAIRS_MAX * ORDER_PAIR_BYTES + SIGNATURE_BYTES)

struct order_pair {
    uint64_t incarnation; /* of the subject */
    uint32_t keep;        /* its rumors before this one stay */
};

struct order {
    uint64_t number;                          /* its place among the operator's orders, from 1 */
    uint8_t subject[ID_BYTES];                /* who is put out, or admitted */
    bool admits;                              /* and that is which */
    uint64_t after;                           /* admits: only later incarnations are; 0: all */
    uint64_t issued_ms;                       /* since 1970 */
    char reason[ORDER_REASON_BYTES + 1];      /* for people; admits: a name */
    uint32_t pairs_count;                     /* expels: how many pairs there are */
    struct order_pair pairs[ORDER_PAIRS_MAX]; /* what stays, by rising incarnation */
};

/* Writes and signs an order that order_parse would take; returns its bytes. */
size_t order_create(const struct order *order, const struct operator_key *key,
                    const uint8_t context[static CONTEXT_BYTES],
                    uint8_t out[static ORDER_BYTES_MAX]);

/* The order that these bytes begin with, and how many of them it has; the signature is not looked
 * at. MALFORMED: they begin with none. */
enum error order_parse(const uint8_t *in, size_t bytes, struct order *order,
                       size_t *taken) MUST_USE;

/* Checks the signature of exactly one order. FORGED: it does not hold. */
enum error order_verify(const uint8_t *in, size_t bytes, const uint8_t operator_id[static ID_BYTES],
                        const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

/* Would this text do for a reason? */
bool order_is_reason(const char *text);

/* So many rumors of that incarnation of the subject stay. */
uint32_t order_keeps(const struct order *order, uint64_t incarnation);

#endif
