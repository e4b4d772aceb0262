/* The node of a host program with its own model: a host (daemon/host.h) on its own thread.
 *
 *   caller's thread ── learner_link: orders ◄── │ answers, steps ──► ── loop thread (host, node)
 *                   ── wishes ────────────────────────────────────►
 *                   ◄── standing ───────────────────────────────────
 *
 * The learner and its weights belong to the caller's thread, inside its calls of the library. Node,
 * sockets, log and saver belong to the loop's thread, from engine_begin until that thread has
 * ended; before and after, to the caller's thread. One mutex, which is held only briefly, protects
 * wishes and standing. The caller's thread waits for the loop in engine_page, engine_end and
 * engine_wait. In engine_wait it performs orders meanwhile. The loop never waits for the caller.
 */
#ifndef HEARSAY_LIBRARY_ENGINE_H
#define HEARSAY_LIBRARY_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/host.h"
#include "library/caller_file.h"
#include "library/caller_learner.h"
#include "library/note_queue.h"
#include "node/settle.h"

#define ENGINE_WAITS_MAX 400

/* Reason why the loop's thread has ended. */
enum engine_reason {
    ENGINE_RUNS,
    ENGINE_LEFT,        /* the node was asked to leave */
    ENGINE_SHUT_OUT,    /* all reachable peers have another swarm, model or protocol */
    ENGINE_EXPELLED,    /* an order, a proof or votes expelled the node */
    ENGINE_TURNED_AWAY, /* no member admits the node */
    ENGINE_CLASH,       /* another process has the node's identity */
    /* no reachable node has the rest of the base that this node was receiving */
    ENGINE_LOST,
    ENGINE_DIVERGED /* weights were NaN or infinite three times within an hour */
};

/* State of the node, for threads other than the loop's. */
struct engine_standing {
    enum engine_reason end;
    bool is_running; /* the node's phase is running, and its peers do not refuse it */
    /* the node is settled (node/settle.h); checked only while a request waits for it */
    bool is_settled;
    /* number of the latest request to settle that the node had received at the last check */
    uint64_t settle_asked;
    enum finish_state finish; /* node/settle.h */
    /* text for people: the members for which the node waits before it has finished */
    char waits_for[ENGINE_WAITS_MAX];
    /* number of the last fulfilled request for a checkpoint */
    uint32_t saves;
    struct saver_result saved; /* result of that request */
    struct node_stats stats;   /* updated once a second and at the end */
    uint64_t digest;           /* digest of the base after all known rumors are applied */
    uint64_t waiting;          /* known rumors that are not applied yet */
    uint64_t swarm_samples;    /* learned by all nodes */
    /* Text about `end`, for people. CLASH: the peer's address and its claim; DIVERGED: tensor and
     * step; otherwise why the node has no neighbour. */
    char why[sizeof(struct problem)];
};

/* Requests of the caller to the loop. */
struct engine_wishes {
    uint64_t settle; /* requests to publish and settle so far */
    /* A caller waits until the node is settled, so the loop checks this after every event. */
    bool is_settling;
    bool finishes;    /* end training and stay in the swarm */
    uint32_t saves;   /* requests for a checkpoint so far */
    bool leaves;      /* leave the swarm */
    uint64_t stop_ns; /* time at which the node stops even if it has not finished leaving */
    uint64_t pages;   /* requests for the status page so far */
};

/* Progress of the caller since hearsay_open. */
struct engine_count {
    bool has_joined;
    uint64_t steps, samples, resets, saturated;
    uint64_t swarm_samples; /* learned by all nodes when this node was permitted to train */
};

struct engine {
    struct config config;     /* the configuration that hearsay_open has read */
    struct note_queue *notes; /* belongs to the handle */
    struct host host;
    struct learner_link link;
    pthread_t thread;
    bool has_begun; /* the thread was started and not joined */

