/* A script being played: where it is, and what its bytes choose. */
#ifndef HEARSAY_TESTS_FUZZ_PLAY_H
#define HEARSAY_TESTS_FUZZ_PLAY_H

#include "fuzz/fuzz.h"
#include "fuzz/scene.h"

extern struct scene *scene;
extern struct input input;

struct member *pick_member(void);

/* A number: mostly small, or one that means something to the node, or any. */
uint64_t pick(void);
float pick_float(void);

#endif
