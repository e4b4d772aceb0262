/* libhearsay: a node of a swarm inside your own program, which owns the model and trains it.
 *
 *   your training loop ── open, join, step, step, … finish, base, save, close ──► hearsay
 *                      ◄── the weights move inside these calls, and never else ──
 *
 * The node runs on its own thread and has the protocol, checkpoints and digests of `hearsay node`.
 * It reads the same configuration file. From [train] it uses only the keys that describe your
 * optimizer (optimizer, momentum) and whether the node trains at all; from [data] and [model] only
 * if options have no run. It installs no signal handler, prints nothing ([node] log is a file), and
 * does not end your process because of your calls, other nodes or the disk. The process ends only
 * if the system has no memory or thread left, or a GPU fails. Inside a call a thread has the C
 * locale; your fetch and store run in your own locale, which stays as it is.
 *
 * One thread at a time may be inside a call; a second one gets HEARSAY_BUSY. hearsay_info,
 * hearsay_status, hearsay_note and hearsay_error_text may be called by any thread at any time
 * before hearsay_free. Every function returns 0 or one of the errors below, and says why in a
 * sentence (hearsay_error_text). After fork, calls in the child return HEARSAY_FORKED and the
 * node's files are closed there; the parent continues.
 *
 * The manual is src/library/README.md. Held by tests/unit/library, and for calls in random order by
 * tests/process/random_calls.
 */
#ifndef HEARSAY_HEARSAY_H
#define HEARSAY_HEARSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEARSAY_API __attribute__((visibility("default")))
#define HEARSAY_ABI                                                                                \
    1 /* version of this header; rises when the meaning of a struct or function changes */

enum hearsay_error {
    HEARSAY_OK = 0,
    HEARSAY_TIMEOUT,     /* the time limit came first; another call continues the wait */
    HEARSAY_ARGUMENT,    /* an argument is missing, wrong, or different from the one at open */
    HEARSAY_ABI_UNKNOWN, /* a struct has another HEARSAY_ABI than the library */
    HEARSAY_UNSUPPORTED, /* a device, a type or a flag that this library cannot use */
    HEARSAY_BUSY,        /* another thread is inside a call */
    HEARSAY_CLOSED,      /* the node is not open (any more) */
    HEARSAY_FORKED,      /* the node belongs to the parent process, and this is a child */
    HEARSAY_NOT_JOINED,  /* hearsay_join has not returned 0 yet */
    HEARSAY_TOO_SMALL,   /* the buffer is too small; *bytes is the size needed */
    HEARSAY_CONFIG,      /* the configuration is wrong; the sentence names file, line and key */
    HEARSAY_FAILED,      /* an error of a key, a port, the state folder, memory or the disk */
    HEARSAY_REFUSED,     /* no member accepts this node: other swarm, model or member list */
    HEARSAY_ENDED        /* the node has ended by itself, or hearsay_finish has ended training */
};

enum hearsay_dtype { HEARSAY_FLOAT32 = 0, HEARSAY_BFLOAT16 = 1, HEARSAY_FLOAT16 = 2 };
enum hearsay_device { HEARSAY_CPU = 1, HEARSAY_CUDA = 2 }; /* DLPack's numbers */

enum hearsay_level { HEARSAY_NONE = 0, HEARSAY_INFO, HEARSAY_WARNING, HEARSAY_ERROR };

#define HEARSAY_DIMENSIONS_MAX 8
#define HEARSAY_NAME_MAX       256 /* bytes of a tensor's name */
#define HEARSAY_RUN_MAX        64  /* bytes of a run's name */

/* A tensor of the caller, dense and in C order. The caller owns `data` and keeps it valid from open
 * to close. The library reads and writes it only inside calls. */
struct hearsay_tensor {
    const char *name; /* unique name within the model */
    void *data;       /* [product of shape] the numbers, aligned; not shared with another tensor */
    int64_t shape[HEARSAY_DIMENSIONS_MAX]; /* each at least 1 */
    uint32_t dimensions;                   /* dimensions in shape; 0 = a single number */
    uint32_t dtype;                        /* enum hearsay_dtype */
    int32_t device;       /* enum hearsay_device; equal for all tensors of a model */
    int32_t device_index; /* index of the GPU for HEARSAY_CUDA */
    uint32_t flags;       /* 0 */
};

