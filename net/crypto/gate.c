#include "crypto/gate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frame/bytes.h"

#define OFFERS_AT 2 /* offset of offers and standing in an introduction */
#define NEWER_AT  3
#define FORM_AT   4
#define START     "; " /* text between FORM and START in a model description */

_Static_assert(REFUSAL_BYTES == WIDE_NONCE_BYTES + GATE_BYTES, "a refusal is a nonce and a gate");

static void hash_text(uint8_t out[static 16], const char *text)
{
    secret_blake2b(out, 16, text, strlen(text), NULL, 0);
}

static size_t form_length(const char *model)
{
    size_t length = strlen(model);
    for (const char *at = model; (at = strstr(at, START)); at++)
        length = (size_t)(at - model);
    return length;
}

void introduction_set_versions(struct introduction *introduction)
{
    introduction->protocol = PROTOCOL_OLDEST;
    introduction->newer = PROTOCOL_NEWEST - PROTOCOL_OLDEST;
}

void introduction_make(struct introduction *introduction, const char *swarm_id, const char *model,
                       uint64_t parameters)
{
    introduction_set_versions(introduction);
    introduction->offers = introduction->standing = 0;
    secret_blake2b(introduction->form, FORM_BYTES, model, form_length(model), NULL, 0);
    hash_text(introduction->swarm, swarm_id);
    hash_text(introduction->model, model);
    introduction->parameters = parameters;
}

void introduction_encode(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *from)
{
    memset(out, 0, INTRODUCTION_BYTES);
    bytes_put(out, from->protocol, 2);
    out[NEWER_AT] = from->newer;
    memcpy(out + 8, from->swarm, sizeof from->swarm);
    memcpy(out + 24, from->model, sizeof from->model);
    bytes_put(out + 40, from->parameters, 8);
}

static void introduction_decode(struct introduction *to,
                                const uint8_t in[static INTRODUCTION_BYTES])
{
    to->protocol = (uint16_t)bytes_get(in, 2);
    to->offers = in[OFFERS_AT] & (OFFERS_ANSWERS | OFFERS_PARTS);
    to->standing = in[OFFERS_AT] >> 2;
    to->newer = in[NEWER_AT];
    memcpy(to->form, in + FORM_AT, FORM_BYTES);
    memcpy(to->swarm, in + 8, sizeof to->swarm);
    memcpy(to->model, in + 24, sizeof to->model);
    to->parameters = bytes_get(in + 40, 8);
}

/* 235146 becomes "235,146". */
static void group_digits(char out[static 32], uint64_t number)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    int at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static enum error other_size(uint64_t ours, uint64_t theirs, struct problem *difference)
{
    char our_text[32];
    char their_text[32];
    group_digits(our_text, ours);
    group_digits(their_text, theirs);
    return problem_set(difference, MISMATCH, "other model: theirs has %s parameters, ours %s",
                       their_text, our_text);
}

static uint32_t newest_of(const struct introduction *introduction)
{
    return (uint32_t)introduction->protocol + introduction->newer;
}

uint16_t introduction_common(const struct introduction *ours, const struct introduction *theirs)
{
    const uint32_t ours_to = newest_of(ours), theirs_to = newest_of(theirs);
    const uint32_t newest = ours_to < theirs_to ? ours_to : theirs_to;
    if (theirs->protocol == PROTOCOL_PROBE || newest < ours->protocol || newest < theirs->protocol)
        return PROTOCOL_PROBE;
    CHECK(newest <= ours_to && ours_to <= UINT16_MAX);
    return (uint16_t)newest;
}

void introduction_prologue(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *ours,
                           uint16_t dialers_oldest)
{
    struct introduction introduction = *ours;
    introduction.protocol = dialers_oldest;
    introduction.newer = 0;
    introduction_encode(out, &introduction);
}

