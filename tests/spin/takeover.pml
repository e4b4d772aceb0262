/* Takeover: when a node gives up its whole base for another one (src/node/transfer/takeover.c,
 * partition.c, supporters.c, fetch.c, lost_rumors.c).
 *
 * Nodes 0, 1 and 2 are honest. Member 3 is hostile: it is a neighbour of all, shows any version,
 * states any number of its own samples, gives any history of heads that their members have signed,
 * and invents the base behind it. Node 2 may be one that does not train.
 *
 * Properties
 *   If at least two training members are on a node's side, itself included, the node takes over the
 *   hostile member's base only if an honest member supports that: it has signed rumors of that
 *   history which the node lacks, or it shows that the node is behind or has lost rumors.
 *   No honest node publishes two rumors under one number, which would expel it.
 *   Once the hostile member is gone, the honest nodes end with one version, without a circle of
 *   takeovers.
 *
 * Abstractions. A member's rumors are counted in units of more than FAR_EACH rumors and more than
 * partition_s of samples. Node 0 may be cut off from nodes 1 and 2 once; otherwise a unit reaches
 * all nodes of its side at once. Logs hold all rumors except the ones that the hostile member
 * claims. It gets one takeover (LIES). A node that continues as a new incarnation publishes
 * nothing more. Blocks, digest votes, waiting times and members without a whole base are left out.
 * So this model does not show how a node finds an invented base after the takeover, and a node
 * whose neighbours all lack a base counts as alone.
 */
#define HOSTILE 3
#define UNITS   2 /* units that a member publishes at most */
#define LIES    1 /* takeovers from the hostile member at most */
#define MUCH    9 /* samples that the hostile member states, more than all others together */

#define HAS(i, j)      has[(i) * 4 + (j)]
#define BIT(i)         (1 << (i))
#define BITS(mask)     (((mask) & 1) + ((mask) >> 1 & 1) + ((mask) >> 2 & 1) + ((mask) >> 3 & 1))
#define IS_CUT(i, k)   (is_split && ((i) == 0 || (k) == 0))
#define AHEAD(i, k, j) (HAS(i, j) > HAS(k, j))
#define IS_AHEAD(i, k) (AHEAD(i, k, 0) || AHEAD(i, k, 1) || AHEAD(i, k, 2) || AHEAD(i, k, 3))
/* partition_judge: both sides learned much without each other. */
#define IS_PARTED(i, k) (IS_AHEAD(i, k) && IS_AHEAD(k, i))
/* broadcast_is_together */
#define IS_TOGETHER(i, k) ((i) != (k) && !IS_CUT(i, k) && !IS_PARTED(i, k))
/* Node i has the version of the history h. */
#define IS_SAME(i)                                                                                 \
    (HAS(i, 0) == h[0] && HAS(i, 1) == h[1] && HAS(i, 2) == h[2] && HAS(i, 3) == h[3])
/* record.trains of member k; member_is_live as node i sees member k */
#define TRAINS(k)     ((k) != 2 || !is_idle)
#define IS_LIVE(i, k) ((k) == HOSTILE || !IS_CUT(i, k))

byte has[16];  /* [4 * node + member] units of the member's rumors in the node's base */
byte made[4];  /* units that the member has published */
bool moved[4]; /* the member continues as a new incarnation */
byte lies;     /* takeovers from the hostile member */
short refused; /* bit 3 * node + donor: the node keeps its base, and nothing has changed since */
bool is_split, was_split, is_gone;
bool is_idle; /* node 2 does not train */

/* Scratch variables, 0 between two steps. */
byte h[4];                   /* the donor's history: units by member */
byte ours, theirs;           /* members of each side: bits */
byte sum_ours, sum_theirs;   /* samples that only one side has */
byte first;                  /* side with more of the smallest tag: 0 none, 1 ours, 2 theirs */
byte ahead, compared, lack;  /* neighbours that are far ahead, that count, that lack a lost rumor */
byte live, most, all;        /* live members; supporters, and all members that count */
byte honest, is_parted, yields, j, k;

inline clear()
{
    h[0] = 0; h[1] = 0; h[2] = 0; h[3] = 0;
    ours = 0; theirs = 0; sum_ours = 0; sum_theirs = 0; first = 0;
    ahead = 0; compared = 0; lack = 0; live = 0; most = 0; all = 0;
    j = 0; k = 0; honest = 0; is_parted = 0; yields = 0
}

/* compare, partition_count: only the current incarnation of a member counts for a side. */
inline count_leads(i)
{
    ours = 0; theirs = 0; sum_ours = 0; sum_theirs = 0; first = 0;
    for (j : 0 .. 3) {
        if
        :: HAS(i, j) > h[j] ->
            sum_ours = sum_ours + (j == HOSTILE -> MUCH : HAS(i, j) - h[j]);
            first = (first == 0 -> 1 : first);
            ours = (moved[j] -> ours : ours | BIT(j))
        :: HAS(i, j) < h[j] ->
            sum_theirs = sum_theirs + (j == HOSTILE -> MUCH : h[j] - HAS(i, j));
            first = (first == 0 -> 2 : first);
            theirs = (moved[j] -> theirs : theirs | BIT(j))
        :: else
        fi
    }
    is_parted = sum_ours > 0 && sum_theirs > 0
}

