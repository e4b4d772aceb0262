/* An order of the operator: a member is put out of the swarm, and what it published is taken out of
 * the base, all of it or what is beyond the rumors that the order keeps; or a member is admitted;
 * or the swarm gets a new key.
 *
 *   OFFSET SIZE MEANING                                             (numbers little-endian)
 *        0    8 number: 1, 2, 3 … in the swarm, at most ORDERS_MAX
 *        8    1 kind: 1, expel; 2, admit; 3, rekey
 *        9    1 n: pairs, at most ORDER_PAIRS_MAX
 *       10   32 subject: the id of the member; rekey: the hash of the new swarm key
 *       42    8 issued: milliseconds since 1970
 *       50   64 reason, or name: printable ASCII, padded with zeros; not empty
 *      114 12·n pairs, by rising incarnation: incarnation 8 · keep 4, above 0
 * 114+12·n   64 Ed25519 signature of the operator over "hearsay order" ‖ context ‖ all before it
 *
 * An admission has no pair, or one, whose keep is 0: of this incarnation and earlier ones there
 * stays what an earlier order left. In place of pairs, of which it has none, a rekey has
 *
 *      114    8 until: milliseconds since 1970; for so long older keys let in, too
 *      122   32 before: the hash of the swarm key that the new one takes the place of
 *
 * Whoever reads an order learns nothing of a key (swarm_key_hash), and whoever has a key knows
 * which it is.
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
#define ORDER_REKEY_BYTES  (8 + HASH_BYTES)
#define ORDER_BYTES_MAX    (ORDER_HEAD_BYTES + ORDER_PAIRS_MAX * ORDER_PAIR_BYTES + SIGNATURE_BYTES)

struct order_pair {
    uint64_t incarnation; /* of the subject */
    uint32_t keep;        /* its rumors before this one stay */
};

enum order_kind { ORDER_EXPEL = 1, ORDER_ADMIT, ORDER_REKEY };

struct order {
    uint64_t number;                          /* its place among the operator's orders, from 1 */
    enum order_kind kind;                     /* what is ordered */
    uint8_t subject[ID_BYTES];                /* of whom; rekey: the hash of the new key */
    uint64_t issued_ms;                       /* since 1970 */
    char reason[ORDER_REASON_BYTES + 1];      /* for people; admit: a name */
    uint64_t after;                           /* admit: only later incarnations are; 0: all */
    uint64_t until_ms;                        /* rekey: older keys let in until then, since 1970 */
    uint8_t before[HASH_BYTES];               /* rekey: the hash of the key before */
    uint32_t pairs_count;                     /* expel: how many pairs there are */
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
