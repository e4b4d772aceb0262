#include "commands/png_image.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static enum error check(const char *path, const png_image *image, struct shape shape,
                        struct problem *problem)
{
    if (shape.channels != 1 && shape.channels != 3)
        return problem_set(
            problem, MISMATCH,
            "%.300s: a PNG has 1 or 3 channels, but the model takes %d; give a .npy file", path,
            shape.channels);
    if (image->width == (png_uint_32)shape.width && image->height == (png_uint_32)shape.height)
        return OK;
    return problem_set(
        problem, MISMATCH,
        "%.300s: the image has %u x %u pixels, but the model takes %d x %d; scale the image first",
        path, image->width, image->height, shape.width, shape.height);
}

/* Returns the luma of a colour, ITU-R BT.601 in 16 bits as in Pillow's convert("L"). Grey stays
 * unchanged. */
static uint8_t grey_of(const uint8_t rgb[3])
{
    return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

/* Copies interleaved red, green and blue into three planes, or into one plane of grey. */
static void spread(const uint8_t *rgb, struct shape shape, uint8_t *pixels)
{
    const size_t count = (size_t)shape.height * (size_t)shape.width;
    for (size_t i = 0; i < count; i++) {
        if (shape.channels == 1)
            pixels[i] = grey_of(rgb + 3 * i);
        for (size_t c = 0; shape.channels == 3 && c < 3; c++)
            pixels[c * count + i] = rgb[3 * i + c];
    }
}

enum error png_image_read(const char *path, struct shape shape, uint8_t *pixels,
                          struct problem *problem)
{
    static const png_color black;
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path))
        return problem_set(
            problem, MALFORMED,
            "%.300s: cannot be read as PNG: %s; write it again, or name another file", path,
            image.message);
    enum error error = check(path, &image, shape, problem);
    if (error != OK) {
        png_image_free(&image);
        return error;
    }
    image.format = PNG_FORMAT_RGB;
    uint8_t *rgb = memory_new(PNG_IMAGE_SIZE(image), 1);
    if (png_image_finish_read(&image, &black, rgb, 0, NULL))
        spread(rgb, shape, pixels);
    else
        error = problem_set(problem, MALFORMED,
                            "%.300s: is damaged: %s; write it again, or name another file", path,
                            image.message);
    free(rgb);
    return error;
}
