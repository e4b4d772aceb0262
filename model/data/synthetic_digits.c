#include "data/synthetic_digits.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"

#define POINTS_MAX  12 /* maximum number of points in a stroke; a repeated point counts twice */
#define STROKES_MAX 2
#define UNIT        256  /* canvas units per pixel, in each direction */
#define ONE         1024 /* the number 1 in fixed point, for sines, cosines and matrix entries */

struct point {
    int32_t x, y;
};

/* A stroke as a polyline. Its corners are rounded, except at a point listed twice. x points right,
 * y down; the digit's middle is at (0, 0) and its height is about 100. */
struct stroke {
    int count;
    struct point points[POINTS_MAX];
};

/* One way to write a digit. */
struct form {
    uint8_t label;
    struct stroke strokes[STROKES_MAX];
};

static const struct form forms[] = {
    {0, {{6, {{0, -50}, {32, -50}, {32, 50}, {-32, 50}, {-32, -50}, {0, -50}}}}},
    {1, {{4, {{-20, -28}, {4, -50}, {4, -50}, {4, 50}}}}},
    {1, {{4, {{-18, -30}, {4, -50}, {4, -50}, {4, 50}}}, {2, {{-18, 50}, {24, 50}}}}},
    {2,
     {{8,
       {{-28, -30}, {-24, -52}, {26, -56}, {32, -18}, {2, 14}, {-30, 50}, {-30, 50}, {32, 50}}}}},
    {3,
     {{11,
       {{-26, -42},
        {-12, -54},
        {30, -52},
        {28, -6},
        {-6, -4},
        {-6, -4},
        {32, -4},
        {36, 50},
        {0, 54},
        {-16, 52},
        {-30, 38}}}}},
    {4, {{4, {{8, -50}, {-32, 18}, {-32, 18}, {34, 18}}}, {2, {{12, -50}, {12, 50}}}}},
    {4, {{4, {{-16, -50}, {-28, 12}, {-28, 12}, {32, 12}}}, {2, {{16, -28}, {10, 50}}}}},
    {5,
     {{9,
       {{28, -50},
        {-20, -50},
        {-20, -50},
        {-24, -6},
        {-24, -6},
        {30, -22},
        {38, 48},
        {-6, 56},
        {-30, 38}}}}},
    {6,
     {{8,
       {{22, -50}, {-14, -40}, {-36, 16}, {-28, 54}, {32, 56}, {34, -6}, {-12, -8}, {-28, 22}}}}},
    {7, {{4, {{-30, -50}, {30, -50}, {30, -50}, {-8, 50}}}}},
    {7, {{4, {{-30, -50}, {30, -50}, {30, -50}, {-8, 50}}}, {2, {{-14, 2}, {24, 2}}}}},
    {8,
     {{6, {{0, -50}, {28, -50}, {28, -4}, {-28, -4}, {-28, -50}, {0, -50}}},
      {6, {{0, -4}, {34, -4}, {34, 50}, {-34, 50}, {-34, -4}, {0, -4}}}}},
    {8,
     {{10,
       {{24, -38},
        {14, -54},
        {-28, -52},
        {-28, -10},
        {32, 8},
        {32, 52},
        {-32, 54},
        {-32, 10},
        {26, -14},
        {24, -42}}}}},
    {9,
     {{8, {{-22, 50}, {14, 40}, {36, -16}, {28, -54}, {-32, -56}, {-34, 6}, {12, 8}, {28, -22}}}}},
    {9,
     {{6, {{26, -26}, {26, -52}, {-30, -52}, {-30, 2}, {22, 4}, {28, -30}}},
      {2, {{27, -44}, {20, 50}}}}},
};

#define FORMS ((uint32_t)(sizeof forms / sizeof *forms))

/* In all functions below, a statement makes at most one random draw, because C leaves the order of
 * evaluation within an expression open. */

static int32_t around_zero(struct rng *rng, int32_t reach)
{
    return (int32_t)rng_below(rng, 2 * (uint32_t)reach + 1) - reach;
}

static int32_t between(struct rng *rng, int32_t low, int32_t high)
{
    return low + (int32_t)rng_below(rng, (uint32_t)(high - low) + 1);
}

/* Returns a random form. Draws the digit first and then one of its forms, so that all ten digits
 * are equally frequent. */
static const struct form *choose_form(struct rng *rng)
{
    const uint32_t label = rng_below(rng, DIGIT_CLASSES);
    uint32_t first = 0, count = 0;
    for (uint32_t i = 0; i < FORMS; i++) {
        if (forms[i].label < label)
            first = i + 1;
        count += forms[i].label == label;
    }
    return &forms[first + rng_below(rng, count)];
}

