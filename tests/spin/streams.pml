/* Streams: a member that signs two streams is expelled by a proof, and its rumors beyond the proof
 * leave every base (src/node/broadcast/rumors.c, equivocation.c, retract.c,
 * src/node/orders/proofs.c, net/wire/equivocation_proof.c).
 *
 * The hostile member signs any of five heads in its first incarnation, and one in its second:
 *
 *   number 0   a0       b0                 A0: 1, B0: 2
 *   number 1   a0─a1    a0─c1    b0─b1     A1: 3, C1: 4, B1: 5
 *
 * Nodes 0, 1 and 2 are honest. Node 0 also publishes a rumor of its own, and may restart once
 * without its state. Node 2 may restart once with the proofs that it has stored.
 *
 * Properties
 *   no honest member is expelled: no proof against node 0 can exist
 *   a node that knows a proof takes no rumor beyond it, in no incarnation of the author
 *   in the end all nodes know the same proof, and have the same rumors of every stream
 *
 * Abstractions. The hostile member gives any head to any node at any time. Honest nodes exchange
 * rumors, versions, heads and proofs at any time, or never: this contains loss, delay, reordering
 * and duplicates. In the end, all exchanges happen. Logs hold all rumors (suspension.h describes
 * what follows if they do not). A proof against a second incarnation, a rumor beyond the limits and
 * full tables are left out.
 */
#define NODES 3
#define ALL   3 /* no proof is known: all rumors may stay */

/* A stream of the first incarnation, by its last head. */
#define NONE 0
#define A0   1
#define B0   2
#define A1   3
#define C1   4
#define B1   5

#define STREAMS 6

/* Constants, set at the start and outside the state. */
hidden byte before[STREAMS];          /* the stream without its last rumor */
hidden byte next[STREAMS];            /* number of its rumors */
hidden byte first[STREAMS];           /* its first rumor */
hidden byte doubt[STREAMS * STREAMS]; /* limit that two last heads prove; ALL: nothing */
hidden byte x, y;

/* The stream up to rumor n - 1. */
#define PREFIX(x, n) ((n) == 0 -> NONE : ((n) >= next[x] -> (x) : first[x]))

byte stream[NODES]; /* the hostile member's rumors that the node has */
bool later[NODES];  /* the node has the rumor of the hostile member's second incarnation */
byte keep[NODES];   /* limit that the strictest known proof sets */
byte stored = ALL;  /* strictest proof that node 2 has known, also before its restart */

/* Node 0's own rumor number 0, which has other contents after a restart without state. */
byte incarnation;   /* of node 0 */
bool has_published; /* node 0 knows that it has published the rumor in this incarnation */
byte published[2];  /* [incarnation] contents that node 0 has signed: bits */

bool has_lost, has_restarted, is_over;
byte found, given; /* scratch variables, 0 between two steps */

/* in_doubt: number of the first rumor that two contradicting heads put in doubt. Heads with one
 * number that differ in prev put the rumor before in doubt. */
#define NUMBER(x) (next[x] - 1)
#define BREAKS(x, y)         (NUMBER(x) + 1 == NUMBER(y) && before[y] != (x))
#define DIFFERS_BEFORE(x, y) (before[x] != before[y])
#define IN_DOUBT(x, y) doubt[(x) * STREAMS + (y)]
inline set_constants()
{
    before[A1] = A0; before[C1] = A0; before[B1] = B0;
    first[A0] = A0; first[B0] = B0; first[A1] = A0; first[C1] = A0; first[B1] = B0;
    next[A0] = 1; next[B0] = 1; next[A1] = 2; next[C1] = 2; next[B1] = 2;
    for (x : 0 .. STREAMS - 1) {
        for (y : 0 .. STREAMS - 1) {
            if
            :: x == NONE || y == NONE || x == y -> IN_DOUBT(x, y) = ALL
            :: else ->
                if
                :: NUMBER(x) == NUMBER(y) -> IN_DOUBT(x, y) = NUMBER(x) - DIFFERS_BEFORE(x, y)
                :: BREAKS(x, y) -> IN_DOUBT(x, y) = NUMBER(x)
                :: BREAKS(y, x) -> IN_DOUBT(x, y) = NUMBER(y)
                :: else -> IN_DOUBT(x, y) = ALL
                fi
            fi
        }
    }
    x = 0; y = 0
}

/* proofs_take: the strictest proof counts. retract_begin: rumors beyond it leave the base. */
#ifdef WEAKEN_first_proof_stays /* a stricter proof does not replace the known one */
#define IS_STRICTER(i, limit) ((limit) != ALL && keep[i] == ALL)
#else
#define IS_STRICTER(i, limit) ((limit) < keep[i])
#endif
inline prove(i, limit)
{
    if
    :: IS_STRICTER(i, limit) ->
        keep[i] = limit;
        stream[i] = PREFIX(stream[i], limit);
#ifndef WEAKEN_later_incarnations /* a proof does not concern later incarnations (proof_keeps) */
        later[i] = false;
#endif
        stored = (i == 2 && limit < stored -> limit : stored)
    :: else
    fi
}

/* is_expelled */
#ifdef WEAKEN_limit_ignored /* a neighbour that lacks the proof gives removed rumors again */
#define IS_REFUSED(i, head) false
#else
#define IS_REFUSED(i, head) (NUMBER(head) >= keep[i])
#endif

