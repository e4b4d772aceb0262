/* Operations of a script of fuzz_member. */
#ifndef HEARSAY_TESTS_FUZZ_SCRIPT_H
#define HEARSAY_TESTS_FUZZ_SCRIPT_H

enum operation {
    SAY_HELLO,      /* a member introduces itself */
    SAY_RECORDS,    /* records of any members */
    SAY_RUMOR,      /* a rumor of one member, said by another */
    MAKE_CLAIM,     /* from now on members say that they know this version, and have this base */
    SAY_VERSION,    /* that version */
    SAY_HISTORY,    /* it, in answer to TAKE */
    SAY_BLOCKS,     /* of that base, those last asked for, or any */
    SAY_ORDERS,     /* orders of the operator */
    SAY_PROOF,      /* two heads, signed, that cannot both be true */
    SAY_HEADS,      /* the heads of what members say they know */
    GIVE_ORDER,     /* the same, given to the node by its owner */
    SAY_ANYTHING,   /* a message of any kind with any numbers */
    SHOUT,          /* any bytes, sealed or not */
    CALL,           /* a member calls the node */
    STAND_AT_DOOR,  /* somebody calls and says no more than a few bytes */
    HANG_UP,        /* a connection breaks */
    PASS,           /* time passes */
    MAKE_STEPS,     /* the learner makes steps */
    SET_STEPPING,   /* a step begins or ends */
    LEAVE,          /* the node is told to leave */
    CHANGE_MANNERS, /* a member falls silent, or nobody answers calls */
    SAY_KEY,        /* a swarm key, or that one is wanted */
    GIVE_KEY,       /* the same, given to the node by its owner */
    SAY_VOTES,      /* votes of members that one harms, signed */
    SCRIPT_OPERATIONS
};

#endif
