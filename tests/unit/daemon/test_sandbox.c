/* The sandbox: a node cannot use a permission that it gave up, and can do everything that it needs.
 * A sandbox is permanent, so each test runs in a child process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sandbox.h"

#define WENT_WELL 7

static char folder[] = "/tmp/test_sandbox-XXXXXX";
static struct config config;

static char *below(const char *name)
{
    static char path[CONFIG_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name)
{
    FILE *file = fopen(below(name), "w");
    assert_non_null(file);
    (void)fputs("text\n", file);
    assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    config_defaults(&config);
    assert_int_equal(mkdir(strcpy(config.node.state_dir, below("state")), 0700), 0);
    assert_int_equal(mkdir(below("data"), 0700), 0);
    assert_int_equal(mkdir(below("keys"), 0700), 0);
    put("data/one.txt");
    put("keys/node.key");
    put("keys/other.key");
    assert_int_equal(mkdir(below("blobs"), 0700), 0);
    put("blobs/x");
    put("blobs/y");
    assert_int_equal(symlink("../blobs/x", below("data/linked.txt")), 0);
    assert_int_equal(mkdir(below("[D] a, b"), 0700), 0);
    put("[D] a, b/x1.npy");
    put("[D] a, b/y, z.npy");
    assert_int_equal(mkdir(below("[set]"), 0700), 0);
    put("[set]/train-images-idx3-ubyte");
    (void)snprintf(config.data.x, sizeof config.data.x, "%s, one", below("[D] a, b/x*.npy"));
    (void)strcpy(config.data.y, below("[D] a, b/y, z.npy"));
    (void)strcpy(config.data.dir, below("[set]"));
    put("other");
    put("log");
    (void)snprintf(config.data.text, sizeof config.data.text, "%s, /nowhere/x",
                   below("data/*.txt"));
    (void)snprintf(config.data.valid, sizeof config.data.valid, "%s", below("log"));
    (void)strcpy(config.node.identity, below("keys/node.key"));
    (void)strcpy(config.node.log, below("log"));
    (void)strcpy(config.node.listen.host, "127.0.0.1");
    config.node.listen.port = 0;
    return 0;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static bool can_open(const char *path, int how)
{
    const int file = open(path, how | O_CLOEXEC, 0600);
    if (file < 0 && errno != EACCES && errno != EPERM)
        _exit(1);
    if (file >= 0)
        (void)close(file);
    return file >= 0;
}

static bool can_listen_at(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool can = bind(file, (const struct sockaddr *)&address, sizeof address) == 0;
    if (!can && errno != EACCES)
        _exit(2);
    (void)close(file);
    return can;
}

static bool can_execute(void)
{
    char *const words[] = {"true", NULL};
    (void)execv("/bin/true", words);
    return errno != EPERM;
}

/* Runs `story` in a child process inside the sandbox, and checks that it returns true. */
static void play(bool (*story)(void))
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        struct sandbox sandbox = {0};
        struct problem problem;
        if (sandbox_enter(&config, &sandbox, &problem) != OK) {
            (void)fprintf(stderr, "%s\n", problem.text);
            _exit(3);
        }
        _exit(story() ? WENT_WELL : 4);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), WENT_WELL);
}

static bool keeps_its_state(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char from[CONFIG_PATH_BYTES];
    const int endpoint = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)strcpy(address.sun_path, below("state/endpoint"));
    (void)strcpy(from, below("state/a"));
    return can_open(from, O_WRONLY | O_CREAT | O_TRUNC) && rename(from, below("state/b")) == 0 &&
           can_open(below("state/b"), O_RDONLY) && unlink(below("state/b")) == 0 &&
           bind(endpoint, (const struct sockaddr *)&address, sizeof address) == 0 &&
           unlink(address.sun_path) == 0;
}

static bool reads_what_is_configured(void)
{
    return can_open(below("data/one.txt"), O_RDONLY) &&
           can_open(below("data/linked.txt"), O_RDONLY) &&
           can_open(below("data"), O_RDONLY | O_DIRECTORY) && can_open(below("log"), O_RDONLY) &&
           can_open(below("keys/node.key"), O_RDONLY) && can_open("/etc/hosts", O_RDONLY) &&
           can_open("/proc/self/maps", O_RDONLY);
}

