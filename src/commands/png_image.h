/* Reads a PNG of a given size as bytes for a model's input. Only png_image.c uses libpng. */
#ifndef HEARSAY_COMMANDS_PNG_IMAGE_H
#define HEARSAY_COMMANDS_PNG_IMAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

/* Reads pixels[channels, height, width] from any PNG: as grey for one channel, with Pillow's
 * formula, or as red, green and blue for three. Transparent pixels become black. Returns MISMATCH
 * if the image has another size or `shape` neither 1 nor 3 channels, and MALFORMED for an error of
 * libpng. */
enum error png_image_read(const char *path, struct shape shape, uint8_t *pixels,
                          struct problem *problem) MUST_USE;

#endif
