#include "daemon/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "config/config_key.h"
#include "daemon/call_filter.h"
#include "data/file_list.h"

/* Numbers and structs of the kernel's Landlock interface. They are defined here because the
 * system's headers may be older than the kernel. */
#define RULESET_VERSION 1u /* flag with which landlock_create_ruleset returns its version */
#define RULE_PATH       1
#define RULE_PORT       2
#define FS_EXECUTE      (1ull << 0)
#define FS_WRITE_FILE   (1ull << 1)
#define FS_READ_FILE    (1ull << 2)
#define FS_READ_DIR     (1ull << 3)
#define FS_REMOVE_DIR   (1ull << 4)
#define FS_REMOVE_FILE  (1ull << 5)
#define FS_MAKE_DIR     (1ull << 7)
#define FS_MAKE_REG     (1ull << 8)
#define FS_MAKE_SOCK    (1ull << 9)
#define FS_WRITES       0x1ff2ull    /* accesses of Landlock 1 that change files or folders */
#define FS_REFER        (1ull << 13) /* renaming into other folders; since Landlock 2 */
#define FS_TRUNCATE     (1ull << 14) /* truncating files; since Landlock 3 */
#define NET_BIND        (1ull << 0)  /* binding TCP ports; since Landlock 4 */
#define SCOPE_SIGNAL    (1ull << 1)  /* signals to other processes; since Landlock 6 */

#define READS (FS_READ_FILE | FS_READ_DIR)
#define STATES                                                                                     \
    (READS | FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_REG |          \
     FS_MAKE_SOCK)

#define CUDA_CACHE_PATH   "CUDA_CACHE_PATH" /* environment variable that NVIDIA's driver reads */
#define CUDA_CACHE_FOLDER "cuda-cache"      /* folder for compiled kernels, in the state folder */

struct ruleset {
    uint64_t fs, net, scopes; /* accesses that are forbidden unless a rule allows them */
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

/* Returns true if train.device names a GPU. With `auto`, returns true if a driver's device file
 * exists (/dev/dxg: in WSL), or if HEARSAY_CUDA names a CUDA module. */
static bool may_use_gpu(const struct config *config)
{
    if (strcmp(config->train.device, "auto") != 0)
        return strcmp(config->train.device, "cpu") != 0;
    return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 ||
           getenv("HEARSAY_CUDA");
}

/* Does not count the GPUs of the machine, because that would load libraries, which may create
 * threads. */
static bool may_use_several(const struct config *config)
{
    const char *device = config->train.device;
    return strchr(device, ',') != NULL || strcmp(device, "cuda:all") == 0;
}

struct sandbox sandbox_find(const struct config *config)
{
    return (struct sandbox){
        .landlock = landlock_version(),
        .has_filter = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0,
        .reads_freely = may_use_gpu(config),
    };
}

/* Returns the number of threads except the calling one. /proc/self/task has a folder for each
 * thread, so its link count is the number of threads plus 2. */
static uint32_t threads_of_libraries(void)
{
    struct stat about;
    return stat("/proc/self/task", &about) == 0 ? (uint32_t)about.st_nlink - 3 : 0;
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

/* Allows `rights` for a file, or for all files below a folder. A path that cannot be opened gets no
 * rule. Returns false if the kernel refuses the rule. */
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
    const bool is_done = rule.allowed == 0 ||
                         syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0) == 0 ||
                         errno == EBADFD; /* a pipe or socket, which Landlock does not restrict */
    (void)close(folder);
    return is_done;
}

/* Allows reading the files and folders in a folder whose names begin with `prefix` and not with a
 * dot. Follows symbolic links. */
static bool allow_files_in(int rules, const struct ruleset *forbids, const char *folder,
                           const char *prefix)
{
    char path[PATH_MAX];
    bool is_done = true;
    DIR *open = opendir(folder);
    if (!open)
        return true;
    for (const struct dirent *entry; is_done && (entry = readdir(open));) {
        const bool is_meant =
            entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (is_meant && length < (int)sizeof path)
            is_done = allow(rules, forbids, path, READS);
    }
    (void)closedir(open);
    return is_done;
}

