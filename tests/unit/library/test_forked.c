/* A program's forked child processes have neither the lock, the port nor the connections of the
 * program's node. An error names the process that holds the lock. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/library/program.h"

/* A child that lives until end_child. It reads from a pipe to which no process writes. */
struct child {
    pid_t pid;
    int end; /* the test's end of the pipe; closing it ends the child */
};

static _Noreturn void wait_for_end(const int ends[2])
{
    char byte;
    (void)close(ends[1]);
    _exit(read(ends[0], &byte, 1) != 0);
}

/* Forks a child. is_raw: without the handlers of pthread_atfork, as clone() does. */
static struct child begin_child(bool is_raw)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = is_raw ? (pid_t)syscall(SYS_fork) : fork();
    if (pid == 0)
        wait_for_end(ends);
    assert_true(pid > 0);
    assert_int_equal(close(ends[0]), 0);
    return (struct child){.pid = pid, .end = ends[1]};
}

static void end_child(const struct child *child)
{
    int status;
    assert_int_equal(close(child->end), 0);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_int_equal(status, 0);
}

static void end(struct program *program)
{
    assert_int_equal(hearsay_close(program->node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_free(program->node), HEARSAY_OK);
}

/* Opens a node, forks, closes the node, and opens it again at its old port. */
static void reopen(const char *name, bool is_raw)
{
    struct program program, again;
    char address[64], setting[96];
    program_init(&program, name, 11);
    program_must_open(&program);
    program_address(&program, address);
    const struct child child = begin_child(is_raw);
    end(&program);
    (void)snprintf(setting, sizeof setting, "node.listen=%s", address);
    program_init(&again, name, 11);
    again.setting = setting;
    program_must_open(&again);
    end(&again);
    end_child(&child);
}

static void a_node_is_opened_again_while_a_child_lives(void **state)
{
    (void)state;
    reopen("again", false);
}

static void a_child_that_shares_all_files_does_not_hold_a_closed_node(void **state)
{
    (void)state;
    reopen("shared", true);
}

static void a_neighbour_sees_the_end_while_a_child_lives(void **state)
{
    struct program first, second;
    char address[64];
    (void)state;
    program_init(&first, "stays", 12);
    program_must_open(&first);
    program_address(&first, address);
    program_init(&second, "goes", 13);
    second.peers = address;
    program_must_open(&second);
    assert_int_equal(hearsay_join(first.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_join(second.node, PROGRAM_FOREVER), HEARSAY_OK);
    while (program_info(&first).neighbours != 1)
        (void)hearsay_settle(first.node, 0.05);
    const struct child child = begin_child(false);
    end(&second);
    while (program_info(&first).neighbours != 0)
        (void)hearsay_settle(first.node, 0.05);
    end(&first);
    end_child(&child);
}

static unsigned free_port(void)
{
    struct sockaddr_in bound = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof bound;
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(file, (const struct sockaddr *)&bound, bytes), 0);
    assert_int_equal(getsockname(file, (struct sockaddr *)&bound, &bytes), 0);
    assert_int_equal(close(file), 0);
    return ntohs(bound.sin_port);
}

static void the_port_of_the_page_is_free_while_a_child_lives(void **state)
{
    struct program program, again;
    char setting[64];
    (void)state;
    (void)snprintf(setting, sizeof setting, "node.http=127.0.0.1:%u", free_port());
    program_init(&program, "page", 14);
    program.setting = setting;
    program_must_open(&program);
    const struct child child = begin_child(false);
    end(&program);
    program_init(&again, "page", 14);
    again.setting = setting;
    program_must_open(&again);
    end(&again);
    end_child(&child);
}

static void a_killed_program_is_started_again_while_its_child_lives(void **state)
{
    struct program program;
    int ends[2], begun[2], status;
    char byte = 0;
    (void)state;
    program_need_identity("killed.key", 15);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(begun), 0);
    const pid_t killed = fork();
    if (killed == 0) {
        program_init(&program, "killed", 15);
        if (program_open(&program) != HEARSAY_OK)
            _exit(1);
        if (fork() == 0) {
            (void)!write(begun[1], &byte, 1);
            wait_for_end(ends);
        }
        (void)!read(begun[0], &byte, 1); /* fork has returned in the child */
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(killed, &status, 0), killed);
    assert_true(WIFSIGNALED(status));
    program_init(&program, "killed", 15);
    program_must_open(&program);
    end(&program);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(close(begun[0]), 0);
    assert_int_equal(close(begun[1]), 0);
}

static void must_name(struct program *program, pid_t holder)
{
    char words[64];
    assert_int_equal(program_open(program), HEARSAY_FAILED);
    const char *text = program_sentence(program, HEARSAY_FAILED);
    (void)snprintf(words, sizeof words, "held by process %ld", (long)holder);
    if (!strstr(text, "another node uses this state_dir") || !strstr(text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, text);
    assert_int_equal(hearsay_free(program->node), HEARSAY_OK);
}

static void the_process_that_holds_the_lock_is_named(void **state)
{
    struct program program, second;
    int ready[2], ends[2], status;
    char byte;
    (void)state;
    program_need_identity("held.key", 16);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(ends), 0);
    const pid_t holder = fork();
    if (holder == 0) {
        program_init(&program, "held", 16);
        if (program_open(&program) != HEARSAY_OK || write(ready[1], "r", 1) != 1)
            _exit(1);
        wait_for_end(ends);
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    program_init(&second, "held", 16);
    must_name(&second, holder);
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
    assert_int_equal(close(ready[0]), 0);
    assert_int_equal(waitpid(holder, &status, 0), holder);
}

static void a_second_node_of_one_process_names_this_process(void **state)
{
    struct program first, second;
    (void)state;
    program_init(&first, "own", 17);
    program_must_open(&first);
    program_init(&second, "own", 17);
    must_name(&second, getpid());
    end(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_opened_again_while_a_child_lives),
        cmocka_unit_test(a_child_that_shares_all_files_does_not_hold_a_closed_node),
        cmocka_unit_test(a_neighbour_sees_the_end_while_a_child_lives),
        cmocka_unit_test(the_port_of_the_page_is_free_while_a_child_lives),
        cmocka_unit_test(a_killed_program_is_started_again_while_its_child_lives),
        cmocka_unit_test(the_process_that_holds_the_lock_is_named),
        cmocka_unit_test(a_second_node_of_one_process_names_this_process),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
