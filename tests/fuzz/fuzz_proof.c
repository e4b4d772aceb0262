/* Proofs that a member lies: the parser and a plain reading of the table in equivocation_proof.h
 * accept the same proofs, with equal fields. The two heads of an accepted proof make equal bytes
 * again, in either order. */
#include "fuzz/believe.h"
#include "fuzz/fuzz.h"
#include "wire/equivocation_proof.h"
#include "wire/move.h"

#define SECOND_IS_COPY   1 /* copy the first head, then change some of its bytes */
#define SECOND_CONTINUES 2 /* set the number and the hash that follow the first head */
#define PROOF_IS_MADE    4 /* let proof_create put the heads in order */
#define CHANGES_MAX      16

static const uint8_t context[CONTEXT_BYTES] = {7};

void fuzz_begin(void)
{
    secret_start();
    believe_signatures();
}

static void hash_of(uint8_t hash[static HEAD_HASH_BYTES], const uint8_t *head)
{
    secret_blake2b(hash, HEAD_HASH_BYTES, head, HEAD_BYTES, context, CONTEXT_BYTES);
}

static void read_head(struct input *input, uint8_t head[static SIGNED_HEAD_BYTES])
{
    size_t count;
    const uint8_t *from = input_bytes(input, SIGNED_HEAD_BYTES, &count);
    memset(head, 0, SIGNED_HEAD_BYTES);
    if (count > 0)
        memcpy(head, from, count);
}

static void read_second(struct input *input, uint8_t shape, const uint8_t *first, uint8_t *second)
{
    if (shape & SECOND_IS_COPY) {
        memcpy(second, first, SIGNED_HEAD_BYTES);
        for (int i = 0; i < CHANGES_MAX && input->left >= 2; i++) {
            const uint8_t at = input_byte(input) % SIGNED_HEAD_BYTES;
            second[at] = input_byte(input);
        }
    } else {
        read_head(input, second);
    }
    if (shape & SECOND_CONTINUES) {
        bytes_put(second + HEAD_SEQ_AT, bytes_get(first + HEAD_SEQ_AT, 4) + 1, 4);
        hash_of(second + HEAD_PREV_AT, first);
    }
}

static bool prev_is_zero(const uint8_t *head)
{
    for (size_t i = 0; i < HEAD_HASH_BYTES; i++)
        if (head[HEAD_PREV_AT + i] != 0)
            return false;
    return true;
}

static bool is_too_large(const uint8_t *head, uint64_t parameters)
{
    const struct move move = {.amount = (uint32_t)bytes_get(head + HEAD_AMOUNT_AT, 4),
                              .top = head[HEAD_TOP_AT],
                              .length = (uint32_t)bytes_get(head + HEAD_LENGTH_AT, 2)};
    return !move_is_allowed(&move, parameters) ||
           (bytes_get(head + HEAD_SEQ_AT, 4) == 0 &&
            bytes_get(head + HEAD_SAMPLES_AT, HEAD_SAMPLES_BYTES) > HEAD_SAMPLES_STEP);
}

/* Reads the table case by case. Returns false if the heads prove nothing. */
static bool expect(const uint8_t *first, const uint8_t *second, uint64_t parameters,
                   struct proof *proof)
{
    const uint64_t from = bytes_get(first + HEAD_SEQ_AT, 4);
    const uint64_t to = bytes_get(second + HEAD_SEQ_AT, 4);
    const uint64_t before = bytes_get(first + HEAD_SAMPLES_AT, HEAD_SAMPLES_BYTES);
    const uint64_t samples = bytes_get(second + HEAD_SAMPLES_AT, HEAD_SAMPLES_BYTES);
    uint8_t hash[HEAD_HASH_BYTES];
    if (memcmp(first, second, HEAD_SEQ_AT) != 0 || prev_is_zero(first) != (from == 0) ||
        prev_is_zero(second) != (to == 0))
        return false;
    *proof = (struct proof){.kind = PROOF_EQUIVOCATION,
                            .incarnation = bytes_get(first + HEAD_INCARNATION_AT, 8),
                            .keep = (uint32_t)from};
    memcpy(proof->author, first, ID_BYTES);
    if (from == to && memcmp(first, second, SIGNED_HEAD_BYTES) == 0) {
        proof->kind = PROOF_EXCESS;
        return is_too_large(first, parameters);
    }
    if (from == to) {
        const bool same = memcmp(first + HEAD_PREV_AT, second + HEAD_PREV_AT, HEAD_HASH_BYTES) == 0;
        proof->keep -= !same;
        return memcmp(first, second, HEAD_BYTES) < 0;
    }
    if (to != from + 1)
        return false;
    hash_of(hash, first);
    if (memcmp(second + HEAD_PREV_AT, hash, HEAD_HASH_BYTES) != 0)
        return true;
    proof->kind = PROOF_EXCESS;
    proof->keep = (uint32_t)to;
    return samples < before || samples - before > HEAD_SAMPLES_STEP;
}

static void comes_back(const uint8_t *in, uint64_t parameters)
{
    struct signed_head first, second;
    uint8_t again[PROOF_BYTES];
    signed_head_read(&first, in, context);
    signed_head_read(&second, in + SIGNED_HEAD_BYTES, context);
    CHECK(proof_create(&first, &second, parameters, again) == OK);
    CHECK(memcmp(again, in, PROOF_BYTES) == 0);
    CHECK(proof_create(&second, &first, parameters, again) == OK);
    CHECK(memcmp(again, in, PROOF_BYTES) == 0);
}

static void look_at(const struct proof *proof)
{
    CHECK(proof_keeps(proof, proof->incarnation) == proof->keep);
    CHECK(!proof_is_stricter(proof, proof));
    if (proof->incarnation > 0)
        CHECK(proof_keeps(proof, proof->incarnation - 1) == UINT32_MAX);
    if (proof->incarnation < UINT64_MAX)
        CHECK(proof_keeps(proof, proof->incarnation + 1) == 0);
}

static void put_in_order(uint8_t *in, uint64_t parameters)
{
    struct signed_head first, second;
    signed_head_read(&first, in, context);
    signed_head_read(&second, in + SIGNED_HEAD_BYTES, context);
    uint8_t made[PROOF_BYTES];
    if (proof_create(&first, &second, parameters, made) == OK)
        memcpy(in, made, PROOF_BYTES);
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    uint8_t in[PROOF_BYTES];
    struct proof proof, expected;
    const uint64_t parameters = 1 + input_number(&input, 4);
    const uint8_t shape = input_byte(&input);
    read_head(&input, in);
    read_second(&input, shape, in, in + SIGNED_HEAD_BYTES);
    if (shape & PROOF_IS_MADE)
        put_in_order(in, parameters);
    const enum error error = proof_parse(in, context, parameters, &proof);
    CHECK((error == OK) == expect(in, in + SIGNED_HEAD_BYTES, parameters, &expected));
    if (error != OK)
        return;
    CHECK(proof.kind == expected.kind && proof.incarnation == expected.incarnation);
    CHECK(proof.keep == expected.keep && memcmp(proof.author, in, ID_BYTES) == 0);
    CHECK(proof_verify(in, context) == OK);
    comes_back(in, parameters);
    look_at(&proof);
}
