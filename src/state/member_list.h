/* Reads the member list (key node.members), which names the admitted nodes: an id and a name per
 * line.
 *
 *     # members of the swarm
 *     40cc5690477b48d76af0997975c237a107d95d2370ad4e4cfaa4171bdca18218  ward 3, the old machine
 *
 * Text after # and blank lines are ignored; a name is printable ASCII. If one line is wrong,
 * the whole list is refused, with the number of that line. Tests:
 * tests/unit/state/test_member_list.c.
 */
#ifndef HEARSAY_STATE_MEMBER_LIST_H
#define HEARSAY_STATE_MEMBER_LIST_H

#include "node/admission.h"
#include "state/disk.h"

#define MEMBER_NAME_MAX 48
#define MEMBER_LIST_MAX (256 * 1024) /* most bytes of the file */

struct member_list {
    uint32_t count; /* 1 .. NODE_LISTED_MAX */
    uint8_t ids[NODE_LISTED_MAX][ID_BYTES];
    char names[NODE_LISTED_MAX][MEMBER_NAME_MAX + 1]; /* "" = none */
};

/* MALFORMED: a line is wrong, or no line has a member; the list must not be used. */
enum error member_list_parse(struct member_list *list, const char *text, size_t bytes,
                             struct problem *problem) MUST_USE;
/* MISSING: there is no such file. FAILED: the file cannot be read. TOO_BIG: it has more than
 * MEMBER_LIST_MAX bytes. MALFORMED: see member_list_parse. */
enum error member_list_load(struct member_list *list, const struct disk *disk, const char *path,
                            struct problem *problem) MUST_USE;

/* Returns the name of the member with this id: "" if it has none, NULL if the list lacks the id. */
const char *member_list_name(const struct member_list *list, const uint8_t id[static ID_BYTES]);

#endif
