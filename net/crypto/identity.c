#include "crypto/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char noise_label[] = "hearsay noise key";
static const char sign_label[] = "hearsay signing key";
static const char operator_label[] = "hearsay operator key";
static const char swarm_label[] = "hearsay swarm key";

#define CERTIFIED_BYTES (sizeof noise_label - 1 + DH_BYTES)

static void certified_bytes(uint8_t out[static CERTIFIED_BYTES],
                            const uint8_t noise_public[static DH_BYTES])
{
    memcpy(out, noise_label, sizeof noise_label - 1);
    memcpy(out + sizeof noise_label - 1, noise_public, DH_BYTES);
}

void identity_from_seed(struct identity *identity, const uint8_t seed[static SEED_BYTES])
{
    uint8_t sign_seed[SEED_BYTES];
    uint8_t certified[CERTIFIED_BYTES];
    memcpy(identity->seed, seed, SEED_BYTES);
    secret_blake2b(sign_seed, sizeof sign_seed, sign_label, strlen(sign_label), seed, SEED_BYTES);
    secret_sign_keys(identity->id, identity->sign_secret, sign_seed);
    secret_wipe(sign_seed, sizeof sign_seed);
    secret_blake2b(identity->noise_secret, DH_BYTES, noise_label, strlen(noise_label), seed,
                   SEED_BYTES);
    secret_dh_public(identity->noise_public, identity->noise_secret);
    certified_bytes(certified, identity->noise_public);
    memcpy(identity->certificate, identity->id, ID_BYTES);
    secret_sign(identity->certificate + ID_BYTES, identity->sign_secret, certified,
                sizeof certified);
}

void operator_key_from_seed(struct operator_key *key, const uint8_t seed[static SEED_BYTES])
{
    uint8_t sign_seed[SEED_BYTES];
    memcpy(key->seed, seed, SEED_BYTES);
    secret_blake2b(sign_seed, sizeof sign_seed, operator_label, strlen(operator_label), seed,
                   SEED_BYTES);
    secret_sign_keys(key->id, key->sign_secret, sign_seed);
    secret_wipe(sign_seed, sizeof sign_seed);
}

void swarm_key_hash(uint8_t hash[static HASH_BYTES], const uint8_t key[static KEY_BYTES])
{
    secret_blake2b(hash, HASH_BYTES, swarm_label, strlen(swarm_label), key, KEY_BYTES);
}

enum error identity_check(uint8_t id[static ID_BYTES],
                          const uint8_t certificate[static CERTIFICATE_BYTES],
                          const uint8_t noise_public[static DH_BYTES])
{
    uint8_t certified[CERTIFIED_BYTES];
    certified_bytes(certified, noise_public);
    enum error error =
        secret_verify(certificate + ID_BYTES, certificate, certified, sizeof certified);
    if (error == OK)
        memcpy(id, certificate, ID_BYTES);
    return error;
}

