#include "daemon/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config/config_key.h"

/* The kernel's interface, by number: headers are older than kernels. */
#define RULESET_VERSION 1u /* flag: say the version */
#define RULE_PATH       1
#define RULE_PORT       2
#define FS_EXECUTE      (1ull << 0)
#define FS_WRITE_FILE   (1ull << 1)
#define FS_READ_FILE    (1ull << 2)
#define FS_READ_DIR     (1ull << 3)
#define FS_REMOVE_DIR   (1ull << 4)
#define FS_REMOVE_FILE  (1ull << 5)
#define FS_MAKE_REG     (1ull << 8)
#define FS_MAKE_SOCK    (1ull << 9)
#define FS_WRITES       0x1ff2ull    /* all that changes something, of version 1 */
#define FS_REFER        (1ull << 13) /* since version 2 */
#define FS_TRUNCATE     (1ull << 14) /* since version 3 */
#define NET_BIND        (1ull << 0)  /* since version 4 */
#define SCOPE_SIGNAL    (1ull << 1)  /* since version 6 */

#define READS (FS_READ_FILE | FS_READ_DIR)
#define STATES                                                                                     \
    (READS | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_REG |          \
     FS_MAKE_SOCK)

struct ruleset {
    uint64_t fs, net, scopes; /* what is forbidden but for the rules */
};

struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

struct port_rule {
    uint64_t allowed, port;
};

static int landlock_version(void)
{
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static bool may_use_gpu(const struct config *config)
{
    return strcmp(config->train.device, "cpu") != 0 &&
           (access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0);
}

struct sandbox sandbox_find(const struct config *config)
{
    return (struct sandbox){
        .landlock = landlock_version(),
        .has_filter = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0,
        .reads_freely = may_use_gpu(config),
    };
}

static struct ruleset forbidden(const struct sandbox *sandbox)
{
    struct ruleset ruleset = {.fs = FS_EXECUTE | FS_WRITES};
    ruleset.fs |= sandbox->reads_freely ? 0 : READS;
    ruleset.fs |= sandbox->landlock >= 2 ? FS_REFER : 0;
    ruleset.fs |= sandbox->landlock >= 3 ? FS_TRUNCATE : 0;
    ruleset.net = sandbox->landlock >= 4 ? NET_BIND : 0;
    ruleset.scopes = sandbox->landlock >= 6 ? SCOPE_SIGNAL : 0;
    return ruleset;
}

/* What is not there cannot be used either, and needs no rule. */
static bool allow(int rules, const struct ruleset *forbids, const char *path, uint64_t rights)
{
    struct stat about;
    const int folder = open(path, O_PATH | O_CLOEXEC);
    if (folder < 0)
        return true;
    const bool is_folder = fstat(folder, &about) == 0 && S_ISDIR(about.st_mode);
    const uint64_t of_files = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE;
    const struct path_rule rule = {.allowed = rights & forbids->fs & (is_folder ? ~0ull : of_files),
                                   .folder = folder};
    const bool is_done =
        rule.allowed == 0 || syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0) == 0;
    (void)close(folder);
    return is_done;
}

/* Of "a/b-*.npy, c": the folders of all names, before the first that has a wildcard. */
static bool allow_folders_of(int rules, const struct ruleset *forbids, const char *names)
{
    char path[CONFIG_PATH_BYTES];
    bool is_done = true;
    while (*names) {
        const size_t length = strcspn(names, ",");
        size_t used = strcspn(names, "*?[,");
        while (used > 0 && names[used - 1] != '/')
            used--;
        if (used < sizeof path) {
            memcpy(path, names, used);
            path[used] = '\0';
            const char *folder = path + strspn(path, " ");
            is_done = is_done && allow(rules, forbids, folder[0] ? folder : ".", READS);
        }
        names += length + (names[length] == ',');
        names += strspn(names, " ");
    }
    return is_done;
}

