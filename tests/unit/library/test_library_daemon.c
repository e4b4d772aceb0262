/* A program with a node and `hearsay node` train one model, which the configuration describes. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/library/program.h"

#define HIDDEN  8
#define TENSORS 4
#define RATE    0.1f

/* Network of the preset xor (dense 8, tanh, dense 2), and its gradient. */
static struct {
    float in[HIDDEN][2], in_bias[HIDDEN], out[2][HIDDEN], out_bias[2];
} network, gradient;

static void tensors_of(struct hearsay_tensor tensors[TENSORS])
{
    const struct hearsay_tensor all[TENSORS] = {
        {.name = "2.dense.bias", .data = network.out_bias, .shape = {2}, .dimensions = 1},
        {.name = "2.dense.weight", .data = network.out, .shape = {2, HIDDEN}, .dimensions = 2},
        {.name = "0.dense.weight", .data = network.in, .shape = {HIDDEN, 2}, .dimensions = 2},
        {.name = "0.dense.bias", .data = network.in_bias, .shape = {HIDDEN}, .dimensions = 1},
    };
    memcpy(tensors, all, sizeof all);
    for (int i = 0; i < TENSORS; i++)
        tensors[i].device = HEARSAY_CPU;
}

static void back(const float x[2], const float hidden[HIDDEN], const float error[2])
{
    for (int o = 0; o < 2; o++)
        gradient.out_bias[o] += error[o];
    for (int h = 0; h < HIDDEN; h++) {
        float hidden_error = 0;
        for (int o = 0; o < 2; o++) {
            hidden_error += error[o] * network.out[o][h] * (1 - hidden[h] * hidden[h]);
            gradient.out[o][h] += error[o] * hidden[h];
        }
        gradient.in_bias[h] += hidden_error;
        for (int i = 0; i < 2; i++)
            gradient.in[h][i] += hidden_error * x[i];
    }
}

static double learn(int corner)
{
    const float x[2] = {corner & 1 ? 1 : -1, corner & 2 ? 1 : -1};
    const int label = (corner & 1) != corner >> 1;
    float hidden[HIDDEN], y[2], error[2];
    memcpy(y, network.out_bias, sizeof y);
    for (int h = 0; h < HIDDEN; h++) {
        hidden[h] = tanhf(network.in_bias[h] + x[0] * network.in[h][0] + x[1] * network.in[h][1]);
        for (int o = 0; o < 2; o++)
            y[o] += hidden[h] * network.out[o][h];
    }
    const float right = 1 / (1 + expf(y[!label] - y[label]));
    error[label] = right - 1;
    error[!label] = 1 - right;
    back(x, hidden, error);
    return -log((double)right);
}

/* Makes one step of gradient descent on the four samples of exclusive or. Returns the loss. */
static double step(void)
{
    double loss = 0;
    float *weights = &network.in[0][0], *gradients = &gradient.in[0][0];
    memset(&gradient, 0, sizeof gradient);
    for (int corner = 0; corner < 4; corner++)
        loss += learn(corner);
    for (size_t i = 0; i < sizeof network / sizeof *weights; i++)
        weights[i] -= RATE * gradients[i] / 4;
    return loss / 4;
}

static pid_t begin_daemon(const char *address)
{
    char peers[96];
    (void)snprintf(peers, sizeof peers, "node.peers=%s", address);
    const pid_t child = fork();
    if (child != 0)
        return child;
    const int said = open("daemon.said", O_WRONLY | O_CREAT, 0600);
    (void)dup2(said, STDERR_FILENO);
    (void)execl(HEARSAY_PROGRAM, "hearsay", "node", "--set", peers, "--set", "node.listen=none",
                "--set", "node.identity=daemon.key", "--set", "node.swarm_key=swarm.key", "--set",
                "node.state_dir=daemon", "--set", "data.source=xor", "--set", "model.name=xor",
                "--set", "train.batch=4", "--set", "train.samples_max=4000", "--log", "daemon.log",
                (char *)NULL);
    _exit(127);
}

/* Returns the digest of the daemon's last base, from its log. */
static unsigned long long digest_of_daemon(void)
{
    static char line[1 << 16];
    unsigned long long digest = 0;
    FILE *log = fopen("daemon.log", "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log)) {
        const char *at = strstr(line, "\"base_digest\":\"");
        if (at)
            assert_int_equal(sscanf(at, "\"base_digest\":\"%llx", &digest), 1);
    }
    (void)fclose(log);
    return digest;
}

