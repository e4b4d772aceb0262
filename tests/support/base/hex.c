#include "support/base/hex.h"

static uint8_t hex_digit(char digit)
{
    const char *digits = "0123456789abcdef";
    const char *found = strchr(digits, digit);
    CHECK(digit != '\0' && found != NULL);
    return (uint8_t)(found - digits);
}

size_t hex_bytes(uint8_t *out, size_t capacity, const char *text)
{
    size_t bytes = strlen(text) / 2;
    CHECK(bytes <= capacity);
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    return bytes;
}
