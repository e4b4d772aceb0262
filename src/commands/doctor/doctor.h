/* hearsay doctor: before a node starts, try all that its start needs, and say what to do about what
 * is wrong.
 *
 *   doctor.c        the command, its lines
 *   doctor_here.c   this machine: keys, log, folder, data, model, device, port, clock
 *   doctor_state.c  what an earlier life left in the folder
 *   doctor_peers.c  the others, and how they see us
 *   doctor_visit.c  calling on them, with the code of the node itself
 *   doctor_place.c  what kind of address an address is
 */
#ifndef HEARSAY_COMMANDS_DOCTOR_DOCTOR_H
#define HEARSAY_COMMANDS_DOCTOR_DOCTOR_H

#include "config/config.h"
#include "crypto/identity.h"
#include "config/setup.h"

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_FAIL };

/* What was asked for, and what has been found out so far. */
struct doctor {
    FILE *out;
    struct config config;
    int failed, warned;

    struct identity identity;
    uint8_t swarm_key[KEY_BYTES];
    char model[SETUP_DESCRIPTION_BYTES];
    uint64_t parameters;
    uint64_t free_bytes; /* of the state folder */
    bool has_identity, has_swarm_key, has_model;
    bool has_folder; /* the state folder can be written to ... */
    bool has_state;  /* ... and was there before, and is nobody's now */
    bool is_taken;   /* a node runs with it now */
    bool is_port_free;
};

/* One line: how it is, of what, and a sentence; counted. */
void doctor_say(struct doctor *doctor, enum verdict verdict, const char *subject,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

void doctor_look_here(struct doctor *doctor);
void doctor_look_at_state(struct doctor *doctor); /* needs has_state, has_identity, has_model */
void doctor_look_at_peers(struct doctor *doctor);

/* argv[0] is "hearsay doctor". Returns the exit code: 0 a node can start (warnings or not),
 * 1 something failed, 2 wrong usage or configuration. */
int doctor_run(int argc, char **argv);

#endif
