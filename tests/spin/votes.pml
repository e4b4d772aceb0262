/* Votes: expulsion by most members, while the operator's orders change who is a member
 * (src/node/orders/quorum_votes.c, admitted.c, src/node/governance/quarantine.c, expulsion.c).
 *
 * Members at first are 0, 1 and 2, which are honest, and the hostile 3. Honest members may vote
 * against 3; member 2 also suspects 0 by mistake. Member 3 signs any vote against 0, and any
 * number of them. Key 5 is the hostile member's second identity, which is never admitted. The
 * operator may expel 2 or 3, readmit 3, or admit 4, which never votes. The model follows the tables
 * of nodes 0 and 1. Node 1 may restart once without its state.
 *
 * Properties
 *   no votes expel an honest member as long as liars and mistaken members are a minority
 *   a node that obeys an order to expel a member counts no vote of that member
 *   in the end both nodes know the same orders and votes, and have the same verdicts
 *
 * Abstractions. Every signed vote may reach a node at any time, in any order, or never: this
 * contains loss, delay, reordering, duplicates and replays by the hostile member. Orders arrive in
 * sequence, one or more at once. At last the nodes exchange what they store, as they do while their
 * hashes differ. A limit is its place in the stream: 0 no vote, 1 or 2 (later, keeps more), near
 * enough to count together. No table is full, and the pause between two replacements of a vote
 * (has_place) is left out.
 */
#define NODES  2
#define SLOTS  6 /* pairs of voter and accused */
#define ORDERS 2 /* orders after those that admit the first members */

#define BIT(m)       (1 << (m))
#define VOTER(s)     ((s) == 4 -> 2 : (s))
#define ACCUSED(s)   ((s) < 3 -> 3 : 0)
#define VOTE(i, s)   votes[(i) * SLOTS + (s)]
#define SIGNED(s, v) ((s) == 3 || (s) == 5 || (is_signed & BIT(2 * (s) + (v) - 1)))
#define IS(mask, m)  (((mask) >> (m)) & 1)
#define COUNT(mask)  (IS(mask, 0) + IS(mask, 1) + IS(mask, 2) + IS(mask, 3) + IS(mask, 4))
#define MEMBERS(i)   members[known[i]]

byte members[ORDERS + 1]; /* [orders known] members that may vote: admitted and not expelled */
byte expels[ORDERS + 1];  /* [orders known] members that an order expels */
byte issued;              /* orders that the operator has signed */
short is_signed;          /* votes of honest members that exist: bit 2 * slot + limit - 1 */

byte known[NODES];         /* orders that the node has obeyed */
byte votes[NODES * SLOTS]; /* limit of the stored vote; 0: none */
byte verdict[NODES * 2];   /* limit that votes set, on member 3 and then on member 0; 0: none */
bool has_restarted, is_over;

byte s, count, strict, needed; /* scratch variables, 0 between two steps */

/* admitted_may_vote for voter and accused */
#ifdef WEAKEN_voters_unchecked /* any key may vote */
#define MAY_COUNT(i, s) IS(MEMBERS(i), ACCUSED(s))
#else
#define MAY_COUNT(i, s) (IS(MEMBERS(i), VOTER(s)) && IS(MEMBERS(i), ACCUSED(s)))
#endif

/* votes_needed */
#ifdef WEAKEN_half_suffices
#define NEEDED(n) ((n) / 2)
#else
#define NEEDED(n) ((n) / 2 + 1)
#endif

/* votes_decide: the limit of vote number `needed` in order of strictness */
inline decide(i, accused, at)
{
    count = 0; strict = 0; needed = NEEDED(COUNT(MEMBERS(i)));
    for (s : 0 .. SLOTS - 1) {
        if
        :: ACCUSED(s) == accused ->
            count = count + (VOTE(i, s) > 0);
#ifdef WEAKEN_replacement_counts /* a later vote is stored beside the one that it replaces */
            count = count + (VOTE(i, s) == 2);
#endif
            strict = strict + (VOTE(i, s) == 1)
        :: else
        fi
    }
    if
    :: count < needed ->
#ifdef WEAKEN_verdict_stays /* an expulsion stays when the votes are no majority any more */
        skip
#else
        verdict[i * 2 + at] = 0
#endif
#ifdef WEAKEN_first_verdict_stays /* later votes do not change the limit */
    :: count >= needed && verdict[i * 2 + at] > 0 -> skip
#endif
    :: else -> verdict[i * 2 + at] = (strict >= needed -> 1 : 2)
    fi;
    s = 0; count = 0; strict = 0; needed = 0
}

/* expulsion_on_votes, for both accused members */
inline decide_all(i)
{
    decide(i, 3, 0);
    decide(i, 0, 1);
    assert(verdict[i * 2 + 1] == 0)
}

