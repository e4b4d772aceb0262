/* A swarm at work, as it is seen: on a terminal a picture that is drawn over itself, elsewhere one
 * line each time.
 *
 *   accuracy  ██████████████████████░░░░  85.65 % of 88 %     towards the target
 *   limit     ███░░░░░░░░░░░░░░░░░░░░░░░  12 % used
 *
 *         accuracy                     loss
 *   100 % │        ⣀⡠⠤⠒⠒⠉        2.0 │⢄             over time; dots: the target
 *         │⢀⠔⠉                         │ ⠉⠒⠤⣀
 *    60 % │                        0.5 │     ⠉⠒⠒⠒
 *
 *   node  state     per s  samples      one line for each; a bar: its part of all samples
 *      1  training    250  ███░░░░░░░ … columns that do not fit are left out
 *   12 s ago: node 3: training          what was new
 *
 * Held by tests/unit/commands/test_swarm_view.c.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_VIEW_H
#define HEARSAY_COMMANDS_SWARM_SWARM_VIEW_H

#include "commands/lately.h"
#include "commands/swarm/swarm_goal.h"
#include "commands/terminal.h"
#include "plot/timeline.h"

struct swarm_view {
    struct timeline score;              /* swarm_score.h, of all nodes' evaluations together */
    struct timeline loss;               /* of training, the mean of those that know theirs */
    struct lately lately;               /* what was new */
    const char *state[SWARM_NODES_MAX]; /* as each was shown last; NULL: not yet */
    uint64_t evaluations;               /* of all nodes, at the last point */
    int lines;                          /* of the picture that stands on the terminal */
    int columns;                        /* that it was drawn for */
    bool has_color;                     /* it was drawn with colours */
};

/* Shows the nodes at now_s seconds since the start, and adds their accuracy to the curve. */
void swarm_view_show(struct swarm_view *view, FILE *out, const struct terminal *screen,
                     const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                     double seconds);

#endif