void introduction_context(uint8_t context[static CONTEXT_BYTES], const struct introduction *of)
{
    uint8_t bytes[INTRODUCTION_BYTES];
    introduction_prologue(bytes, of, PROTOCOL_OF_CONTEXT);
    secret_blake2b(context, CONTEXT_BYTES, bytes, sizeof bytes, NULL, 0);
}

/* Writes "11" or "11 to 12". */
static void put_versions(char out[static 16], const struct introduction *of)
{
    if (of->newer == 0)
        (void)snprintf(out, 16, "%u", of->protocol);
    else
        (void)snprintf(out, 16, "%u to %u", of->protocol, newest_of(of));
}

static enum error other_protocol(const struct introduction *ours, const struct introduction *theirs,
                                 struct problem *difference)
{
    char our_text[16];
    char their_text[16];
    put_versions(our_text, ours);
    put_versions(their_text, theirs);
    return problem_set(difference, MISMATCH, "other protocol version: theirs is %s, ours %s",
                       their_text, our_text);
}

static bool has_form(const struct introduction *of)
{
    static const uint8_t none[FORM_BYTES];
    return memcmp(of->form, none, FORM_BYTES) != 0;
}

static enum error other_model(const struct introduction *ours, const struct introduction *theirs,
                              struct problem *difference)
{
    if (introduction_same_form(ours, theirs))
        return problem_set(difference, MISMATCH, "other first weights than ours");
    if (has_form(ours) && has_form(theirs))
        return problem_set(
            difference, MISMATCH,
            "other model: as many parameters as ours, but another layer, input or task");
    return problem_set(difference, MISMATCH,
                       "other model, or other first weights: its release can take over no first "
                       "weights; upgrade it, or set model.seed and model.start as there");
}

bool introduction_same_form(const struct introduction *ours, const struct introduction *theirs)
{
    return introduction_common(ours, theirs) != PROTOCOL_PROBE && has_form(ours) &&
           memcmp(ours->swarm, theirs->swarm, sizeof ours->swarm) == 0 &&
           memcmp(ours->form, theirs->form, FORM_BYTES) == 0 &&
           ours->parameters == theirs->parameters;
}

bool introduction_has_other_form(const struct introduction *ours, const struct introduction *theirs)
{
    return has_form(ours) && has_form(theirs) &&
           memcmp(ours->swarm, theirs->swarm, sizeof ours->swarm) == 0 &&
           (memcmp(ours->form, theirs->form, FORM_BYTES) != 0 ||
            ours->parameters != theirs->parameters);
}

enum error introduction_compare(const struct introduction *ours, const struct introduction *theirs,
                                struct problem *difference)
{
    if (introduction_common(ours, theirs) == PROTOCOL_PROBE)
        return other_protocol(ours, theirs, difference);
    if (memcmp(ours->swarm, theirs->swarm, sizeof ours->swarm) != 0)
        return problem_set(difference, MISMATCH,
                           "other swarm id: the swarm key is the same, the name in the "
                           "configuration is not");
    if (ours->parameters != theirs->parameters)
        return other_size(ours->parameters, theirs->parameters, difference);
    if (memcmp(ours->model, theirs->model, sizeof ours->model) != 0)
        return other_model(ours, theirs, difference);
    return OK;
}

void gate_init(struct gate *gate, const uint8_t swarm_key[static KEY_BYTES],
               const struct introduction *ours)
{
    static const char purpose[] = "hearsay gate";
    secret_blake2b(gate->key, sizeof gate->key, purpose, strlen(purpose), swarm_key, KEY_BYTES);
    gate->ours = *ours;
}

/* Encodes an introduction, including the fields that a prologue leaves zero: standing and form. A
 * node that does not speak PROTOCOL_OF_FORM writes zeros there. */
static void encode_all(uint8_t out[static INTRODUCTION_BYTES], const struct introduction *from)
{
    CHECK(from->standing <= STANDING_MAX);
    introduction_encode(out, from);
    if (newest_of(from) < PROTOCOL_OF_FORM)
        return;
    out[OFFERS_AT] = (uint8_t)(from->standing << 2);
    memcpy(out + FORM_AT, from->form, FORM_BYTES);
}

