/* A PNG of a given size, as the bytes that a model takes. The one file that knows libpng. */
#ifndef HEARSAY_COMMANDS_PNG_IMAGE_H
#define HEARSAY_COMMANDS_PNG_IMAGE_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

/* pixels[channels, height, width]: any PNG, turned grey (one channel) as Pillow does, or to red,
 * green and blue (three); what is transparent becomes black. MISMATCH: another size, which is not
 * read, or a model of other channels. MALFORMED: libpng's words. */
enum error png_image_read(const char *path, struct shape shape, uint8_t *pixels,
                          struct problem *problem) MUST_USE;

#endif
