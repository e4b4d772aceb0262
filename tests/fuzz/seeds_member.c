/* Seeds of scripts: conversations without errors, which a fuzzer then changes.
 *
 * The first argument of an operation is the member that sends. The second one is mostly a byte
 * whose bits are errors. fuzz_member.c defines the other arguments.
 */
#include "fuzz/script.h"
#include "fuzz/seeds.h"
#include "wire/message.h"

#define RUNNING 0 /* the node trains; members 0 and 1 are its neighbours */
#define JOINING 1 /* the node has just started and received no HELLO */

/* Claims two origins with their rumors and samples. */
#define CLAIM_OF_TWO   MAKE_CLAIM, 2, 3, 0, 90, 5, 1, 80, 7
#define SAY_KIND(kind) SAY_ANYTHING, 1, (kind)-1
#define GIVE_BLOCKS    SAY_BLOCKS, 0, 0
#define HAS_PUBLISHED  RUNNING, MAKE_STEPS, 8, PASS, 3, MAKE_STEPS, 8, PASS, 3
#define BASE_WHOLE     (1 << 5 | 1 << 6)

static void rumors(void)
{
    static const uint8_t script[] = {
        RUNNING,                                                     //
        SAY_RUMOR, 0, 0, 2,  10, 20,                                 //
        SAY_RUMOR, 1, 0, 4,  9,  8,          7,                      // member 1 forwards it
        SAY_RUMOR, 0, 0, 96, 5,  1,          PASS, 3,                // a gap
        SAY_RUMOR, 0, 0, 0,  50, MAKE_STEPS, 8,    PASS, 3, PASS, 3, //
    };
    seed_put("member", "rumors", NULL, 0, script, sizeof script);
}

static void takeover(void)
{
    static const uint8_t script[] = {
        JOINING,     SAY_HELLO,   0,          0,    1,           CLAIM_OF_TWO,
        SAY_VERSION, 0,           BASE_WHOLE, PASS, 1,           SAY_HISTORY,
        0,           0,           PASS,       3,    GIVE_BLOCKS, PASS,
        3,           GIVE_BLOCKS, PASS,       3,    MAKE_STEPS,  8,
        PASS,        3,           PASS,       7,
    };
    seed_put("member", "takeover", NULL, 0, script, sizeof script);
}

/* A takeover in which the announced digest differs from that of the blocks. Member 1 also has the
 * base. */
static void false_base(void)
{
    static const uint8_t script[] = {
        JOINING,     SAY_HELLO, 0,          0,    1,          CLAIM_OF_TWO,
        SAY_VERSION, 0,         BASE_WHOLE, PASS, 1,          SAY_HISTORY,
        0,           1,         0,          PASS, 3,          GIVE_BLOCKS,
        PASS,        3,         SAY_HELLO,  1,    0,          1,
        SAY_VERSION, 1,         BASE_WHOLE, PASS, 7,          SAY_HISTORY,
        1,           0,         PASS,       3,    SAY_BLOCKS, 1,
        0,           PASS,      3,          PASS, 7,
    };
    seed_put("member", "false_base", NULL, 0, script, sizeof script);
}

/* Member 1 requests the node's base, and six blocks from block 0 on. */
static void serving(void)
{
    static const uint8_t script[] = {
        HAS_PUBLISHED,
        SAY_KIND(TAKE),
        0,
        0,
        0,
        0,
        0,
        0,
        SAY_KIND(FETCH),
        0,
        6,
        0,
        0,
        0,
        0,
        PASS,
        2,
        SHOUT,
        0,
        9,
        1,
        2,
        3,
        4,
    };
    seed_put("member", "serving", NULL, 0, script, sizeof script);
}

static void settings(void)
{
    static const uint8_t script[] = {
        RUNNING, SAY_KIND(SETTINGS), 0, 0, 0, 0, 7, 'a', '=', '1', 10, 'c', '!', 10, 0};
    seed_put("member", "settings", NULL, 0, script, sizeof script);
}

static void expulsion(void)
{
    static const uint8_t script[] = {
        RUNNING,    SAY_RUMOR, 0,         0, 2, 10,   20,      //
        GIVE_ORDER, 0,         PASS,      3,                   //
        CALL,       0,         SAY_HELLO, 0, 0, 1,    PASS, 3, // it dials again
        SAY_ORDERS, 1,         0,         1, 0, PASS, 3,       //
    };
    seed_put("member", "expulsion", NULL, 0, script, sizeof script);
}

