/* Misuse of hearsay.h: each error of a caller returns an error with a message. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/library/program.h"

static struct hearsay_tensor tensors[PROGRAM_TENSORS];
static struct program owner; /* program whose weights the tensors describe */

static struct hearsay_options options_of(void)
{
    program_init(&owner, "misuse", 1);
    program_tensors(&owner, tensors);
    return (struct hearsay_options){
        .abi = HEARSAY_ABI, .tensors = tensors, .tensors_count = PROGRAM_TENSORS, .run = "plane"};
}

/* Checks that hearsay_open returns this error with these words, and that the handle is unusable. */
static void must_refuse(const struct hearsay_options *options, int error, const char *words)
{
    struct hearsay *node = NULL;
    char text[512];
    assert_int_equal(hearsay_open(options, &node), error);
    assert_non_null(node);
    assert_int_equal(hearsay_error_text(node, error, text, sizeof text), HEARSAY_OK);
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, text);
    assert_int_equal(hearsay_join(node, 0), HEARSAY_CLOSED);
    assert_int_equal(hearsay_stream(node, NULL), HEARSAY_CLOSED);
    assert_int_equal(hearsay_close(node, 0), HEARSAY_CLOSED);
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    assert_int_equal(hearsay_info(node, &info), HEARSAY_OK);
    /* the first call has not overwritten info.abi */
    assert_int_equal(hearsay_info(node, &info), HEARSAY_OK);
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
}

static void options_that_are_wrong_are_refused(void **state)
{
    const char *settings[] = {"node.nothing=1"}, *output[] = {"node.log=-"}, *none[] = {NULL};
    struct hearsay_options options;
    (void)state;
    assert_int_equal(hearsay_open(NULL, NULL), HEARSAY_ARGUMENT);
    must_refuse(NULL, HEARSAY_ARGUMENT, "options is NULL");
    options = options_of();
    options.abi = HEARSAY_ABI + 1;
    must_refuse(&options, HEARSAY_ABI_UNKNOWN, "this library has 2");
    options = options_of();
    options.run = "";
    must_refuse(&options, HEARSAY_ARGUMENT, "run must be NULL, or a name");
    options = options_of();
    options.run = "two words";
    must_refuse(&options, HEARSAY_ARGUMENT, "or a name");
    options = options_of();
    options.config = "no-such-file.conf";
    must_refuse(&options, HEARSAY_CONFIG, "no-such-file.conf");
    options = options_of();
    options.settings_count = 1;
    must_refuse(&options, HEARSAY_ARGUMENT, "settings is NULL");
    options.settings = settings;
    must_refuse(&options, HEARSAY_CONFIG, "nothing");
    options.settings = output;
    must_refuse(&options, HEARSAY_CONFIG, "name a file");
    options.settings = none;
    must_refuse(&options, HEARSAY_CONFIG, "setting 0 is NULL");
    options = options_of(); /* there are no key files here */
    must_refuse(&options, HEARSAY_FAILED, "keygen");
}

static void tensors_that_are_wrong_are_refused(void **state)
{
    struct hearsay_options options;
    (void)state;
    options = options_of();
    options.tensors_count = 0;
    must_refuse(&options, HEARSAY_ARGUMENT, "0 tensors");
    options = options_of();
    options.tensors = NULL;
    must_refuse(&options, HEARSAY_ARGUMENT, "tensors");
    options = options_of();
    tensors[1].name = NULL;
    must_refuse(&options, HEARSAY_ARGUMENT, "tensor 1: its name");
    options = options_of();
    tensors[1].name = tensors[0].name;
    must_refuse(&options, HEARSAY_ARGUMENT, "two tensors have this name");
    options = options_of();
    tensors[0].data = NULL;
    must_refuse(&options, HEARSAY_ARGUMENT, "plane.weight: its data");
    options = options_of();
    tensors[0].data = (char *)tensors[0].data + 1;
    must_refuse(&options, HEARSAY_ARGUMENT, "not aligned");
    options = options_of();
    tensors[0].device = 3;
    must_refuse(&options, HEARSAY_UNSUPPORTED, "device 3");
    options = options_of();
    tensors[0].device = tensors[1].device = HEARSAY_CUDA;
    tensors[0].device_index = tensors[1].device_index = -1;
    must_refuse(&options, HEARSAY_UNSUPPORTED, "no GPU -1");
    options = options_of();
    tensors[0].device = tensors[1].device = HEARSAY_CUDA;
    tensors[1].device_index = 1;
    must_refuse(&options, HEARSAY_UNSUPPORTED, "another device than the first");
    options = options_of();
    tensors[0].dtype = 3;
    must_refuse(&options, HEARSAY_UNSUPPORTED, "type 3 or flag 0 is unknown");
    options = options_of();
    tensors[0].shape[0] = 0;
    must_refuse(&options, HEARSAY_ARGUMENT, "its shape");
    options = options_of();
    tensors[0].shape[0] = tensors[0].shape[1] = INT32_MAX;
    must_refuse(&options, HEARSAY_ARGUMENT, "its shape");
    options = options_of();
    tensors[0].dimensions = HEARSAY_DIMENSIONS_MAX + 1;
    must_refuse(&options, HEARSAY_ARGUMENT, "its shape");
}

