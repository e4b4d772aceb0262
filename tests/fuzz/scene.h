/* A node among members that send whatever a script says, in virtual time.
 *
 *   script ─► scene_say, scene_shout, scene_pass … ─► NODE ─► actions ─┬─► bytes to the members
 *                                                                      └─► orders to its learner
 *
 * All state is in one arena. So a beginning with costly handshakes is played only once: scene_keep
 * saves it and scene_undo restores it. The network has no delay and loses nothing. Members answer
 * PING and acknowledge what they receive; the script decides everything else. The learner is a base
 * without weights, with which scene_check compares the node's digest. */
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
    struct identity *identity; /* identity, which is outside the arena */
    struct entropy entropy;
    struct credentials credentials;
    struct peer peer;       /* the member's end of the conversation */
    struct congestion link; /* received bytes, for acknowledgements */
    uint64_t conn;          /* the node's number of the connection; 0 = none */
    bool is_silent;         /* the member sends no ACK and no PONG */
    uint64_t incarnation;
    uint64_t stamp;                /* stamp of its last record */
    uint32_t seq;                  /* number of its next rumor */
    uint8_t prev[HEAD_HASH_BYTES]; /* hash of the head of its last rumor */
    uint64_t heard[MESSAGE_KINDS]; /* number of messages received of each kind */
    /* Last message of each kind; of text and bulk only the sizes are valid. */
    struct message last[MESSAGE_KINDS];
};

struct scene {
    const struct arena *arena; /* the arena that contains the whole scene */
    struct node *node;
    struct node_options options;
    struct member members[SCENE_MEMBERS];
    uint64_t now_ns;
    uint64_t drawn;     /* number of publications drawn, which seeds the next one */
    bool is_training;   /* the node has begun training, and has not published for the last time */
    bool is_stepping;   /* a step is running, so orders wait for its end */
    bool is_over;       /* the node has asked to end */
    bool refuses_calls; /* the node's dials are not answered */
    uint8_t context[CONTEXT_BYTES];
    int32_t units[SCENE_PARAMETERS]; /* base of the learner */
    size_t orders_bytes;             /* bytes of the orders that wait */
    uint8_t *orders;                 /* [SCENE_ORDERS_BYTES] orders that wait */
};

/* Makes a scene whose base is still unchanged. The node dials the members, or they dial it. All
 * handshakes are complete, and no HELLO was sent. */
struct scene *scene_new(bool node_calls);

/* scene_keep saves the present state; scene_undo restores it. */
void scene_keep(struct scene *scene);
void scene_undo(struct scene *scene);

/* A member dials the node, which may refuse it. scene_close ends the member's connection. */
void scene_call(struct scene *scene, struct member *member);
void scene_close(struct scene *scene, struct member *member);

/* A stranger from this network dials, sends these bytes, and nothing more. */
void scene_wait_unauthenticated(struct scene *scene, uint8_t network, const uint8_t *bytes,
                                size_t count);

/* Send a message, or sealed bytes, of this member to the node. Return false if the two are not
 * connected. */
bool scene_say(struct scene *scene, struct member *member, const struct message *message);
bool scene_shout(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count);
/* Sends bytes that are not sealed. */
void scene_send_raw(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count);

/* Let time pass, or make steps of the learner. */
void scene_pass(struct scene *scene, uint64_t span_ns);
void scene_step(struct scene *scene, uint32_t steps, uint64_t samples);

/* Begins or ends a step of the learner. Orders wait while it runs. */
void scene_set_stepping(struct scene *scene, bool is_stepping);

/* The scene's learner (scene_learner.c). */
extern const struct executor_ops scene_learner;

/* Performs all actions that the node requests. All functions above call it. */
void scene_run(struct scene *scene);

/* Checks the node's invariants. */
void scene_check(const struct scene *scene);

struct identity *scene_identity(uint32_t i);
struct operator_key *scene_operator(void);

#endif