/* The operator orders a new key, and member 0 requests it. Member 0 sends a wrong key, member 1 the
 * right one. Then the owner gives the node a second order and its key. */
static void rekey(void)
{
    static const uint8_t script[] = {
        RUNNING,    SAY_ORDERS, 0, 0,        128 | 16, 100,  PASS, 3, //
        SAY_KEY,    0,          8, SAY_KEY,  0,        1,    PASS, 1, //
        SAY_KEY,    1,          0, PASS,     3,                       //
        GIVE_ORDER, 128 | 2,    0, GIVE_KEY, 1,        PASS, 7,       //
        SAY_KEY,    1,          8, PASS,     3,                       //
    };
    seed_put("member", "rekey", NULL, 0, script, sizeof script);
}

/* A script that a fuzzer found. The node is given a new key and loses a neighbour. It dials the
 * neighbour with the new key, which members do not have. */
static void another_key(void)
{
    static const uint8_t script[] = {
        0x03, 0x90, 0x64, 0x10, 0x03, 0x15, 0x00, 0x08, 0x15, 0x00, 0x01, 0x10,
        0x01, 0x15, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x33, 0x00, 0x21, 0x21,
        0x21, 0x21, 0x21, 0x21, 0x21, 0x21, 0x00, 0x00, 0x00, 0x10, 0x03, 0x0a,
        0x82, 0x00, 0x16, 0x01, 0x10, 0x07, 0x15, 0x01, 0x08, 0x10, 0x03,
    };
    seed_put("member", "another_key", NULL, 0, script, sizeof script);
}

/* Members 0 and 1 vote against member 2, which has published. A third vote expels member 2. One
 * vote is repeated, and one is damaged. */
static void votes(void)
{
    static const uint8_t script[] = {
        RUNNING,   SAY_RUMOR, 2, 2, 2,  10,        20, PASS, 3,        //
        SAY_VOTES, 0,         2, 2, 0,  1,                             //
        SAY_VOTES, 1,         2, 4, 1,  3,         0,  PASS, 3,        //
        SAY_RUMOR, 0,         2, 2, 10, 20,                            //
        SAY_VOTES, 0,         1, 1, 3,  SAY_VOTES, 1,  1,    32, 2, 9, //
        PASS,      3,                                                  //
    };
    seed_put("member", "votes", NULL, 0, script, sizeof script);
}

/* Member 0 sends a false proof against member 2. Then member 1 sends a true one. */
static void proofs(void)
{
    static const uint8_t script[] = {
        RUNNING,   SAY_RUMOR, 2, 2, 2,  10,   20,   PASS, 3, //
        SAY_PROOF, 0,         2, 2, 5,  7,                   //
        SAY_PROOF, 1,         2, 0, 5,  PASS, 3,             //
        SAY_RUMOR, 1,         2, 2, 10, 20,   PASS, 3,       //
    };
    seed_put("member", "proofs", NULL, 0, script, sizeof script);
}

#define ASK(who, count) SAY_ANYTHING, who, INFERENCE - 1, 0, count, 0, 0, 0, 2 * (count)

/* Two clients send inference requests without HELLO: for the format, for one sample, too early,
 * during a step, and with too many samples. */
static void asking(void)
{
    static const uint8_t script[] = {
        RUNNING,
        CALL,
        2,
        ASK(2, 0), //
        ASK(2, 1),
        5,
        6,
        CALL,
        3,
        ASK(3, 1), //
        7,
        8,
        PASS,
        3,
        ASK(3, 0), //
        SET_STEPPING,
        ASK(2, 1),
        5,
        6,
        ASK(2, 1), //
        5,
        6,
        PASS,
        1, //
        SET_STEPPING,
        PASS,
        3,
        ASK(3, 5), //
    };
    seed_put("member", "asking", NULL, 0, script, sizeof script);
}

static void leaving(void)
{
    static const uint8_t script[] = {
        RUNNING,
        SET_STEPPING,
        MAKE_STEPS,
        8,
        PASS,
        3,
        SET_STEPPING, //
        SAY_RECORDS,
        0,
        1,
        0,
        1,
        2,
        1, //
        LEAVE,
        PASS,
        3,
        PASS,
        7,
        HANG_UP,
        0,
        PASS,
        7, //
    };
    seed_put("member", "leaving", NULL, 0, script, sizeof script);
}

void seeds_member(void)
{
    rumors();
    takeover();
    false_base();
    serving();
    settings();
    expulsion();
    rekey();
    another_key();
    votes();
    proofs();
    asking();
    leaving();
}
