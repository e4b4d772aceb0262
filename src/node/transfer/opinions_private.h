/* What neighbours say of the base that was taken over; what it is for, opinions.c says. */
#ifndef HEARSAY_NODE_TRANSFER_OPINIONS_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_OPINIONS_PRIVATE_H

#include "node/connection/connection.h"
#include "node/core.h"

/* A neighbour's, by its last VERSION that could be compared. */
struct opinion {
    bool is_known;     /* it has one */
    uint64_t apart;    /* its digest less ours, of the same rumors: the same at any moment */
    uint64_t heard_ns; /* when rumors of the log were last counted for it; 0: never */
};

/* opinions.c's. */
struct opinions {
    bool are_open;      /* our base is not confirmed yet */
    bool is_restored;   /* it is our own checkpoint's: nobody here gave it */
    bool is_tie_noted;  /* it was said that nobody can tell who is right */
    bool is_refuted;    /* more say that the swarm's base is another one than that it is ours */
    uint64_t apart;     /* that one's digest less ours */
    uint64_t whole_ns;  /* when it became whole, or will not have been before */
    uint64_t differ_ns; /* when the first one differed; 0: none has */
};

/* Another's base is ours from now on. */
void opinions_begin(struct node *node);
/* Is our base to be replaced, and by that of this neighbour? */
bool opinions_refute(const struct node *node);
bool opinions_prefer(const struct node *node, const struct peer *peer);

#endif
