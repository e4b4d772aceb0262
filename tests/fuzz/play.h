/* The script that is being played: its position, and choices that its bytes make. */
#ifndef HEARSAY_TESTS_FUZZ_PLAY_H
#define HEARSAY_TESTS_FUZZ_PLAY_H

#include "fuzz/fuzz.h"
#include "fuzz/scene.h"

extern struct scene *scene;
extern struct input input;

struct member *pick_member(void);

/* Returns a number from the input: a small one, one with a meaning for the node, or any. */
uint64_t pick(void);
float pick_float(void);

#endif
