/* The client of a node's inference service (node/inference.h): sends samples, receives numbers.
 *
 *   call ─► version probe ─► refusal: protocol, swarm, model, and whether the node serves inference
 *        ─► call again with these ─► handshake ─► INFERENCE ◄─► REPLY … ─► BYE
 *
 * The probe shows in advance whether the node knows INFERENCE. A client needs the swarm key and no
 * configuration. It waits as long as the node demands, at most PATIENCE_S, and calls again if a
 * conversation has reached its limit. Blocks; one thread. Held by tests/process/test_ask.sh.
 */
#ifndef HEARSAY_COMMANDS_INFERENCE_CLIENT_H
#define HEARSAY_COMMANDS_INFERENCE_CLIENT_H

#include "config/inference_words.h"
#include "socket/address.h"

struct inference_client_options {
    struct address address; /* address of the node */
    const char *swarm_key;  /* file */
    const char *identity;   /* identity file; NULL = a new identity for this run */
};

struct inference_client;

/* Connects and learns the format of samples. Returns an error with a message in `problem`. In both
 * cases the client is to be freed with inference_client_close. */
enum error inference_client_open(struct inference_client **client,
                                 const struct inference_client_options *options,
                                 struct problem *problem) MUST_USE;
void inference_client_close(struct inference_client *client);

const struct inference_shape *inference_client_shape(const struct inference_client *client);
/* Most samples per request. */
uint32_t inference_client_samples_max(const struct inference_client *client);

/* Requests numbers[count, outputs] for samples[count]. */
enum error inference_client_request(struct inference_client *client, const void *samples,
                                    uint32_t count, float *numbers,
                                    struct problem *problem) MUST_USE;

#endif
