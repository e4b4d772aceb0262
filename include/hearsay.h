/* libhearsay: a node of a swarm inside your own program, which owns the model and trains it.
 *
 *   your training loop ── open, join, step, step, … finish, base, save, close ──► hearsay
 *                      ◄── the weights move inside these calls, and never else ──
 *
 * The node runs on a thread of its own and is the same as that of `hearsay node`: same protocol,
 * same checkpoints, same digests. It is configured by the same file; of [train] it only looks at
 * what says how your optimizer is (optimizer, momentum) and whether it trains at all, and at [data]
 * and [model] only where there is no run. It installs no signal handler, prints nothing ([node] log
 * is a file), and never ends your process for what you, others or the disk do: only where the
 * system has no memory or no thread left, or a GPU fails. Your locale stays as it is: inside a call
 * a thread has the C locale, and inside your fetch and store your own.
 *
 * One thread at a time may be inside a call; a second one gets HEARSAY_BUSY. hearsay_info,
 * hearsay_status, hearsay_note and hearsay_error_text may be called by any thread at any time
 * before hearsay_free. Every function returns 0 or one of the errors below, and says why in a
 * sentence (hearsay_error_text). After fork a child gets HEARSAY_FORKED, and the node's files are
 * closed there; its parent goes on.
 *
 * The manual is src/library/README.md. Held by tests/unit/library and, that no call in any order
 * does harm, by tests/process/random_calls.
 */
#ifndef HEARSAY_HEARSAY_H
#define HEARSAY_HEARSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEARSAY_API __attribute__((visibility("default")))
#define HEARSAY_ABI 1 /* of this header: goes up when a struct or a function's meaning changes */

enum hearsay_error {
    HEARSAY_OK = 0,
    HEARSAY_TIMEOUT,     /* the time was over first; calling again goes on waiting */
    HEARSAY_ARGUMENT,    /* an argument is missing or wrong, or not as it was at open */
    HEARSAY_ABI_UNKNOWN, /* a struct says another HEARSAY_ABI than the library has */
    HEARSAY_UNSUPPORTED, /* a device, a type or a flag that this library cannot use */
    HEARSAY_BUSY,        /* another thread is inside a call */
    HEARSAY_CLOSED,      /* the node is not open (any more) */
    HEARSAY_FORKED,      /* the node is the parent's, and this is a child */
    HEARSAY_NOT_JOINED,  /* hearsay_join has not returned 0 yet */
    HEARSAY_TOO_SMALL,   /* the buffer: *bytes now says what is needed */
    HEARSAY_CONFIG,      /* the configuration: which file, line and key, and what is wrong */
    HEARSAY_FAILED,      /* a key, a port, the state folder, memory or the disk */
    HEARSAY_REFUSED,     /* nobody takes this node in: another swarm, model or list of members */
    HEARSAY_ENDED        /* the node has ended by itself, or training by hearsay_finish */
};

enum hearsay_dtype { HEARSAY_FLOAT32 = 0, HEARSAY_BFLOAT16 = 1, HEARSAY_FLOAT16 = 2 };
enum hearsay_device { HEARSAY_CPU = 1, HEARSAY_CUDA = 2 }; /* DLPack's numbers */

enum hearsay_level { HEARSAY_NONE = 0, HEARSAY_INFO, HEARSAY_WARNING, HEARSAY_ERROR };

#define HEARSAY_DIMENSIONS_MAX 8
#define HEARSAY_NAME_MAX       256 /* bytes of a tensor's name */
#define HEARSAY_RUN_MAX        64  /* bytes of a run's name */

/* A tensor of the caller's, dense and in C order. Where data lies stays the caller's: it must stay
 * valid from open to close, and is read and written inside calls alone. */