static struct hearsay *open_one(const char *const *settings, uint32_t count)
{
    struct hearsay *node;
    struct hearsay_tensor tensors[TENSORS];
    char text[512];
    tensors_of(tensors);
    const struct hearsay_options options = {.abi = HEARSAY_ABI,
                                            .tensors = tensors,
                                            .tensors_count = TENSORS,
                                            .settings = settings,
                                            .settings_count = count};
    const int error = hearsay_open(&options, &node);
    if (error != HEARSAY_OK) {
        (void)hearsay_error_text(node, error, text, sizeof text);
        fail_msg("%s", text);
    }
    return node;
}

static void both_end_with_one_digest(void **state)
{
    static const char *const settings[] = {"node.listen=127.0.0.1:0",   "node.swarm_key=swarm.key",
                                           "node.identity=program.key", "node.state_dir=program",
                                           "data.source=xor",           "model.name=xor"};
    struct program program = {.name = "program"};
    struct hearsay_info info = {.abi = HEARSAY_ABI};
    char address[64];
    int status;
    (void)state;
    program_need_identity("program.key", 1);
    program_need_identity("daemon.key", 2);
    program.node = open_one(settings, 6);
    program_address(&program, address);
    const pid_t daemon = begin_daemon(address);
    assert_true(daemon > 0);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    do {
        const double loss = step();
        assert_int_equal(hearsay_step(program.node, 4, loss, NULL), HEARSAY_OK);
        info = program_info(&program);
        /* repeats until the nodes know four rumors, some of them from the daemon */
    } while (info.rumors < 4 || info.swarm_samples <= info.samples);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER),
                     HEARSAY_OK); /* publishes the program's last progress */
    assert_int_equal(kill(daemon, SIGTERM), 0);
    assert_int_equal(waitpid(daemon, &status, 0), daemon);
    assert_int_equal(status, 0);
    assert_int_equal(hearsay_settle(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_true(program_info(&program).digest == digest_of_daemon());
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
}

static void tensors_that_the_model_does_not_have_are_refused(void **state)
{
    static const char *const settings[] = {"node.listen=127.0.0.1:0",   "node.swarm_key=swarm.key",
                                           "node.identity=program.key", "node.state_dir=another",
                                           "data.source=xor",           "model.name=xor"};
    struct hearsay_tensor tensors[TENSORS];
    struct hearsay *node;
    const struct hearsay_options options = {.abi = HEARSAY_ABI,
                                            .tensors = tensors,
                                            .tensors_count = TENSORS,
                                            .settings = settings,
                                            .settings_count = 6};
    char text[512];
    (void)state;
    tensors_of(tensors);
    tensors[0].name = "3.dense.bias";
    assert_int_equal(hearsay_open(&options, &node), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_error_text(node, HEARSAY_ARGUMENT, text, sizeof text), HEARSAY_OK);
    assert_non_null(strstr(text, "tensor 3.dense.bias"));
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
    tensors_of(tensors);
    tensors[0].dtype = HEARSAY_FLOAT16;
    assert_int_equal(hearsay_open(&options, &node), HEARSAY_ARGUMENT);
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
}

static void the_base_is_given_in_any_type_and_order(void **state)
{
    static const char *const settings[] = {"node.listen=127.0.0.1:0", "node.swarm_key=swarm.key",
                                           "node.identity=any.key",   "node.state_dir=any",
                                           "data.source=xor",         "model.name=xor"};
    struct hearsay_tensor tensors[TENSORS];
    uint16_t bias[2] = {7, 7};
    (void)state;
    program_need_identity("any.key", 3);
    struct hearsay *node = open_one(settings, 6);
    assert_int_equal(hearsay_join(node, PROGRAM_FOREVER), HEARSAY_OK);
    tensors_of(tensors);
    tensors[0].data = bias;
    tensors[0].dtype = HEARSAY_BFLOAT16;
    assert_int_equal(hearsay_base(node, tensors, TENSORS), HEARSAY_OK);
    assert_true(bias[0] == 0 && bias[1] == 0); /* biases start at 0 */
    const struct hearsay_tensor first = tensors[0];
    bias[0] = 7;
    tensors[0] = tensors[1];
    tensors[1] = first;
    assert_int_equal(hearsay_base(node, tensors, TENSORS), HEARSAY_OK);
    assert_true(bias[0] == 0);
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_end_with_one_digest),
        cmocka_unit_test(tensors_that_the_model_does_not_have_are_refused),
        cmocka_unit_test(the_base_is_given_in_any_type_and_order),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
