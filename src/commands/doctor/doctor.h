/* hearsay doctor: checks everything that a node needs to start, and says how to fix what is wrong.
 *
 *   doctor.c        the command
 *   doctor_line.c   prints one line of the result
 *   doctor_here.c    this machine: keys, log, folder and what is in it, data, model, device, port
 *   doctor_key.c     which swarm key a start would use
 *   doctor_gpu.c     a trial start on the GPU
 *   doctor_memory.c  memory that the node needs, part by part
 *   doctor_peers.c   other nodes, and how they see this one
 *   doctor_visit.c   dials them with the node's own code
 *   doctor_place.c   scope of an address
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_H

#include <jansson.h>

#include "config/config.h"
#include "config/setup.h"
#include "crypto/identity.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

/* Result of a trial start on a GPU, as far as it came. */
struct rehearsal {
    /* Free GPU memory with CUDA loaded; 0 = there is no GPU, or it cannot be opened. */
    size_t free_bytes;
    size_t total_bytes; /* total GPU memory */
    size_t left_bytes;  /* GPU memory left when the node has started; 0 = it did not come so far */
    char why[256];      /* last sentence of a failed start */
};

/* State of the command: its configuration and the findings so far. */
struct doctor {
    FILE *out;            /* output for the lines */
    json_t *lines;        /* array for the lines instead; NULL = print to out */
    struct config config; /* configuration as the node would read it */
    bool is_waiting;      /* the terminal shows the subject of a check under way */
    int failed;           /* lines with FAIL */
    int warned;           /* lines with WARN */

    struct identity identity;            /* if has_identity */
    uint8_t swarm_key[KEY_BYTES];        /* if has_swarm_key */
    char model[SETUP_DESCRIPTION_BYTES]; /* if has_model */
    uint64_t parameters;                 /* of the model */
    uint8_t model_hash[16];              /* of the checkpoint's swarm, if: */
    bool has_taken_first;                /* its first weights were taken over from there */
    uint64_t layers_bytes;               /* that its layers keep of the largest batch */
    double data_bytes;                   /* of samples for training and tests */
    double further_bytes;                /* that each GPU beside the first takes */
    uint64_t free_bytes;                 /* on the disk of the state folder */
    bool has_identity;                   /* the identity could be read */
    bool has_swarm_key;                  /* the swarm key could be read */
    bool has_model;                      /* the model could be built */
    bool is_on_gpu;                      /* the model is to be on a GPU */
    struct rehearsal rehearsal;          /* of that */
    bool has_folder;                     /* the state folder is writable */
    /* The state folder existed before, and no node uses it now. */
    bool has_state;
    bool is_taken;     /* a running node uses the state folder */
    bool is_port_free; /* node.listen is free */
};

/* Announces a slow check: a terminal shows its subject until the next line. */
void doctor_begin(struct doctor *doctor, const char *subject);

/* Prints and counts one line: the verdict, its subject, and a sentence. */
void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

void doctor_look_here(struct doctor *doctor);
void doctor_look_at_swarm_key(struct doctor *doctor);
void doctor_count_memory(struct doctor *doctor, const struct dataset *train,
                         const struct dataset *test, const struct model *model);
/* Starts the learner on a GPU in a child process, as a node does. Call it before this process opens
 * the GPU, because CUDA does not survive a fork. */
void doctor_rehearse(struct doctor *doctor);
void doctor_look_at_memory(struct doctor *doctor);
void doctor_look_at_peers(struct doctor *doctor);

/* Runs the command. argv[0] is "hearsay doctor". Returns the exit code: 0 a node can start
 * (warnings or not), 1 something failed, 2 wrong usage or configuration. */
int doctor_run(int argc, char **argv);

#endif