/* An affine map from a form's coordinates to the canvas: canvas point = matrix · point / ONE +
 * shift. */
struct affine {
    int32_t xx, xy, yx, yy; /* matrix entries, in canvas units per unit of the form, times ONE */
    struct point shift;
};

/* Returns a random rotation, shear, scaling and shift. t is the tangent of half the angle: cosine
 * (1 - t²)/(1 + t²), sine 2t/(1 + t²). */
static struct affine random_affine(struct rng *rng)
{
    const int32_t t = around_zero(rng, ONE / 5);
    const int32_t square = t * t / ONE;
    const int32_t cosine = (ONE - square) * ONE / (ONE + square);
    const int32_t sine = 2 * t * ONE / (ONE + square);
    const int32_t shear = around_zero(rng, ONE / 3);
    /* scale, in canvas units per unit of the form; 54 makes the digit 21 pixels high */
    const int32_t wide = between(rng, 30, 54);
    const int32_t high = between(rng, 36, 54);
    struct affine affine = {.xx = cosine * wide,
                            .xy = (cosine * shear / ONE - sine) * high,
                            .yx = sine * wide,
                            .yy = (sine * shear / ONE + cosine) * high};
    affine.shift.x = DIGIT_SIDE * UNIT / 2 + around_zero(rng, 3 * UNIT);
    affine.shift.y = DIGIT_SIDE * UNIT / 2 + around_zero(rng, 3 * UNIT);
    return affine;
}

static struct point transform(const struct affine *affine, struct point point)
{
    return (struct point){
        (affine->xx * point.x + affine->xy * point.y) / ONE + affine->shift.x,
        (affine->yx * point.x + affine->yy * point.y) / ONE + affine->shift.y,
    };
}

/* A polyline on the canvas. cut_corners is called twice, and each call at most doubles the number
 * of points. */
struct line {
    int count;
    struct point points[4 * POINTS_MAX];
};

static bool same(struct point a, struct point b)
{
    return a.x == b.x && a.y == b.y;
}

static struct line place(struct rng *rng, const struct stroke *stroke, const struct affine *affine)
{
    struct line line = {.count = stroke->count};
    for (int i = 0; i < stroke->count; i++) {
        struct point point = stroke->points[i];
        if (i > 0 && same(point, stroke->points[i - 1])) {
            line.points[i] = line.points[i - 1];
            continue;
        }
        point.x += around_zero(rng, 8);
        point.y += around_zero(rng, 8);
        line.points[i] = transform(affine, point);
    }
    return line;
}

static struct point quarter(struct point a, struct point b)
{
    return (struct point){(3 * a.x + b.x) / 4, (3 * a.y + b.y) / 4};
}

/* Returns the line with each corner replaced by two points, at a quarter of its two sides (Chaikin
 * 1974). The first and last point stay. */
static struct line cut_corners(const struct line *line)
{
    struct line cut = {.count = 1, .points = {line->points[0]}};
    for (int i = 1; i < line->count; i++) {
        if (i > 1)
            cut.points[cut.count++] = quarter(line->points[i - 1], line->points[i]);
        if (i < line->count - 1)
            cut.points[cut.count++] = quarter(line->points[i], line->points[i - 1]);
    }
    cut.points[cut.count++] = line->points[line->count - 1];
    return cut;
}

/* For each pixel, the squared distance of its middle to the nearest line, in canvas units; at most
 * FAR. */
struct canvas {
    int32_t squared[DIGIT_SIDE][DIGIT_SIDE];
};

/* distance from a line, in canvas units, beyond which pixels are not examined */
#define REACH (3 * UNIT)
#define FAR   (REACH * REACH)

static int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int32_t squared_distance(struct point p, struct point a, struct point b)
{
    const int32_t dx = b.x - a.x, dy = b.y - a.y;
    const int32_t length_squared = dx * dx + dy * dy;
    int32_t x = p.x - a.x, y = p.y - a.y;
    if (length_squared > 0) {
        const int32_t along = clamp(x * dx + y * dy, 0, length_squared);
        x -= (int32_t)((int64_t)dx * along / length_squared);
        y -= (int32_t)((int64_t)dy * along / length_squared);
    }
    return x * x + y * y;
}

/* Returns the first row (or column) of pixels to examine for a line from coordinate a to b. */
static int32_t first_near(int32_t a, int32_t b)
{
    return clamp(((a < b ? a : b) - REACH) / UNIT, 0, DIGIT_SIDE - 1);
}

