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
 * Still allowed: connecting anywhere, also by Unix sockets (a service that starts programs on
 * request does so for a node as well), sending UDP, and changing the mode of own files. Each
 * restriction depends on the kernel; the node's first notes and doctor list the available ones.
 * Landlock rules hold for the calling thread and for threads that it creates later, so enter the
 * sandbox before creating threads. Held by tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_DAEMON_SANDBOX_H
#define HEARSAY_DAEMON_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

#define SANDBOX_TEXT_BYTES 160

struct sandbox {
    /* Version of the Landlock interface; 0 = missing or disabled in the kernel. */
    int landlock;
    bool has_filter;   /* seccomp */
    bool is_entered;   /* the sandbox was entered, permanently */
    uint32_t threads;  /* threads that libraries created before, which Landlock does not restrict */
    bool reads_freely; /* files are readable everywhere, because a GPU may be used */
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
/* Describes the sandbox in a sentence, such as "Landlock 7, seccomp: ...". */
void sandbox_text(const struct config *config, const struct sandbox *sandbox,
                  char out[static SANDBOX_TEXT_BYTES]);

#endif
