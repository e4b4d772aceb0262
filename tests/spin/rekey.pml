/* Rekey: a swarm that changes its key, with an expelled member that has the old one
 * (src/node/orders/orders.c, key_rotation.c, src/node/governance/expulsion.c, admit.c, net/crypto/gate.c).
 *
 * Nodes 0, 1 and 2 are honest. Member 3 is hostile. The operator signs up to three orders: at most
 * one expels member 3, and at most two give the swarm another key, which node 0 gets at once.
 * Orders admit the members, so a second identity of the hostile member has no effect. Node 1 may
 * restart once without its state.
 *
 * Properties
 *   a member that was expelled before a rekey never gets the new key
 *   no node that obeys the expulsion has a conversation with the member
 *   a conversation never opens with a key whose time is over, if the node has a newer one
 *   in the end all honest nodes have the same orders and the newest key, whatever their clocks, if
 *   node 0 still accepts the old keys
 *
 * Abstractions. Two honest nodes with a common key exchange orders and keys at any time, or never.
 * Their open conversations, which end at any time, would only let them exchange more. The hostile
 * member knows all orders and passes on any of them and any key that it has, also a false one. A
 * node takes orders in sequence, one or more at once. Its clock may pass the time that an order
 * sets at any moment, in any sequence. A node drops a key at once when it may.
 */
#define NODES  3
#define ORDERS 3
#define KEYS   4 /* the first key, those of two rekeys, and a false one */
#define FALSE_KEY 3

#define BIT(n)     (1 << (n))
#define IS(mask, n) (((mask) >> (n)) & 1)

byte issued;      /* orders that the operator has signed */
byte expels;      /* number of the order that expels member 3; 0: none */
byte rekeys[3];   /* [key] number of the order that gives the key; 0: none */

byte known[NODES]; /* orders that the node has */
byte keys[NODES + 1]; /* keys of the node, and of the hostile member */
byte is_over[NODES];  /* keys whose order has set a time that the node's clock has passed */
bool is_open[NODES];  /* the node has a conversation with the hostile member */
bool is_expelled[NODES]; /* the node obeys the expulsion */
bool has_restarted, is_ended;

/* swarm_key_age: the newest key that an order known to the node gives; 0: the first one */
#define KNOWS(i, key) (rekeys[key] > 0 && rekeys[key] <= known[i])
#define LATEST(i)     (KNOWS(i, 2) -> 2 : (KNOWS(i, 1) -> 1 : 0))
#define HAS(i, key)   IS(keys[i], key)
/* is_missing: a false key counts as the latest one if it was taken for it. */
#define IS_MISSING(i) (!HAS(i, LATEST(i)) && !HAS(i, FALSE_KEY))
#define HAS_NEWER(i, key) ((key) < 2 && HAS(i, 2) || (key) < 1 && HAS(i, 1) || HAS(i, FALSE_KEY))

/* swarm_key_until_ms: the earliest time that a later order sets counts. */
#define ENDS(i, order) (KNOWS(i, order) && IS(is_over[i], order))
#define IS_PAST(i, key) ((key) == 0 && (ENDS(i, 1) || ENDS(i, 2)) || (key) == 1 && ENDS(i, 2))
#ifdef WEAKEN_next_order_only /* only the time counts that the next rekey sets */
#define IS_DROPPED(i, key)                                                                         \
    (HAS_NEWER(i, key) && ((key) == 0 && ENDS(i, 1) || (key) == 1 && ENDS(i, 2)))
#elif defined(WEAKEN_old_keys_stay) /* expired keys are not dropped */
#define IS_DROPPED(i, key) false
#elif defined(WEAKEN_clock_alone_drops) /* a key is dropped although the node has no newer one */
#define IS_DROPPED(i, key) IS_PAST(i, key)
#else
#define IS_DROPPED(i, key) (HAS_NEWER(i, key) && IS_PAST(i, key))
#endif

/* review, key_rotation_consider */
inline review(i)
{
    keys[i] = (IS_DROPPED(i, 0) -> keys[i] & ~BIT(0) : keys[i]);
    keys[i] = (IS_DROPPED(i, 1) -> keys[i] & ~BIT(1) : keys[i])
}

/* obey_all: orders up to number n, in sequence */
inline obey(i, n)
{
    known[i] = n;
    if
    :: expels > 0 && expels <= n ->
        is_expelled[i] = true;
#ifndef WEAKEN_conversation_stays /* the expelled member's conversation stays open */
        is_open[i] = false
#endif
    :: else
    fi;
    review(i)
}

/* orders_take: the next order only */
#define MAY_OBEY(i, n) (known[i] < (n))
#ifdef WEAKEN_orders_skipped /* an order after a gap is obeyed */
inline obey_one(i, n)
{
    known[i] = n;
    is_expelled[i] = is_expelled[i] || expels == n;
    review(i)
}
#endif

inline learn(i, key)
{
    keys[i] = keys[i] | BIT(key);
    review(i)
}

/* give: not to an expelled member */
inline leak(i)
{
    assert(expels == 0 || rekeys[LATEST(i)] < expels);
    keys[3] = keys[3] | BIT(LATEST(i))
}

/* turn_out refuses an expelled member. The gate opens with a common key. */
#ifdef WEAKEN_expelled_returns /* the list of expelled members is not asked at a new conversation */
#define IS_WELCOME(i) true
#else
#define IS_WELCOME(i) (!is_expelled[i])
#endif
#define MEET(i, key)                                                                               \
    :: d_step {                                                                                    \
        !is_ended && !is_open[i] && IS_WELCOME(i) && HAS(i, key) && IS(keys[3], key) ->            \
        assert(!(HAS_NEWER(i, key) && IS_PAST(i, key)));                                           \
        assert(!is_expelled[i]);                                                                   \
        is_open[i] = true                                                                          \
    }
