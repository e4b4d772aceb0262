/* Configuration keys and values: which ones are accepted or rejected, and with which messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "config/config.h"
#include "config/config_key.h"
#include "config/config_resolve.h"
#include "config/config_value.h"
#include "support/config/config_story.h"

static void assert_set_refused(const char *assignment, const char *words)
{
    struct config config;
    struct config before;
    struct problem problem = {""};
    config_defaults(&before);
    config_defaults(&config);
    if (config_set(&config, assignment, &problem) != MALFORMED)
        fail_msg("%s was taken", assignment);
    must_say(&problem, words);
    must_be_same(&config, &before);
}

static void the_defaults_are_those_of_a_node_that_can_start(void **state)
{
    (void)state;
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    config_resolve(&config);
    assert_int_equal(config_check(&config, &problem), OK);
    assert_string_equal(config.node.listen.host, "0.0.0.0");
    assert_int_equal(config.node.listen.port, 7770);
    assert_string_equal(config.node.advertise.host, "");
    assert_int_equal(config.node.peers.count, 0);
    assert_string_equal(config.model.name, "lenet");
    assert_int_equal(config.data.source, DATASET_IDX);
    assert_int_equal(config.data.shard.index, 0);
    assert_int_equal(config.data.shard.count, 1);
    assert_int_equal(config.train.schedule, CONSTANT);
    assert_true(config.train.enabled && !config.train.nesterov);
    assert_true(config.train.rate == 0.02);
    assert_int_equal(config.exchange.log_bytes, 64 * 1024 * 1024);
    assert_int_equal(config.limits.half_open_per_net, 8);
}

static size_t bytes_of(const struct config_key *key)
{
    switch (key->type) {
    case CONFIG_U32:
        return sizeof(uint32_t);
    case CONFIG_U64:
    case CONFIG_SIZE:
        return sizeof(uint64_t);
    case CONFIG_REAL:
        return sizeof(double);
    case CONFIG_BOOL:
        return sizeof(bool);
    case CONFIG_CHOICE:
        return sizeof(unsigned int);
    case CONFIG_TEXT:
    case CONFIG_PATH:
    case CONFIG_DEVICE:
        return key->bytes;
    case CONFIG_ADDRESS:
    case CONFIG_LISTEN:
        return sizeof(struct address);
    case CONFIG_ADDRESSES:
        return sizeof(struct address_list);
    case CONFIG_SLICE:
        return sizeof(struct slice);
    }
    return 0;
}

static void every_key_owns_a_member_of_its_type_and_says_what_it_is(void **state)
{
    (void)state;
    static unsigned char owned[sizeof(struct config)];
    memset(owned, 0, sizeof owned);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        assert_int_equal(key->bytes, bytes_of(key));
        assert_non_null(key->help);
        assert_non_null(key->initial);
        assert_true(strlen(key->help) < 98);
        assert_ptr_equal(config_key_find(key->section, key->name), key);
        for (size_t byte = 0; byte < key->bytes; byte++)
            assert_int_equal(owned[key->offset + byte]++, 0);
        if (key->type == CONFIG_U32)
            assert_true(key->max <= UINT32_MAX);
    }
}

static void a_value_of_the_wrong_type_is_refused_with_what_is_allowed(void **state)
{
    (void)state;
    assert_set_refused("train.batch=many", "[train] batch = many: not a whole number; allowed: 1");
    assert_set_refused("train.batch=many", "to 4096 samples, or auto");
    assert_set_refused("train.batch=automatic", "not a whole number");
    assert_set_refused("train.threads=auto", "not a whole number; allowed: 1 to 256 threads");
    assert_set_refused("train.batch=1.5", "not a whole number");
    assert_set_refused("train.batch=-1", "train] batch = -1: too small; allowed: 1");
    assert_set_refused("train.batch=-99999999999999999999", "too small");
    assert_set_refused("train.batch=99999999999999999999", "too large; allowed: 1 to 4096");
    assert_set_refused("train.batch=-", "not a whole number");
    assert_set_refused("train.batch=-1x", "not a whole number");
    assert_set_refused("train.batch=4K", "not a whole number");
    assert_set_refused("exchange.uplink_max=-4K", "too small");
    assert_set_refused("exchange.uplink_max=99999999999999999999K", "too large");
    assert_set_refused("exchange.uplink_max=99999999999G", "too large");
    assert_set_refused("exchange.uplink_max=4T", "not a whole number with an optional K, M or G");
    assert_set_refused("train.rate=1e999", "too large; allowed: 1e-08 to 100");
    assert_set_refused("train.rate=-1e999", "too small");
    assert_set_refused("train.batch=0x10", "not a whole number");
    assert_set_refused("train.batch=", "not a whole number");
    assert_set_refused("node.seed=18446744073709551616", "too large");
    assert_set_refused("train.rate=fast", "not a number; allowed: 1e-08 to 100");
    assert_set_refused("train.rate=nan", "not a number");
    assert_set_refused("train.rate=inf", "not a number");
    assert_set_refused("train.rate=0x1p-3", "not a number");
    assert_set_refused("train.rate=0.1s", "not a number");
    assert_set_refused("train.enabled=maybe", "allowed: yes or no");
    assert_set_refused("train.schedule=steps",
                       "did you mean step?; allowed: one of constant|step|");
    assert_set_refused("train.optimizer=adm",
                       "[train] optimizer = adm: unknown choice; did you mean adam?; allowed: ");
    assert_set_refused("data.source=zzzzzzzz", "unknown choice; allowed: one of ");
    assert_set_refused("train.schedule=", "unknown choice");
    assert_set_refused("train.device=cuda", "unknown device; allowed: auto, cpu, cuda:N,");
    assert_set_refused("train.device=cuda:", "unknown device");
    assert_set_refused("train.device=cuda:one", "unknown device");
    assert_set_refused("train.device=cuda:-1", "unknown device");
    assert_set_refused("train.device=gpu", "unknown device");
    assert_set_refused("train.precision=fp16", "allowed: one of fp32|tf32|bf16|auto");
    assert_set_refused("exchange.log_bytes=64T", "with an optional K, M or G");
    assert_set_refused("exchange.log_bytes=64MB", "with an optional K, M or G");
    assert_set_refused("exchange.log_bytes=17179869185G", "too large");
    assert_set_refused("node.listen=7770",
                       "[node] listen = 7770: not an address with a port; allowed:");
    assert_set_refused("node.listen=0.0.0.0", "such as 0.0.0.0:7770, or none");
    assert_set_refused("node.listen=", "[node] listen = : not an address with a port");
    assert_set_refused("node.listen=0.0.0.0:99999", "the port is larger than 65535");
    assert_set_refused("node.listen=here.example.org:7770",
                       "a name; listening requires a numeric address");
    assert_set_refused("node.advertise=here:0", "port 0 cannot be dialled");
    assert_set_refused("node.peers=a:1,,b:1", "[node] peers: ");
    assert_set_refused("node.peers=a:1,", "[node] peers: ");
    assert_set_refused("node.peers=none", "[node] peers: ");
    assert_set_refused("node.peers=a:99999", "[node] peers: \"a:99999\": the port is too large");
    assert_set_refused("node.peers=a:1 b:1",
                       "[node] peers = a:1 b:1: a comma is missing between two");
    assert_set_refused("node.peers=a:1 b:1", "separated by commas");
    assert_set_refused("data.shard=5/4",
                       "the part is out of range; allowed: i/n with 1 <= i <= n <= 4096");
    assert_set_refused("data.shard=0/4", "the part is out of range");
    assert_set_refused("data.shard=1/4097", "the part is out of range");
    assert_set_refused("data.shard=1", "not of the form i/n");
    assert_set_refused("peers=x.y:1", "section.key=value; did you mean node.peers=x.y:1?");
    assert_set_refused("nothing=1", "section.key=value, such as train.batch=64");
    assert_set_refused("data.shard=1/2/3", "not of the form i/n");
    assert_set_refused("node.identity=", "may not be empty");
    assert_set_refused(
        "node.swarm=0123456789012345678901234567890123456789012345678901234567890123",
        "too long; allowed: 1 to 63 characters");
}

static void a_value_that_a_file_could_not_hold_is_refused(void **state)
{
    (void)state;
    assert_set_refused("node.swarm=a\nb", "control character");
    assert_set_refused("node.swarm=a\x7F", "control character");
    assert_set_refused("node.swarm=a #b", "starts with # or ;");
    assert_set_refused("node.swarm=;b", "starts with # or ;");
    assert_set_refused("node.swarm=a\"b", "double quote");
    assert_set_refused("node.swarm=\" a\"", "a blank at an end");
    struct config config;
    config_defaults(&config);
    must_set(&config, "node.swarm=a#b;c");
    assert_string_equal(config.node.swarm, "a#b;c");
}

static bool taken(const struct config_key *key, const char *format, double value)
{
    char text[64];
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    (void)snprintf(text, sizeof text, format, value);
    enum error error = config_value_set(&config, key, text, &problem);
    if (error == OK)
        return true;
    must_say(&problem, value < key->min ? "too small; allowed: " : "too large; allowed: ");
    return false;
}

static void every_number_is_taken_at_its_bounds_and_refused_beyond(void **state)
{
    (void)state;
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        bool whole = key->type == CONFIG_U32 || key->type == CONFIG_U64 || key->type == CONFIG_SIZE;
        if (!whole && key->type != CONFIG_REAL)
            continue;
        const char *format = whole ? "%.0f" : "%.17g";
        double below = whole ? key->min - 1 : nextafter(key->min, -HUGE_VAL);
        double above = whole ? key->max + 1 : nextafter(key->max, HUGE_VAL);
        assert_true(taken(key, format, key->min));
        if (!whole || key->min > 0)
            assert_false(taken(key, format, below));
        if (key->max >= CONFIG_NO_MAX)
            continue;
        assert_true(taken(key, format, key->max));
        assert_false(taken(key, format, above));
    }
}

static void a_list_takes_sixty_four_peers_and_no_more(void **state)
{
    (void)state;
    char list[CONFIG_LINE_BYTES] = "node.peers=";
    const char *address = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535,";
    for (int i = 0; i < CONFIG_PEERS_MAX; i++)
        strcat(list, address);
    list[strlen(list) - 1] = '\0';
    struct config config;
    config_defaults(&config);
    must_set(&config, list);
    assert_int_equal(config.node.peers.count, CONFIG_PEERS_MAX);
    strcat(list, ",a:1");
    assert_set_refused(list, "too many; allowed: up to 64 of host:port");
}

static void a_misspelt_name_is_answered_with_the_nearest(void **state)
{
    (void)state;
    assert_set_refused("train.batchsize=1", "unknown key [train] batchsize; did you mean batch?");
    assert_set_refused("train.moment=1", "unknown key [train] moment; did you mean momentum?");
    assert_set_refused("exchange.intervall_s=1", "did you mean interval_s?");
    assert_set_refused("train.bacth=1", "did you mean batch?");
    assert_set_refused("node.batch=1", "unknown key [node] batch; did you mean [train] batch?");
    assert_set_refused("model.zzzzzzzz=1", "unknown key [model] zzzzzzzz; known: name, layers");
    assert_set_refused("limits.lives=100", "the key [limits] lives was renamed to incarnations");
    assert_set_refused("exchange.told_max=0.1", "was renamed to density_max");
    assert_set_refused("exchange.held=0.5", "was renamed to withheld");
    assert_set_refused("trian.batch=1", "unknown section [trian]; did you mean train?");
    assert_set_refused("zzzzzzzz.batch=1", "known: node, model, data, train, exchange, limits");
    assert_set_refused("batch=1", "section.key=value");
    assert_set_refused("train.batch", "section.key=value");
    assert_set_refused(".=", "unknown section []");
}

/* The message lists every key of the longest section, the most similar key first. */
static void the_known_keys_are_complete_and_the_nearest_come_first(void **state)
{
    struct config config;
    struct problem problem;
    (void)state;
    config_defaults(&config);
    assert_int_equal(config_set(&config, "train.evalzzzzzz=1", &problem), MALFORMED);
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        if (strcmp(key->section, "train") == 0)
            assert_non_null(strstr(problem.text, key->name));
    }
    assert_non_null(strstr(problem.text, "known: evaluate_s, enabled, "));
    assert_set_refused("train.learning_rate=1", "did you mean rate?");
}