/* Writes the folder of a path to `out`: "a/b" for "a/b/c", "." for "c". */
static void folder_of(const char *path, char out[static CONFIG_PATH_BYTES])
{
    const char *last = strrchr(path, '/');
    const size_t length = last ? (size_t)(last - path) + (last == path) : 0;
    (void)snprintf(out, CONFIG_PATH_BYTES, "%.*s", (int)length, path);
    if (length == 0)
        (void)strcpy(out, ".");
}

/* Allows reading the files of a list such as "a/b-*.npy, c", and listing the folders of its
 * wildcards. If the list is invalid, the data set reports that later. */
static bool allow_listed(int rules, const struct ruleset *forbids, const char *names)
{
    struct file_list list;
    struct problem problem;
    bool is_done = true;
    if (!names[0] || file_list_read(&list, names, "", &problem) != OK)
        return true;
    for (size_t i = 0; i < list.count; i++)
        is_done = is_done && allow(rules, forbids, list.path[i], READS);
    for (size_t i = 0; i < list.folders; i++)
        is_done = is_done && allow(rules, forbids, list.folder[i], FS_READ_DIR);
    file_list_free(&list);
    return is_done;
}

/* Allows the node to use the paths in the configuration. The whole folder of the member list is
 * readable, because people replace the file by a new one. */
static bool allow_configured(int rules, const struct ruleset *forbids, const struct config *config)
{
    char members[CONFIG_PATH_BYTES];
    bool is_done = true;
    for (size_t i = 0; i < config_key_count(); i++) {
        const struct config_key *key = config_key_at(i);
        const char *path = (const char *)config + key->offset;
        if (key->type == CONFIG_PATH && path[0])
            is_done = is_done && allow(rules, forbids, path, READS);
        if (config_key_lists_files(key))
            is_done = is_done && allow_listed(rules, forbids, path);
    }
    folder_of(config->node.members, members);
    if (config->node.members[0])
        is_done = is_done && allow(rules, forbids, members, READS);
    return is_done && allow_files_in(rules, forbids, config->data.dir, "") &&
           (!config->model.start[0] || allow_files_in(rules, forbids, config->model.start, "")) &&
           allow(rules, forbids, config->node.state_dir, STATES) &&
           allow(rules, forbids, config->node.log, FS_WRITE_FILE | FS_TRUNCATE);
}

/* Allows reading the CUDA module, beside the program or in ../lib/hearsay. */
static bool allow_program(int rules, const struct ruleset *forbids)
{
    char path[CONFIG_PATH_BYTES], folder[CONFIG_PATH_BYTES];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    folder_of(path, folder);
    (void)snprintf(path, sizeof path, "%.*s/../lib/hearsay", CONFIG_PATH_BYTES - 40, folder);
    return allow_files_in(rules, forbids, folder, "hearsay-cuda") &&
           allow_files_in(rules, forbids, path, "");
}

/* Allows reading the folder of the DNS resolver's configuration. The file alone is not enough,
 * because other programs replace it by a new one. */
static bool allow_resolver(int rules, const struct ruleset *forbids)
{
    char path[PATH_MAX], folder[CONFIG_PATH_BYTES];
    if (!realpath("/etc/resolv.conf", path) || strlen(path) >= sizeof folder)
        return true;
    folder_of(path, folder);
    return allow(rules, forbids, folder, READS);
}

/* Allows reading what system libraries read: host names, time zone, processor, devices. Also allows
 * writing to /dev/null or, with a GPU, to all of /dev. */
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

static bool allow_port(int rules, const struct ruleset *forbids, const struct address *listen)
{
    const struct port_rule rule = {.allowed = NET_BIND, .port = listen->port};
    return forbids->net == 0 || !listen->host[0] ||
           syscall(SYS_landlock_add_rule, rules, RULE_PORT, &rule, 0) == 0;
}

/* Allows CUDA to name its threads; without this rule, CUDA finds no GPU. */
static bool allow_names_of_threads(int rules, const struct ruleset *forbids)
{
    return allow(rules, forbids, "/proc/self/task", FS_WRITE_FILE | FS_TRUNCATE);
}

