/* Configuration files: reading, rejecting, and printing a file that loads unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/config_key.h"
#include "config/config_read.h"
#include "config/config_resolve.h"
#include "support/config/config_story.h"

/* Loads a file over *config. Leaves *config unchanged on an error. */
static enum error load_file(struct config *config, const char *path, struct problem *problem)
{
    struct config_load load = {.config = *config};
    const enum error error = config_load_file(&load, path, problem);
    if (error == OK)
        *config = load.config;
    return error;
}

/* Assignments of a value other than the default to every key. */
static const char *const others[] = {
    "node.listen=[::1]:0",
    "node.advertise=node1.example.org:9000",
    "node.peers=192.0.2.1:7770, [2001:db8::7]:7771,c:1",
    "node.identity=keys/a b.key",
    "node.swarm_key=/etc/hearsay/swarm.key",
    "node.operator=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "node.members=keys/who may enter",
    "node.swarm=cats & dogs",
    "node.state_dir=/var/lib/hearsay",
    "node.seed=18446744073709551615",
    "node.grace_s=0.1",
    "node.save_s=60",
    "node.older_bases=9",
    "node.best_base=no",
    "node.averaged_base=no",
    "node.log=-",
    "node.verbose=yes",
    "node.sandbox=no",
    "model.name=mlp",
    "model.layers=conv 16 5x5 pad 2, relu, dense 10",
    "model.seed=9007199254740993",
    "model.start=base.safetensors",
    "data.source=generated",
    "data.dir=data",
    "data.flip=yes",
    "data.crop=4",
    "data.cutout=16",
    "data.x=one-x.npy, more-x-*.npy",
    "data.y=one-y.npy",
    "data.test_x=test_x.npy",
    "data.test_y=test_y.npy",
    "data.text=a b.txt, c/*.gz",
    "data.tokens=fineweb/train_*.bin",
    "data.valid=fineweb/val.bin",
    "data.context=65536",
    "data.seed=7",
    "data.shard=4096/4096",
    "data.task=numbers",
    "data.channels=last",
    "data.classes=12",
    "data.check_labels=no",
    "data.mean=127.5",
    "data.deviation=64.25",
    "data.train_count=4097",
    "data.test_count=1",
    "train.enabled=no",
    "train.device=cuda:1",
    "train.precision=bf16",
    "train.threads=2",
    "train.batch=auto",
    "train.step_ms=0.5e3",
    "train.batch_bytes=1G",
    "train.steps_per_s=2.5",
    "train.optimizer=adam",
    "train.rate=0.30000000000000004",
    "train.momentum=0.123456789012345678",
    "train.beta2=0.5",
    "train.nesterov=yes",
    "train.weight_decay=1e-5",
    "train.clip=0.5",
    "train.micro_batches=4",
    "train.recompute=yes",
    "train.label_smoothing=0.1",
    "train.schedule=cosine",
    "train.warmup_samples=2000",
    "train.period_samples=600000",
    "train.decay=0",
    "train.samples_max=1",
    "train.frozen=checksum 0123abcd of 2, the first 0.weight",
    "train.evaluate_s=2.5",
    "train.evaluate_part=3/7",
    "exchange.bytes_per_s=1025",
    "exchange.uplink_max=5000",
    "exchange.downlink_max=1M",
    "exchange.neighbour_max=4000",
    "exchange.interval_s=1",
    "exchange.steps_min=1",
    "exchange.density_max=1",
    "exchange.gain=4",
    "exchange.beta=0.5",
    "exchange.withheld=0.5",
    "exchange.tau=0.001",
    "exchange.weigh_throughput=no",
    "exchange.weight_max=2",
    "exchange.log_bytes=3G",
    "exchange.serve_bytes_per_s=0",
    "limits.peers=8",
    "limits.members=4096",
    "limits.incarnations=2000",
    "limits.half_open=9",
    "limits.half_open_per_net=9",
    "limits.low_ports=yes",
    "node.quarantine=yes",
    "node.http=127.0.0.2:9464",
    "node.http_token=http.token",
    "node.answers=yes",
    "limits.handshake_s=1.5",
    "limits.silence_s=600",
    "limits.send_queue_bytes=256K",
    "limits.notes_per_s=1000",
};

