/* The score of a swarm's model: one number from 0 to 1 for all kinds of data.
 *
 *   classes  accuracy: the part of the test samples that the model classifies correctly
 *   text     1 - bits per byte / 8: the part of each byte's eight bits that the model predicts
 *   numbers  R²: the part of the targets' variance that the model predicts
 *
 * People read the accuracy and R² in percent, and text as bits per byte.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_SCORE_H
#define HEARSAY_COMMANDS_SWARM_SWARM_SCORE_H

#include <stddef.h>

#define SCORE_TEXT 24

enum score_kind { SCORE_OF_CLASSES, SCORE_OF_TEXT, SCORE_OF_NUMBERS };

/* Returns the score. part: accuracy or R², for classes and numbers. loss: nats per byte, for text.
 */
double swarm_score(enum score_kind kind, double part, double loss);

double swarm_score_of_bits(double bits_per_byte);
double swarm_score_bits(double score);

/* swarm_score_name returns "accuracy", "text" or "R2". swarm_score_text formats a score, such as
 * "85.65 %" or "2.413 bits/byte". */
const char *swarm_score_name(enum score_kind kind);
const char *swarm_score_text(char out[static SCORE_TEXT], enum score_kind kind, double score);

#endif
