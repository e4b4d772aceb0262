/* libhearsay: a node of a swarm inside your own program, which owns the model and trains it.
 *
 *   your training loop ── open, join, step, step, … finish, base, save, close ──► hearsay
 *                      ◄── the weights move inside these calls, and at no other time ──
 *
 * The node runs on its own thread and has the protocol, checkpoints and digests of `hearsay node`.
 * It reads the same configuration file. From [train] it uses only optimizer and momentum (which
 * describe your optimizer), enabled (whether the node trains at all), and the keys that must be
 * equal on all members. It uses [data] and [model] only if the options name no run. It installs no
 * signal handler and prints nothing ([node] log is a file). It ends your process only if the system
 * has no memory or thread left, a GPU fails, or the library has a defect. Inside a call the calling
 * thread has the C locale; your fetch and store run in your own locale.
 *
 * One thread at a time may be inside a call; a second thread gets HEARSAY_BUSY. hearsay_info,
 * hearsay_status, hearsay_note and hearsay_error_text may be called by any thread at any time
 * before hearsay_free. Every function except hearsay_abi and hearsay_version returns 0 or one of
 * the errors below, and hearsay_error_text explains an error in a sentence. After fork, the node's
 * files are closed in the child, and calls except hearsay_error_text return HEARSAY_FORKED there.
 *
 * The manual is src/library/README.md. Tests: tests/unit/library, tests/process/random_calls.
 */
#ifndef HEARSAY_HEARSAY_H
#define HEARSAY_HEARSAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEARSAY_API __attribute__((visibility("default")))
#define HEARSAY_ABI 2 /* rises when the meaning of a struct or function changes */

enum hearsay_error {
    HEARSAY_OK = 0,
    HEARSAY_TIMEOUT,     /* the time limit is over; another call continues the wait */
    HEARSAY_ARGUMENT,    /* an argument is missing, wrong, or not the same as at hearsay_open */
    HEARSAY_ABI_UNKNOWN, /* a struct has another HEARSAY_ABI than the library */
    HEARSAY_UNSUPPORTED, /* the library or call cannot use the tensors' device or type, or a flag */
    HEARSAY_BUSY,        /* another thread is inside a call of this node */
    HEARSAY_CLOSED,      /* the node is not open */
    HEARSAY_FORKED,      /* the node belongs to the parent process, and this is a child */
    HEARSAY_NOT_JOINED,  /* hearsay_join has not returned 0 yet */
    HEARSAY_TOO_SMALL,   /* the buffer is too small; *bytes is the size that it needs */
    HEARSAY_CONFIG,      /* the configuration is wrong; hearsay_error_text names the setting */
    HEARSAY_FAILED,      /* a key file, a port, the state folder, memory or the disk failed */
    /* the members refuse this node: another swarm or model, expelled, not on the member list, or
     * its identity is in use */
    HEARSAY_REFUSED,
    HEARSAY_ENDED /* the node has ended by itself, or hearsay_finish has ended training */
};

enum hearsay_dtype { HEARSAY_FLOAT32 = 0, HEARSAY_BFLOAT16 = 1, HEARSAY_FLOAT16 = 2 };
/* The values are those of DLPack. */
enum hearsay_device { HEARSAY_CPU = 1, HEARSAY_CUDA = 2 };

enum hearsay_level { HEARSAY_NONE = 0, HEARSAY_INFO, HEARSAY_WARNING, HEARSAY_ERROR };

#define HEARSAY_DIMENSIONS_MAX 8
#define HEARSAY_NAME_MAX       256 /* bytes of a tensor's name, without the final zero */
/* Flag: training sets the tensor from data, like batch-norm means (src/library/README.md). */
#define HEARSAY_STATISTICS 1u
#define HEARSAY_RUN_MAX    64 /* bytes of a run's name, without the final zero */

/* A tensor of the caller, dense and in C order. The caller owns `data` and keeps it valid from open
 * to close. The library reads and writes it only inside calls. */
struct hearsay_tensor {
    const char *name; /* unique within the model */
    /* [product of shape] numbers of the tensor, aligned to their size; not shared with another
     * tensor. */
    void *data;
    int64_t shape[HEARSAY_DIMENSIONS_MAX]; /* size of each dimension, >= 1 */
    uint32_t dimensions;                   /* 0 = a single number */
    uint32_t dtype;                        /* an enum hearsay_dtype */
    int32_t device;                        /* an enum hearsay_device; the same for all tensors */
    int32_t device_index; /* index of the GPU for HEARSAY_CUDA; ignored for HEARSAY_CPU */
    uint32_t flags;       /* HEARSAY_STATISTICS or 0 */
};