    /* Members that only the caller's thread uses. */
    struct caller_tensors tensors;
    struct caller_learner caller;
    char device[DEVICE_TEXT_MAX];  /* name of the tensors' device */
    char run[HEARSAY_RUN_MAX + 1]; /* name; "" = the configuration describes the model */
    /* hearsay_open failed because the tensors or their contents are wrong */
    bool has_bad_tensors;
    struct caller_file file; /* the host program's bytes, as stored on the disk */
    /* the node has permitted training: its base equals that of the swarm */
    bool may_step;
    struct learner_event progress; /* STEPPED event that was not sent yet */
    uint64_t left_ns;              /* time at which the last call of hearsay_step returned */
    bool has_wish;     /* a request to settle is not fulfilled yet, and no step was made since it */
    bool has_finished; /* hearsay_finish was called: no more steps are allowed */
    /* State of finishing when the tensors were last set to the base. */
    enum finish_state reverted;

    pthread_mutex_t mutex;     /* protects the members from `count` to `pages` */
    struct engine_count count; /* written by the caller's thread */
    /* signalled when a status page was made or the loop's thread ends */
    pthread_cond_t told;
    struct engine_standing standing; /* written by the loop's thread */
    struct engine_wishes wishes;     /* written by other threads */
    char *page;                      /* JSON of the last status page */
    size_t page_bytes;
    uint64_t pages; /* number of the request that `page` fulfils */
    /* changes of `standing` so far; read without the mutex */
    atomic_uint_fast64_t changes;

    /* Members that only the loop's thread uses. */
    pthread_t loop;
    uint64_t settle_heard; /* number of the latest request to settle that the node has received */
    /* number of the latest request for a checkpoint that the node has received */
    uint32_t saves_heard;
    /* saves that had ended when the node received `saves_heard` */
    uint32_t saves_before;
    bool is_leaving;   /* the node has received the request to leave */
    bool is_finishing; /* the node has received the request to finish */
};

/* Before engine_open, the caller sets notes, config, device, run, caller.copies, and tensors with
 * their backend. It calls engine_free at the end. */
struct engine *engine_new(void);
/* Prepares everything that can fail: folder, learner, checkpoint, sockets. Starts no thread. */
enum error engine_open(struct engine *engine, struct problem *problem) MUST_USE;
void engine_begin(struct engine *engine);

/* Starts again from the checkpoint or the initial weights, after ENGINE_LOST and before the tensors
 * are filled. After an error the node has ended. */
enum error engine_begin_again(struct engine *engine, struct problem *problem) MUST_USE;

/* Called by the caller's thread: reports its steps to the loop and performs the queued orders.
 * After the loop's thread has ended, no new orders come. */
void engine_perform(struct engine *engine);
/* Counts a step that began when the last engine_step returned, then performs orders. loss: mean of
 * the samples; 0 = unknown. If it is NaN or too large, the node does not count it, and a note names
 * the step. */
void engine_step(struct engine *engine, uint64_t samples, double loss);
/* Fills the tensors after the node has joined. From then on they have the learner's weights. */
void engine_fill(struct engine *engine);
/* Performs orders until is_over returns true, the node ends, or the clock reaches due_ns. Returns
 * true only if is_over did. is_over is called without the mutex. */
bool engine_wait(struct engine *engine, uint64_t due_ns,
                 bool (*is_over)(const struct engine *engine,
                                 const struct engine_standing *standing),
                 struct engine_standing *standing);

/* Copies the node's state. Any thread may call this function and those up to engine_wished. */
void engine_standing(struct engine *engine, struct engine_standing *standing);
struct engine_count engine_count(struct engine *engine);
/* Returns a new status page, which the caller frees; NULL if the node has ended. */
char *engine_page(struct engine *engine, size_t *bytes);

/* Locks and returns the requests for a change. Then call engine_wished, which unlocks the requests
 * and wakes the loop. */
struct engine_wishes *engine_wish(struct engine *engine);
void engine_wished(struct engine *engine);

/* Joins the loop's thread, which has ended or received the request to leave. Then applies the
 * remaining updates and saves. FAILED: something was not saved, or the saved base is not the sum of
 * its rumors. */
enum error engine_end(struct engine *engine, struct problem *problem) MUST_USE;
void engine_free(struct engine *engine);

#endif
