/* The sandbox: a node gives up permissions that it does not need before it reads any bytes from
 * others, for all its threads and permanently.
 *
 *   Landlock   files are written below node.state_dir, the log and /dev/null alone; read where the
 *              system and what the configuration names are, and nowhere else, unless a GPU may be
 *              used, whose libraries read where they please, name their threads and keep compiled
 *              kernels in a folder of node.state_dir (or CUDA_CACHE_PATH); no program is started; no TCP port is bound but that of node.listen, or a free one; no signal is
 *              sent to others. Where several GPUs are named, files are written in /dev/shm, and any
 *              free port bound
 *   seccomp    calls that no node needs fail with EPERM: programs, namespaces, mounts, modules,
 *              other processes' memory, other users, odd sockets, typing into a terminal
 *
 * What is left: to connect anywhere, by Unix sockets too (a service that starts programs for
 * everybody who asks does it for a node, too), to send UDP, and to change the mode of own files.
 *
 * Each as far as the kernel has it; what it has is said at the start, and by doctor. Landlock rules
 * are those of the calling thread and of those that it makes, so begin before there are others.
 * Held by tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_DAEMON_SANDBOX_H
#define HEARSAY_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

#define SANDBOX_TEXT_BYTES 160

struct sandbox {
    int landlock;      /* version of its interface; 0: the kernel has none, or it is disabled */
    bool has_filter;   /* seccomp */
    bool is_entered;   /* for good */
    uint32_t threads;  /* that libraries had made before, and Landlock does not know */
    bool reads_freely; /* because a GPU may be used */
};

/* Returns what this kernel supports for a node of this configuration. */
struct sandbox sandbox_find(const struct config *config);
/* Names the state folder's cuda-cache as the place of kernels that the driver compiles for a GPU that
 * the module has no code for. Its usual place, below the home folder, may not be written to in a
 * sandbox, so each start would compile them. Before CUDA is loaded and before there are threads.
 * Where the folder cannot be made, or the environment names one, nothing changes. */
void sandbox_keep_kernels(const struct config *config);
/* Enters it, unless it has before, or node.sandbox is no. FAILED: the kernel refuses what it says
 * that it has. The state folder must be there. */
enum error sandbox_enter(const struct config *config, struct sandbox *sandbox,
                         struct problem *problem) MUST_USE;
/* "Landlock 7, seccomp: ...", in a sentence. */
void sandbox_text(const struct config *config, const struct sandbox *sandbox,
                  char out[static SANDBOX_TEXT_BYTES]);

#endif