/* take, on_again: the next rumor must follow the last one; a known number must have that head. */
inline give(i, head)
{
    if
    :: IS_REFUSED(i, head)
    :: !IS_REFUSED(i, head) && NUMBER(head) > next[stream[i]] /* on_gap */
    :: !IS_REFUSED(i, head) && NUMBER(head) == next[stream[i]] ->
        if
        :: before[head] == stream[i] -> stream[i] = head
        :: else ->
            found = IN_DOUBT(stream[i], head);
            prove(i, found)
        fi
    :: !IS_REFUSED(i, head) && NUMBER(head) < next[stream[i]] ->
        found = PREFIX(stream[i], NUMBER(head) + 1);
        found = IN_DOUBT(found, head);
        prove(i, found)
    fi;
    found = 0;
    assert(next[stream[i]] <= keep[i]);
    assert(next[stream[2]] <= stored)
}

/* equivocation_on_entry: node k has another hash at the `next` of node i, and sends its heads. */
#ifdef WEAKEN_no_heads /* versions that differ only in a hash lead to no exchange of heads */
#define SHOWS_OTHER(i, k) false
#else
#define SHOWS_OTHER(i, k)                                                                          \
    (next[stream[i]] <= next[stream[k]] && PREFIX(stream[k], next[stream[i]]) != stream[i])
#endif
/* equivocation_on_heads, find_contrary: the first head that contradicts one of node i counts. */
#define DOUBT_OF_HEADS(i, head)                                                                    \
    (first[head] != first[stream[i]] -> IN_DOUBT(first[stream[i]], first[head])                    \
                                     : IN_DOUBT(stream[i], head))
inline compare_heads(i, head)
{
    found = DOUBT_OF_HEADS(i, head);
    prove(i, found);
    found = 0
}

/* The first rumor of the hostile member's second incarnation. */
#ifdef WEAKEN_later_incarnations
#define MAY_TAKE_LATER(i) (!later[i])
#else
#define MAY_TAKE_LATER(i) (!later[i] && keep[i] == ALL)
#endif
inline give_later(i)
{
    later[i] = true;
    assert(keep[i] == ALL)
}

inline publish()
{
    published[incarnation] = published[incarnation] | (has_lost -> 2 : 1);
    assert(published[incarnation] != 3);
    has_published = true
}

/* A start without stored state has a higher incarnation, by the clock. */
inline lose_state()
{
    stream[0] = NONE; later[0] = false; keep[0] = ALL; has_published = false; has_lost = true;
#ifndef WEAKEN_same_incarnation
    incarnation++
#endif
}

/* expulsion_begin: stored proofs are obeyed again. */
inline restart()
{
    stream[2] = NONE; later[2] = false; has_restarted = true;
#ifdef WEAKEN_proofs_forgotten /* proofs are not stored for the next start */
    keep[2] = ALL
#endif
}

#define HOSTILE_GIVES(i, head) :: d_step { !is_over -> give(i, head) }
#define HOSTILE(i)                                                                                 \
    HOSTILE_GIVES(i, A0) HOSTILE_GIVES(i, B0) HOSTILE_GIVES(i, A1) HOSTILE_GIVES(i, C1)            \
    HOSTILE_GIVES(i, B1)                                                                           \
    :: d_step { !is_over && MAY_TAKE_LATER(i) -> give_later(i) }                                   \
    :: d_step { !is_over && IS_STRICTER(i, 0) -> prove(i, 0) }                                     \
    :: d_step { !is_over && IS_STRICTER(i, 1) -> prove(i, 1) }
/* Node k gives node i a proof, its next rumor, or heads, if that has an effect. */
#define GIVEN(k, i) PREFIX(stream[k], next[stream[i]] + 1)
#define MAY_GIVE(k, i)                                                                             \
    (next[stream[k]] > next[stream[i]] && next[stream[i]] < keep[i] &&                             \
     (before[GIVEN(k, i)] == stream[i] || IN_DOUBT(stream[i], GIVEN(k, i)) < keep[i]))
#define MAY_COMPARE(k, i) (SHOWS_OTHER(i, k) && DOUBT_OF_HEADS(i, stream[k]) < keep[i])
#define PAIR(k, i)                                                                                 \
    :: d_step { keep[k] != ALL && IS_STRICTER(i, keep[k]) -> prove(i, keep[k]) }                   \
    :: d_step {                                                                                    \
        MAY_GIVE(k, i) ->                                                                          \
        given = GIVEN(k, i);                                                                       \
        give(i, given);                                                                            \
        given = 0                                                                                  \
    }                                                                                              \
    :: d_step { MAY_COMPARE(k, i) -> compare_heads(i, stream[k]) }                                 \
    :: d_step { later[k] && MAY_TAKE_LATER(i) -> give_later(i) }

active proctype swarm()
{
    d_step { set_constants(); keep[0] = ALL; keep[1] = ALL; keep[2] = ALL };
    do
    HOSTILE(0)
    HOSTILE(1)
    HOSTILE(2)
    PAIR(0, 1)
    PAIR(1, 0)
    PAIR(0, 2)
    PAIR(2, 0)
    PAIR(1, 2)
    PAIR(2, 1)
    :: d_step { !is_over && !has_published -> publish() }
    :: d_step { !is_over && !has_lost -> lose_state() }
    :: d_step { !is_over && !has_restarted -> restart() }
    :: !is_over -> is_over = true
    :: else -> break
    od;
    assert(keep[0] == keep[1] && keep[1] == keep[2]);
    assert(stream[0] == stream[1] && stream[1] == stream[2]);
    assert(later[0] == later[1] && later[1] == later[2])
}