struct hearsay_options {
    uint32_t abi;           /* HEARSAY_ABI */
    uint32_t tensors_count; /* >= 1 */
    /* [tensors_count] tensors that are trained and shared; hearsay_open copies everything except
     * the numbers. */
    const struct hearsay_tensor *tensors;
    const char *config; /* path of the configuration file; NULL = default configuration */
    /* [settings_count] lines SECTION.KEY=VALUE that override the file; NULL = no lines. */
    const char *const *settings;
    uint32_t settings_count;
    const char *run; /* name of the run, the same on all nodes of a swarm; NULL = no run */

    /* Callbacks for tensors whose `data` is a copy of the trained weights, for example because
     * those weights are not dense; NULL = `data` itself is trained. A call runs fetch(self) before
     * it first reads or writes `data`, and store(self) at its end if it has written `data`, both on
     * the caller's thread. For `data` on a GPU, fetch must wait for its GPU work before it returns.
     * The library waits for its own GPU work before it calls store and before a call returns. After
     * hearsay_stream, both callbacks follow the order of that stream instead. */
    void (*fetch)(void *self);
    void (*store)(void *self);
    void *self;
};

/* Present numbers of the node, some up to a second old; after the node has ended, its last
 * numbers. */
struct hearsay_info {
    uint32_t abi;        /* HEARSAY_ABI, set by the caller */
    uint32_t joined;     /* 1 = hearsay_join has returned 0 */
    uint32_t neighbours; /* neighbours with an open connection */
    uint32_t members;    /* live members of the swarm, including this node */
    uint64_t parameters; /* weights of all tensors together */
    uint64_t steps;      /* calls of hearsay_step since open that returned 0 */
    uint64_t samples;    /* samples that this node has learned since open */
    /* Samples that all nodes have learned since the swarm began; schedules use this number. */
    uint64_t swarm_samples;
    uint64_t digest;         /* of the shared model with all known rumors; equal = equal models */
    uint64_t rumors;         /* rumors that the node knows, including those not applied yet */
    uint64_t waiting;        /* known rumors that the next calls will apply */
    uint64_t sent_bytes;     /* bytes sent to all other nodes since open */
    uint64_t received_bytes; /* bytes received from all other nodes since open */
    uint64_t resets;         /* resets to the base after a weight became NaN or infinite */
    /* Weights too large to share at the last publication; the excess stays in the tensors. */
    uint64_t saturated;
};

struct hearsay; /* handle of a node, from hearsay_open to hearsay_free */

/* Returns the HEARSAY_ABI with which the library was built. */
HEARSAY_API uint32_t hearsay_abi(void);

/* Returns the release of the library, such as "0.1.0", in static memory. */
HEARSAY_API const char *hearsay_version(void);

/* Starts a node with the weights in the tensors, or continues from the checkpoint in its state
 * folder. The run and the name, shape and type of each tensor must be equal on all nodes of a
 * swarm. Initial weights may differ: hearsay_join fills the tensors with the swarm's weights.
 *
 * Without a run, [model] and [data] describe the model, and the swarm may have nodes that `hearsay
 * node` runs. Then the tensors need that model's names (as in base.safetensors) and shapes, and
 * type float32; their values at open are ignored.
 *
 * The caller passes *node to hearsay_free whatever the result is. */
HEARSAY_API int hearsay_open(const struct hearsay_options *options, struct hearsay **node);

/* Orders the next calls with this CUDA stream of the tensors' GPU (a cudaStream_t; NULL = the
 * default stream). Each call's GPU work runs after earlier work of the stream and before later
 * work. So fetch and store may use the stream without waiting for it. The stream must stay open
 * until the node is freed or follows another stream. UNSUPPORTED: data is on the CPU. ARGUMENT:
 * this is no open stream of that GPU. */
HEARSAY_API int hearsay_stream(struct hearsay *node, void *stream);

/* Waits until the node has the swarm's base, then fills the tensors with it. If no node answers for
 * ten seconds, or all neighbours are lost, the node continues alone. timeout_s < 0: no limit. */
HEARSAY_API int hearsay_join(struct hearsay *node, double timeout_s);

