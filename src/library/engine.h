/* The node of a host program with its own model: a host (daemon/host.h) on its own thread.
 *
 *   caller's thread ── learner_link: orders ◄── │ answers, steps ──► ── loop thread (host, node)
 *                   ── wishes ────────────────────────────────────►
 *                   ◄── standing ───────────────────────────────────
 *
 * Ownership is checked. The learner and its weights belong to the caller's thread, inside its
 * calls. Node, sockets, log and saver belong to the loop's thread, from engine_begin until it has
 * ended, then to the caller's. One mutex, which is held only briefly, protects wishes and standing.
 * The caller's thread waits for the loop only in engine_wait, and performs orders meanwhile. The
 * loop never waits for the caller.
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

/* Reason for the end of the loop's thread. */
enum engine_reason {
    ENGINE_RUNS,        /* the thread has not ended */
    ENGINE_LEFT,        /* the node was asked to leave, and has left */
    ENGINE_SHUT_OUT,    /* the peers have another swarm, model or protocol */
    ENGINE_EXPELLED,    /* the operator has expelled the node */
    ENGINE_TURNED_AWAY, /* no member admits the node */
    ENGINE_CLASH,       /* another process has the node's identity */
    ENGINE_LOST,        /* no node has the rest of the base that was being taken over */
    ENGINE_DIVERGED     /* weights were NaN or infinite three times within an hour */
};

/* State of the node for other threads than the loop's. */
struct engine_standing {
    enum engine_reason end;
    bool is_running; /* the node has joined, and neither leaves nor is refused */
    /* The node is settled (node/settle.h); checked only while a wish waits for it. */
    bool is_settled;
    uint64_t settle_asked;    /* number of the latest wish to settle when that was checked */
    enum finish_state finish; /* progress of finishing (node/settle.h) */
    /* Members for which the node waits to finish, as text for people. */
    char waits_for[ENGINE_WAITS_MAX];
    uint32_t saves;                   /* saves that the caller wished and that have ended */
    struct saver_result saved;        /* result of the last of these saves */
    struct node_stats stats;          /* statistics, updated once a second and at the end */
    uint64_t digest;                  /* digest of the base after all known rumors are applied */
    uint64_t waiting;                 /* known rumors that are not applied yet */
    uint64_t swarm_samples;           /* samples learned by all nodes */
    char why[sizeof(struct problem)]; /* SHUT_OUT, CLASH: what other nodes have; DIVERGED: where */
};

/* Requests of the caller to the loop. */
struct engine_wishes {
    uint64_t settle;  /* rises with each wish to publish and settle */
    bool is_settling; /* a caller waits to be settled, so the loop checks it after every event */
    bool finishes;    /* ends training and stays in the swarm */
    uint32_t saves;   /* rises with each wish for a checkpoint */
    bool leaves;      /* leaves the swarm */
    uint64_t stop_ns; /* time at which leaving ends, whatever is unfinished */
    uint64_t pages;   /* rises with each wish for the status page */
};

/* The caller's progress since open. */
struct engine_count {
    bool has_joined;
    uint64_t steps, samples, relapses, saturated;
};

struct engine {
    struct config config;     /* configuration as read at open */
    struct note_queue *notes; /* queue of notes; belongs to the handle */
    struct host host;
    struct learner_link link;
    pthread_t thread;
    bool has_begun; /* the loop's thread was started, and not joined yet */

    /* Members for the caller's thread. */
    struct caller_tensors tensors;
    struct caller_learner caller;
    char device[DEVICE_TEXT_MAX]; /* name of the tensors' device */
    /* Name of the run; "" = the model is that of the configuration. */
    char run[HEARSAY_RUN_MAX + 1];
    bool has_bad_tensors;          /* open failed because the tensors or their contents are wrong */
    struct caller_file file;       /* host program's bytes, as on the disk */
    bool may_step;                 /* the node has reported that the base is the swarm's */
    struct learner_event progress; /* STEPPED event that was not sent yet */
    uint64_t left_ns;              /* time at which the thread last left this library */
    bool has_wish;                 /* a wish to settle is unfulfilled, and no step was made since */
    bool has_finished;             /* no step may be made any more */
    /* State of finishing in which the tensors were set to the base. */
    enum finish_state reverted;

    pthread_mutex_t mutex;           /* protects the members below */
    struct engine_count count;       /* progress; the caller's thread writes it */
    pthread_cond_t told;             /* signalled when page or end has changed */
    struct engine_standing standing; /* standing of the node; the loop writes it */
    struct engine_wishes wishes;     /* wishes; other threads write them */
    char *page;                      /* the last status page */
    size_t page_bytes;               /* length of that page */
    uint64_t pages;                  /* number of page wishes that it answers */
    atomic_uint_fast64_t changes;    /* rises with each change of standing */

    /* Members for the loop's thread. */
    pthread_t loop;        /* the loop's thread, set by itself */
    uint64_t settle_heard; /* latest wish to settle that the node was told */
    uint32_t saves_heard;  /* latest wish for a checkpoint that the node was told */
    uint32_t saves_before; /* saves of the saver when the node was told */
    bool is_leaving;       /* the node was told to leave */
    bool is_finishing;     /* the node was told to end training */
};

/* Allocates an engine. The caller sets notes, config, tensors with their backend, copies and run,
 * and calls engine_free at the end. */
struct engine *engine_new(void);
/* Prepares everything that can fail. */
enum error engine_open(struct engine *engine, struct problem *problem) MUST_USE;
/* Starts the loop's thread. */
void engine_begin(struct engine *engine);

/* On the caller's thread: reports the steps made and performs the learner's orders. Does nothing
 * after the end. */
void engine_perform(struct engine *engine);
/* Counts a step, then performs orders. */
void engine_step(struct engine *engine, uint64_t samples, double loss_sum);
/* Fills the tensors after the node has joined; from then on they follow the weights. */
void engine_fill(struct engine *engine);
/* Performs orders until is_over returns true, the node ends, or due_ns. Returns true in the first
 * case. is_over is called without the mutex. */
bool engine_wait(struct engine *engine, uint64_t due_ns,
                 bool (*is_over)(const struct engine *engine,
                                 const struct engine_standing *standing),
                 struct engine_standing *standing);

/* Copies the standing; any thread may call it. */
void engine_standing(struct engine *engine, struct engine_standing *standing);
struct engine_count engine_count(struct engine *engine);
/* Returns the present status page, which the caller frees; NULL if the node has ended. */
char *engine_page(struct engine *engine, size_t *bytes);

/* Locks and returns the wishes. After the change engine_wished unlocks them and wakes the loop. */
struct engine_wishes *engine_wish(struct engine *engine);
void engine_wished(struct engine *engine);

/* Joins the loop's thread, which was asked to leave or has ended, applies the remaining updates,
 * and saves. FAILED: nothing new is saved. */
enum error engine_end(struct engine *engine, struct problem *problem) MUST_USE;
void engine_free(struct engine *engine);

#endif
