#include "commands/keygen.h"

#include <stdio.h>

#include "commands/json_output.h"
#include "crypto/identity.h"
#include "crypto/locked_memory.h"
#include "crypto/secret.h"

static void fresh_secret(uint8_t *out, size_t bytes)
{
    struct entropy entropy;
    secret_start();
    locked_memory_refuse_dumps();
    entropy_from_system(&entropy);
    entropy_bytes(&entropy, out, bytes);
    secret_wipe(&entropy, sizeof entropy);
}

/* Prints the result as JSON. id: the public key in hexadecimal; NULL = a swarm key, which has none.
 */
static void print_json(const char *path, const char *id)
{
    json_t *object = json_object();
    json_output_put(object, "file", json_string(path));
    if (id)
        json_output_put(object, "id", json_string(id));
    json_output(object);
}

enum error keygen_identity(const char *path, bool as_json, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    char id[KEY_HEX_BYTES];
    struct identity identity;
    fresh_secret(seed, sizeof seed);
    identity_from_seed(&identity, seed);
    enum error error = identity_save(&identity, path, problem);
    key_hex(id, identity.id);
    secret_wipe(seed, sizeof seed);
    secret_wipe(&identity, sizeof identity);
    if (error == OK && as_json)
        print_json(path, id);
    else if (error == OK)
        (void)printf("%s: the identity of node %.8s. Keep it on one machine, and secret. Its id, "
                     "which is no secret:\n%s\n",
                     path, id, id);
    return error;
}

enum error keygen_swarm(const char *path, bool as_json, struct problem *problem)
{
    uint8_t key[KEY_BYTES];
    fresh_secret(key, sizeof key);
    enum error error = swarm_key_save(key, path, problem);
    secret_wipe(key, sizeof key);
    if (error == OK && as_json)
        print_json(path, NULL);
    else if (error == OK)
        (void)printf("%s: a swarm key. Copy it to every machine of the swarm over a safe way "
                     "(scp), mode 0600: who has it may enter.\n",
                     path);
    return error;
}

enum error keygen_operator(const char *path, bool as_json, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    char id[KEY_HEX_BYTES];
    struct operator_key key;
    fresh_secret(seed, sizeof seed);
    operator_key_from_seed(&key, seed);
    enum error error = operator_key_save(&key, path, problem);
    key_hex(id, key.id);
    secret_wipe(seed, sizeof seed);
    secret_wipe(&key, sizeof key);
    if (error == OK && as_json)
        print_json(path, id);
    else if (error == OK)
        (void)printf(
            "%s: the key of a swarm's operator, who may admit nodes and expel them. Keep it "
            "secret, best on no node at all, and set on every node:\n"
            "node.operator = %s\n",
            path, id);
    return error;
}