static bool reads_names_with_brackets_and_commas(void)
{
    return can_open(below("[D] a, b/x1.npy"), O_RDONLY) &&
           can_open(below("[D] a, b/y, z.npy"), O_RDONLY) &&
           can_open(below("[D] a, b"), O_RDONLY | O_DIRECTORY) &&
           can_open(below("[set]/train-images-idx3-ubyte"), O_RDONLY);
}

static bool adds_to_its_log(void)
{
    return can_open(below("log"), O_WRONLY | O_APPEND | O_CREAT);
}

static bool reads_nothing_else(void)
{
    return !can_open(below("other"), O_RDONLY) && !can_open(below("blobs/y"), O_RDONLY) &&
           !can_open(folder, O_RDONLY | O_DIRECTORY) &&
           !can_open(below("keys/other.key"), O_RDONLY) && !can_open("/proc/1/status", O_RDONLY) &&
           !can_open("/tmp", O_RDONLY | O_DIRECTORY);
}

static bool writes_nothing_else(void)
{
    return !can_open(below("other"), O_WRONLY) && !can_open(below("fresh"), O_WRONLY | O_CREAT) &&
           !can_open(below("data/one.txt"), O_WRONLY) &&
           !can_open(below("keys/node.key"), O_WRONLY) && unlink(below("other")) != 0 &&
           mkdir(below("state/folder"), 0700) != 0;
}

static bool listens_nowhere_else(void)
{
    return can_listen_at(0) && !can_listen_at(47113);
}

static bool brings_gpus_together(void)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/dev/shm/test_sandbox-%d", (int)getpid());
    const bool is_well = can_open(path, O_RDWR | O_CREAT) && unlink(path) == 0;
    return is_well && can_listen_at(0);
}

static bool writes_no_shared_memory(void)
{
    return !can_open("/dev/shm/test_sandbox", O_RDWR | O_CREAT) && !can_listen_at(0);
}

static void *name(void *named)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/comm", syscall(SYS_gettid));
    *(bool *)named = can_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    return NULL;
}

/* Names a thread, as CUDA does. If that is forbidden, CUDA finds no GPU. */
static bool names_its_threads(void)
{
    pthread_t thread;
    bool named = false;
    return pthread_create(&thread, NULL, name, &named) == 0 && pthread_join(thread, NULL) == 0 &&
           named;
}

/* Writes a file to the cache of compiled kernels, as NVIDIA's driver does. */
static bool keeps_kernels(void)
{
    const char *cache = getenv("CUDA_CACHE_PATH");
    char path[CONFIG_PATH_BYTES + 16];
    if (!cache)
        return false;
    (void)snprintf(path, sizeof path, "%s/1", cache);
    if (mkdir(path, 0700) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/1/kernel", cache);
    const bool is_kept = can_open(path, O_WRONLY | O_CREAT) && can_open(path, O_RDWR);
    return is_kept && unlink(path) == 0 && rmdir(strcpy(path, below("state/cuda-cache/1"))) == 0;
}

static bool names_no_threads(void)
{
    return !names_its_threads();
}

static bool starts_no_program(void)
{
    return !can_execute();
}

static bool touches_no_other_process(void)
{
    return kill(getppid(), 0) != 0 && errno == EPERM;
}

static void *nothing(void *unused)
{
    return unused;
}

static bool opens_no_odd_socket(void)
{
    const int raw = socket(AF_PACKET, SOCK_RAW, 0), odd = socket(AF_KEY, SOCK_RAW, 0);
    const int multipath = socket(AF_INET, SOCK_STREAM, 262);
    const int tables = socket(AF_NETLINK, SOCK_RAW, 12); /* nftables */
    const int usual = socket(AF_INET6, SOCK_STREAM, 0), routes = socket(AF_NETLINK, SOCK_RAW, 0);
    return raw < 0 && odd < 0 && multipath < 0 && tables < 0 && usual >= 0 && routes >= 0;
}

static bool makes_threads_and_no_namespaces(void)
{
    pthread_t thread;
    if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL) >= 0 || errno != EPERM)
        return false;
    return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