void identity_text(char text[static ID_TEXT_BYTES], const uint8_t id[static ID_BYTES])
{
    (void)snprintf(text, ID_TEXT_BYTES, "%02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
}

/* Kinds of key files. Each file has one line: "<label> <64 hex digits>\n". */

struct key_file {
    const char *label;
    const char *what;
    const char *remedy; /* what to do if the file is missing; the path follows this text */
};

static const struct key_file identity_file = {"hearsay-identity-1", "an identity file",
                                              "make one with: hearsay keygen"};
static const struct key_file swarm_key_file = {
    "hearsay-swarm-key-1", "a swarm key file",
    "copy it from another node, or for a new swarm make one with: hearsay swarmkey"};
static const struct key_file operator_key_file = {
    "hearsay-operator-1", "an operator's key file",
    "bring the one whose public key is node.operator, or for a new swarm make one with: "
    "hearsay operatorkey"};

#define LINE_MAX_BYTES 128

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

static enum error hex_decode(uint8_t out[static KEY_BYTES], const char *text)
{
    for (size_t i = 0; i < KEY_BYTES; i++) {
        int high = hex_value(text[2 * i]);
        int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return MALFORMED;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return OK;
}

enum error key_from_hex(uint8_t key[static KEY_BYTES], const char *text)
{
    return strlen(text) == 2 * KEY_BYTES ? hex_decode(key, text) : MALFORMED;
}

void key_hex(char text[static KEY_HEX_BYTES], const uint8_t key[static KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < KEY_BYTES; i++) {
        text[2 * i] = digits[key[i] >> 4];
        text[2 * i + 1] = digits[key[i] & 15];
    }
    text[2 * KEY_BYTES] = '\0';
}

/* Parses the label, a space and the digits, then any number of LF and CR. */
static enum error line_parse(const struct key_file *file, const char *line, size_t bytes,
                             uint8_t key[static KEY_BYTES])
{
    size_t label_bytes = strlen(file->label);
    size_t needed = label_bytes + 1 + 2 * KEY_BYTES;
    if (bytes < needed || memcmp(line, file->label, label_bytes) != 0 || line[label_bytes] != ' ')
        return MALFORMED;
    for (size_t i = needed; i < bytes; i++)
        if (line[i] != '\n' && line[i] != '\r')
            return MALFORMED;
    return hex_decode(key, line + label_bytes + 1);
}

static enum error owner_and_mode_check(const struct stat *stat, const char *path,
                                       struct problem *problem)
{
    if (!S_ISREG(stat->st_mode))
        return problem_set(problem, MALFORMED, "%s: not a regular file", path);
    if (stat->st_uid != geteuid() && stat->st_uid != 0)
        return problem_set(problem, FORGED,
                           "%s: belongs to another user, who could change it; take ownership with: "
                           "chown %u %s",
                           path, (unsigned)geteuid(), path);
    if ((stat->st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return problem_set(
            problem, FORGED,
            "%s: other users can access it (mode %04o); restrict it with: chmod 600 %s", path,
            (unsigned)(stat->st_mode & 07777), path);
    return OK;
}

static enum error whole_read(int descriptor, char line[static LINE_MAX_BYTES], size_t *bytes)
{
    size_t have = 0;
    while (have < LINE_MAX_BYTES) {
        ssize_t got = read(descriptor, line + have, LINE_MAX_BYTES - have);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return FAILED;
        have += (size_t)got;
    }
    *bytes = have;
    return OK;
}

/* Checks mode and owner of the opened file, so that no other process can swap it between check and
 * read. Follows symbolic links, because clusters mount secrets as links, and checks the target. */
static enum error key_load(const struct key_file *file, uint8_t key[static KEY_BYTES],
                           const char *path, struct problem *problem)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0 && errno == ENOENT)
        return problem_set(problem, MISSING, "%s: not found; %s %s", path, file->remedy, path);
    if (descriptor < 0)
        return problem_set(problem, FAILED, "%s: cannot open it: %s", path, strerror(errno));

    char line[LINE_MAX_BYTES];
    uint8_t parsed[KEY_BYTES];
    size_t bytes = 0;
    struct stat stat;
    enum error error = FAILED;
    if (fstat(descriptor, &stat) != 0) {
        (void)problem_set(problem, error, "%s: cannot stat it: %s", path, strerror(errno));
        goto out;
    }
    error = owner_and_mode_check(&stat, path, problem);
    if (error != OK)
        goto out;
    error = whole_read(descriptor, line, &bytes);
    if (error != OK) {
        (void)problem_set(problem, error, "%s: cannot read it: %s", path, strerror(errno));
        goto out;
    }
    error = line_parse(file, line, bytes, parsed);
    if (error == OK)
        memcpy(key, parsed, KEY_BYTES);
    else
        (void)problem_set(problem, error, "%s: is not %s; expected one line: %s and 64 hex digits",
                          path, file->what, file->label);
out:
    secret_wipe(line, sizeof line);
    secret_wipe(parsed, sizeof parsed);
    (void)close(descriptor);
    return error;
}

static enum error whole_write(int descriptor, const char *line, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t put = write(descriptor, line + done, bytes - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return FAILED;
        done += (size_t)put;
    }
    return fsync(descriptor) == 0 ? OK : FAILED;
}

/* Writes the file's line without a final zero. Returns its length in bytes. */
static size_t line_write(const struct key_file *file, const uint8_t key[static KEY_BYTES],
                         char line[static LINE_MAX_BYTES])
{
    const int head_bytes = snprintf(line, LINE_MAX_BYTES, "%s ", file->label);
    const size_t bytes = (size_t)head_bytes + 2 * KEY_BYTES + 1;
    CHECK(head_bytes > 0 && bytes <= LINE_MAX_BYTES);
    key_hex(line + head_bytes, key);
    line[bytes - 1] = '\n';
    return bytes;
}

void swarm_key_line(char out[static SWARM_KEY_LINE_BYTES], const uint8_t key[static KEY_BYTES])
{
    char line[LINE_MAX_BYTES];
    CHECK(line_write(&swarm_key_file, key, line) == SWARM_KEY_LINE_BYTES);
    memcpy(out, line, SWARM_KEY_LINE_BYTES);
    secret_wipe(line, sizeof line);
}

static enum error key_save(const struct key_file *file, const uint8_t key[static KEY_BYTES],
                           const char *path, struct problem *problem)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0 && errno == EEXIST)
        return problem_set(problem, FAILED,
                           "%s: already exists and is never overwritten; move it away first", path);
    if (descriptor < 0)
        return problem_set(problem, FAILED,
                           "%s: cannot create it: %s; name a file in an existing folder that "
                           "you may write to",
                           path, strerror(errno));

    char line[LINE_MAX_BYTES];
    const size_t bytes = line_write(file, key, line);
    enum error error = whole_write(descriptor, line, bytes);
    int reason = errno;
    secret_wipe(line, sizeof line);
    if (close(descriptor) != 0 && error == OK) {
        reason = errno;
        error = FAILED;
    }
    if (error != OK) {
        (void)unlink(path);
        return problem_set(problem, error, "%s: cannot write it: %s", path, strerror(reason));
    }
    return OK;
}

enum error identity_load(struct identity *identity, const char *path, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    enum error error = key_load(&identity_file, seed, path, problem);
    if (error == OK)
        identity_from_seed(identity, seed);
    secret_wipe(seed, sizeof seed);
    return error;
}

enum error identity_save(const struct identity *identity, const char *path, struct problem *problem)
{
    return key_save(&identity_file, identity->seed, path, problem);
}

enum error swarm_key_load(uint8_t key[static KEY_BYTES], const char *path, struct problem *problem)
{
    return key_load(&swarm_key_file, key, path, problem);
}

enum error swarm_key_save(const uint8_t key[static KEY_BYTES], const char *path,
                          struct problem *problem)
{
    return key_save(&swarm_key_file, key, path, problem);
}

enum error operator_key_load(struct operator_key *key, const char *path, struct problem *problem)
{
    uint8_t seed[SEED_BYTES];
    enum error error = key_load(&operator_key_file, seed, path, problem);
    if (error == OK)
        operator_key_from_seed(key, seed);
    secret_wipe(seed, sizeof seed);
    return error;
}

enum error operator_key_save(const struct operator_key *key, const char *path,
                             struct problem *problem)
{
    return key_save(&operator_key_file, key->seed, path, problem);
}