struct hearsay_tensor {
    const char *name;                      /* tells it from the others of the model */
    void *data;                            /* [the product of shape], aligned; nobody else's */
    int64_t shape[HEARSAY_DIMENSIONS_MAX]; /* each at least 1 */
    uint32_t dimensions;                   /* of shape; 0: a single number */
    uint32_t dtype;                        /* enum hearsay_dtype */
    int32_t device;                        /* enum hearsay_device; all of a model on one */
    int32_t device_index;                  /* which, of HEARSAY_CUDA */
    uint32_t flags;                        /* 0 */
};

struct hearsay_options {
    uint32_t abi;           /* HEARSAY_ABI */
    uint32_t tensors_count; /* at least 1 */
    const struct hearsay_tensor
        *tensors;                /* what is trained and shared; copied, but for their data */
    const char *config;          /* a file, as of `hearsay node --config`; NULL: defaults */
    const char *const *settings; /* SECTION.KEY=VALUE, after the file; or NULL */
    uint32_t settings_count;     /* of settings */
    const char *run;             /* name of the run: one on all nodes of a swarm; or NULL */

    /* Where data is a copy of what is trained (that is not dense, say), these keep the two alike:
     * fetch(self) is called before a call first looks at data or writes to it, store(self) at the
     * end of a call that has written to it, both on the caller's thread. NULL: data itself is
     * trained. Data on a GPU: when fetch returns, all that was asked of the GPU must be done; when
     * store is called, and when a call returns, all that the library asked of it is. After
     * hearsay_stream the order of that stream holds instead. */
    void (*fetch)(void *self);
    void (*store)(void *self);
    void *self;
};

/* Numbers that are at hand, some as of the last second; of a node that has ended, the last ones. */
struct hearsay_info {
    uint32_t abi;            /* HEARSAY_ABI, set by the caller */
    uint32_t joined;         /* 1: hearsay_join has returned 0 */
    uint32_t neighbours;     /* open conversations */
    uint32_t members;        /* alive, with this node */
    uint64_t parameters;     /* numbers in all tensors */
    uint64_t steps;          /* made here since open */
    uint64_t samples;        /* behind them */
    uint64_t swarm_samples;  /* learned by all, ever, as schedules count it */
    uint64_t digest;         /* of the shared model: equal digests, equal models */
    uint64_t rumors;         /* that it is the sum of */
    uint64_t waiting;        /* of them, those that the next calls apply */
    uint64_t sent_bytes;     /* to all others, since open */
    uint64_t received_bytes; /* from all others, since open */
    uint64_t relapses;       /* how often a weight was no number, and training began anew */
    uint64_t saturated;      /* weights beyond what the swarm shares: the rest stays here */
};

struct hearsay; /* a node: from hearsay_open to hearsay_free */

/* The HEARSAY_ABI that the library has. */
HEARSAY_API uint32_t hearsay_abi(void);

/* Begins a node with these weights, or goes on from the checkpoint in its state folder. The run and
 * the name, shape and type of each tensor must be equal on all nodes of a swarm. First weights may
 * differ: hearsay_join fills the tensors with those of the swarm. Without a run the model is the
 * one that [model] and [data] describe, for a swarm with nodes that `hearsay node` runs: the
 * tensors have its names (as in base.safetensors), shapes and float32, and what they hold at open
 * is of no account. Whatever comes back, *node is to be given to hearsay_free; NULL: there is none.
 */
HEARSAY_API int hearsay_open(const struct hearsay_options *options, struct hearsay **node);

/* Orders the next calls with this CUDA stream (a cudaStream_t; NULL: the default stream) of the GPU
 * that data is on. A call uses data after all that the stream was asked for before the call, and
 * the stream goes on after what the call asked of the GPU. fetch and store may then use the same
 * stream and wait for nothing. The stream must stay open until the node is freed or follows
 * another. UNSUPPORTED: data is on the CPU; ARGUMENT: it is no stream of that GPU. */
HEARSAY_API int hearsay_stream(struct hearsay *node, void *stream);

