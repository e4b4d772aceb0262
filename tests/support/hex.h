/* Bytes written as hexadecimal text, for tests with published values. */
#ifndef HEARSAY_TESTS_SUPPORT_HEX_H
#define HEARSAY_TESTS_SUPPORT_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

static inline uint8_t hex_digit(char digit)
{
    const char *digits = "0123456789abcdef";
    const char *found = strchr(digits, digit);
    CHECK(digit != '\0' && found != NULL);
    return (uint8_t)(found - digits);
}

/* Returns the number of bytes. */
static inline size_t hex_bytes(uint8_t *out, size_t capacity, const char *text)
{
    size_t bytes = strlen(text) / 2;
    CHECK(bytes <= capacity);
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    return bytes;
}

#endif
