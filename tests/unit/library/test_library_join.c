/* Joining: a late program receives the base, and a restarted one has its old state and data. A
 * program with another model is refused with a message. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/library/program.h"

#define STEPS 50

/* Closes the node and returns its last digest. */
static uint64_t end(struct program *program)
{
    assert_int_equal(hearsay_close(program->node, PROGRAM_FOREVER), HEARSAY_OK);
    const uint64_t digest = program_info(program).digest;
    assert_int_equal(hearsay_free(program->node), HEARSAY_OK);
    return digest;
}

static void learn_alone(struct program *program, const char *name, unsigned seed)
{
    program_init(program, name, seed);
    program->steps = STEPS;
    program_must_open(program);
    program_start(program);
    program_finish(program);
}

static void a_late_program_gets_the_base(void **state)
{
    struct program first, late;
    char address[64];
    float bases[2][PROGRAM_WEIGHTS], bias[2][PROGRAM_OUTPUTS];
    (void)state;
    learn_alone(&first, "first", 1);
    program_address(&first, address);
    program_init(&late, "late", 2);
    late.peers = address;
    program_must_open(&late);
    assert_int_equal(program_base(&late, bases[1], bias[1]), HEARSAY_NOT_JOINED);
    assert_int_equal(hearsay_join(late.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(program_base(&first, bases[0], bias[0]), HEARSAY_OK);
    assert_int_equal(program_base(&late, bases[1], bias[1]), HEARSAY_OK);
    assert_memory_equal(bases[0], bases[1], sizeof bases[0]);
    assert_memory_equal(late.weights, bases[1], sizeof bases[1]); /* the tensors have the base */
    assert_memory_equal(late.bias, bias[1], sizeof bias[1]);
    assert_true(program_info(&late).digest == program_info(&first).digest);
    assert_true(program_info(&late).swarm_samples > 0);
    (void)end(&late);
    (void)end(&first);
}

/* The listener does not train, so its tensors always equal the base. */
static void one_that_only_listens_has_the_base_in_its_tensors(void **state)
{
    struct program first, listener;
    char address[64];
    float start[PROGRAM_WEIGHTS], base[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    pthread_barrier_t together;
    (void)state;
    assert_int_equal(pthread_barrier_init(&together, NULL, 2), 0);
    program_init(&first, "speaks", 7);
    program_init(&listener, "listens", 8);
    memcpy(start, listener.weights, sizeof start);
    first.together = listener.together = &together;
    first.steps = STEPS;
    program_must_open(&first);
    program_address(&first, address);
    listener.peers = address;
    program_must_open(&listener);
    program_start(&first);
    program_start(&listener);
    program_finish(&first);
    program_finish(&listener);
    assert_int_equal(program_base(&listener, base, bias), HEARSAY_OK);
    assert_memory_not_equal(base, start, sizeof base); /* the base has moved */
    assert_true(program_info(&listener).digest == program_info(&first).digest);
    for (int i = 0; i < PROGRAM_WEIGHTS; i++)
        assert_true(fabsf(listener.weights[i] - base[i]) < 1e-5f);
    for (int i = 0; i < PROGRAM_OUTPUTS; i++)
        assert_true(fabsf(listener.bias[i] - bias[i]) < 1e-5f);
    (void)end(&listener);
    (void)end(&first);
    assert_int_equal(pthread_barrier_destroy(&together), 0);
}

static void one_of_sixteen_bits_has_the_base_rounded(void **state)
{
    struct program program;
    float base[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    (void)state;
    program_init(&program, "half", 3);
    const double before = program_loss(program.weights, program.bias);
    program.dtype = HEARSAY_BFLOAT16;
    program.steps = STEPS;
    program.target = 0.2 * before;
    program_must_open(&program);
    program_start(&program);
    program_finish(&program);
    assert_int_equal(program_base(&program, base, bias), HEARSAY_OK);
    assert_true(program_loss(base, bias) < 0.4 * before);
    (void)end(&program);
}

static void one_that_goes_on_has_what_it_left(void **state)
{
    static const char optimizer[] = "the state of an optimizer";
    struct program program, again;
    char bytes[64];
    size_t count = 0;
    (void)state;
    learn_alone(&program, "again", 4);
    assert_int_equal(hearsay_save(program.node, optimizer, sizeof optimizer), HEARSAY_OK);
    const uint64_t digest = end(&program);

    program_init(&again, "again", 4); /* the tensors have the initial weights again */
    again.steps = STEPS;
    program_must_open(&again);
    assert_int_equal(hearsay_extra(again.node, NULL, &count), HEARSAY_TOO_SMALL);
    assert_int_equal(count, sizeof optimizer);
    assert_int_equal(hearsay_extra(again.node, bytes, &count), HEARSAY_OK);
    assert_memory_equal(bytes, optimizer, sizeof optimizer);
    assert_int_equal(hearsay_join(again.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_memory_equal(again.weights, program.weights, sizeof program.weights);
    assert_memory_equal(again.bias, program.bias, sizeof program.bias);
    assert_true(program_info(&again).digest == digest);
    (void)end(&again);

    again = program; /* NaN is accepted, because the checkpoint's base replaces the tensors */
    again.weights[0] = NAN;
    program_must_open(&again);
    assert_int_equal(hearsay_join(again.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(program_info(&again).digest == digest);
    (void)end(&again);
}

static void one_may_save_before_it_has_published(void **state)
{
    struct program program;
    char extra[4];
    size_t bytes = sizeof extra;
    (void)state;
    program_init(&program, "early", 10);
    program_must_open(&program);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_save(program.node, "mine", 4), HEARSAY_OK);
    assert_int_equal(hearsay_extra(program.node, extra, &bytes), HEARSAY_OK);
    assert_memory_equal(extra, "mine", 4);
    (void)end(&program);
}

static void checkpoints_that_are_gone_and_other_weights_are_refused(void **state)
{
    struct program program;
    (void)state;
    learn_alone(&program, "gone", 4);
    (void)end(&program);
    assert_int_equal(system("rm gone/checkpoint-* && touch gone/checkpoint-none"), 0);
    /* The checkpoint is lost, and the tensors do not have the initial weights. */
    assert_int_equal(program_open(&program), HEARSAY_FAILED);
    assert_non_null(strstr(program_sentence(&program, HEARSAY_FAILED), "initial weights"));
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
    program_init(&program, "gone", 4);
    program_must_open(&program);
    (void)end(&program);
}

static void must_be_refused(struct program *other, const char *why)
{
    program_must_open(other);
    assert_int_equal(hearsay_join(other->node, PROGRAM_FOREVER), HEARSAY_REFUSED);
    assert_non_null(strstr(program_sentence(other, HEARSAY_REFUSED), why));
    assert_int_equal(hearsay_step(other->node, 1, 0, NULL), HEARSAY_REFUSED);
    /* no base was taken over, so nothing can be saved */
    assert_int_equal(hearsay_close(other->node, 0), HEARSAY_FAILED);
    assert_int_equal(hearsay_free(other->node), HEARSAY_OK);
}

static void another_model_is_refused_with_a_sentence(void **state)
{
    struct program first, other;
    char address[64];
    (void)state;
    learn_alone(&first, "one", 5);
    program_address(&first, address);
    program_init(&other, "other", 6);
    other.run = "another-run";
    other.peers = address;
    must_be_refused(&other, "theirs run plane, ours run another-run");
    (void)end(&first);
}

static void one_of_other_first_weights_takes_those_of_the_swarm(void **state)
{
    struct program first, other;
    char address[64];
    (void)state;
    learn_alone(&first, "older", 5);
    program_address(&first, address);
    program_init(&other, "otherwise", 9);
    for (int i = 0; i < PROGRAM_WEIGHTS; i++)
        other.weights[i] = 0.5f;
    other.peers = address;
    program_must_open(&other);
    assert_int_equal(hearsay_join(other.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(program_info(&other).digest == program_info(&first).digest);
    (void)end(&other);
    /* the checkpoint of `other` is based on the initial weights of `first` */
    program_must_open(&other);
    assert_int_equal(hearsay_join(other.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(program_info(&other).digest == program_info(&first).digest);
    (void)end(&other);
    (void)end(&first);
}

#define LARGE (4 * 8192) /* numbers of four blocks */

/* Opens a node with one tensor of LARGE numbers. The node leaves within half a second, and sends
 * joiners one byte of blocks per second. */
static struct hearsay *open_large(const char *name, unsigned seed, float *weights,
                                  const char *peers)
{
    char identity[64], state[64], seeds[96];
    struct hearsay *node;
    const struct hearsay_tensor tensor = {.name = "w",
                                          .data = weights,
                                          .shape = {LARGE},
                                          .dimensions = 1,
                                          .dtype = HEARSAY_FLOAT32,
                                          .device = HEARSAY_CPU};
    (void)snprintf(identity, sizeof identity, "node.identity=%s.key", name);
    (void)snprintf(state, sizeof state, "node.state_dir=%s", name);
    (void)snprintf(seeds, sizeof seeds, "node.peers=%s", peers);
    program_need_identity(strchr(identity, '=') + 1, seed);
    const char *settings[] = {
        "node.listen=127.0.0.1:0", "node.swarm_key=swarm.key",    identity, state, seeds,
        "node.grace_s=0.5",        "exchange.serve_bytes_per_s=1"};
    const struct hearsay_options options = {.abi = HEARSAY_ABI,
                                            .tensors = &tensor,
                                            .tensors_count = 1,
                                            .settings = settings,
                                            .settings_count = 7,
                                            .run = "large"};
    assert_int_equal(hearsay_open(&options, &node), HEARSAY_OK);
    return node;
}

static struct hearsay_info info_of(struct hearsay *node)
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    assert_int_equal(hearsay_info(node, &info), HEARSAY_OK);
    return info;
}

/* The joiner's only peer leaves before it has sent all blocks of the base. The joiner then trains
 * from its own initial weights. */
static void one_whose_peer_leaves_during_the_transfer_continues_alone(void **state)
{
    static float theirs[LARGE], ours[LARGE];
    struct program peer = {.name = "leaves"};
    char address[64];
    (void)state;
    for (int i = 0; i < LARGE; i++) {
        theirs[i] = 0.25f;
        ours[i] = -0.5f;
    }
    peer.node = open_large("leaves", 20, theirs, "");
    assert_int_equal(hearsay_join(peer.node, PROGRAM_FOREVER), HEARSAY_OK);
    theirs[0] += 1;
    assert_int_equal(hearsay_step(peer.node, 1, 0, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_settle(peer.node, PROGRAM_FOREVER), HEARSAY_OK);
    program_address(&peer, address);
    struct hearsay *joiner = open_large("stays", 21, ours, address);
    while (info_of(joiner).neighbours == 0)
        assert_int_equal(hearsay_join(joiner, 0.05), HEARSAY_TIMEOUT);
    assert_int_equal(hearsay_close(peer.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_free(peer.node), HEARSAY_OK);
    assert_int_equal(hearsay_join(joiner, PROGRAM_FOREVER), HEARSAY_OK);
    for (int i = 0; i < LARGE; i++)
        assert_true(ours[i] == -0.5f);
    assert_int_equal(info_of(joiner).members, 1);
    assert_int_equal(hearsay_step(joiner, 1, 0, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_close(joiner, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_free(joiner), HEARSAY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_program_gets_the_base),
        cmocka_unit_test(one_that_only_listens_has_the_base_in_its_tensors),
        cmocka_unit_test(one_of_sixteen_bits_has_the_base_rounded),
        cmocka_unit_test(one_that_goes_on_has_what_it_left),
        cmocka_unit_test(one_may_save_before_it_has_published),
        cmocka_unit_test(checkpoints_that_are_gone_and_other_weights_are_refused),
        cmocka_unit_test(another_model_is_refused_with_a_sentence),
        cmocka_unit_test(one_of_other_first_weights_takes_those_of_the_swarm),
        cmocka_unit_test(one_whose_peer_leaves_during_the_transfer_continues_alone),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