void gate_create(const struct gate *gate, uint8_t out[static GATE_BYTES], const uint8_t *message_1,
                 size_t message_1_bytes)
{
    uint8_t introduction[INTRODUCTION_BYTES];
    CHECK(message_1_bytes >= WIDE_NONCE_BYTES);
    encode_all(introduction, &gate->ours);
    secret_seal_wide(out, gate->key, message_1, message_1, message_1_bytes, introduction,
                     sizeof introduction);
}

enum error gate_consume(const struct gate *gate, const uint8_t in[static GATE_BYTES],
                        const uint8_t *message_1, size_t message_1_bytes,
                        struct introduction *theirs)
{
    uint8_t introduction[INTRODUCTION_BYTES];
    if (message_1_bytes < WIDE_NONCE_BYTES)
        return MALFORMED;
    enum error error = secret_open_wide(introduction, gate->key, message_1, message_1,
                                        message_1_bytes, in, GATE_BYTES);
    if (error == OK)
        introduction_decode(theirs, introduction);
    return error;
}

void refusal_create(const struct gate *gate, struct entropy *entropy,
                    const uint8_t ephemeral[static DH_BYTES], uint8_t out[static REFUSAL_BYTES])
{
    uint8_t introduction[INTRODUCTION_BYTES];
    encode_all(introduction, &gate->ours);
    introduction[OFFERS_AT] |= gate->ours.offers;
    entropy_bytes(entropy, out, WIDE_NONCE_BYTES);
    secret_seal_wide(out + WIDE_NONCE_BYTES, gate->key, out, ephemeral, DH_BYTES, introduction,
                     sizeof introduction);
}

enum error refusal_consume(const struct gate *gate, const uint8_t in[static REFUSAL_BYTES],
                           const uint8_t ephemeral[static DH_BYTES], struct introduction *theirs)
{
    uint8_t introduction[INTRODUCTION_BYTES];
    enum error error = secret_open_wide(introduction, gate->key, in, ephemeral, DH_BYTES,
                                        in + WIDE_NONCE_BYTES, GATE_BYTES);
    if (error == OK)
        introduction_decode(theirs, introduction);
    return error;
}

/* Label in the associated data of a frame of model parts. Because of it, neither that frame nor the
 * refusal before it opens as the other. */
#define PARTS_LABEL "hearsay parts"

struct parts_bound {
    uint8_t bytes[DH_BYTES + sizeof PARTS_LABEL - 1];
};

static struct parts_bound bind_parts(const uint8_t ephemeral[static DH_BYTES])
{
    struct parts_bound bound;
    memcpy(bound.bytes, ephemeral, DH_BYTES);
    memcpy(bound.bytes + DH_BYTES, PARTS_LABEL, sizeof PARTS_LABEL - 1);
    return bound;
}

void parts_create(const struct gate *gate, struct entropy *entropy,
                  const uint8_t ephemeral[static DH_BYTES], const char *parts, size_t bytes,
                  uint8_t *out)
{
    const struct parts_bound bound = bind_parts(ephemeral);
    entropy_bytes(entropy, out, WIDE_NONCE_BYTES);
    secret_seal_wide(out + WIDE_NONCE_BYTES, gate->key, out, bound.bytes, sizeof bound.bytes,
                     (const uint8_t *)parts, bytes);
}

enum error parts_consume(const struct gate *gate, const uint8_t *in, size_t bytes,
                         const uint8_t ephemeral[static DH_BYTES], uint8_t *parts)
{
    const struct parts_bound bound = bind_parts(ephemeral);
    if (bytes < PARTS_ADD)
        return MALFORMED;
    return secret_open_wide(parts, gate->key, in, bound.bytes, sizeof bound.bytes,
                            in + WIDE_NONCE_BYTES, bytes - WIDE_NONCE_BYTES);
}