/* partition_count_neighbours: this node and those that exchange rumors with it are on its side,
 * those behind the partition with the donor's version are on the donor's. */
inline count_neighbours(i, d)
{
#ifdef WEAKEN_leads_only /* the contest counts only members with samples that one side lacks */
    skip
#else
    ours = (TRAINS(i) -> ours | BIT(i) : ours);
    theirs = (d == HOSTILE -> theirs | BIT(HOSTILE) : theirs);
    for (k : 0 .. 2) {
        if
        :: k != i && !IS_CUT(i, k) && TRAINS(k) && IS_TOGETHER(i, k) -> ours = ours | BIT(k)
#ifndef WEAKEN_own_side_only /* neighbours of the donor's side do not count */
        :: k != i && !IS_CUT(i, k) && TRAINS(k) && IS_PARTED(i, k) && IS_SAME(k) ->
            theirs = theirs | BIT(k)
#endif
        :: else
        fi
    }
#endif
}

/* partition_ours_preferred */
#if defined(WEAKEN_tie_keeps) /* on a tie, each side keeps its base */
#define IS_FIRST_OURS true
#elif defined(WEAKEN_tie_yields) /* on a tie, each side yields */
#define IS_FIRST_OURS false
#else
#define IS_FIRST_OURS (first == 1)
#endif
#ifdef WEAKEN_samples_first /* samples decide before members do */
#define OURS_PREFERRED (sum_ours > sum_theirs)
#else
#define OURS_PREFERRED                                                                             \
    (BITS(ours) != BITS(theirs) -> BITS(ours) > BITS(theirs)                                       \
                                : (sum_ours != sum_theirs -> sum_ours > sum_theirs : IS_FIRST_OURS))
#endif

/* supporters_are_most: members whose signed heads lead, of these and all others that train. */
inline count_supporters(i)
{
    most = BITS(theirs);
    all = theirs;
    for (k : 0 .. 3) {
        all = (k != i && TRAINS(k) && IS_LIVE(i, k) -> all | BIT(k) : all)
    }
    all = BITS(all)
}

/* fetch_most_are_ahead and lost_rumors_consider: what neighbours show. The hostile one shows that
 * it is ahead, or that it lacks a rumor of node i that no log has. */
inline count_shown(i)
{
    ahead = 0; compared = 0; lack = 0; live = 1;
    for (k : 0 .. 2) {
        if
        :: k != i && !IS_CUT(i, k) ->
            live++;
            if
            :: IS_TOGETHER(i, k) ->
                compared++;
                ahead = ahead + IS_AHEAD(k, i);
                lack = lack + IS_AHEAD(i, k)
            :: else
            fi
        :: else
        fi
    }
    if
    :: !is_gone -> live++; compared++; ahead++; lack++
    :: else
    fi
}

#ifdef WEAKEN_half_suffices /* exactly half of the members support the other base */
#define ARE_MOST (2 * most >= all)
#elif defined(WEAKEN_any_supporter)
#define ARE_MOST (most > 0)
#else
#define ARE_MOST (2 * most > all)
#endif
#ifdef WEAKEN_any_neighbour /* one of several neighbours suffices */
#define MOST_ARE_AHEAD (ahead > 0)
#define MOST_LACK      (lack > 0)
#else
#define MOST_ARE_AHEAD ((ahead > 1 || live <= 2) && 2 * ahead > compared)
#define MOST_LACK      (2 * lack > compared && live > 2)
#endif

/* yields, for a donor whose history is h. d: the donor */
inline judge(i, d)
{
    count_leads(i);
    if
    :: is_parted ->
        count_neighbours(i, d);
        yields = !OURS_PREFERRED
    :: else ->
        count_supporters(i);
        count_shown(i);
        yields = sum_theirs > 0 && (ARE_MOST || MOST_ARE_AHEAD) ||
                 d == HOSTILE && MOST_LACK
    fi
}

/* take_over, replace_version: of a donor behind a partition only the donor's rumors stay. */
inline take_over(i)
{
    moved[i] = moved[i] || is_parted && h[i] < HAS(i, i);
#ifdef WEAKEN_same_incarnation /* a node whose published rumors are lost continues its stream */
    moved[i] = false;
#endif
    for (j : 0 .. 3) {
        HAS(i, j) = (is_parted || h[j] > HAS(i, j) -> h[j] : HAS(i, j))
    }
}

/* Honest members other than node i with signed progress in the history h that node i lacks, or with
 * that version, or that are really ahead of node i or behind it. */
