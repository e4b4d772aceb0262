/* Compares the throughput of a session with that of libsodium's crypto_aead_chacha20poly1305_ietf,
 * for messages of nearly 64 KiB. Prints both medians and their ratio. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/system_clock.h"
#include "crypto/session.h"

#define RECORDS       200
#define RUNS          15
#define MESSAGE_BYTES (64 * 1024 - 64)
_Static_assert(MESSAGE_BYTES <= MESSAGE_MAX, "one record");

static uint8_t message[MESSAGE_BYTES];
static uint8_t records[RECORDS][MESSAGE_BYTES + RECORD_OVERHEAD];
static uint8_t plain[MESSAGE_BYTES];
static const uint8_t key[KEY_BYTES] = {7};

static double median_rate(double *seconds)
{
    return (double)RECORDS * MESSAGE_BYTES / double_median_high(seconds, RUNS) * 1e-9;
}

static void raw_seal(void)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES] = {0};
    for (uint32_t i = 0; i < RECORDS; i++) {
        memcpy(nonce + 4, &i, sizeof i);
        (void)crypto_aead_chacha20poly1305_ietf_encrypt(records[i], NULL, message, MESSAGE_BYTES,
                                                        NULL, 0, NULL, nonce, key);
    }
}

static void raw_open(void)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES] = {0};
    for (uint32_t i = 0; i < RECORDS; i++) {
        memcpy(nonce + 4, &i, sizeof i);
        CHECK(crypto_aead_chacha20poly1305_ietf_decrypt(plain, NULL, NULL, records[i],
                                                        MESSAGE_BYTES + TAG_BYTES, NULL, 0, nonce,
                                                        key) == 0);
    }
}

static void session_seal_all(void)
{
    struct session session;
    session_init(&session, key, key);
    for (int i = 0; i < RECORDS; i++)
        session_seal(&session, message, MESSAGE_BYTES, records[i]);
}

static void session_open_all(void)
{
    struct session session;
    session_init(&session, key, key);
    for (int i = 0; i < RECORDS; i++) {
        size_t bytes;
        CHECK(session_open(&session, records[i] + LENGTH_BYTES, MESSAGE_BYTES + TAG_BYTES,
                           &bytes) == OK);
    }
}

static double timed(void (*work)(void))
{
    double start = monotonic_s();
    work();
    return monotonic_s() - start;
}

int main(void)
{
    static double seconds[4][RUNS];
    secret_start();
    for (int run = 0; run < RUNS; run++) {
        seconds[0][run] = timed(raw_seal);
        seconds[1][run] = timed(raw_open);
        seconds[2][run] = timed(session_seal_all);
        seconds[3][run] = timed(session_open_all);
    }
    double raw_seal_rate = median_rate(seconds[0]);
    double raw_open_rate = median_rate(seconds[1]);
    double seal_rate = median_rate(seconds[2]);
    double open_rate = median_rate(seconds[3]);
    printf("GB/s   libsodium  session  ratio\n");
    printf("seal  %10.2f %8.2f %6.3f\n", raw_seal_rate, seal_rate, seal_rate / raw_seal_rate);
    printf("open  %10.2f %8.2f %6.3f\n", raw_open_rate, open_rate, open_rate / raw_open_rate);
    return 0;
}