static void assert_contradicts(const char *a, const char *b, const char *words)
{
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    must_set(&config, a);
    must_set(&config, b);
    if (config_check(&config, &problem) != MALFORMED)
        fail_msg("%s and %s were taken", a, b);
    must_say(&problem, words);
}

static void settings_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    assert_contradicts("node.listen=none", "node.peers=\"\"", "cannot reach any member");
    assert_contradicts("node.identity=a", "node.swarm_key=a", "the same file");
    assert_contradicts("node.identity=a", "node.operator=12ab", "operator is not 64 hex digits");
    assert_contradicts("node.identity=a", "node.quarantine=yes", "needs a list of members");
    assert_contradicts("model.name=resnet", "model.layers=\"\"", "did you mean resnet20?");
    assert_contradicts("model.name=zzzzzz", "model.layers=\"\"", "unknown model; known: ");
    assert_contradicts("node.identity=a", "model.layers=dens 8, relu",
                       "[model] layers: layer 1, "
                       "'dens 8': no such layer; did you mean dense?");
    assert_contradicts("node.identity=a", "model.layers=2 * (conv 8 3x3, rellu)",
                       "layer 2, 'rellu'");
    assert_contradicts("train.optimizer=adam", "train.nesterov=yes",
                       "applies to optimizer = sgd or muon only");
    assert_contradicts("train.schedule=step", "train.period_samples=0", "needs period_samples");
    assert_contradicts("data.source=text", "data.tokens=a.bin", "= text needs text, the files");
    assert_contradicts("data.source=tokens", "data.text=a.txt", "= tokens needs tokens, the files");
    assert_contradicts("data.source=idx", "data.valid=a.txt",
                       "applies to source = text or tokens only");
    assert_contradicts("data.source=text", "data.crop=2", "crop applies to images only; remove it");
    assert_contradicts("data.source=npy", "data.x=x.npy",
                       "= npy needs x and y, the files to learn");
    assert_contradicts("data.source=npy", "data.y=y.npy",
                       "= npy needs x and y, the files to learn");
    assert_contradicts("limits.half_open=4", "limits.half_open_per_net=5", "half_open_per_net (5)");
    assert_contradicts("limits.members=2", "limits.peers=3", "peers (3)");
    assert_contradicts("limits.incarnations=30000", "limits.send_queue_bytes=1M",
                       "incarnations (30000)");
    assert_contradicts("limits.incarnations=8192", "limits.send_queue_bytes=512K",
                       "send_queue_bytes");
    struct config config;
    struct problem problem = {""};
    config_defaults(&config);
    /* Without a schedule the rate stays constant after the warm-up. */
    must_set(&config, "train.warmup_samples=6000");
    assert_int_equal(config_check(&config, &problem), OK);
    must_set(&config, "train.schedule=linear");
    must_set(&config, "train.period_samples=6000");
    assert_int_equal(config_check(&config, &problem), MALFORMED);
    must_say(&problem, "[train] warmup_samples (6000) is not below period_samples (6000)");
    must_set(&config, "train.period_samples=6001");
    assert_int_equal(config_check(&config, &problem), OK);
    must_set(&config, "node.listen=none");
    must_set(&config, "node.peers=a:1");
    must_set(&config, "model.name=mine");
    must_set(&config, "model.layers=dense 10");
    assert_int_equal(config_check(&config, &problem), OK);
    must_set(&config, "node.advertise=a:1");
    assert_int_equal(config_check(&config, &problem), MALFORMED);
    must_say(&problem, "advertise is set, but listen is none");
    config_defaults(&config);
    must_set(&config, "data.source=generated");
    must_set(&config, "data.train_count=3");
    must_set(&config, "data.shard=1/4");
    assert_int_equal(config_check(&config, &problem), MALFORMED);
    must_say(&problem, "more parts (4)");
}

