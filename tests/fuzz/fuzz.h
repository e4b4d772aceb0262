/* A fuzzing harness: a program that gets any bytes and must not break.
 *
 *   libFuzzer ─► libfuzzer.c ─┐
 *                             ├─► fuzz_begin, once; fuzz_one(bytes), again and again
 *   files ─────► replay.c ────┘
 *
 * Each fuzz_<name>.c is one harness and defines these two functions. A bug is found when a
 * sanitizer reports an error or a CHECK fails: a CHECK of the program, or one of the harness, which
 * checks the result.
 */
#ifndef HEARSAY_TESTS_FUZZ_FUZZ_H
#define HEARSAY_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

void fuzz_begin(void);
void fuzz_one(const uint8_t *data, size_t bytes);

/* The unread bytes of an input. */
struct input {
    const uint8_t *at;
    size_t left;
};

/* Reads at most `most` bytes and sets *taken to their number. Returns their address. */
static inline const uint8_t *input_bytes(struct input *input, size_t most, size_t *taken)
{
    const uint8_t *at = input->at;
    *taken = most < input->left ? most : input->left;
    input->at += *taken;
    input->left -= *taken;
    return at;
}

/* Reads a little-endian number of `bytes` bytes. Behind the end of the input all bytes are zero. */
static inline uint64_t input_number(struct input *input, size_t bytes)
{
    size_t taken;
    uint64_t number = 0;
    const uint8_t *at = input_bytes(input, bytes, &taken);
    for (size_t i = 0; i < taken; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

static inline uint8_t input_byte(struct input *input)
{
    return (uint8_t)input_number(input, 1);
}

#endif