static void set_others(struct config *config)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        must_set(config, others[i]);
}

/* Returns the output of config_print. The caller frees it. */
static char *printed(const struct config *config)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    config_print(config, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static enum error load_bytes(struct config *config, const void *bytes, size_t count,
                             struct problem *problem)
{
    char path[] = "/tmp/hearsay-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, bytes, count) == (ssize_t)count);
    assert_int_equal(close(file), 0);
    enum error error = load_file(config, path, problem);
    assert_int_equal(unlink(path), 0);
    return error;
}

static enum error load_text(struct config *config, const char *text, struct problem *problem)
{
    return load_bytes(config, text, strlen(text), problem);
}

/* Checks that a file is rejected with these words and changes nothing. */
static void assert_refused_bytes(const void *bytes, size_t count, const char *words)
{
    struct config config;
    struct config before;
    struct problem problem = {""};
    config_defaults(&before);
    config_defaults(&config);
    assert_int_equal(load_bytes(&config, bytes, count, &problem), MALFORMED);
    must_say(&problem, words);
    must_be_same(&config, &before);
}

static void assert_refused(const char *text, const char *words)
{
    assert_refused_bytes(text, strlen(text), words);
}

static void the_other_value_of_every_key_is_not_its_default(void **state)
{
    (void)state;
    struct config defaults;
    struct config config;
    config_defaults(&defaults);
    config_defaults(&config);
    set_others(&config);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        bool single_choice = key->type == CONFIG_CHOICE && !strchr(key->words, '|');
        const unsigned char *value = (const unsigned char *)&config + key->offset;
        const unsigned char *initial = (const unsigned char *)&defaults + key->offset;
        if (!single_choice && memcmp(value, initial, key->bytes) == 0)
            fail_msg("[%s] %s is not among the others", key->section, key->name);
    }
}

static void a_value_of_every_type_is_read_as_it_is_meant(void **state)
{
    (void)state;
    struct config config;
    config_defaults(&config);
    set_others(&config);
    assert_string_equal(config.node.listen.host, "::1");
    assert_int_equal(config.node.listen.port, 0);
    assert_int_equal(config.node.peers.count, 3);
    assert_string_equal(config.node.peers.item[1].host, "2001:db8::7");
    assert_string_equal(config.node.peers.item[2].host, "c");
    assert_int_equal(config.node.peers.item[2].port, 1);
    assert_string_equal(config.node.identity, "keys/a b.key");
    assert_true(config.node.seed == UINT64_MAX);
    assert_true(config.model.seed == 9007199254740993u);
    assert_int_equal(config.data.source, DATASET_GENERATED);
    assert_int_equal(config.data.shard.index, 4095);
    assert_int_equal(config.train.schedule, COSINE);
    assert_true(config.train.weight_decay == 1e-5);
    assert_true(config.exchange.log_bytes == (uint64_t)3 << 30);
    assert_false(config.train.enabled);
    must_set(&config, "node.listen=none");
    assert_string_equal(config.node.listen.host, "");
    must_set(&config, "node.advertise=\"\"");
    assert_string_equal(config.node.advertise.host, "");
    must_set(&config, " train.batch =  \"16\" ");
    assert_int_equal(config.train.batch, 16);
    must_set(&config, "train.schedule=step");
    assert_int_equal(config.train.schedule, STEP);
}

static void a_printed_configuration_loads_unchanged(void **state)
{
    (void)state;
    struct config config;
    struct config again;
    struct problem problem = {""};
    config_defaults(&config);
    for (int round = 0; round < 2; round++) {
        char *text = printed(&config);
        config_defaults(&again);
        if (round == 0)
            set_others(&again); /* a key that is not printed would keep this value */
        if (load_text(&again, text, &problem) != OK)
            fail_msg("%s", problem.text);
        must_be_same(&config, &again);
        free(text);
        set_others(&config);
    }
}