static void a_number_may_be_left_to_the_node_where_its_key_says_so(void **state)
{
    (void)state;
    struct config config;
    config_defaults(&config);
    must_set(&config, "exchange.beta=0.5");
    assert_true(config.exchange.beta == 0.5);
    must_set(&config, "exchange.beta=auto");
    assert_true(config.exchange.beta == CONFIG_AUTO_REAL);
    char text[16] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    config_value_print(&config, config_key_find("exchange", "beta"), out);
    (void)fclose(out);
    assert_string_equal(text, "auto");
    assert_set_refused("exchange.beta=-1", "allowed: 0 to 0.99, or auto");
    assert_true(config.exchange.serve_bytes_per_s == CONFIG_AUTO_OF_0);
    must_set(&config, "exchange.serve_bytes_per_s=0");
    assert_int_equal(config.exchange.serve_bytes_per_s, 0);
    must_set(&config, "exchange.serve_bytes_per_s=auto");
    assert_true(config.exchange.serve_bytes_per_s == CONFIG_AUTO_OF_0);
    assert_set_refused("exchange.serve_bytes_per_s=65G", "0 to 64G bytes per second, or auto");
    assert_set_refused("train.momentum=auto", "not a number");
}

/* Returns the training settings after this assignment, with every `auto` resolved. */
static struct config_train resolved(const char *assignment)
{
    struct config config;
    config_defaults(&config);
    must_set(&config, assignment);
    config_resolve(&config);
    return config.train;
}

