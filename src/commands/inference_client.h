/* The client of a node's inference service (node/inference.h): sends samples, receives numbers.
 *
 *   dial ─► version probe ─► refusal: protocol, swarm, model, and whether the node serves inference
 *        ─► dial again with these ─► handshake ─► INFERENCE ◄─► REPLY … ─► BYE
 *
 * The probe shows in advance whether the node knows INFERENCE. A client needs the swarm key and no
 * configuration. It waits as long as the node demands, at most PATIENCE_S, and dials again if the
 * node ended the session at a limit or had no free slot. All functions block; call them on one
 * thread. Tests: tests/process/test_ask.sh.
 */
#ifndef HEARSAY_COMMANDS_INFERENCE_CLIENT_H
#define HEARSAY_COMMANDS_INFERENCE_CLIENT_H

#include "config/inference_words.h"
#include "wire/address.h"

struct inference_client_options {
    struct address address;
    const char *swarm_key; /* path of the file with the swarm key */
    const char *identity;  /* path of the identity file; NULL = a new identity for this run */
};

struct inference_client;

/* Connects and learns the format of samples. On an error `problem` has a message. The caller calls
 * inference_client_close in either case. */
enum error inference_client_open(struct inference_client **client,
                                 const struct inference_client_options *options,
                                 struct problem *problem) MUST_USE;
void inference_client_close(struct inference_client *client);

const struct inference_shape *inference_client_shape(const struct inference_client *client);
/* Returns the maximum number of samples in one request. */
uint32_t inference_client_samples_max(const struct inference_client *client);

/* Sends samples[count] and receives numbers[count, outputs], the model's predictions. */
enum error inference_client_request(struct inference_client *client, const void *samples,
                                    uint32_t count, float *numbers,
                                    struct problem *problem) MUST_USE;

#endif
