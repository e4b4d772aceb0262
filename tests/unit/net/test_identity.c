/* Identities, certificates and key files. Each test creates a folder in the working directory and
 * removes it. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "crypto/identity.h"
#include "support/base/hex.h"

#define SWARM_LABEL "hearsay-swarm-key-1 "
#define SIXTY_FOUR  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"

static char folder[] = "test_identity.XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"node.key", "link.key", "fifo.key", "swarm.key",
                                        "operator.key"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(names[i]);
    (void)rmdir("dir.key");
    return chdir("..") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static struct identity identity_number(uint8_t number)
{
    uint8_t seed[SEED_BYTES] = {number};
    struct identity identity;
    identity_from_seed(&identity, seed);
    return identity;
}

static void write_file(const char *path, const char *text, size_t bytes, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, bytes), (ssize_t)bytes);
    assert_int_equal(fchmod(file, mode), 0);
    assert_int_equal(close(file), 0);
}

/* Loads node.key as a swarm key. The result must be `expected`. On an error the key must be
 * unchanged. */
static void assert_load(enum error expected, struct problem *problem)
{
    uint8_t key[KEY_BYTES] = {42};
    static const uint8_t untouched[KEY_BYTES] = {42};
    assert_int_equal(swarm_key_load(key, "node.key", problem), expected);
    if (expected != OK)
        assert_memory_equal(key, untouched, KEY_BYTES);
}

static void a_seed_determines_the_identity(void **state)
{
    (void)state;
    /* Existing key files depend on these values, so they are constants here. */
    uint8_t id[ID_BYTES];
    uint8_t noise_public[DH_BYTES];
    struct identity identity = identity_number(1);
    hex_bytes(id, sizeof id, "559580af602548b25ee535876b5ad26ccde773fd35bf9927771f457d7cb3432b");
    hex_bytes(noise_public, sizeof noise_public,
              "3f93f2eeb799e2e38cdbf85175e7672b0f7700a81f3b71779772543ccc56af53");
    assert_memory_equal(identity.id, id, ID_BYTES);
    assert_memory_equal(identity.noise_public, noise_public, DH_BYTES);
}

static void two_seeds_share_no_key(void **state)
{
    (void)state;
    struct identity a = identity_number(1);
    struct identity b = identity_number(2);
    assert_memory_not_equal(a.id, b.id, ID_BYTES);
    assert_memory_not_equal(a.noise_public, b.noise_public, DH_BYTES);
    assert_memory_not_equal(a.noise_secret, a.sign_secret, DH_BYTES);
    assert_memory_not_equal(a.noise_secret, a.seed, DH_BYTES);
}

static void a_certificate_proves_the_id_for_its_noise_key_only(void **state)
{
    (void)state;
    struct identity a = identity_number(1);
    struct identity b = identity_number(2);
    uint8_t id[ID_BYTES] = {42};
    static const uint8_t untouched[ID_BYTES] = {42};
    assert_int_equal(identity_check(id, a.certificate, b.noise_public), FORGED);
    assert_memory_equal(id, untouched, ID_BYTES);
    assert_int_equal(identity_check(id, a.certificate, a.noise_public), OK);
    assert_memory_equal(id, a.id, ID_BYTES);
}

