/* A small model with random weights, a random batch for it, and its gradients against finite
 * differences.
 *
 *   build ─► input, labels ─► check_gradients, or the test's own
 */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_GRADIENT_STORY_H
#define HEARSAY_TESTS_SUPPORT_MODEL_GRADIENT_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layers/model.h"
#include "support/model/each_device.h"

#define BATCH   4
#define CLASSES 3
#define ROOM    16384 /* more parameters than any model here has */

extern struct model *model;
extern float drawn[ROOM], gradients[ROOM]; /* weights, and what follows from them */
extern float batch_x[ROOM];                /* of a sequence: int32 tokens */
extern int32_t batch_labels[ROOM];
extern float batch_numbers[ROOM]; /* to be predicted, in place of the labels */

/* Tears a test down: frees the model that it built last. */
int gradient_begins(void **state);
int gradient_ends(void **state);

/* A model with random weights and biases, and a random batch for it. */
void build(const char *line, struct shape in, int classes);

/* Of the batch, in nats for each label. */
double mean_loss(void);

/* Builds it, and compares all its gradients: those of the labels' loss, or of the numbers'. */
void check_gradients(const char *line, struct shape in);
void check_gradients_of_numbers(const char *line, struct shape in);

#endif