static int32_t last_near(int32_t a, int32_t b)
{
    return clamp(((a > b ? a : b) + REACH) / UNIT, 0, DIGIT_SIDE - 1);
}

static void ink_segment(struct canvas *canvas, struct point a, struct point b)
{
    const int32_t right = last_near(a.x, b.x), bottom = last_near(a.y, b.y);
    for (int32_t row = first_near(a.y, b.y); row <= bottom; row++)
        for (int32_t column = first_near(a.x, b.x); column <= right; column++) {
            const struct point middle = {column * UNIT + UNIT / 2, row * UNIT + UNIT / 2};
            const int32_t squared = squared_distance(middle, a, b);
            if (squared < canvas->squared[row][column])
                canvas->squared[row][column] = squared;
        }
}

static void ink_line(struct canvas *canvas, const struct line *line)
{
    for (int i = 1; i < line->count; i++)
        ink_segment(canvas, line->points[i - 1], line->points[i]);
}

static void canvas_clear(struct canvas *canvas)
{
    for (int row = 0; row < DIGIT_SIDE; row++)
        for (int column = 0; column < DIGIT_SIDE; column++)
            canvas->squared[row][column] = FAR;
}

static int32_t square_root(int32_t square)
{
    int32_t root = 0;
    for (int32_t bit = 1 << 10; bit > 0; bit /= 2)
        if ((root + bit) * (root + bit) <= square)
            root += bit;
    return root;
}

/* Adds the canvas's lines to the brightness total[pixel]: `light` up to `radius` from a line,
 * falling to 0 over the next pixel. */
static void expose(const struct canvas *canvas, int32_t radius, int32_t light,
                   int32_t total[static DIGIT_PIXELS])
{
    for (int i = 0; i < DIGIT_PIXELS; i++) {
        const int32_t squared = canvas->squared[i / DIGIT_SIDE][i % DIGIT_SIDE];
        if (squared < FAR)
            total[i] += light * clamp(radius + UNIT - square_root(squared), 0, UNIT) / UNIT;
    }
}

static void draw_digit(struct rng *rng, const struct form *form, int32_t total[static DIGIT_PIXELS])
{
    struct canvas canvas;
    canvas_clear(&canvas);
    const struct affine affine = random_affine(rng);
    for (int i = 0; i < STROKES_MAX && form->strokes[i].count > 0; i++) {
        struct line line = place(rng, &form->strokes[i], &affine);
        line = cut_corners(&line);
        line = cut_corners(&line);
        ink_line(&canvas, &line);
    }
    const int32_t radius = between(rng, UNIT / 8, UNIT);
    const int32_t light = between(rng, 100, 240);
    expose(&canvas, radius, light, total);
}

/* Adds a short straight line at a random place to the brightness total[pixel]. */
static void draw_clutter(struct rng *rng, int32_t total[static DIGIT_PIXELS])
{
    struct canvas canvas;
    struct point from, to;
    canvas_clear(&canvas);
    from.x = between(rng, 0, DIGIT_SIDE * UNIT);
    from.y = between(rng, 0, DIGIT_SIDE * UNIT);
    to.x = from.x + around_zero(rng, 8 * UNIT);
    to.y = from.y + around_zero(rng, 8 * UNIT);
    ink_segment(&canvas, from, to);
    const int32_t radius = between(rng, 0, UNIT / 2);
    const int32_t light = between(rng, 60, 200);
    expose(&canvas, radius, light, total);
}

/* Returns a random integer with mean 0 and standard deviation 209, approximately normal: the sum of
 * eight uniform bytes minus 1020. */
static int32_t noise(struct rng *rng)
{
    int32_t sum = -8 * 255 / 2;
    for (uint64_t bytes = rng_next(rng); bytes > 0; bytes >>= 8)
        sum += (int32_t)(bytes & 255);
    return sum;
}

uint8_t synthetic_digits_draw(uint64_t seed, enum digits_set set, uint32_t index,
                              uint8_t pixels[static DIGIT_PIXELS])
{
    struct rng rng = rng_new(rng_mix(seed + 1), 2 * (uint64_t)index + (set == DIGITS_TEST));
    int32_t total[DIGIT_PIXELS] = {0};
    const struct form *form = choose_form(&rng);
    draw_digit(&rng, form, total);
    for (uint32_t strays = rng_below(&rng, 5); strays > 0; strays--)
        draw_clutter(&rng, total);
    const int32_t grain = between(&rng, 10, 42);
    for (int i = 0; i < DIGIT_PIXELS; i++)
        pixels[i] = (uint8_t)clamp(total[i] + noise(&rng) * grain / 209, 0, 255);
    return form->label;
}