inline count_honest(i)
{
    honest = 0;
    for (k : 0 .. 2) {
        honest = honest + (k != i && (h[k] > HAS(i, k) || !IS_CUT(i, k) && IS_SAME(k) ||
                                      IS_TOGETHER(i, k) && (IS_AHEAD(i, k) || IS_AHEAD(k, i))))
    }
}

#define IS_COMPANY(i, k) (IS_TOGETHER(i, k) && TRAINS(k))
#define HAS_COMPANY(i)                                                                             \
    (TRAINS(i) + IS_COMPANY(i, 0) + IS_COMPANY(i, 1) + IS_COMPANY(i, 2) > 1)

inline publish(i)
{
    /* a second rumor under a known number would be equivocation */
    assert(HAS(i, i) == made[i]);
    made[i]++;
    HAS(i, i) = made[i];
    for (k : 0 .. 2) {
        HAS(k, i) = (IS_TOGETHER(i, k) && HAS(k, i) + 1 == made[i] -> made[i] : HAS(k, i))
    }
    refused = 0;
    clear()
}

/* Rumors reach a neighbour from a log (repair.c). Invented ones are in no log. */
inline spread(i, d)
{
    for (j : 0 .. 2) {
        HAS(i, j) = (HAS(d, j) > HAS(i, j) -> HAS(d, j) : HAS(i, j))
    }
    refused = 0;
    clear()
}

inline fetch_from_node(i, d)
{
    h[0] = HAS(d, 0); h[1] = HAS(d, 1); h[2] = HAS(d, 2); h[3] = HAS(d, 3);
    judge(i, d);
    if
    :: yields ->
        take_over(i);
        refused = 0
    :: else -> refused = refused | BIT(3 * i + d)
    fi;
    clear()
}

inline fetch_from_liar(i)
{
    judge(i, HOSTILE);
    if
    :: yields ->
        count_honest(i);
        assert(honest > 0 || !HAS_COMPANY(i));
        take_over(i);
        lies++;
        refused = 0
    :: else
    fi;
    clear()
}

/* lost_rumors_consider: most neighbours lack invented rumors of this base. */
inline give_up_lost(i, d)
{
    for (j : 0 .. 3) {
        HAS(i, j) = HAS(d, j)
    }
    moved[i] = moved[i] || HAS(i, i) < made[i];
    refused = 0;
    clear()
}

#define LOST_BY(i, k) (IS_TOGETHER(i, k) && HAS(i, HOSTILE) > HAS(k, HOSTILE))
#define MUST_GIVE_UP(i, d, e)                                                                      \
    (LOST_BY(i, d) && (LOST_BY(i, e) || !IS_TOGETHER(i, e)) && !is_split)

#define MAY_PUBLISH(i) (made[i] < UNITS && !moved[i] && TRAINS(i) && !is_gone)
#define LACKS(i, d)    (AHEAD(d, i, 0) || AHEAD(d, i, 1) || AHEAD(d, i, 2))
#define NODE(i, d, e)                                                                              \
    :: d_step { MAY_PUBLISH(i) -> publish(i) }                                                     \
    PAIR(i, d, e)                                                                                  \
    PAIR(i, e, d)
#define PAIR(i, d, e)                                                                              \
    :: d_step { IS_TOGETHER(i, d) && LACKS(i, d) -> spread(i, d) }                                 \
    :: d_step {                                                                                    \
        !IS_CUT(i, d) && IS_AHEAD(d, i) && !(refused & BIT(3 * i + d)) -> fetch_from_node(i, d)   \
    }                                                                                              \
    :: d_step { MUST_GIVE_UP(i, d, e) -> give_up_lost(i, d) }

active proctype swarm()
{
    byte i, units;
    if
    :: skip
    :: is_idle = true
    fi;
    do
    :: !is_gone && !was_split -> d_step { is_split = true; was_split = true; refused = 0 }
    :: is_split -> d_step { is_split = false; refused = 0 }
    :: !is_gone && !is_split -> is_gone = true
    NODE(0, 1, 2)
    NODE(1, 0, 2)
    NODE(2, 0, 1)
    :: !is_gone && lies < LIES -> /* the hostile member gives a history of signed heads */
        atomic {
            select(i : 0 .. 2);
            select(units : 0 .. made[0]); h[0] = units;
            select(units : 0 .. made[1]); h[1] = units;
            select(units : 0 .. made[2]); h[2] = units;
            h[3] = 1;
            units = 0;
            d_step { fetch_from_liar(i) };
            i = 0
        };
progress_lie:
        skip
    :: else -> break
    od;
    assert(is_gone && !is_split);
    d_step {
        h[0] = HAS(0, 0); h[1] = HAS(0, 1); h[2] = HAS(0, 2); h[3] = HAS(0, 3);
        assert(IS_SAME(1) && IS_SAME(2))
    }
}