/* A list of members is replaced by a new file, so its folder is looked into. */
static bool allow_configured(int rules, const struct ruleset *forbids, const struct config *config)
{
    const char *const folders[] = {config->data.x,      config->data.y,      config->data.test_x,
                                   config->data.test_y, config->data.text,   config->data.tokens,
                                   config->data.valid,  config->node.members};
    bool is_done = true;
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        const char *path = (const char *)config + key->offset;
        if (key->type == CONFIG_PATH && path[0])
            is_done = is_done && allow(rules, forbids, path, READS);
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        is_done = is_done && allow_folders_of(rules, forbids, folders[i]);
    return is_done && allow(rules, forbids, config->node.state_dir, STATES) &&
           allow(rules, forbids, config->node.log, FS_WRITE_FILE | FS_TRUNCATE);
}

/* The GPU's part of the program lies beside it. */
static bool allow_program(int rules, const struct ruleset *forbids)
{
    char path[CONFIG_PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *last = strrchr(path, '/');
    if (!last || last == path)
        return true;
    *last = '\0';
    return allow(rules, forbids, path, READS);
}

/* Libraries, names and addresses of hosts, the time zone, and what the processor is. */
static bool allow_system(int rules, const struct ruleset *forbids, bool has_gpu)
{
    static const char *const reads[] = {"/usr",
                                        "/lib",
                                        "/lib64",
                                        "/etc",
                                        "/etc/resolv.conf",
                                        "/run/systemd/resolve",
                                        "/run/resolvconf",
                                        "/run/NetworkManager",
                                        "/sys",
                                        "/proc/self",
                                        "/proc/cpuinfo",
                                        "/proc/meminfo",
                                        "/proc/stat",
                                        "/proc/sys/vm",
                                        "/proc/sys/kernel",
                                        "/dev/urandom"};
    bool is_done = allow(rules, forbids, has_gpu ? "/dev" : "/dev/null", READS | FS_WRITE_FILE);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        is_done = is_done && allow(rules, forbids, reads[i], READS);
    return is_done;
}

static bool allow_port(int rules, const struct ruleset *forbids, const struct config *config)
{
    const struct port_rule rule = {.allowed = NET_BIND, .port = config->node.listen.port};
    return forbids->net == 0 || !config->node.listen.host[0] ||
           syscall(SYS_landlock_add_rule, rules, RULE_PORT, &rule, 0) == 0;
}

/* Older kernels know a shorter struct, and take a longer one if what they do not know is zero. */
static bool restrict_files(const struct config *config, const struct sandbox *sandbox)
{
    const struct ruleset forbids = forbidden(sandbox);
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &forbids, sizeof forbids, 0);
    if (rules < 0)
        return false;
    const bool is_done =
        allow_system(rules, &forbids, sandbox->reads_freely) && allow_program(rules, &forbids) &&
        allow_configured(rules, &forbids, config) && allow_port(rules, &forbids, config) &&
        syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    const int reason = errno;
    (void)close(rules);
    errno = reason;
    return is_done;
}

/* No node calls these, and whoever has taken one over might. */
static const char *const REFUSED[] = {"execve",
                                      "execveat",
                                      "ptrace",
                                      "process_vm_readv",
                                      "process_vm_writev",
                                      "kcmp",
                                      "pidfd_getfd",
                                      "mount",
                                      "umount2",
                                      "pivot_root",
                                      "chroot",
                                      "move_mount",
                                      "open_tree",
                                      "fsopen",
                                      "fsconfig",
                                      "fsmount",
                                      "fspick",
                                      "mount_setattr",
                                      "unshare",
                                      "setns",
                                      "init_module",
                                      "finit_module",
                                      "delete_module",
                                      "kexec_load",
                                      "kexec_file_load",
                                      "bpf",
                                      "perf_event_open",
                                      "userfaultfd",
                                      "add_key",
                                      "request_key",
                                      "keyctl",
                                      "setuid",
                                      "setgid",
                                      "setreuid",
                                      "setregid",
                                      "setresuid",
                                      "setresgid",
                                      "setfsuid",
                                      "setfsgid",
                                      "setgroups",
                                      "capset",
                                      "reboot",
                                      "swapon",
                                      "swapoff",
                                      "settimeofday",
                                      "clock_settime",
                                      "adjtimex",
                                      "clock_adjtime",
                                      "sethostname",
                                      "setdomainname",
                                      "acct",
                                      "quotactl",
                                      "quotactl_fd",
                                      "syslog",
                                      "iopl",
                                      "ioperm",
                                      "modify_ldt",
                                      "personality",
                                      "vhangup",
                                      "nfsservctl",
                                      "open_by_handle_at",
                                      "lookup_dcookie",
                                      "io_uring_setup",
                                      "io_uring_enter",
                                      "io_uring_register",
                                      "memfd_secret",
                                      "fanotify_init"};

