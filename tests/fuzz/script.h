/* Operations of the scripts of fuzz_member. */
#ifndef HEARSAY_TESTS_FUZZ_SCRIPT_H
#define HEARSAY_TESTS_FUZZ_SCRIPT_H

enum operation {
    SAY_HELLO,   /* a member sends HELLO */
    SAY_RECORDS, /* a member sends member records of any members */
    SAY_RUMOR,   /* a member sends a rumor of any member */
    MAKE_CLAIM,  /* sets the version and base that members claim to have */
    SAY_VERSION, /* a member sends the claimed version */
    SAY_HISTORY, /* a member sends the claimed history, which answers TAKE */
    SAY_BLOCKS, /* a member sends blocks of the claimed base: any, or those last requested */
    SAY_ORDERS,    /* a member sends the operator's orders */
    SAY_PROOF,     /* a member sends two signed heads of one stream, a proof of equivocation */
    SAY_HEADS,     /* a member sends the heads of the claimed version */
    GIVE_ORDER,    /* the node's owner gives it an order of the operator */
    SAY_ANYTHING,  /* a member sends a message of any kind with any numbers */
    SHOUT,         /* a member sends any bytes, encrypted or not */
    CALL,          /* a member dials the node */
    STAND_AT_DOOR, /* a stranger dials and sends only a few bytes */
    HANG_UP,       /* a member's connection ends */
    PASS,
    MAKE_STEPS,     /* the learner makes steps */
    SET_STEPPING,   /* a step begins or ends */
    LEAVE,          /* the owner orders the node to leave the swarm */
    CHANGE_MANNERS, /* a member stops answering, or no dial of the node is answered */
    SAY_KEY,        /* a member sends or requests a swarm key */
    GIVE_KEY,       /* the node's owner gives it a swarm key */
    SAY_VOTES,      /* a member sends signed votes of members against one */
    SCRIPT_OPERATIONS
};

#endif