static void every_bit_flip_in_a_certificate_is_refused(void **state)
{
    (void)state;
    struct identity identity = identity_number(1);
    uint8_t id[ID_BYTES];
    for (size_t bit = 0; bit < 8 * CERTIFICATE_BYTES; bit++) {
        identity.certificate[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(identity_check(id, identity.certificate, identity.noise_public), FORGED);
        identity.certificate[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void an_id_is_shown_by_its_first_digits(void **state)
{
    (void)state;
    static const uint8_t id[ID_BYTES] = {0x0a, 0xb1, 0xc2, 0xff, 0x55};
    char text[ID_TEXT_BYTES];
    identity_text(text, id);
    assert_string_equal(text, "0ab1c2ff");
}

static void a_saved_identity_is_loaded_again(void **state)
{
    (void)state;
    struct problem problem;
    struct identity saved = identity_number(7);
    struct identity loaded;
    struct stat stat_of;
    assert_int_equal(identity_save(&saved, "node.key", &problem), OK);
    assert_int_equal(identity_load(&loaded, "node.key", &problem), OK);
    assert_memory_equal(&loaded, &saved, sizeof saved);
    assert_int_equal(stat("node.key", &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 07777, 0600);
}

static void a_saved_swarm_key_is_one_line_and_loaded_again(void **state)
{
    (void)state;
    struct problem problem;
    uint8_t saved[KEY_BYTES];
    uint8_t loaded[KEY_BYTES];
    char text[200] = {0};
    hex_bytes(saved, sizeof saved, SIXTY_FOUR);
    assert_int_equal(swarm_key_save(saved, "swarm.key", &problem), OK);
    int file = open("swarm.key", O_RDONLY);
    assert_true(read(file, text, sizeof text - 1) > 0);
    assert_int_equal(close(file), 0);
    assert_string_equal(text, SWARM_LABEL SIXTY_FOUR "\n");
    assert_int_equal(swarm_key_load(loaded, "swarm.key", &problem), OK);
    assert_memory_equal(loaded, saved, KEY_BYTES);
}

static void a_missing_file_names_the_command_that_creates_it(void **state)
{
    (void)state;
    struct problem problem;
    struct identity identity;
    uint8_t key[KEY_BYTES];
    assert_int_equal(identity_load(&identity, "node.key", &problem), MISSING);
    assert_string_equal(problem.text,
                        "node.key: not found; make one with: hearsay keygen node.key");
    assert_int_equal(swarm_key_load(key, "swarm.key", &problem), MISSING);
    assert_string_equal(problem.text,
                        "swarm.key: not found; copy it from another node, or for a new swarm make "
                        "one with: hearsay swarmkey swarm.key");
}

static void refuses_a_file_that_others_can_access_with_a_remedy(void **state)
{
    (void)state;
    struct problem problem;
    static const mode_t shared[] = {0640, 0620, 0610, 0604, 0602, 0601};
    static const char line[] = SWARM_LABEL SIXTY_FOUR "\n";
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        write_file("node.key", line, strlen(line), shared[i]);
        assert_load(FORGED, &problem);
        assert_non_null(strstr(problem.text, "chmod 600 node.key"));
    }
    write_file("node.key", line, strlen(line), 0400);
    assert_load(OK, &problem);
}

static void refuses_a_file_of_another_user(void **state)
{
    (void)state;
    struct problem problem;
    static const char line[] = SWARM_LABEL SIXTY_FOUR "\n";
    write_file("node.key", line, strlen(line), 0600);
    if (chown("node.key", 12345, (gid_t)-1) != 0)
        skip(); /* only root can change the owner */
    assert_load(FORGED, &problem);
    assert_non_null(strstr(problem.text, "chown"));
}

static void refuses_anything_except_one_whole_line(void **state)
{
    (void)state;
    struct problem problem;
    static const char *const wrong[] = {
        "",
        "\n",
        SIXTY_FOUR "\n",
        "hearsay-identity-1 " SIXTY_FOUR "\n",
        "hearsay-swarm-key-2 " SIXTY_FOUR "\n",
        "hearsay-swarm-key-1\t" SIXTY_FOUR "\n",
        SWARM_LABEL "00" SIXTY_FOUR "\n",
        SWARM_LABEL SIXTY_FOUR " \n",
        SWARM_LABEL SIXTY_FOUR "\n" SWARM_LABEL SIXTY_FOUR "\n",
        SWARM_LABEL "g" SIXTY_FOUR "\n",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file("node.key", wrong[i], strlen(wrong[i]), 0600);
        assert_load(MALFORMED, &problem);
        assert_non_null(strstr(problem.text, "node.key: is not a swarm key file; expected"));
        assert_non_null(strstr(problem.text, "hearsay-swarm-key-1"));
    }
}

static void refuses_every_truncation_and_wrong_digit(void **state)
{
    (void)state;
    struct problem problem;
    char line[] = SWARM_LABEL SIXTY_FOUR "\n";
    for (size_t length = 0; length < strlen(line) - 1; length++) {
        write_file("node.key", line, length, 0600);
        assert_load(MALFORMED, &problem);
    }
    for (size_t i = strlen(SWARM_LABEL); i < strlen(line) - 1; i++) {
        char digit = line[i];
        line[i] = i % 2 == 0 ? 'g' : '/';
        write_file("node.key", line, strlen(line), 0600);
        assert_load(MALFORMED, &problem);
        line[i] = digit;
    }
    write_file("node.key", line, strlen(line) - 1, 0600);
    assert_load(OK, &problem);
    write_file("node.key", SWARM_LABEL SIXTY_FOUR "\r\n", strlen(line) + 1, 0600);
    assert_load(OK, &problem);
}

static void refuses_a_folder_or_a_pipe_without_waiting(void **state)
{
    (void)state;
    struct problem problem;
    uint8_t key[KEY_BYTES];
    assert_int_equal(mkdir("dir.key", 0700), 0);
    assert_int_equal(swarm_key_load(key, "dir.key", &problem), MALFORMED);
    assert_string_equal(problem.text, "dir.key: not a regular file");
    assert_int_equal(mkfifo("fifo.key", 0600), 0);
    assert_int_equal(swarm_key_load(key, "fifo.key", &problem), MALFORMED);
}

static void follows_a_link_and_checks_its_target(void **state)
{
    (void)state;
    struct problem problem;
    uint8_t key[KEY_BYTES];
    static const char line[] = SWARM_LABEL SIXTY_FOUR "\n";
    write_file("node.key", line, strlen(line), 0600);
    assert_int_equal(symlink("node.key", "link.key"), 0);
    assert_int_equal(swarm_key_load(key, "link.key", &problem), OK);
    write_file("node.key", line, strlen(line), 0644);
    assert_int_equal(swarm_key_load(key, "link.key", &problem), FORGED);
}

static void saving_never_overwrites_nor_writes_through_a_link(void **state)
{
    (void)state;
    struct problem problem;
    struct identity first = identity_number(1);
    struct identity second = identity_number(2);
    struct identity loaded;
    assert_int_equal(identity_save(&first, "node.key", &problem), OK);
    assert_int_equal(identity_save(&second, "node.key", &problem), FAILED);
    assert_non_null(strstr(problem.text, "node.key: already exists"));
    assert_int_equal(identity_load(&loaded, "node.key", &problem), OK);
    assert_memory_equal(loaded.id, first.id, ID_BYTES);
    assert_int_equal(symlink("swarm.key", "link.key"), 0);
    assert_int_equal(identity_save(&second, "link.key", &problem), FAILED);
    assert_int_equal(access("swarm.key", F_OK), -1);
}

static void saving_in_a_missing_folder_names_the_remedy(void **state)
{
    (void)state;
    struct problem problem;
    struct identity identity = identity_number(1);
    assert_int_equal(identity_save(&identity, "nowhere/node.key", &problem), FAILED);
    assert_string_equal(problem.text,
                        "nowhere/node.key: cannot create it: No such file or directory; name a "
                        "file in an existing folder that you may write to");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

static void operator_keys_are_saved_loaded_and_told_from_other_keys(void **state)
{
    (void)state;
    const uint8_t seed[SEED_BYTES] = {3};
    struct problem problem;
    struct operator_key saved, loaded;
    uint8_t key[KEY_BYTES];
    char text[KEY_HEX_BYTES];
    operator_key_from_seed(&saved, seed);
    assert_int_equal(operator_key_save(&saved, "operator.key", &problem), OK);
    assert_int_equal(operator_key_load(&loaded, "operator.key", &problem), OK);
    assert_memory_equal(&loaded, &saved, sizeof saved);
    assert_int_equal(swarm_key_load(key, "operator.key", &problem), MALFORMED);
    key_hex(text, saved.id);
    assert_int_equal(key_from_hex(key, text), OK);
    assert_memory_equal(key, saved.id, KEY_BYTES);
    text[KEY_HEX_BYTES - 2] = 'g';
    assert_int_equal(key_from_hex(key, text), MALFORMED);
    text[KEY_HEX_BYTES - 2] = '\0';
    assert_int_equal(key_from_hex(key, text), MALFORMED);
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_determines_the_identity),
        cmocka_unit_test(two_seeds_share_no_key),
        cmocka_unit_test(a_certificate_proves_the_id_for_its_noise_key_only),
        cmocka_unit_test(every_bit_flip_in_a_certificate_is_refused),
        cmocka_unit_test(an_id_is_shown_by_its_first_digits),
        IN_FOLDER(a_saved_identity_is_loaded_again),
        IN_FOLDER(a_saved_swarm_key_is_one_line_and_loaded_again),
        IN_FOLDER(operator_keys_are_saved_loaded_and_told_from_other_keys),
        IN_FOLDER(a_missing_file_names_the_command_that_creates_it),
        IN_FOLDER(refuses_a_file_that_others_can_access_with_a_remedy),
        IN_FOLDER(refuses_a_file_of_another_user),
        IN_FOLDER(refuses_anything_except_one_whole_line),
        IN_FOLDER(refuses_every_truncation_and_wrong_digit),
        IN_FOLDER(refuses_a_folder_or_a_pipe_without_waiting),
        IN_FOLDER(follows_a_link_and_checks_its_target),
        IN_FOLDER(saving_never_overwrites_nor_writes_through_a_link),
        IN_FOLDER(saving_in_a_missing_folder_names_the_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