/* A leak check at the end of a sanitized program looks at it with ptrace. */
static bool is_needed_here(const char *call)
{
#ifdef __SANITIZE_ADDRESS__
    return strcmp(call, "ptrace") == 0;
#else
    (void)call;
    return false;
#endif
}

/* Sockets of files, of the internet, and to the kernel's tables of addresses. */
static int refuse_odd_sockets(scmp_filter_ctx filter)
{
    static const int used[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    const uint32_t refusal = SCMP_ACT_ERRNO(EPERM);
    int error =
        seccomp_rule_add(filter, refusal, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_GT, AF_NETLINK));
    for (int family = AF_UNSPEC; family < AF_NETLINK; family++) {
        bool is_used = false;
        for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
            is_used |= family == used[i];
        if (!is_used && error == 0)
            error = seccomp_rule_add(filter, refusal, SCMP_SYS(socket), 1,
                                     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family));
    }
    return error;
}

static bool filter_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0] && error == 0; i++) {
        const int call = seccomp_syscall_resolve_name(REFUSED[i]);
        if (call >= 0 && !is_needed_here(REFUSED[i])) /* negative: not on this machine */
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
    }
    if (error == 0)
        error = refuse_odd_sockets(filter);
    if (error == 0)
        error = seccomp_load(filter);
    if (filter)
        seccomp_release(filter);
    errno = -error;
    return error == 0;
}

/* A filter that is there already, a container's, may forbid another one. */
static bool enter_filter(struct sandbox *sandbox)
{
    const bool is_filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
    sandbox->has_filter = sandbox->has_filter && filter_calls();
    return sandbox->has_filter || is_filtered;
}

enum error sandbox_enter(const struct config *config, struct sandbox *sandbox,
                         struct problem *problem)
{
    if (sandbox->is_entered || !config->node.sandbox)
        return OK;
    *sandbox = sandbox_find(config);
    sandbox->is_entered = true;
    if (sandbox->landlock == 0 && !sandbox->has_filter)
        return OK;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        (sandbox->landlock == 0 || restrict_files(config, sandbox)) &&
        (!sandbox->has_filter || enter_filter(sandbox)))
        return OK;
    return problem_set(problem, FAILED,
                       "cannot enter the sandbox: %s; node.sandbox = no runs without it",
                       strerror(errno));
}

void sandbox_text(const struct config *config, const struct sandbox *sandbox,
                  char out[static SANDBOX_TEXT_BYTES])
{
    char landlock[32] = "no Landlock in this kernel";
    if (!config->node.sandbox) {
        (void)snprintf(out, SANDBOX_TEXT_BYTES, "none (node.sandbox = no)");
        return;
    }
    if (sandbox->landlock > 0)
        (void)snprintf(landlock, sizeof landlock, "Landlock %d", sandbox->landlock);
    (void)snprintf(out, SANDBOX_TEXT_BYTES, "%s, %s%s", landlock,
                   sandbox->has_filter ? "system calls filtered" : "no seccomp in this kernel",
                   sandbox->landlock > 0 && sandbox->reads_freely ? "; reads any file, for the GPU"
                                                                  : "");
}
