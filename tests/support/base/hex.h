/* Bytes from hexadecimal text, for tests with published values. */
#ifndef HEARSAY_TESTS_SUPPORT_BASE_HEX_H
#define HEARSAY_TESTS_SUPPORT_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

size_t hex_bytes(uint8_t *out, size_t capacity, const char *text);

#endif
