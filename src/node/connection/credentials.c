#include "node/connection/credentials.h"

#include <string.h>

static const char psk_label[] = "hearsay psk";

void credentials_init(struct credentials *credentials, const struct identity *identity,
                      const uint8_t swarm_key[static KEY_BYTES], const struct introduction *ours,
                      struct entropy *entropy)
{
    struct swarm_key only = {.order = 0};
    *credentials = (struct credentials){.identity = identity, .ours = *ours, .entropy = entropy};
    memcpy(only.key, swarm_key, KEY_BYTES);
    credentials_set_keys(credentials, &only, 1);
    secret_wipe(&only, sizeof only);
}

void credentials_set_keys(struct credentials *credentials, const struct swarm_key *keys,
                          uint32_t count)
{
    CHECK(count > 0 && count <= SWARM_KEYS_MAX);
    secret_wipe(credentials->keys, sizeof credentials->keys);
    for (uint32_t i = 0; i < count; i++) {
        struct entry_key *key = &credentials->keys[i];
        gate_init(&key->gate, keys[i].key, &credentials->ours);
        secret_blake2b(key->psk, KEY_BYTES, psk_label, sizeof psk_label - 1, keys[i].key,
                       KEY_BYTES);
        key->order = keys[i].order;
    }
    credentials->keys_count = count;
}

void credentials_set_introduction(struct credentials *credentials, const struct introduction *ours)
{
    CHECK(credentials->keys_count > 0);
    credentials->ours = *ours;
    for (uint32_t i = 0; i < credentials->keys_count; i++)
        credentials->keys[i].gate.ours = *ours;
}
