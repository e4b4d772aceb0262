/* The sandbox: a node permanently gives up permissions that it does not need, before it reads any
 * bytes from other nodes.
 *
 *   Landlock   files are written only in node.state_dir, to the log and to /dev/null
 *              files are read only where the system's or the configuration's files are
 *              no program is started
 *              no TCP port is bound except those of node.listen and node.http
 *              no signal is sent to other processes
 *   seccomp    system calls that no node needs fail (call_filter.h)
 *
 * If a GPU may be used, its libraries may read all files, write to /dev, name their threads, and
 * store compiled kernels in node.state_dir (or CUDA_CACHE_PATH). If train.device is a list or
 * cuda:all, NCCL may write files in /dev/shm and bind free ports.
 *
 * Still allowed: connecting to any address and to Unix sockets, sending UDP, and changing the mode
 * of own files. So a service that starts programs on request also does that for a node. Each
 * restriction depends on the kernel; the node's first notes and `hearsay doctor` list the available
 * ones. Landlock restricts the calling thread and threads that it creates later, so enter the
 * sandbox before creating threads. Tests: tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_DAEMON_SANDBOX_H
#define HEARSAY_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

#define SANDBOX_TEXT_BYTES 160

struct sandbox {
    /* version of the Landlock interface; 0 = the kernel lacks or disables it */
    int landlock;
    /* The kernel supports seccomp filters; after sandbox_enter: the filter is installed. */
    bool has_filter;
    bool is_entered;
    /* Number of threads that libraries created before the sandbox was entered; Landlock does not
     * restrict them. */
    uint32_t threads;
    bool reads_freely; /* files are readable everywhere, because a GPU may be used */
};

/* Returns what the kernel supports. Enters nothing. */
struct sandbox sandbox_find(const struct config *config);
/* If a GPU may be used and CUDA_CACHE_PATH is not set, sets it to a folder in the state folder. The
 * driver stores kernels there that it compiles for a GPU for which the CUDA module has no code. The
 * driver's usual folder, in the home folder, is not writable in the sandbox, so the driver would
 * otherwise compile the kernels at every start. Call it before CUDA is loaded and before other
 * threads exist. */
void sandbox_keep_kernels(const struct config *config);
/* Enters the sandbox. Does nothing if it was entered before, or if node.sandbox is no. FAILED: the
 * kernel refuses a restriction that it supports. The state folder must exist. */
enum error sandbox_enter(const struct config *config, struct sandbox *sandbox,
                         struct problem *problem) MUST_USE;
/* For example "Landlock 7, system calls filtered". */
void sandbox_text(const struct config *config, const struct sandbox *sandbox,
                  char out[static SANDBOX_TEXT_BYTES]);

#endif