/* Allows NCCL to bind free ports and to share memory as files. */
static bool allow_several_gpus(int rules, const struct ruleset *forbids)
{
    const struct port_rule any = {.allowed = NET_BIND, .port = 0};
    const uint64_t shares = READS | FS_WRITE_FILE | FS_TRUNCATE | FS_MAKE_REG | FS_REMOVE_FILE;
    return (forbids->net == 0 || syscall(SYS_landlock_add_rule, rules, RULE_PORT, &any, 0) == 0) &&
           allow(rules, forbids, "/dev/shm", shares);
}

/* Lets the driver store compiled kernels in subfolders of the cache. */
static bool allow_cuda_cache(int rules, const struct ruleset *forbids)
{
    const char *folder = getenv(CUDA_CACHE_PATH);
    return !folder || allow(rules, forbids, folder, STATES | FS_MAKE_DIR);
}

/* Restricts this thread and its later threads. An older kernel knows fewer members of struct
 * ruleset, and accepts newer members if they are 0. Returns false, with errno, if it fails. */
static bool restrict_files(const struct config *config, const struct sandbox *sandbox)
{
    const struct ruleset forbids = forbidden(sandbox);
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &forbids, sizeof forbids, 0);
    if (rules < 0)
        return false;
    const bool is_done =
        allow_system(rules, &forbids, sandbox->reads_freely) && allow_program(rules, &forbids) &&
        allow_resolver(rules, &forbids) && allow_configured(rules, &forbids, config) &&
        allow_port(rules, &forbids, &config->node.listen) &&
        allow_port(rules, &forbids, &config->node.http) &&
        (!sandbox->reads_freely ||
         (allow_names_of_threads(rules, &forbids) && allow_cuda_cache(rules, &forbids))) &&
        (!may_use_several(config) || allow_several_gpus(rules, &forbids)) &&
        syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    const int reason = errno;
    (void)close(rules);
    errno = reason;
    return is_done;
}

/* Returns false if the process has no filter afterwards. An existing filter, such as a container's,
 * may prevent a new one; that is no failure. */
static bool enter_filter(struct sandbox *sandbox)
{
    const bool is_filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) > 0;
    sandbox->has_filter = sandbox->has_filter && call_filter_enter();
    return sandbox->has_filter || is_filtered;
}

void sandbox_keep_kernels(const struct config *config)
{
    char folder[CONFIG_PATH_BYTES + sizeof CUDA_CACHE_FOLDER], path[PATH_MAX];
    if (!may_use_gpu(config) || getenv(CUDA_CACHE_PATH))
        return;
    (void)snprintf(folder, sizeof folder, "%s/%s", config->node.state_dir, CUDA_CACHE_FOLDER);
    if ((mkdir(folder, 0700) == 0 || errno == EEXIST) && realpath(folder, path))
        (void)setenv(CUDA_CACHE_PATH, path, 0);
}

enum error sandbox_enter(const struct config *config, struct sandbox *sandbox,
                         struct problem *problem)
{
    if (sandbox->is_entered || !config->node.sandbox)
        return OK;
    *sandbox = sandbox_find(config);
    sandbox->is_entered = true;
    sandbox->threads = threads_of_libraries();
    if (sandbox->landlock == 0 && !sandbox->has_filter)
        return OK;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        (sandbox->landlock == 0 || restrict_files(config, sandbox)) &&
        (!sandbox->has_filter || enter_filter(sandbox)))
        return OK;
    return problem_set(problem, FAILED,
                       "cannot enter the sandbox: %s; set node.sandbox = no to run without it",
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
    const int used = snprintf(
        out, SANDBOX_TEXT_BYTES, "%s, %s%s", landlock,
        sandbox->has_filter ? "system calls filtered" : "no seccomp in this kernel",
        sandbox->landlock > 0 && sandbox->reads_freely ? "; reads any file, for the GPU" : "");
    if (sandbox->threads > 0 && used < SANDBOX_TEXT_BYTES)
        (void)snprintf(out + used, (size_t)(SANDBOX_TEXT_BYTES - used),
                       "; %u library threads are outside Landlock", (unsigned)sandbox->threads);
}
