/* What an earlier life has left in the state folder, read as a node reads it at its start. */
#include <stdlib.h>
#include <time.h>

#include "state/disk.h"
#include "commands/doctor/doctor.h"
#include "state/incarnation.h"
#include "state/state_dir.h"
#include "state/checkpoint_owner.h"

static void say_refused(void *context, const struct problem *problem)
{
    doctor_say(context, VERDICT_WARN, "checkpoint", "%s", problem->text);
}

static void look_at_incarnation(struct doctor *doctor)
{
    struct problem problem;
    uint64_t number;
    const uint64_t wall_ms = (uint64_t)time(NULL) * 1000;
    if (incarnation_look(disk_real(), doctor->config.node.state_dir, wall_ms, NODE_INCARNATIONS,
                         &number, &problem) != OK)
        doctor_say(doctor, VERDICT_FAIL, "incarnation", "%s", problem.text);
}

/* Is there room for the lives that it knows? */
static enum error check_history(const struct doctor *doctor, const struct checkpoint *checkpoint,
                                struct problem *problem)
{
    struct node_options options = setup_plain_options(&doctor->config);
    options.history = checkpoint->own;
    options.history_bytes = checkpoint->own_bytes;
    return state_dir_check_history(doctor->config.node.state_dir, &options, problem);
}

static void look_at_checkpoints(struct doctor *doctor, struct checkpoint *checkpoint)
{
    const char *dir = doctor->config.node.state_dir;
    const struct checkpoint_refusal refusal = {.context = doctor, .refused = say_refused};
    struct checkpoint_series series;
    struct problem problem;
    enum error error = checkpoint_load(disk_real(), dir, checkpoint, &series, &refusal, &problem);
    if (error == MISSING)
        return;
    if (error == OK)
        error = check_history(doctor, checkpoint, &problem);
    if (error != OK)
        doctor_say(doctor, VERDICT_FAIL, "checkpoint", "%s", problem.text);
    else
        doctor_say(doctor, VERDICT_OK, "checkpoint", "%s: the node goes on from it",
                   state_dir_checkpoint(dir, series.good).text);
}

void doctor_look_at_state(struct doctor *doctor)
{
    char model[CHECKPOINT_OWNER_MAX];
    void *memory = malloc(learner_state_bytes(doctor->parameters, 0));
    struct checkpoint checkpoint = {.model = model, .own = malloc(CHECKPOINT_OWN_MAX)};
    CHECK(memory && checkpoint.own);
    checkpoint_owner_describe(&doctor->identity, doctor->config.node.swarm, doctor->model, model);
    learner_state_init(&checkpoint.state, memory, doctor->parameters, 0);
    look_at_checkpoints(doctor, &checkpoint);
    look_at_incarnation(doctor);
    free(memory);
    free(checkpoint.own);
}
