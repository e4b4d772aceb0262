/* Shows a running swarm: on a terminal as a picture that is redrawn in place, elsewhere as one line
 * each time.
 *
 *   accuracy  ██████████████████████░░░░  85.65 % of 88 %     towards the target
 *   limit     ███░░░░░░░░░░░░░░░░░░░░░░░  12 % used
 *
 *         accuracy                     loss
 *   100 % │        ⣀⡠⠤⠒⠒⠉        2.0 │⢄             over time; dots: the target
 *         │⢀⠔⠉                         │ ⠉⠒⠤⣀
 *    60 % │                        0.5 │     ⠉⠒⠒⠒
 *
 *   node  state     per s  samples      one line per node; bar: its part of all samples
 *      1  training    250  ███░░░░░░░ … columns that do not fit are left out
 *   12 s ago: node 3: training          latest changes
 *
 * Tests: tests/unit/commands/test_swarm_view.c.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_VIEW_H
#define HEARSAY_COMMANDS_SWARM_SWARM_VIEW_H

#include "commands/lately.h"
#include "commands/swarm/swarm_goal.h"
#include "commands/terminal.h"
#include "plot/timeline.h"

struct swarm_view {
    /* Score over time (swarm_score.h), from all nodes' evaluations together. */
    struct timeline score;
    /* Training loss over time: mean over the running nodes whose loss is known. */
    struct timeline loss;
    struct lately lately; /* latest changes of the nodes' state */
    /* State of each node when last shown; NULL = not shown yet. */
    const char *state[SWARM_NODES_MAX];
    uint64_t evaluations; /* evaluations of the running nodes at the last point of `score` */
    int lines;            /* lines of the picture that is on the terminal; 0 = none */
    int columns;          /* columns for which the picture on the terminal was drawn */
    bool has_color;       /* the picture on the terminal has colours */
};

/* Draws the state of the nodes, and adds their score and loss to the curves. seconds: time since
 * the start. */
void swarm_view_show(struct swarm_view *view, FILE *out, const struct terminal *screen,
                     const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                     double seconds);

#endif
