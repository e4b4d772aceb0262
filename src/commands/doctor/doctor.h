/* hearsay doctor: before a node starts, try all that its start needs, and say what to do about what
 * is wrong.
 *
 *   doctor.c        the command
 *   doctor_line.c   one line of what was found out
 *   doctor_here.c    this machine: keys, log, folder and what is in it, data, model, device, port
 *   doctor_key.c     which swarm key a start would use
 *   doctor_gpu.c     a start on the GPU, rehearsed
 *   doctor_memory.c  what the node takes of memory, part by part
 *   doctor_peers.c   the others, and how they see us
 *   doctor_visit.c   calling on them, with the code of the node itself
 *   doctor_place.c   what kind of address an address is
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_H

#include <jansson.h>

#include "config/config.h"
#include "config/setup.h"
#include "crypto/identity.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

/* A start on a GPU, as far as it came. */
struct rehearsal {
    size_t free_bytes;  /* with CUDA loaded; 0: there is no GPU, or it cannot be opened */
    size_t total_bytes; /* of its memory */
    size_t left_bytes;  /* with all that the node takes; 0: it did not come so far */
    char why[256];      /* the last sentence of a start that failed */
};

/* The request, and the findings so far. */
struct doctor {
    FILE *out;            /* where the lines go */
    json_t *lines;        /* or here, an array; NULL: not so */
    struct config config; /* as the node would read it */
    bool is_waiting;      /* what is looked at stands on the terminal */
    int failed;           /* lines that say FAIL */
    int warned;           /* lines that say WARN */

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
    bool is_on_gpu;                      /* the model would be on a GPU */
    struct rehearsal rehearsal;          /* of that */
    bool has_folder;                     /* the state folder can be written to */
    bool has_state;                      /* the folder was there before, and no node has it now */
    bool is_taken;                       /* a node runs with the folder now */
    bool is_port_free;                   /* node.listen could be listened to */
};

/* Announces a slow check: a terminal shows its subject until the next line. */
void doctor_begin(struct doctor *doctor, const char *subject);

/* One line: how it is, of what, and a sentence; counted. */
void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

void doctor_look_here(struct doctor *doctor);
void doctor_look_at_swarm_key(struct doctor *doctor);
void doctor_count_memory(struct doctor *doctor, const struct dataset *train,
                         const struct dataset *test, const struct model *model);
/* Does in a process of its own what a node does on a GPU at its start. Before this process opens
 * the GPU: CUDA does not survive a fork. */
void doctor_rehearse(struct doctor *doctor);
void doctor_look_at_memory(struct doctor *doctor);
void doctor_look_at_peers(struct doctor *doctor);

/* argv[0] is "hearsay doctor". Returns the exit code: 0 a node can start (warnings or not),
 * 1 something failed, 2 wrong usage or configuration. */
int doctor_run(int argc, char **argv);

#endif
