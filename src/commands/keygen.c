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

static enum error make_identity(const char *path, bool as_json, struct problem *problem)
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
        (void)printf(
            "%s: the identity of node %.8s. Keep it secret, on one machine. Its public id:\n%s\n",
            path, id, id);
    return error;
}

static enum error make_swarm(const char *path, bool as_json, struct problem *problem)
{
    uint8_t key[KEY_BYTES];
    fresh_secret(key, sizeof key);
    enum error error = swarm_key_save(key, path, problem);
    secret_wipe(key, sizeof key);
    if (error == OK && as_json)
        print_json(path, NULL);
    else if (error == OK)
        (void)printf("%s: a swarm key. Copy it to every machine of the swarm over a safe channel "
                     "(scp), mode 0600: its holders can join.\n",
                     path);
    return error;
}

static enum error make_operator(const char *path, bool as_json, struct problem *problem)
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
        (void)printf("%s: the key of a swarm's operator, who admits and expels nodes. Keep it "
                     "secret, best away from all nodes, and set on every node:\n"
                     "node.operator = %s\n",
                     path, id);
    return error;
}

struct options {
    const char *command; /* beginning of messages, such as "hearsay keygen" */
    const char *path;
    bool json;
};

static enum error finish(void *self, int count, char **words, struct problem *problem)
{
    struct options *options = self;
    if (count > 1)
        return problem_set(problem, MALFORMED, "one FILE at a time; see: %s --help",
                           options->command);
    if (count == 1)
        options->path = words[0];
    return OK;
}

static int run(const struct command *command, int argc, char **argv, const char *path,
               enum error (*make)(const char *path, bool as_json, struct problem *problem))
{
    struct options options = {.command = argv[0], .path = path};
    struct problem problem;
    const int code = command_read(command, &options, argc, argv);
    if (code != COMMAND_RUNS)
        return code;
    return make(options.path, options.json, &problem) == OK ? 0 : command_complain(&problem, 1);
}

static const struct command_option OPTIONS[] = {
    {"--json", NULL, "print one JSON object: the file, and the public key if it has one",
     .member = offsetof(struct options, json)},
    {0}};

#define EXIT_CODES "0 created, 1 failed or the file exists, 2 wrong usage."

static int run_keygen(int argc, char **argv)
{
    return run(&keygen_command, argc, argv, "node.key", make_identity);
}

const struct command keygen_command = {
    .name = "keygen",
    .summary = "create a node's identity",
    .forms = {{"hearsay keygen [FILE]", "create the identity of one node (default node.key)"}},
    .about =
        "The file must not exist yet. Keep it secret and on one machine; each node needs its own.",
    .options = OPTIONS,
    .column = 21,
    .exit_codes = EXIT_CODES,
    .takes_operands = true,
    .finish = finish,
    .run = run_keygen,
};

static int run_swarmkey(int argc, char **argv)
{
    return run(&swarmkey_command, argc, argv, "swarm.key", make_swarm);
}

const struct command swarmkey_command = {
    .name = "swarmkey",
    .summary = "create a swarm's key",
    .forms = {{"hearsay swarmkey [FILE]", "create the key of a swarm (default swarm.key)"}},
    .about = "The file must not exist yet. All nodes of a swarm have the same key, and its "
             "holders\ncan join.",
    .options = OPTIONS,
    .column = 21,
    .exit_codes = EXIT_CODES,
    .takes_operands = true,
    .finish = finish,
    .run = run_swarmkey,
};

static int run_operatorkey(int argc, char **argv)
{
    return run(&operatorkey_command, argc, argv, "operator.key", make_operator);
}

const struct command operatorkey_command = {
    .name = "operatorkey",
    .summary = "create the operator's key, which admits and expels nodes",
    .forms = {{"hearsay operatorkey [FILE]",
               "create the key of a swarm's operator (default operator.key)"}},
    .about =
        "The file must not exist yet. Its holder can expel nodes from a swarm (hearsay expel)\nand "
        "admit nodes (hearsay admit), if all nodes have the printed public key as\nnode.operator.",
    .options = OPTIONS,
    .column = 21,
    .exit_codes = EXIT_CODES,
    .takes_operands = true,
    .finish = finish,
    .run = run_operatorkey,
};
