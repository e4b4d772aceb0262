/* A small model with random weights and a random batch, whose gradients are compared with finite
 * differences.
 *
 *   check_gradients;   or build ─► drawn, batch_x, batch_labels ─► the test's own checks
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
#define ROOM    16384 /* upper limit of the parameters of the models in these tests */

extern struct model *model;
extern float drawn[ROOM], gradients[ROOM];
extern float batch_x[ROOM]; /* samples of the batch; for sequences, int32 tokens */
extern int32_t batch_labels[ROOM];
extern float batch_numbers[ROOM]; /* targets of the batch, instead of labels */

int gradient_begins(void **state);
int gradient_ends(void **state);

/* Builds a model with random weights and biases, and a random batch for it. */
void build(const char *line, struct shape in, int classes);

/* Returns the batch's mean loss in nats per label. */
double mean_loss(void);

/* Build a model and compare its gradients with finite differences: check_gradients with labels,
 * check_gradients_of_numbers with numeric targets. */
void check_gradients(const char *line, struct shape in);
void check_gradients_of_numbers(const char *line, struct shape in);

#endif
