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
    struct identity *identity; /* points outside the scene's arena */
    struct entropy entropy;
    struct credentials credentials;
    struct peer peer;       /* the member's end of the conversation */
    struct congestion link; /* received bytes, for ACKs */
    uint64_t conn;          /* the node's number of the connection; 0 = none */
    bool is_silent;         /* the member sends no ACK and no PONG */
    uint64_t incarnation;
    uint64_t stamp;                /* stamp of the member's last record */
    uint32_t seq;                  /* number of the member's next rumor */
    uint8_t prev[HEAD_HASH_BYTES]; /* hash of the head of the member's last rumor */
    uint64_t heard[MESSAGE_KINDS];
    /* Last message of each kind; of text and bulk only the sizes are valid. */
    struct message last[MESSAGE_KINDS];
};

struct scene {
    const struct arena *arena; /* the arena that contains the whole scene */
    struct node *node;
    struct node_options options;
    struct member members[SCENE_MEMBERS];
    uint64_t now_ns;
    uint64_t drawn;     /* number of the learner's publications, which seeds the next one */
    bool is_training;   /* true between the node's first order to train and its last publication */
    bool is_stepping;   /* a step is running; orders except READ wait for its end */
    bool is_over;       /* the node has requested to end or to restart */
    bool refuses_calls; /* no member accepts the node's dials */
    uint8_t context[CONTEXT_BYTES];
    int32_t units[SCENE_PARAMETERS]; /* the learner's base */
    size_t orders_bytes;             /* bytes of waiting orders to the learner */
    uint8_t *orders;                 /* [SCENE_ORDERS_BYTES] waiting orders to the learner */
};

/* Makes a scene with an unchanged base. node_calls: the node dials the members; otherwise they dial
 * it. All handshakes are complete, but no member has sent HELLO. */
struct scene *scene_new(bool node_calls);

/* scene_keep saves the present state; scene_undo restores it. */
void scene_keep(struct scene *scene);
void scene_undo(struct scene *scene);

/* scene_call dials the node, which may refuse the member. scene_close ends the connection. */
void scene_call(struct scene *scene, struct member *member);
void scene_close(struct scene *scene, struct member *member);

/* Dials the node as a stranger in this network, sends `bytes`, and then waits. */
void scene_wait_unauthenticated(struct scene *scene, uint8_t network, const uint8_t *bytes,
                                size_t count);

/* Send the node a message, or encrypted bytes, from this member. Return false if the member cannot
 * send now, for example because it is not connected. */
bool scene_say(struct scene *scene, struct member *member, const struct message *message);
bool scene_shout(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count);
/* Sends bytes without encryption. */
void scene_send_raw(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count);

void scene_pass(struct scene *scene, uint64_t span_ns);
void scene_step(struct scene *scene, uint32_t steps, uint64_t samples);

/* Begins or ends a step of the learner. Orders to the learner except READ wait while it runs. */
void scene_set_stepping(struct scene *scene, bool is_stepping);

extern const struct executor_ops scene_learner;

/* Delivers the members' messages and performs all actions that the node requests. Every function
 * that changes the node calls it. */
void scene_run(struct scene *scene);

void scene_check(const struct scene *scene);

struct identity *scene_identity(uint32_t i);
struct operator_key *scene_operator(void);

#endif