/* is_key_of: the key must have the hash that the order states. */
#ifdef WEAKEN_key_unchecked /* any key is taken for the latest */
#define MAY_FORGE(i) IS_MISSING(i)
#else
#define MAY_FORGE(i) false
#endif
#ifdef WEAKEN_orders_skipped
#define HOSTILE_ORDER(i, n)                                                                        \
    :: d_step { !is_ended && is_open[i] && MAY_OBEY(i, n) && (n) <= issued -> obey_one(i, n) }
#else
#define HOSTILE_ORDER(i, n)                                                                        \
    :: d_step { !is_ended && is_open[i] && MAY_OBEY(i, n) && (n) <= issued -> obey(i, n) }
#endif
#define HOSTILE(i)                                                                                 \
    MEET(i, 0)                                                                                     \
    MEET(i, 1)                                                                                     \
    MEET(i, 2)                                                                                     \
    :: d_step { !is_ended && is_open[i] -> is_open[i] = false }                                    \
    HOSTILE_ORDER(i, 1)                                                                            \
    HOSTILE_ORDER(i, 2)                                                                            \
    HOSTILE_ORDER(i, 3)                                                                            \
    :: d_step {                                                                                    \
        !is_ended && is_open[i] && HAS(i, LATEST(i)) && !IS(keys[3], LATEST(i)) -> leak(i)         \
    }                                                                                              \
    :: d_step {                                                                                    \
        !is_ended && is_open[i] && IS_MISSING(i) && IS(keys[3], LATEST(i)) -> learn(i, LATEST(i))  \
    }                                                                                              \
    :: d_step { !is_ended && is_open[i] && MAY_FORGE(i) -> learn(i, FALSE_KEY) }

/* Two honest nodes that accept a common key. Node i gets orders and the latest key from node k. */
#define MAY_MEET(i, k) ((keys[i] & keys[k]) > 0)
#ifdef WEAKEN_key_asked_once /* a node asks for a key only when it gets the order */
#define MAY_ASK(i, k) false
#else
#define MAY_ASK(i, k) (IS_MISSING(i) && LATEST(i) == LATEST(k) && HAS(k, LATEST(k)))
#endif
#define ASK_WITH_ORDER(i, k)                                                                       \
    (IS_MISSING(i) && LATEST(i) == LATEST(k) && HAS(k, LATEST(k)))
#define OBEY(i, k, n)                                                                              \
    :: d_step {                                                                                    \
        MAY_MEET(i, k) && MAY_OBEY(i, n) && (n) <= known[k] ->                                     \
        obey(i, n);                                                                                \
        if                                                                                         \
        :: ASK_WITH_ORDER(i, k) -> learn(i, LATEST(i))                                             \
        :: else                                                                                    \
        fi                                                                                         \
    }
#define PAIR(i, k)                                                                                 \
    OBEY(i, k, 1)                                                                                  \
    OBEY(i, k, 2)                                                                                  \
    OBEY(i, k, 3)                                                                                  \
    :: d_step { MAY_MEET(i, k) && MAY_ASK(i, k) -> learn(i, LATEST(i)) }

#define TICK(i, order)                                                                             \
    :: d_step {                                                                                    \
        !is_ended && rekeys[order] > 0 && !IS(is_over[i], order) ->                                \
        is_over[i] = is_over[i] | BIT(order);                                                      \
        review(i)                                                                                  \
    }
#define NODE(i)                                                                                    \
    HOSTILE(i)                                                                                     \
    TICK(i, 1)                                                                                     \
    TICK(i, 2)

/* The operator gives an order to node 0, which has all orders before it. */
inline expel()
{
    issued++; expels = issued;
    obey(0, issued)
}

inline rekey(key)
{
    issued++; rekeys[key] = issued;
    obey(0, issued);
    learn(0, key)
}

inline restart(i)
{
    known[i] = 0; keys[i] = BIT(0); is_open[i] = false; is_expelled[i] = false;
    has_restarted = true
}

#define MAY_ORDER (!is_ended && known[0] == issued)
#define HAS_ALL(i) (known[i] == issued && HAS(i, LATEST(i)))

active proctype swarm()
{
    d_step { keys[0] = 1; keys[1] = 1; keys[2] = 1; keys[3] = 1 };
    do
    :: d_step { MAY_ORDER && expels == 0 -> expel() }
    :: d_step { MAY_ORDER && rekeys[1] == 0 -> rekey(1) }
    :: d_step { MAY_ORDER && rekeys[1] > 0 && rekeys[2] == 0 -> rekey(2) }
    NODE(0)
    NODE(1)
    NODE(2)
    PAIR(0, 1)
    PAIR(0, 2)
    PAIR(1, 0)
    PAIR(1, 2)
    PAIR(2, 0)
    PAIR(2, 1)
    :: d_step { !is_ended && !has_restarted -> restart(1) }
    :: !is_ended -> is_ended = true
    :: else -> break
    od;
    assert(!is_open[0] || !is_expelled[0]);
    assert(!is_open[1] || !is_expelled[1]);
    assert(!is_open[2] || !is_expelled[2]);
    assert(is_over[0] > 0 || HAS_ALL(0) && HAS_ALL(1) && HAS_ALL(2))
}