/* look_at_members, votes_on_members: drops votes by or against non-members */
inline look_at_members(i)
{
#ifndef WEAKEN_votes_stay /* votes of a member stay after its expulsion by the operator */
    for (s : 0 .. SLOTS - 1) {
        VOTE(i, s) = (MAY_COUNT(i, s) -> VOTE(i, s) : 0)
    }
#endif
    for (s : 0 .. SLOTS - 1) {
        assert(!IS(expels[known[i]], VOTER(s)) || VOTE(i, s) == 0)
    }
    decide_all(i)
}

/* votes_take: the latest vote of a voter counts */
#ifdef WEAKEN_first_vote_stays /* a stored vote is not replaced */
#define IS_NEW(i, s, v) (VOTE(i, s) == 0)
#else
#define IS_NEW(i, s, v) (VOTE(i, s) < (v))
#endif
#define MAY_TAKE(i, s, v) (MAY_COUNT(i, s) && IS_NEW(i, s, v))

inline take(i, slot, v)
{
    VOTE(i, slot) = v;
    decide_all(i)
}

/* The operator expels or admits member m. */
inline order(m, is_expelled)
{
    members[issued + 1] = (is_expelled -> members[issued] & ~BIT(m) : members[issued] | BIT(m));
    expels[issued + 1] = (is_expelled -> expels[issued] | BIT(m) : expels[issued] & ~BIT(m));
    issued++
}

#define MAY_ORDER (!is_over && issued < ORDERS)
#define MAY_SIGN(s, v) (!is_over && !SIGNED(s, v))
/* votes_cast: an honest node votes once about near rumors of a member, as far as it remembers. */
#define CAST(i, s, v)                                                                              \
    :: d_step {                                                                                    \
        MAY_SIGN(s, v) && VOTE(i, s) == 0 && MAY_COUNT(i, s) ->                                    \
        is_signed = is_signed | BIT(2 * (s) + (v) - 1);                                            \
        take(i, s, v)                                                                              \
    }
#define SIGN(s, v)                                                                                 \
    :: d_step { MAY_SIGN(s, v) -> is_signed = is_signed | BIT(2 * (s) + (v) - 1) }
#define DELIVER(i, s, v)                                                                           \
    :: d_step { !is_over && SIGNED(s, v) && MAY_TAKE(i, s, v) -> take(i, s, v) }
#define DELIVER_ALL(i)                                                                             \
    DELIVER(i, 0, 1) DELIVER(i, 0, 2) DELIVER(i, 1, 1) DELIVER(i, 1, 2) DELIVER(i, 2, 2)           \
    DELIVER(i, 3, 1) DELIVER(i, 3, 2) DELIVER(i, 4, 1) DELIVER(i, 5, 1)
/* orders_take, obey_all: one order or several at once */
#define OBEY(i, n)                                                                                 \
    :: d_step { !is_over && known[i] < (n) && (n) <= issued -> known[i] = (n); look_at_members(i) }
/* The exchange that follows if hashes differ (votes_on_shown, orders_show_one). */
#define EXCHANGE(i, k, s)                                                                          \
    :: d_step { is_over && MAY_TAKE(i, s, VOTE(k, s)) -> take(i, s, VOTE(k, s)) }
#define EXCHANGE_ALL(i, k)                                                                         \
    :: d_step { is_over && known[i] < known[k] -> known[i] = known[k]; look_at_members(i) }        \
    EXCHANGE(i, k, 0) EXCHANGE(i, k, 1) EXCHANGE(i, k, 2)                                          \
    EXCHANGE(i, k, 3) EXCHANGE(i, k, 4) EXCHANGE(i, k, 5)

inline restart(i)
{
    known[i] = 0; verdict[i * 2] = 0; verdict[i * 2 + 1] = 0;
    for (s : 0 .. SLOTS - 1) {
        VOTE(i, s) = 0
    }
    s = 0;
    has_restarted = true
}

active proctype swarm()
{
    members[0] = 15;
    do
    :: d_step { MAY_ORDER -> order(3, true) }
    :: d_step { MAY_ORDER -> order(2, true) }
    :: d_step { MAY_ORDER -> order(4, false) }
    :: d_step { MAY_ORDER && IS(expels[issued], 3) -> order(3, false) }
    CAST(0, 0, 1)
    CAST(0, 0, 2)
    CAST(1, 1, 1)
    CAST(1, 1, 2)
    SIGN(2, 2)
    SIGN(4, 1)
    DELIVER_ALL(0)
    DELIVER_ALL(1)
    OBEY(0, 1)
    OBEY(0, 2)
    OBEY(1, 1)
    OBEY(1, 2)
    :: d_step { !is_over && !has_restarted -> restart(1) }
    :: !is_over -> is_over = true
    EXCHANGE_ALL(0, 1)
    EXCHANGE_ALL(1, 0)
    :: else -> break
    od;
    assert(known[0] == known[1]);
    assert(verdict[0] == verdict[2] && verdict[1] == verdict[3]);
    d_step {
        for (s : 0 .. SLOTS - 1) {
            assert(VOTE(0, s) == VOTE(1, s))
        }
    }
}
