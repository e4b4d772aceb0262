/* The list of members that a node's owner keeps (node.members): one id a line, and a name.
 *
 *     # who may be in the swarm
 *     40cc5690477b48d76af0997975c237a107d95d2370ad4e4cfaa4171bdca18218  ward 3, the old machine
 *
 * What follows # and lines of blanks count for nothing; a name is printable ASCII. A list is right
 * as a whole or refused with the first line that is wrong. Held by
 * tests/unit/state/test_member_list.c.
 */
#ifndef HEARSAY_STATE_MEMBER_LIST_H
#define HEARSAY_STATE_MEMBER_LIST_H

#include "node/admission.h"
#include "state/disk.h"

#define MEMBER_NAME_MAX 48
#define MEMBER_LIST_MAX (256 * 1024) /* bytes of a file */

struct member_list {
    uint32_t count;                                   /* of members, 1 .. NODE_LISTED_MAX */
    uint8_t ids[NODE_LISTED_MAX][ID_BYTES];           /* who they are, in the order of the file */
    char names[NODE_LISTED_MAX][MEMBER_NAME_MAX + 1]; /* what they are called; "": nothing */
};

/* MALFORMED: the sentence names the line. The list is then of no use. */
enum error member_list_parse(struct member_list *list, const char *text, size_t bytes,
                             struct problem *problem) MUST_USE;
/* The same of a file, which the sentence names. FAILED: it cannot be read. TOO_BIG: it is no list.
 */
enum error member_list_load(struct member_list *list, const struct disk *disk, const char *path,
                            struct problem *problem) MUST_USE;

/* Returns the member's name on the list; NULL if it is not listed. */
const char *member_list_name(const struct member_list *list, const uint8_t id[static ID_BYTES]);

#endif
