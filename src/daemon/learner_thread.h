/* The hatch: the only place where two threads meet.
 *
 *   loop thread (node)  ── HEAR TRAIN TELL READ WRITE SAVE EVALUATE STOP ──►  learner thread
 *                       ◄─ STEPPED TOLD APPLIED READ SAVED EVALUATED ─────────
 *
 * The learner's thread makes steps for as long as it may train, and between two steps does what
 * was put through the hatch, in order. Nothing here ever waits for the network: a step waits for
 * at most the commands that are already there. The owner bounds what is under way (node.h:
 * apply_window), so the rings never overflow.
 */
#ifndef HEARSAY_HATCH_H
#define HEARSAY_HATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "training/learner.h"
#include "training/batch_size.h"

struct hatch_options {
    struct pace pace;          /* how many samples a step has */
    uint64_t samples_max;      /* train no more than so many samples; 0: no end */
    uint32_t apply_window;     /* entries under way at most, see node.h */
    uint32_t read_max;         /* entries of one READ; one is under way at a time */
    void (*wake)(void *waker); /* called on the learner's thread when there are events */
    void *waker;
};

enum hatch_event_kind {
    HATCH_STEPPED,
    HATCH_TOLD,
    HATCH_APPLIED, /* heard, or written */
    HATCH_READ,
    HATCH_SAVED,
    HATCH_EVALUATED
};

struct hatch_event {
    enum hatch_event_kind kind;
    uint32_t steps; /* STEPPED: since the last such event */
    uint64_t samples;
    uint32_t batch;              /* STEPPED: samples of the steps that follow; 0: always as many */
    double loss_sum;             /* of all samples */
    const struct update *update; /* TOLD: the learner's, until the next hatch_tell */
    uint32_t entries;            /* APPLIED */
    const int32_t *units;        /* READ: the hatch's, until the next hatch_read */
    struct evaluation evaluation;
};

struct hatch;

/* What hatch_new takes from its arena. */
size_t hatch_arena_bytes(const struct hatch_options *options);

/* Starts the learner's thread. The learner must not be touched again before hatch_stop. */
struct hatch *hatch_new(struct arena *arena, struct learner *learner,
                        const struct hatch_options *options);

/* From the loop's thread: */
void hatch_hear(struct hatch *hatch, const struct update *update, bool own); /* copied */
void hatch_train(struct hatch *hatch, uint64_t swarm_samples); /* make steps (learner_follow) */
void hatch_read(struct hatch *hatch, uint64_t first, uint32_t entries);
void hatch_write(struct hatch *hatch, uint64_t first, uint32_t entries, const int32_t *units,
                 bool keep_weights);                               /* copied */
void hatch_save(struct hatch *hatch, struct learner_state *state); /* ours until SAVED */
void hatch_tell(struct hatch *hatch, const struct tell *tell, bool last);
void hatch_evaluate(struct hatch *hatch);
bool hatch_next(struct hatch *hatch, struct hatch_event *event);

/* End the thread after the step and the commands under way, and wait for it. */
void hatch_stop(struct hatch *hatch);

/* Processor time of the learner's thread, when it has ended. */
struct hatch_used {
    uint64_t steps_ns;
    uint64_t exchange_ns; /* HEAR, TELL, READ, WRITE */
};
struct hatch_used hatch_used(const struct hatch *hatch);

#endif
