/* Reads a PNG of a given size as a model's input bytes. Only png_image.c uses libpng. */
#ifndef HEARSAY_COMMANDS_PNG_IMAGE_H
#define HEARSAY_COMMANDS_PNG_IMAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

/* Reads pixels[channels, height, width] from any PNG, converted to grey (one channel, as Pillow
 * does) or to red, green and blue (three); transparent pixels become black. MISMATCH: the image has
 * another size, or the model another number of channels. MALFORMED: an error of libpng. */
enum error png_image_read(const char *path, struct shape shape, uint8_t *pixels,
                          struct problem *problem) MUST_USE;

#endif