static void a_name_has_so_many_bytes_at_most(void **state)
{
    char name[HEARSAY_NAME_MAX + 2];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[HEARSAY_NAME_MAX + 1] = '\0';
    struct hearsay_options options = options_of();
    tensors[1].name = name;
    must_refuse(&options, HEARSAY_ARGUMENT, "tensor 1: its name");
    name[HEARSAY_NAME_MAX] = '\0';
    must_refuse(&options, HEARSAY_FAILED, "keygen"); /* there are no key files here */
}

static void first_weights_that_are_no_numbers_are_refused(void **state)
{
    struct program program;
    (void)state;
    program_init(&program, "no-numbers", 9);
    program.weights[3] = NAN;
    assert_int_equal(program_open(&program), HEARSAY_ARGUMENT);
    assert_non_null(strstr(program_sentence(&program, HEARSAY_ARGUMENT), "plane.weight: a weight"));
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

/* The node applies updates and publishes nothing. */
static void a_node_that_does_not_train_may_step(void **state)
{
    struct program program;
    (void)state;
    program_init(&program, "keeps", 9);
    program.setting = "train.enabled=no";
    assert_int_equal(program_open(&program), HEARSAY_OK);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_step(program.node, 1, 0, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(program_info(&program).steps == 1 && program_info(&program).rumors == 0);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

/* After each reset the program makes a step, and the node is told of both in one call. */
static void weights_that_are_no_numbers_three_times_end_the_node(void **state)
{
    struct program program;
    int error = HEARSAY_OK;
    (void)state;
    program_init(&program, "diverges", 9);
    assert_int_equal(program_open(&program), HEARSAY_OK);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    while (error == HEARSAY_OK) {
        program.weights[0] = NAN;
        error = hearsay_step(program.node, 1, (double)INFINITY, NULL);
    }
    assert_int_equal(error, HEARSAY_ENDED);
    assert_non_null(strstr(program_sentence(&program, error), "three times within an hour"));
    assert_true(program_info(&program).resets >= 3);
    assert_int_equal(hearsay_close(program.node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void calls_without_a_node_are_refused(void **state)
{
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    size_t bytes = 0;
    char text[64];
    (void)state;
    assert_int_equal(hearsay_join(NULL, 0), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_stream(NULL, NULL), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_step(NULL, 1, 0, NULL), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_settle(NULL, 0), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_base(NULL, tensors, 1), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_save(NULL, NULL, 0), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_extra(NULL, NULL, &bytes), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_info(NULL, &info), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_status(NULL, text, &bytes), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_close(NULL, 0), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_free(NULL), HEARSAY_OK);
    assert_int_equal(hearsay_error_text(NULL, HEARSAY_BUSY, NULL, 0), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_error_text(NULL, 99, text, sizeof text), HEARSAY_OK);
    assert_string_equal(text, "unknown error");
    for (int error = 0; error <= HEARSAY_ENDED; error++) {
        assert_int_equal(hearsay_error_text(NULL, error, text, sizeof text), HEARSAY_OK);
        assert_true(strlen(text) > 10);
    }
}

/* Opens a node whose only peer does not answer. The node trains alone after ten seconds. */
static void open_one(struct program *program, const char *name)
{
    program_init(program, name, 9);
    program->peers = "127.0.0.1:9";
    if (program_open(program) != HEARSAY_OK)
        fail_msg("%s", program_sentence(program, HEARSAY_FAILED));
}

static void arguments_of_an_open_node_are_looked_at(void **state)
{
    struct program program;
    struct hearsay_info info = {.abi = 77};
    char small[8];
    size_t bytes = sizeof small;
    (void)state;
    open_one(&program, "arguments");
    struct hearsay *node = program.node;
    assert_int_equal(hearsay_step(node, 1, 0, NULL), HEARSAY_NOT_JOINED);
    assert_int_equal(hearsay_settle(node, 0), HEARSAY_NOT_JOINED);
    assert_int_equal(hearsay_save(node, NULL, 0), HEARSAY_NOT_JOINED);
    assert_int_equal(hearsay_join(node, (double)NAN), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_stream(node, NULL),
                     HEARSAY_UNSUPPORTED); /* its tensors are in main memory */
    assert_int_equal(hearsay_join(node, 0), HEARSAY_TIMEOUT);
    assert_int_equal(hearsay_join(node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_join(node, 0), HEARSAY_OK); /* a second join has no effect */
    assert_int_equal(hearsay_step(node, 0, 0, NULL), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_step(node, UINT64_MAX, 0, NULL), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_step(node, 1, (double)NAN, NULL), HEARSAY_OK);
    assert_int_equal(hearsay_settle(node, (double)NAN), HEARSAY_ARGUMENT);
    program_tensors(&program, tensors);
    assert_int_equal(hearsay_base(node, NULL, 2), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_base(node, tensors, 1), HEARSAY_ARGUMENT);
    const struct hearsay_tensor swapped[] = {tensors[1], tensors[0]};
    assert_int_equal(hearsay_base(node, swapped, 2), HEARSAY_ARGUMENT);
    tensors[0].shape[0]++;
    assert_int_equal(hearsay_base(node, tensors, 2), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_save(node, NULL, 4), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_extra(node, NULL, NULL), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_extra(node, small, &bytes), HEARSAY_OK);
    assert_int_equal(bytes, 0);
    bytes = sizeof small;
    assert_int_equal(hearsay_status(node, small, &bytes), HEARSAY_TOO_SMALL);
    assert_true(bytes > sizeof small);
    assert_int_equal(hearsay_info(node, &info), HEARSAY_ABI_UNKNOWN);
    assert_int_equal(hearsay_info(node, NULL), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_close(node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_close(node, 0), HEARSAY_CLOSED);
    assert_int_equal(hearsay_step(node, 1, 0, NULL), HEARSAY_CLOSED);
    assert_int_equal(hearsay_status(node, small, &bytes), HEARSAY_CLOSED);
    assert_true(program_info(&program).steps == 1); /* info still has the last values */
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
}

static void *join_for_ever(void *argument)
{
    const struct program *program = argument;
    int error;
    while ((error = hearsay_join(program->node, PROGRAM_FOREVER)) == HEARSAY_BUSY)
        (void)sched_yield(); /* the first thread was inside a call for a moment */
    return error == HEARSAY_OK ? argument : NULL;
}

/* join_for_ever runs in a second thread. Its join only returns when the node trains alone. */
static void a_second_thread_is_told_that_one_is_inside(void **state)
{
    struct program program;
    pthread_t thread;
    void *joined;
    int error;
    (void)state;
    open_one(&program, "two-threads");
    assert_int_equal(pthread_create(&thread, NULL, join_for_ever, &program), 0);
    while ((error = hearsay_settle(program.node, 0)) == HEARSAY_NOT_JOINED)
        for (int i = 0; i < 100; i++)
            (void)sched_yield(); /* gives the other thread time to enter its call */
    assert_int_equal(error, HEARSAY_BUSY);
    assert_false(program_info(&program).joined); /* any thread may call hearsay_info */
    assert_int_equal(hearsay_free(program.node), HEARSAY_BUSY);
    assert_int_equal(pthread_join(thread, &joined), 0);
    assert_ptr_equal(joined, &program);
    /* hearsay_free also closes the node */
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void a_child_is_told_that_the_node_is_its_parents(void **state)
{
    struct program program;
    int status;
    (void)state;
    open_one(&program, "fork");
    const pid_t child = fork();
    if (child == 0) {
        struct hearsay_info info = {.abi = HEARSAY_ABI};
        char text[128];
        const bool is_told =
            hearsay_join(program.node, 0) == HEARSAY_FORKED &&
            hearsay_info(program.node, &info) == HEARSAY_FORKED &&
            hearsay_close(program.node, 0) == HEARSAY_FORKED &&
            hearsay_free(program.node) == HEARSAY_FORKED &&
            hearsay_error_text(program.node, HEARSAY_FORKED, text, sizeof text) == HEARSAY_OK;
        _exit(is_told ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void a_state_folder_is_one_nodes(void **state)
{
    struct program first, second;
    (void)state;
    open_one(&first, "folder");
    program_init(&second, "folder", 9);
    assert_int_equal(program_open(&second), HEARSAY_FAILED);
    assert_non_null(strstr(program_sentence(&second, HEARSAY_FAILED), "state"));
    assert_int_equal(hearsay_free(second.node), HEARSAY_OK);
    assert_int_equal(hearsay_free(first.node), HEARSAY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_are_wrong_are_refused),
        cmocka_unit_test(tensors_that_are_wrong_are_refused),
        cmocka_unit_test(a_name_has_so_many_bytes_at_most),
        cmocka_unit_test(first_weights_that_are_no_numbers_are_refused),
        cmocka_unit_test(a_node_that_does_not_train_may_step),
        cmocka_unit_test(weights_that_are_no_numbers_three_times_end_the_node),
        cmocka_unit_test(calls_without_a_node_are_refused),
        cmocka_unit_test(arguments_of_an_open_node_are_looked_at),
        cmocka_unit_test(a_second_thread_is_told_that_one_is_inside),
        cmocka_unit_test(a_child_is_told_that_the_node_is_its_parents),
        cmocka_unit_test(a_state_folder_is_one_nodes),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
