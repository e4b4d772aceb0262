#include "node/connection/credentials.h"

void credentials_init(struct credentials *credentials, const struct identity *identity,
                      const uint8_t swarm_key[static KEY_BYTES], const struct introduction *ours,
                      struct entropy *entropy)
{
    *credentials = (struct credentials){.identity = identity, .entropy = entropy};
    gate_init(&credentials->gate, swarm_key, ours);
    introduction_encode(credentials->prologue, ours);
    secret_blake2b(credentials->psk, KEY_BYTES, "hearsay psk", 11, swarm_key, KEY_BYTES);
}