/* Reports a step; call it after each optimizer step. samples: samples of the step, 1 .. 2^32 - 1.
 * loss: mean loss of these samples, 0 = unknown; a note names the step of a NaN. Publishes if a
 * publication is due, and applies received rumors. Never waits for the network. *changed (unless
 * NULL): 1 if the tensors were written, otherwise 0. */
HEARSAY_API int hearsay_step(struct hearsay *node, uint64_t samples, double loss, int *changed);

/* Makes one publication, and more if tensors with HEARSAY_STATISTICS have to move farther. Then
 * waits until all known rumors are applied and all neighbours have shown the same version, and sets
 * those tensors to the shared statistics. Other unpublished progress stays in the tensors: only
 * hearsay_finish makes all models equal. A node alone publishes until little progress is left. */
HEARSAY_API int hearsay_settle(struct hearsay *node, double timeout_s);

/* Ends training: publishes this node's progress (a small rest is dropped), and waits until every
 * other member that trains or joins has also finished, left or died. Returns 0 when all live nodes
 * that finished have the same shared model, bit for bit; the tensors then hold it. The model stays
 * unchanged: the node takes no rumors of members that join later. After HEARSAY_TIMEOUT,
 * hearsay_error_text names the members that the node waits for; another call continues the wait.
 * After this call hearsay_step returns HEARSAY_ENDED. */
HEARSAY_API int hearsay_finish(struct hearsay *node, double timeout_s);

/* Sets the tensors to the shared model without a publication. All unpublished progress is lost, and
 * so is any other change of the tensors since the last call. */
HEARSAY_API int hearsay_revert(struct hearsay *node);

/* Writes the shared model into CPU tensors of any type, with the names and shapes given to
 * hearsay_open; if the options named a run, also in the same order. */
HEARSAY_API int hearsay_base(struct hearsay *node, const struct hearsay_tensor *tensors,
                             uint32_t tensors_count);

/* Saves `bytes` bytes of the caller (for example the optimizer's state) in the state folder,
 * then saves a checkpoint, and returns when both are on disk. extra = NULL and bytes = 0: keeps the
 * bytes saved before. The node also saves checkpoints by itself (save_s) without new bytes, so
 * after a crash the weights may be newer than the bytes. */
HEARSAY_API int hearsay_save(struct hearsay *node, const void *extra, size_t bytes);

/* Reads the bytes of the last hearsay_save, even if an earlier process called it. *bytes: on entry
 * the size of `extra`, on return the number of saved bytes; 0 = none are saved. */
HEARSAY_API int hearsay_extra(struct hearsay *node, void *extra, size_t *bytes);

HEARSAY_API int hearsay_info(struct hearsay *node, struct hearsay_info *info);

/* Removes the node's oldest unread note and returns it: its level, and a sentence in text[bytes],
 * terminated by 0. *level is HEARSAY_NONE if there is no note. The node keeps 64 unread notes. When
 * the queue is full, a new warning or error replaces the oldest note, and other new notes are lost;
 * the next call returns a warning with the number of lost and replaced notes. */
HEARSAY_API int hearsay_note(struct hearsay *node, int *level, char *text, size_t bytes);

/* Writes the status in the format of `hearsay status --json`: one JSON object, terminated by 0.
 * *bytes: on entry the size of `json`, on return the bytes written or needed, with the 0. */
HEARSAY_API int hearsay_status(struct hearsay *node, char *json, size_t *bytes);

/* Leaves the swarm: publishes unpublished progress, waits until other members have it, and saves a
 * checkpoint. Waits at most grace_s, or [node] grace_s if that is shorter or grace_s < 0. The node
 * is then closed even if an error is returned, except after HEARSAY_BUSY and HEARSAY_FORKED. After
 * that, hearsay_info, _note, _error_text and _free work; other calls return HEARSAY_CLOSED. */
HEARSAY_API int hearsay_close(struct hearsay *node, double grace_s);

/* Frees the handle. Closes an open node first, without grace time; NULL is allowed. No other thread
 * may use the handle at this time or later. Does nothing in a child after fork. */
HEARSAY_API int hearsay_free(struct hearsay *node);

/* Writes an explanation of `error` into text[bytes], terminated by 0: the last sentence that a
 * call of this node has stored for the error, or a general one. node may be NULL. */
HEARSAY_API int hearsay_error_text(struct hearsay *node, int error, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
