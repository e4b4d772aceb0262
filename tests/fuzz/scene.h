/* A node among members that say whatever a script has them say, in virtual time.
 *
 *   script ─► scene_say, scene_shout, scene_pass … ─► NODE ─► actions ─┬─► bytes to the members
 *                                                                      └─► orders to its learner
 *
 * Everything lies in one arena, so a beginning that costs a handshake is played once: scene_keep
 * remembers it, scene_undo brings it back. The network takes no time and loses nothing; a member
 * answers PING and acknowledges what comes, and for the rest is the script's. The learner is a base
 * without weights, with which scene_check compares what the node believes. */
#ifndef HEARSAY_TESTS_FUZZ_SCENE_H
#define HEARSAY_TESTS_FUZZ_SCENE_H

#include "executor/executor.h"
#include "node/connection/peer.h"
#include "node/inspect.h"
#include "node/rate/congestion.h"

#define SCENE_MEMBERS       4
#define SCENE_PARAMETERS    600
#define SCENE_BLOCK_ENTRIES 100
#define SCENE_ORDERS_BYTES  (1u << 20)
#define SCENE_BEGIN_NS      ((uint64_t)5000000000)

struct member {
    struct identity *identity; /* the scene's, outside the arena */
    struct entropy entropy;
    struct credentials credentials;
    struct peer peer;       /* its end of the conversation */
    struct congestion link; /* what came, for acknowledgements */
    uint64_t conn;          /* the node's number of it; 0: there is none */
    bool is_silent;         /* gives no acknowledgement and no PONG */
    uint64_t incarnation;
    uint64_t stamp;                     /* of its last record */
    uint32_t seq;                       /* of its next rumor */
    uint8_t prev[HEAD_HASH_BYTES];      /* hash of the head of the one before it */
    uint64_t heard[MESSAGE_KINDS];      /* how many */
    struct message last[MESSAGE_KINDS]; /* of text and bulk only the sizes are good */
};

struct scene {
    const struct arena *arena; /* in which all of it lies, first of all */
    struct node *node;
    struct node_options options;
    struct member members[SCENE_MEMBERS];
    uint64_t now_ns;
    uint64_t drawn;     /* for what the learner publishes */
    bool is_training;   /* TRAIN came, and no last PUBLISH yet */
    bool is_stepping;   /* orders wait for the end of a step */
    bool is_over;       /* the node asked for an end */
    bool refuses_calls; /* nobody answers when the node calls */
    uint8_t context[CONTEXT_BYTES];
    int32_t units[SCENE_PARAMETERS]; /* the learner's base */
    size_t orders_bytes;             /* that wait */
    uint8_t *orders;                 /* [SCENE_ORDERS_BYTES] */
};

/* A node whose base nobody has moved yet. It calls the members first, or is called by them; then
 * all are in conversation, and no HELLO has been said. */
struct scene *scene_new(bool node_calls);

/* Marks the present state, to which scene_undo returns. */
void scene_keep(struct scene *scene);
void scene_undo(struct scene *scene);

/* A member calls the node; it may be refused. */
void scene_call(struct scene *scene, struct member *member);
void scene_close(struct scene *scene, struct member *member);

/* Somebody from that network calls, says this, and nothing more. */
void scene_wait_unauthenticated(struct scene *scene, uint8_t network, const uint8_t *bytes,
                                size_t count);

/* False: it is in no conversation. */
bool scene_say(struct scene *scene, struct member *member, const struct message *message);
bool scene_shout(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count);
/* The same in the clear. */
void scene_send_raw(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count);

/* Time passes, and the learner makes steps. */
void scene_pass(struct scene *scene, uint64_t span_ns);
void scene_step(struct scene *scene, uint32_t steps, uint64_t samples);

/* A step begins, during which orders wait; or ends. */
void scene_set_stepping(struct scene *scene, bool is_stepping);

/* scene_learner.c: what learns. */
extern const struct executor_ops scene_learner;

/* All that the node asks for is done. Called by all of the above. */
void scene_run(struct scene *scene);

/* Checks the node's invariants. */
void scene_check(const struct scene *scene);

struct identity *scene_identity(uint32_t i);
struct operator_key *scene_operator(void);

#endif
