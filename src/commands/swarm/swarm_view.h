/* A swarm at work, as it is seen: on a terminal a picture that is drawn over itself, elsewhere one
 * line each time.
 *
 *   accuracy  ██████████████████████░░░░  85.65 % of 88 %     towards the target
 *   limit     ███░░░░░░░░░░░░░░░░░░░░░░░  12 % used
 *
 *   100 % │        ⣀⡠⠤⠒⠒⠉           the accuracy over time; dots: the target
 *         │⢀⠔⠉
 *     60 % │
 *
 *   node  state     samples/s ...   one line for each, cut to what fits
 *
 * Held by tests/unit/commands/test_swarm_view.c.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_VIEW_H
#define HEARSAY_COMMANDS_SWARM_SWARM_VIEW_H

#include "commands/swarm/swarm_goal.h"

#define VIEW_POINTS 512

struct swarm_screen {
    int rows;
    int columns;  /* 0: no terminal that can be drawn on */
    bool is_utf8; /* it knows more than ASCII */
};

/* The terminal that standard output is, whose size may change at any time. None when NO_COLOR or
 * TERM=dumb asks for plain text. */
struct swarm_screen swarm_view_screen(void);

struct swarm_view {
    double at_s[VIEW_POINTS];  /* since the start, ascending */
    double score[VIEW_POINTS]; /* swarm_score.h, of all nodes' evaluations together */
    int points;                /* taken of both */
    uint64_t evaluations;      /* of all nodes, at the last point */
    int lines;                 /* of the picture that stands on the terminal */
    int columns;               /* that it was drawn for */
};

/* Show the nodes at so many seconds since the start, and remember their accuracy for the curve. */
void swarm_view_show(struct swarm_view *view, FILE *out, const struct swarm_screen *screen,
                     const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                     double seconds);

#endif
