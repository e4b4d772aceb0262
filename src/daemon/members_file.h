/* The list of members and the disk (state/member_list.h): loaded at the start, and again at every
 * SIGHUP. A list that is wrong is noted with its line, and the one from before stays in force.
 *
 *   node.members ── start, SIGHUP ──► list ──► node_on_members
 */
#ifndef HEARSAY_DAEMON_MEMBERS_FILE_H
#define HEARSAY_DAEMON_MEMBERS_FILE_H

#include "daemon/event_log.h"
#include "socket/transport.h"
#include "state/member_list.h"

struct members_file {
    const char *path;         /* of the file; the caller's; "": there is none */
    struct member_list *list; /* in force; NULL: there is none */
};

/* MISSING, FAILED, TOO_BIG, MALFORMED: there is a file, and it cannot be used. path must stay. */
enum error members_file_load(struct members_file *file, const char *path,
                             struct problem *problem) MUST_USE;
void members_file_free(struct members_file *file);

/* The node is given the list, if there is one. */
void members_file_begin(const struct members_file *file, struct node *node, uint64_t now_ns);
/* Is there a list? */
bool members_file_is_used(const struct members_file *file);
/* SIGHUP. */
void members_file_read_again(struct members_file *file, struct node *node, struct event_log *report,
                             uint64_t now_ns);

#endif