/* Waits until the swarm's base is held here, or until nobody has answered for ten seconds and the
 * node goes on alone; then fills the tensors. timeout_s < 0: for ever. */
HEARSAY_API int hearsay_join(struct hearsay *node, double timeout_s);

/* After each step of the optimizer, which had so many samples (at least 1) of this mean loss (0:
 * not known): publishes if it is time, and applies what came. Never waits for the network. *changed
 * (or NULL): 1 if the tensors were written to. */
HEARSAY_API int hearsay_step(struct hearsay *node, uint64_t samples, double loss, int *changed);

/* Publishes as much as one publication takes, and waits until everything known is applied and all
 * neighbours have shown the same version. The rest stays in the tensors, and others may publish
 * later: hearsay_finish makes all models equal. A node without other members publishes all but a
 * fiftieth. */
HEARSAY_API int hearsay_settle(struct hearsay *node, double timeout_s);

/* Ends training: publishes what was learned (a fiftieth may be dropped), and waits until all live
 * members that train have called it too, left or died. 0: all nodes that finished hold one shared
 * model, bit for bit, and keep it: rumors of members that join later are not taken. The tensors are
 * that model. HEARSAY_TIMEOUT: the sentence of hearsay_error_text names the members that the node
 * waits for; calling again goes on waiting. After this call hearsay_step returns HEARSAY_ENDED. */
HEARSAY_API int hearsay_finish(struct hearsay *node, double timeout_s);

/* Sets the tensors to the shared model. This drops all unpublished progress, and any other write to
 * the tensors since the last call. Nothing is published before. */
HEARSAY_API int hearsay_revert(struct hearsay *node);

/* Writes the shared model into tensors with the names and shapes of open, of any type, on the CPU.
 */
HEARSAY_API int hearsay_base(struct hearsay *node, const struct hearsay_tensor *tensors,
                             uint32_t tensors_count);

/* Keeps these bytes (an optimizer's state) in the state folder, and then a checkpoint; waits for
 * the disk. NULL, 0: the bytes that were kept stay. The node makes checkpoints without bytes by
 * itself (save_s), so after a crash the weights may be newer than the bytes. */
HEARSAY_API int hearsay_save(struct hearsay *node, const void *extra, size_t bytes);

/* The bytes that were kept last, also by an earlier process. *bytes: room in extra, then their
 * number; 0: there are none. */
HEARSAY_API int hearsay_extra(struct hearsay *node, void *extra, size_t *bytes);

HEARSAY_API int hearsay_info(struct hearsay *node, struct hearsay_info *info);

/* The oldest note of the node that was not given yet: a sentence in text[bytes], always ended by 0,
 * and its level. HEARSAY_NONE: there is none. The node keeps 64, the more important ones longer. */
HEARSAY_API int hearsay_note(struct hearsay *node, int *level, char *text, size_t bytes);

/* The page of `hearsay status`: one JSON object, with its 0. *bytes: room in json, then what was
 * written or is needed. */
HEARSAY_API int hearsay_status(struct hearsay *node, char *json, size_t *bytes);

/* Leaves the swarm: publishes the rest, waits for grace_s at most ([node] grace_s, if that is
 * shorter; < 0: that) until others have it, and saves a checkpoint. After it only hearsay_info,
 * hearsay_error_text and hearsay_free are of use. Whatever comes back, the node is closed, but
 * after HEARSAY_BUSY and HEARSAY_FORKED. */
HEARSAY_API int hearsay_close(struct hearsay *node, double grace_s);

/* Closes without grace what is still open, and gives the handle back; NULL is allowed. No other
 * thread may use the handle any more. In a child after fork nothing happens. */
HEARSAY_API int hearsay_free(struct hearsay *node);

/* What this error means, as a sentence in text[bytes], always ended by 0: of the last call for
 * this node that returned it, or in general, if there was none. node may be NULL. */
HEARSAY_API int hearsay_error_text(struct hearsay *node, int error, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
