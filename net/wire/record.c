#include "wire/record.h"

#include <math.h>

#include "frame/bytes.h"

#define SIGNED_BYTES (RECORD_BYTES - SIGNATURE_BYTES)
#define HOST_AT      96

static void signed_part(uint8_t out[static CONTEXT_BYTES + SIGNED_BYTES],
                        const uint8_t context[static CONTEXT_BYTES],
                        const uint8_t in[static RECORD_BYTES])
{
    memcpy(out, context, CONTEXT_BYTES);
    memcpy(out + CONTEXT_BYTES, in, SIGNED_BYTES);
}

void record_create(const struct record *record, const struct identity *identity,
                   const uint8_t context[static CONTEXT_BYTES], uint8_t out[static RECORD_BYTES])
{
    memset(out, 0, RECORD_BYTES);
    memcpy(out, record->id, ID_BYTES);
    bytes_put(out + 32, record->incarnation, 8);
    bytes_put(out + 40, record->stamp, 8);
    bytes_put(out + 48, record->samples, 8);
    bytes_put(out + 56, record->digest, 8);
    bytes_put_float(out + 64, record->samples_per_second);
    bytes_put(out + 68, record->renew_ms, 4);
    bytes_put(out + 72, record->address.port, 2);
    out[74] = (uint8_t)record->stage;
    out[75] = record->trains;
    bytes_put_float(out + 76, record->uplink);
    bytes_put_float(out + 80, record->ingress);
    bytes_put(out + 84, record->lag_ms, 4);
    bytes_put(out + 88, record->swarm_samples, 8);
    memcpy(out + HOST_AT, record->address.host, strlen(record->address.host));
    uint8_t message[CONTEXT_BYTES + SIGNED_BYTES];
    signed_part(message, context, out);
    secret_sign(out + SIGNED_BYTES, identity->sign_secret, message, sizeof message);
}

static bool is_rate(float value)
{
    return isfinite(value) && value >= 0;
}

enum error record_parse(const uint8_t in[static RECORD_BYTES], struct record *record)
{
    struct record parsed = {
        .incarnation = bytes_get(in + 32, 8),
        .stamp = bytes_get(in + 40, 8),
        .samples = bytes_get(in + 48, 8),
        .digest = bytes_get(in + 56, 8),
        .samples_per_second = bytes_get_float(in + 64),
        .uplink = bytes_get_float(in + 76),
        .ingress = bytes_get_float(in + 80),
        .lag_ms = (uint32_t)bytes_get(in + 84, 4),
        .swarm_samples = bytes_get(in + 88, 8),
        .renew_ms = (uint32_t)bytes_get(in + 68, 4),
        .stage = in[74],
        .trains = in[75] == 1,
        .address = {.port = (uint16_t)bytes_get(in + 72, 2)},
    };
    memcpy(parsed.id, in, ID_BYTES);
    memcpy(parsed.address.host, in + HOST_AT, HOST_BYTES);
    if (!is_rate(parsed.samples_per_second) || !is_rate(parsed.uplink) ||
        !is_rate(parsed.ingress) || in[74] >= STAGES || in[75] > 1 ||
        parsed.renew_ms > RENEW_MS_MAX || in[HOST_AT + HOST_BYTES - 1] != 0)
        return MALFORMED;
    if (parsed.address
            .host[0]) { /* the host will be dialled and printed, so it must parse as an address */
        char text[ADDRESS_TEXT_BYTES];
        struct address again;
        struct problem ignored;
        if (address_parse(&again, address_text(&parsed.address, text), &ignored) != OK)
            return MALFORMED;
    }
    *record = parsed;
    return OK;
}

enum error record_verify(const uint8_t in[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES])
{
    uint8_t message[CONTEXT_BYTES + SIGNED_BYTES];
    signed_part(message, context, in);
    return secret_verify(in + SIGNED_BYTES, in, message, sizeof message);
}