struct hearsay_options {
    uint32_t abi;           /* HEARSAY_ABI */
    uint32_t tensors_count; /* at least 1 */
    const struct hearsay_tensor
        *tensors;       /* tensors that are trained and shared; copied by open, except their data */
    const char *config; /* path of the configuration file; NULL = defaults */
    const char *const *settings; /* SECTION.KEY=VALUE lines that override the file; NULL = none */
    uint32_t settings_count;     /* number of settings */
    const char *run; /* name of the run, the same on all nodes of a swarm; NULL = no run */

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

/* Current numbers of the node, some up to a second old; after the node has ended, the last ones. */
struct hearsay_info {
    uint32_t abi;        /* HEARSAY_ABI, set by the caller */
    uint32_t joined;     /* 1 = hearsay_join has returned 0 */
    uint32_t neighbours; /* neighbours with an open connection */
    uint32_t members;    /* live members, including this node */
    uint64_t parameters; /* numbers in all tensors */
    uint64_t steps;      /* steps of this node since open */
    uint64_t samples;    /* samples of these steps */
    uint64_t
        swarm_samples;   /* samples that all nodes have learned so far, as schedules count them */
    uint64_t digest;     /* digest of the shared model; equal digests mean equal models */
    uint64_t rumors;     /* rumors in the shared model */
    uint64_t waiting;    /* rumors of these that the next calls will apply */
    uint64_t sent_bytes; /* bytes sent to all other nodes since open */
    uint64_t received_bytes; /* bytes received from all other nodes since open */
    uint64_t relapses;       /* resets to the base after a weight became NaN or infinite */
    uint64_t saturated;      /* weights beyond the shared range; the excess stays here */
};

struct hearsay; /* a node: from hearsay_open to hearsay_free */

/* Returns the HEARSAY_ABI of the library. */
HEARSAY_API uint32_t hearsay_abi(void);

/* Begins a node with these weights, or goes on from the checkpoint in its state folder. The run and
 * the name, shape and type of each tensor must be equal on all nodes of a swarm. First weights may
 * differ: hearsay_join fills the tensors with those of the swarm. Without a run the model is the
 * one that [model] and [data] describe, for a swarm with nodes that `hearsay node` runs: the
 * tensors have its names (as in base.safetensors) and shapes, and are float32. Their values at open
 * do not matter. The caller passes *node to hearsay_free whatever the result is; NULL = no node.
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

/* Call it after each optimizer step. samples: samples of the step, at least 1; loss: their mean
 * loss, 0 = unknown. Publishes if a publication is due and applies received rumors. Never waits for
 * the network. *changed (unless NULL): 1 if the tensors were written. */
HEARSAY_API int hearsay_step(struct hearsay *node, uint64_t samples, double loss, int *changed);

/* Makes one publication, then waits until all known rumors are applied and all neighbours have
 * shown the same version. The unpublished rest stays in the tensors, and other nodes may publish
 * later: hearsay_finish makes all models equal. A node without other members publishes all except
 * one fiftieth. */
HEARSAY_API int hearsay_settle(struct hearsay *node, double timeout_s);

/* Ends training: publishes what was learned (a fiftieth may be dropped), and waits until each live
 * member that trains has also called it, left or died. 0: all nodes that finished hold one shared
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

/* Saves these bytes (for example the optimizer's state) in the state folder, then saves a
 * checkpoint and waits for the disk. NULL, 0: the bytes saved before stay. The node also saves
 * checkpoints by itself (save_s), without bytes. So after a crash the weights may be newer than the
 * bytes. */
HEARSAY_API int hearsay_save(struct hearsay *node, const void *extra, size_t bytes);

/* Reads the bytes that hearsay_save saved last, also in an earlier process. *bytes: the size of
 * `extra`, then the number of bytes; 0 = none are saved. */
HEARSAY_API int hearsay_extra(struct hearsay *node, void *extra, size_t *bytes);

HEARSAY_API int hearsay_info(struct hearsay *node, struct hearsay_info *info);

/* Reads the node's oldest note that was not returned yet: its level, and a sentence in text[bytes],
 * terminated by 0. Returns HEARSAY_NONE if there is none. The node keeps 64 notes; when they are
 * more, less important ones are dropped first. */
HEARSAY_API int hearsay_note(struct hearsay *node, int *level, char *text, size_t bytes);

/* Writes the status, as `hearsay status` has it: one JSON object, terminated by 0. *bytes: the size
 * of `json`, then the bytes written or needed. */
HEARSAY_API int hearsay_status(struct hearsay *node, char *json, size_t *bytes);

/* Leaves the swarm: publishes the rest, waits until others have it, and saves a checkpoint. Waits
 * at most grace_s, or [node] grace_s if that is shorter or grace_s < 0. Afterwards only
 * hearsay_info, hearsay_error_text and hearsay_free are useful. The node is closed whatever this
 * function returns, except after HEARSAY_BUSY and HEARSAY_FORKED. */
HEARSAY_API int hearsay_close(struct hearsay *node, double grace_s);

/* Frees the handle, and closes an open node without grace time; NULL is allowed. No other thread
 * may use the handle any more. Does nothing in a child after fork. */
HEARSAY_API int hearsay_free(struct hearsay *node);

/* Writes the meaning of this error as a sentence into text[bytes], terminated by 0: the sentence of
 * this node's last call that returned it, or a general one if there was none. node may be NULL. */
HEARSAY_API int hearsay_error_text(struct hearsay *node, int error, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
