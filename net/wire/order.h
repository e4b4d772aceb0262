/* An order of the operator. It expels a member and removes its rumors from the base, except the
 * ones that the order keeps; or it admits a member; or it gives the swarm a new key.
 *
 *   OFFSET SIZE MEANING                                             (numbers little-endian)
 *        0    8 number: 1, 2, 3 … in the swarm, at most ORDERS_MAX
 *        8    1 kind: 1, expel; 2, admit; 3, rekey
 *        9    1 n: number of pairs, at most ORDER_PAIRS_MAX
 *       10   32 subject: the id of the member; rekey: the hash of the new swarm key
 *       42    8 issued: milliseconds since 1970
 *       50   64 reason, or name: printable ASCII, padded with zeros; not empty
 *      114 12·n pairs, by rising incarnation: incarnation 8 · keep 4, above 0
 * 114+12·n   64 Ed25519 signature of the operator over "hearsay order" ‖ context ‖ all before it
 *
 * An admission has no pair, or one whose keep is 0: for the incarnation in the pair and earlier
 * ones, the effect of an earlier order remains. A rekey has no pairs. In their place it has
 *
 *      114    8 until: milliseconds since 1970; older keys are accepted until then
 *      122   32 before: the hash of the swarm key that the new one replaces
 *
 * An order contains hashes of keys (swarm_key_hash), which reveal no key; a holder of a key
 * recognizes its hash.
 *
 * If a pair names an incarnation of the subject, its rumors before number `keep` stay in the base.
 * No rumor of any other incarnation stays. The order by itself therefore decides what stays, and
 * all nodes agree. Tests: tests/unit/net/test_order.c refuses every truncation and bit flip.
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
    uint64_t incarnation;
    uint32_t keep; /* rumors before this number stay in the base */
};

enum order_kind { ORDER_EXPEL = 1, ORDER_ADMIT, ORDER_REKEY };

struct order {
    uint64_t number; /* number of the order, from 1 */
    enum order_kind kind;
    uint8_t subject[ID_BYTES]; /* id of the member; rekey: hash of the new key */
    uint64_t issued_ms;
    char reason[ORDER_REASON_BYTES + 1]; /* reason of the order; admit: a name */
    /* admit: incarnations above this one are admitted. For this incarnation and lower ones, the
     * member's earlier orders stay in effect. 0 = every incarnation is admitted. */
    uint64_t after;
    uint64_t until_ms; /* rekey: milliseconds since 1970 until which older keys are accepted */
    uint8_t before[HASH_BYTES]; /* rekey: hash of the key that the new key replaces */
    uint32_t pairs_count;
    struct order_pair pairs[ORDER_PAIRS_MAX]; /* expel: pairs by rising incarnation */
};

/* Writes and signs an order that order_parse accepts; returns its size. */
size_t order_create(const struct order *order, const struct operator_key *key,
                    const uint8_t context[static CONTEXT_BYTES],
                    uint8_t out[static ORDER_BYTES_MAX]);

/* Parses the order at the start of the bytes and sets *taken to its size. Does not check the
 * signature. Returns MALFORMED if the bytes do not start with an order. */
enum error order_parse(const uint8_t *in, size_t bytes, struct order *order,
                       size_t *taken) MUST_USE;

/* `in` is exactly one order. Returns FORGED if its signature does not verify. */
enum error order_verify(const uint8_t *in, size_t bytes, const uint8_t operator_id[static ID_BYTES],
                        const uint8_t context[static CONTEXT_BYTES]) MUST_USE;

/* Returns true if the text is printable ASCII, not empty, and at most ORDER_REASON_BYTES long. */
bool order_is_reason(const char *text);

/* Returns how many rumors of this incarnation an order of kind ORDER_EXPEL leaves in the base. */
uint32_t order_keeps(const struct order *order, uint64_t incarnation);

#endif