static void a_file_is_read_with_blanks_comments_quotes_and_any_line_end(void **state)
{
    (void)state;
    struct config config;
    struct problem problem = {""};
    const char *text = "\xEF\xBB\xBF; comment\r\n"
                       "[train] # of the node\r\n"
                       "  batch=7 ; seven\r\n"
                       "\tthreads : \"3\" # three\r\n"
                       "   \r\n";
    config_defaults(&config);
    if (load_text(&config, text, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_int_equal(config.train.batch, 7);
    assert_int_equal(config.train.threads, 3);
    assert_int_equal(load_text(&config, "[train]\nbatch = 9", &problem), OK);
    assert_int_equal(config.train.batch, 9);
}

static void an_empty_file_changes_nothing(void **state)
{
    (void)state;
    struct config config;
    struct config defaults;
    struct problem problem = {""};
    config_defaults(&defaults);
    config_defaults(&config);
    assert_int_equal(load_text(&config, "", &problem), OK);
    must_be_same(&config, &defaults);
}

static void a_fault_in_a_file_is_named_with_its_line(void **state)
{
    (void)state;
    assert_refused("\n[train]\nbatch = 0\n",
                   ":3: [train] batch = 0: too small; allowed: 1 to 4096");
    assert_refused("[train]\nbatchsize = 1\n", ":2: unknown key [train] batchsize; did you mean");
    assert_refused("[train]\n\n[ node ]\n", ":3: unknown section [ node ]");
    assert_refused("[train]\n[trian]\n", ":2: unknown section [trian]; did you mean train?");
    assert_refused("[train]\nbatch\n", ":2: the line is neither a [section] nor key = value");
    assert_refused("[train]\nbatch\nbatch = 0\n", ":2: the line is neither");
    assert_refused("batch = 1\n", ":1: the key has no section; write [section] above it");
    assert_refused("[train\nbatch = 1\n", ":1: the section's closing bracket is missing");
    assert_refused("[train] batch = 1\n", ":1: text follows the section's name");
    assert_refused("[node]\nswarm = \"a # b\"\n",
                   ":2: [node] swarm: the value contains a double quote");
}

static void a_key_may_be_set_once_in_a_file(void **state)
{
    (void)state;
    assert_refused("[train]\nbatch = 1\n[data]\nseed = 1\n[train]\n\nbatch = 1\n",
                   ":7: [train] batch is already set in line 2");
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    assert_int_equal(load_text(&config, "[data]\nseed = 2\n[model]\nseed = 3\n", &problem), OK);
    assert_int_equal(config.data.seed, 2);
    assert_int_equal(config.model.seed, 3);
}

/* Loads a file and sets an assignment, both of which must succeed. Checks that config_load_check
 * then rejects with a message that begins with `words`; NULL = accepts. Messages call the file
 * FILE. */
static void assert_check(const char *text, const char *assignment, const char *words)
{
    static struct config_load load;
    struct problem problem = {""};
    char path[] = "/tmp/hearsay-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(close(file), 0);
    memset(&load, 0, sizeof load);
    config_defaults(&load.config);
    assert_int_equal(config_load_file(&load, path, &problem), OK);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(config_load_set(&load, assignment, &problem), OK);
    const enum error error = config_load_check(&load, "FILE", &problem);
    assert_int_equal(error, words ? MALFORMED : OK);
    if (words && strncmp(problem.text, words, strlen(words)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", problem.text, words);
}

static void a_contradiction_is_named_with_the_line_of_its_key(void **state)
{
    (void)state;
    const char *cosine = "\n[train]\nschedule = cosine\n";
    assert_check(cosine, "train.batch=8", "FILE:3: [train] schedule needs period_samples");
    assert_check(cosine, "train.period_samples=9", NULL);
    assert_check("[model]\nname = resnet\n", "train.batch=8",
                 "FILE:2: [model] name = resnet: unknown model");
    assert_check("[limits]\nincarnations = 30000\n", "train.batch=8",
                 "FILE:2: [limits] incarnations (30000)");
}

static void a_contradiction_that_does_not_stand_in_the_file_has_no_line(void **state)
{
    (void)state;
    assert_check("[model]\nname = mlp\n", "model.name=resnet",
                 "[model] name = resnet: unknown model");
    assert_check("[train]\nperiod_samples = 0\n", "train.schedule=step", "[train] schedule needs");
    struct problem problem = {""};
    static struct config_load load;
    config_defaults(&load.config);
    assert_int_equal(config_load_set(&load, "train.schedule=step", &problem), OK);
    assert_int_equal(config_load_check(&load, NULL, &problem), MALFORMED);
    assert_int_equal(problem.text[0], '[');
}

static void a_line_beyond_the_limit_is_refused_not_cut(void **state)
{
    (void)state;
    static char text[CONFIG_LINE_BYTES + 64];
    const char *start = "[train]\nbatch = 64";
    size_t head = strlen("[train]\n");
    memset(text, ' ', sizeof text);
    memcpy(text, start, strlen(start));
    text[head + CONFIG_LINE_BYTES - 1] = '\n';
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    assert_int_equal(load_bytes(&config, text, head + CONFIG_LINE_BYTES, &problem), OK);
    assert_int_equal(config.train.batch, 64);
    text[head + CONFIG_LINE_BYTES - 1] = '0';
    text[head + CONFIG_LINE_BYTES] = '\n';
    assert_refused_bytes(text, head + CONFIG_LINE_BYTES + 1,
                         ":2: the line is too long; shorten it");
    memset(text, 'x', sizeof text);
    assert_refused_bytes(text, sizeof text, ":1: the line is too long; shorten it");
}

static void rejects_a_file_that_is_not_text(void **state)
{
    (void)state;
    const char zero[] = "[train]\nbatch = 1\0 2\n";
    assert_refused_bytes(zero, sizeof zero - 1, ":2: this is not a text file");
    assert_refused("\x7F"
                   "ELF\x02",
                   ":1: this is not a text file");
    assert_refused("\x1F\x8B\x08", ":1: this is not a text file");
    assert_refused("\xFF\xFE\xFD\xFC\n", ":1: the line is neither a [section] nor key = value");
}

static void reports_a_file_that_cannot_be_opened_or_read(void **state)
{
    (void)state;
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    assert_int_equal(load_file(&config, "/nowhere/node.conf", &problem), MISSING);
    must_say(&problem, "/nowhere/node.conf: cannot be opened: No such file");
    assert_int_equal(load_file(&config, "/", &problem), FAILED);
    must_say(&problem, "/: cannot be read: Is a directory; name a file that you may read");
}

static void the_example_holds_every_key_at_its_default_but_peers(void **state)
{
    (void)state;
    struct config config;
    struct config expected;
    struct problem problem = {""};
    config_defaults(&config);
    set_others(&config); /* a key that the example lacks would keep this value */
    if (load_file(&config, HEARSAY_CONFIGS "/node.conf", &problem) != OK)
        fail_msg("%s", problem.text);
    config_defaults(&expected);
    must_set(&expected, "node.peers=192.0.2.10:7770");
    config_resolve(&config);
    config_resolve(&expected);
    must_be_same(&config, &expected);
    assert_int_equal(config_check(&config, &problem), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_value_of_every_key_is_not_its_default),
        cmocka_unit_test(a_value_of_every_type_is_read_as_it_is_meant),
        cmocka_unit_test(a_printed_configuration_loads_unchanged),
        cmocka_unit_test(a_file_is_read_with_blanks_comments_quotes_and_any_line_end),
        cmocka_unit_test(an_empty_file_changes_nothing),
        cmocka_unit_test(a_fault_in_a_file_is_named_with_its_line),
        cmocka_unit_test(a_key_may_be_set_once_in_a_file),
        cmocka_unit_test(a_contradiction_is_named_with_the_line_of_its_key),
        cmocka_unit_test(a_contradiction_that_does_not_stand_in_the_file_has_no_line),
        cmocka_unit_test(a_line_beyond_the_limit_is_refused_not_cut),
        cmocka_unit_test(rejects_a_file_that_is_not_text),
        cmocka_unit_test(reports_a_file_that_cannot_be_opened_or_read),
        cmocka_unit_test(the_example_holds_every_key_at_its_default_but_peers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