/* A chosen rate stays constant unless a schedule is also chosen. */
static void a_chosen_rate_does_not_fall_by_itself(void **state)
{
    (void)state;
    struct config config;
    config_defaults(&config);
    must_set(&config, "train.optimizer=muon");
    must_set(&config, "train.rate=0.01");
    config_resolve(&config);
    assert_true(config.train.rate == 0.01);
    assert_int_equal(config.train.schedule, CONSTANT);
    config_defaults(&config);
    must_set(&config, "train.optimizer=muon");
    must_set(&config, "train.schedule=constant");
    config_resolve(&config);
    assert_true(config.train.rate == 0.004);
    config_defaults(&config);
    must_set(&config, "train.rate=0.01");
    must_set(&config, "train.schedule=inverse_root");
    must_set(&config, "train.period_samples=5000");
    config_resolve(&config);
    assert_true(config.train.rate == 0.01);
    assert_int_equal(config.train.schedule, INVERSE_ROOT);
    assert_int_equal(config.train.period_samples, 5000);
}

static void auto_settings_of_training_follow_from_data_and_optimizer(void **state)
{
    (void)state;
    const struct config_train image = resolved("data.source=idx");
    assert_int_equal(image.optimizer, OPTIMIZER_SGD);
    assert_true(image.rate == 0.02 && image.weight_decay == 0.0005 && image.clip == 5);
    const struct config_train text = resolved("data.source=text");
    assert_int_equal(text.optimizer, OPTIMIZER_MUON);
    assert_true(text.rate == 0.03 && text.weight_decay == 0.1 && text.clip == 1);
    assert_int_equal(text.schedule, INVERSE_ROOT);
    assert_int_equal(text.period_samples, 200);
    assert_int_equal(image.schedule, CONSTANT);
    const struct config_train adam = resolved("train.optimizer=adam");
    assert_int_equal(adam.optimizer, OPTIMIZER_ADAM);
    assert_true(adam.rate == 0.001 && adam.weight_decay == 0.1 && adam.clip == 1);
    assert_true(resolved("data.source=xor").weight_decay == 0);
    assert_true(resolved("train.rate=0.5").rate == 0.5);
    const struct config_train muon = resolved("train.optimizer=muon");
    assert_true(muon.rate == 0.03 && muon.schedule == INVERSE_ROOT);
    assert_true(resolved("train.weight_decay=0").weight_decay == 0);
    assert_true(resolved("train.clip=0").clip == 0);
}