static void a_log_need_not_be_a_file(void **state)
{
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    (void)snprintf(config.node.log, sizeof config.node.log, "/dev/fd/%d", ends[1]);
    play(keeps_its_state);
    (void)strcpy(config.node.log, below("log"));
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static bool may_do_anything(void)
{
    return can_open(below("other"), O_RDWR) && can_listen_at(47113) && can_execute();
}

static struct sandbox kernel_has(void)
{
    return sandbox_find(&config);
}

static void the_sandbox_allows_all_that_a_node_needs(void **state)
{
    (void)state;
    play(keeps_its_state);
    play(reads_what_is_configured);
    play(reads_names_with_brackets_and_commas);
    play(adds_to_its_log);
}

static void nothing_else_is_read_or_written(void **state)
{
    (void)state;
    if (kernel_has().landlock == 0)
        skip();
    play(writes_nothing_else);
    if (!kernel_has().reads_freely)
        play(reads_nothing_else);
}

static void no_other_port_is_bound(void **state)
{
    (void)state;
    if (kernel_has().landlock < 4)
        skip();
    play(listens_nowhere_else);
}

static void a_gpu_may_be_used(void **state)
{
    (void)state;
    if (kernel_has().landlock == 0)
        skip();
    (void)strcpy(config.train.device, "cuda:0");
    play(names_its_threads);
    sandbox_keep_kernels(&config);
    play(keeps_kernels);
    play(writes_nothing_else);
    assert_int_equal(unsetenv("CUDA_CACHE_PATH"), 0);
    assert_int_equal(rmdir(below("state/cuda-cache")), 0);
    (void)strcpy(config.train.device, "cpu");
    sandbox_keep_kernels(&config);
    assert_null(getenv("CUDA_CACHE_PATH"));
    assert_int_not_equal(access(below("state/cuda-cache"), F_OK), 0);
    play(names_no_threads);
    (void)strcpy(config.train.device, "auto");
}

static void several_gpus_may_be_brought_together(void **state)
{
    (void)state;
    struct stat about;
    const struct config before = config;
    const char *const several[] = {"cuda:0,1", "cuda:all"};
    if (kernel_has().landlock < 4 || stat("/dev/shm", &about) != 0)
        skip();
    config.node.listen.port = 47112;
    for (size_t i = 0; i < 2; i++) {
        (void)strcpy(config.train.device, several[i]);
        play(brings_gpus_together);
    }
    (void)strcpy(config.train.device, "cuda:0");
    play(writes_no_shared_memory);
    config = before;
}

static void no_other_process_is_signalled(void **state)
{
    (void)state;
    if (kernel_has().landlock < 6)
        skip();
    play(touches_no_other_process);
}

static void odd_calls_fail(void **state)
{
    (void)state;
    if (!kernel_has().has_filter)
        skip();
    play(starts_no_program);
    play(opens_no_odd_socket);
    play(makes_threads_and_no_namespaces);
}

static void it_can_be_left_out(void **state)
{
    (void)state;
    config.node.sandbox = false;
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        struct sandbox sandbox = {0};
        struct problem problem;
        if (sandbox_enter(&config, &sandbox, &problem) == OK)
            (void)may_do_anything(); /* becomes /bin/true if that is allowed */
        _exit(5);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    config.node.sandbox = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sandbox_allows_all_that_a_node_needs),
        cmocka_unit_test(a_log_need_not_be_a_file),
        cmocka_unit_test(nothing_else_is_read_or_written),
        cmocka_unit_test(no_other_port_is_bound),
        cmocka_unit_test(a_gpu_may_be_used),
        cmocka_unit_test(several_gpus_may_be_brought_together),
        cmocka_unit_test(no_other_process_is_signalled),
        cmocka_unit_test(odd_calls_fail),
        cmocka_unit_test(it_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
