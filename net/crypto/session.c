#include "crypto/session.h"

#include <string.h>

#include "frame/frame.h"

void session_init(struct session *session, const uint8_t send_key[static KEY_BYTES],
                  const uint8_t receive_key[static KEY_BYTES])
{
    *session = (struct session){.dead = false, .wiped = false};
    memcpy(session->send_key, send_key, KEY_BYTES);
    memcpy(session->receive_key, receive_key, KEY_BYTES);
}

void session_seal(struct session *session, const uint8_t *message, size_t bytes, uint8_t *out)
{
    CHECK(!session->wiped);
    CHECK(bytes >= 1 && bytes <= MESSAGE_MAX);
    /* Noise reserves the last nonce. No (key, nonce) pair may be used twice. */
    CHECK(session->sent_records < UINT64_MAX);
    frame_head(out, bytes + TAG_BYTES);
    secret_seal(out + LENGTH_BYTES, session->send_key, session->sent_records, NULL, 0, message,
                bytes);
    session->sent_records++;
    session->sent_bytes += bytes;
}

enum error session_open(struct session *session, uint8_t *frame, size_t frame_bytes, size_t *bytes)
{
    if (session->dead)
        return FORGED;
    CHECK(session->received_records < UINT64_MAX);
    enum error error = MALFORMED;
    if (frame_bytes > TAG_BYTES && frame_bytes <= FRAME_MAX)
        error = secret_open(frame, session->receive_key, session->received_records, NULL, 0, frame,
                            frame_bytes);
    if (error != OK) {
        secret_wipe(session->receive_key, KEY_BYTES);
        session->dead = true;
        return error;
    }
    session->received_records++;
    session->received_bytes += frame_bytes - TAG_BYTES;
    *bytes = frame_bytes - TAG_BYTES;
    return OK;
}

bool session_worn_out(const struct session *session)
{
    return session->sent_bytes >= SESSION_BYTES_MAX || session->received_bytes >= SESSION_BYTES_MAX;
}

void session_wipe(struct session *session)
{
    secret_wipe(session, sizeof *session);
    session->dead = true;
    session->wiped = true;
}
