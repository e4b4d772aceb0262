/* hearsay doctor: checks everything that a node needs to start, and says how to fix what is wrong.
 *
 *   doctor.c         the command
 *   doctor_line.c    prints one line of the result
 *   doctor_here.c    this machine: keys, log, folder, sandbox, data, model, device, port, clock
 *   doctor_key.c     which swarm key a start would use; expulsions
 *   doctor_gpu.c     a trial start on the GPU
 *   doctor_memory.c  memory that the node needs, part by part
 *   doctor_peers.c   other nodes, and how they see this one
 *   doctor_visit.c   dials the peers with a node's own code
 *   doctor_place.c   scope of an address
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_H

#include <jansson.h>

#include "config/command.h"
#include "config/config.h"
#include "config/setup.h"
#include "crypto/identity.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

/* Result of a trial start on a GPU. A value that the start did not reach is 0. */
struct rehearsal {
    /* Free GPU memory with CUDA loaded; 0 = there is no GPU, or it cannot be opened. */
    size_t free_bytes;
    size_t total_bytes;
    size_t left_bytes; /* GPU memory left after the start; 0 = the start failed */
    char why[256];     /* last error message of a failed start */
};

/* State of the command: its configuration and the findings so far. */
struct doctor {
    FILE *out;     /* stream to which lines are printed */
    json_t *lines; /* JSON array that receives the lines instead of `out`; NULL = print to `out` */
    struct config config; /* configuration that the node would have */
    bool is_waiting;      /* the terminal shows the subject of the check that is running */
    int failed;           /* number of lines with the verdict FAIL */
    int warned;           /* number of lines with the verdict WARN */

    struct identity identity;     /* the node's identity; valid if has_identity */
    uint8_t swarm_key[KEY_BYTES]; /* the swarm key that a start would use; valid if has_swarm_key */
    char model[SETUP_DESCRIPTION_BYTES]; /* description of the model; valid if has_model */
    uint64_t parameters;
    char settings[SETTINGS_MAX + 1]; /* settings that peers must share; valid if has_model */
    /* Model hash of the checkpoint's swarm; valid if has_taken_first. */
    uint8_t model_hash[16];
    /* The node took its first weights over from the checkpoint's swarm. */
    bool has_taken_first;
    uint64_t layers_bytes; /* memory for the layers' outputs at the largest batch */
    double data_bytes;     /* memory for the training and test samples */
    double further_bytes;  /* memory on each GPU except the first */
    uint64_t free_bytes;   /* free space on the disk of the state folder */
    bool has_identity;
    bool has_swarm_key;
    bool has_model;
    bool is_on_gpu; /* the node would train on a GPU */
    struct rehearsal rehearsal;
    bool has_folder; /* the state folder is writable */
    /* The state folder existed before this run, is writable, and no node uses it now. */
    bool has_state;
    bool is_taken;     /* a running node uses the state folder */
    bool is_port_free; /* node.listen is free */
};

/* Announces a slow check: prints its subject to stderr if that is a terminal. The next doctor_begin
 * or doctor_say removes it. */
void doctor_begin(struct doctor *doctor, const char *subject);

/* Prints and counts one line: the verdict, its subject, and a sentence. */
void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

void doctor_look_here(struct doctor *doctor);
void doctor_look_at_swarm_key(struct doctor *doctor);
void doctor_count_memory(struct doctor *doctor, const struct dataset *train,
                         const struct dataset *test, const struct model *model);
/* Starts the learner on a GPU in a child process, as a node does. Does nothing if train.device is
 * cpu or a running node uses the state folder. Call it before this process opens the GPU, because
 * CUDA does not survive a fork. */
void doctor_rehearse(struct doctor *doctor);
void doctor_look_at_memory(struct doctor *doctor);
void doctor_look_at_peers(struct doctor *doctor);

extern const struct command doctor_command;

#endif
