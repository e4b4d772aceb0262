/* How good a swarm's model is: one number from 0 to 1, whatever it learns.
 *
 *   images   accuracy: the part of the test samples that it tells right
 *   text     1 - bits per byte / 8: the part of each byte's eight bits that it knows beforehand
 *
 * People read the accuracy in percent, and bits per byte.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_SCORE_H
#define HEARSAY_COMMANDS_SWARM_SWARM_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#define SCORE_TEXT 24

/* is_text: bytes. loss in nats for each of them. */
double swarm_score(bool is_text, double accuracy, double loss);

double swarm_score_of_bits(double bits_per_byte);
double swarm_score_bits(double score);

/* "accuracy" or "text"; and a score as in "85.65 %" or "2.413 bits/byte". */
const char *swarm_score_name(bool is_text);
const char *swarm_score_text(char out[static SCORE_TEXT], bool is_text, double score);

#endif