static void every_source_of_data_has_its_facts_and_is_refused_without_its_files(void **state)
{
    (void)state;
    for (int i = 0; i < DATASET_SOURCES_COUNT; i++) {
        const struct dataset_source_row *source = &dataset_sources[i];
        struct config config;
        struct problem problem = {""};
        char assignment[64];
        config_defaults(&config);
        (void)snprintf(assignment, sizeof assignment, "data.source=%s", source->name);
        must_set(&config, assignment);
        assert_int_equal(config.data.source, i);
        assert_non_null(source->load);
        assert_true(source->files || source->about);
        assert_non_null(config_data_text(&config.data, source->files));
        assert_non_null(strstr(DATASET_SOURCES_LISTED, source->name));
        assert_int_equal(config_check(&config, &problem), source->needs[0] ? MALFORMED : OK);
        if (source->needs[0])
            assert_non_null(strstr(problem.text, source->example));
    }
}

static void every_optimizer_has_its_facts_and_is_named_where_they_apply(void **state)
{
    (void)state;
    for (int kind = 0; kind < OPTIMIZER_AUTO; kind++) {
        const struct optimizer_row *row = &optimizers[kind];
        struct config config;
        struct problem problem;
        char assignment[64];
        (void)snprintf(assignment, sizeof assignment, "train.optimizer=%s", row->name);
        const struct config_train train = resolved(assignment);
        assert_int_equal(train.optimizer, kind);
        assert_true(train.rate == (row->rate_falling > 0 ? row->rate_falling : row->rate));
        assert_true(row->rate > 0 && train.clip == row->clip);
        assert_in_range(row->moments, 1, 2);
        assert_int_equal(strstr(OPTIMIZERS_BETA2, row->name) != NULL, row->moments == 2);
        assert_int_equal(strstr(OPTIMIZERS_ADD_UP, row->name) != NULL, row->adds_up);
        assert_non_null(strstr(OPTIMIZERS_NESTEROV, row->name));
        config_defaults(&config);
        must_set(&config, assignment);
        must_set(&config, "train.nesterov=yes");
        assert_int_equal(config_check(&config, &problem), row->adds_up ? OK : MALFORMED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_a_node_that_can_start),
        cmocka_unit_test(every_key_owns_a_member_of_its_type_and_says_what_it_is),
        cmocka_unit_test(a_value_of_the_wrong_type_is_refused_with_what_is_allowed),
        cmocka_unit_test(a_value_that_a_file_could_not_hold_is_refused),
        cmocka_unit_test(every_number_is_taken_at_its_bounds_and_refused_beyond),
        cmocka_unit_test(a_list_takes_sixty_four_peers_and_no_more),
        cmocka_unit_test(a_misspelt_name_is_answered_with_the_nearest),
        cmocka_unit_test(the_known_keys_are_complete_and_the_nearest_come_first),
        cmocka_unit_test(settings_that_contradict_each_other_are_refused),
        cmocka_unit_test(a_number_may_be_left_to_the_node_where_its_key_says_so),
        cmocka_unit_test(a_chosen_rate_does_not_fall_by_itself),
        cmocka_unit_test(auto_settings_of_training_follow_from_data_and_optimizer),
        cmocka_unit_test(every_optimizer_has_its_facts_and_is_named_where_they_apply),
        cmocka_unit_test(every_source_of_data_has_its_facts_and_is_refused_without_its_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
