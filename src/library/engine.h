/* The node of a program that brings its own model: a host on a thread of its own.
 *
 *   caller's thread ── learner_link: orders ◄── │ answers, steps ──► ── loop thread (host, node)
 *                   ── wishes ────────────────────────────────────►
 *                   ◄── standing ───────────────────────────────────
 *
 * Who owns what, as is checked. The learner and its weights: the caller's thread, inside its calls.
 * Node, sockets, log, saver: the loop's thread, from engine_begin until it has ended; then the
 * caller's. Wishes and standing lie behind one mutex, which nobody holds for long. The caller's
 * thread waits for the loop only in engine_wait, and performs orders while it does; the loop never
 * waits for the caller.
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

/* Why the loop's thread has ended. */
enum engine_reason {
    ENGINE_RUNS,        /* it has not */
    ENGINE_LEFT,        /* it was asked to leave, and has */
    ENGINE_SHUT_OUT,    /* the peers have another swarm, model or protocol */
    ENGINE_EXPELLED,    /* the operator has put it out */
    ENGINE_TURNED_AWAY, /* nobody has it as a member */
    ENGINE_CLASH,       /* another process has the node's identity */
    ENGINE_LOST,        /* nobody has the rest of the base that was being taken over */
    ENGINE_DIVERGED     /* weights were no numbers three times within an hour */
};

/* How the node stands: what others than the loop's thread may know of it. */
struct engine_standing {
    enum engine_reason end;
    bool is_running;          /* it has joined, and is neither leaving nor refused */
    bool is_settled;          /* node/settle.h; looked at only while somebody waits for it */
    uint64_t settle_asked;    /* the last wish to settle that was heard of, when it was looked at */
    enum finish_state finish; /* node/settle.h */
    char waits_for[ENGINE_WAITS_MAX]; /* members that keep it from finishing, for a person */
    uint32_t saves;                   /* wanted, and ended */
    struct saver_result saved;        /* how the last of them did */
    struct node_stats stats;          /* once a second, and when it ends */
    uint64_t digest;                  /* of the base, once all is applied */
    uint64_t waiting;                 /* rumors known and not yet applied */
    uint64_t swarm_samples;           /* learned by all */
    char why[sizeof(
        struct problem)]; /* of SHUT_OUT and CLASH: what others have; of DIVERGED: where */
};

/* Requests of the caller to the loop. */
struct engine_wishes {
    uint64_t settle;  /* goes up with each wish to publish and be settled */
    bool is_settling; /* somebody waits for it, and looks whenever the loop has done something */
    bool finishes;    /* to end training, and stay */
    uint32_t saves;   /* goes up with each wish for a checkpoint */
    bool leaves;      /* to leave */
    uint64_t stop_ns; /* and to end then, whatever is left to do */
    uint64_t pages;   /* goes up with each wish for the page of status */
};

/* The caller's progress since open. */
struct engine_count {
    bool has_joined;
    uint64_t steps, samples, relapses, saturated;
};

struct engine {
    struct config config;     /* as read at open */
    struct note_queue *notes; /* the handle's */
    struct host host;
    struct learner_link link;
    pthread_t thread;
    bool has_begun; /* the thread; until it was joined */

    /* The caller's thread's. */
    struct caller_tensors tensors;
    struct caller_learner caller;
    char device[DEVICE_TEXT_MAX];  /* what that of the tensors is */
    char run[HEARSAY_RUN_MAX + 1]; /* "": the model is that of the configuration */
    bool has_bad_tensors;          /* open was refused for what they are or hold */
    struct caller_file file;       /* as it is on the disk */
    bool may_step;                 /* the node has said that the base is the swarm's */
    struct learner_event progress; /* STEPPED, not yet said */
    uint64_t left_ns;              /* when it last left this library */
    bool has_wish;                 /* to settle, not yet fulfilled; no step was made since */
    bool has_finished;             /* no step is made any more */
    enum finish_state reverted;    /* the one in which the tensors became the base */

    pthread_mutex_t mutex;           /* of what follows */
    struct engine_count count;       /* the caller's thread's to write */
    pthread_cond_t told;             /* page or end has changed */
    struct engine_standing standing; /* the loop's to write */
    struct engine_wishes wishes;     /* others' to write */
    char *page;                      /* the last page that was made */
    size_t page_bytes;               /* its length */
    uint64_t pages;                  /* wishes that it answers */
    atomic_uint_fast64_t changes;    /* of standing; goes up with each */

    /* The loop's own. */
    pthread_t loop;        /* its thread, as it says itself */
    uint64_t settle_heard; /* the last wish that the node was told of */
    uint32_t saves_heard;  /* likewise */
    uint32_t saves_before; /* of the saver, when it was told */
    bool is_leaving;       /* the node was told to leave */
    bool is_finishing;     /* it was told to end training */
};

/* To be given notes, config, tensors with their backend, the caller's copies, and run; engine_free
 * follows. */
struct engine *engine_new(void);
/* All that can fail. */
enum error engine_open(struct engine *engine, struct problem *problem) MUST_USE;
/* The loop's thread begins. */
void engine_begin(struct engine *engine);

/* The caller's thread: says what steps were made, and performs what the learner was ordered. Of no
 * effect after the end. */
void engine_perform(struct engine *engine);
/* Counts a step; then performs. */
void engine_step(struct engine *engine, uint64_t samples, double loss_sum);
/* The node has joined: the tensors are filled, and follow. */
void engine_fill(struct engine *engine);
/* Performs orders until is_over, the end, or due_ns. True: is_over. It is asked without the mutex.
 */
bool engine_wait(struct engine *engine, uint64_t due_ns,
                 bool (*is_over)(const struct engine *engine,
                                 const struct engine_standing *standing),
                 struct engine_standing *standing);

/* Any thread. */
void engine_standing(struct engine *engine, struct engine_standing *standing);
struct engine_count engine_count(struct engine *engine);
/* The page as it is now; to be freed. NULL: the node has ended. */
char *engine_page(struct engine *engine, size_t *bytes);

/* Changes a wish: lock, change, unlock, and the loop looks. */
struct engine_wishes *engine_wish(struct engine *engine);
void engine_wished(struct engine *engine);

/* Joins the loop's thread, which has been asked to leave or has ended, applies what still waits,
 * and saves. FAILED: nothing new is saved. */
enum error engine_end(struct engine *engine, struct problem *problem) MUST_USE;
void engine_free(struct engine *engine);

#endif
