/* Loads the member list (state/member_list.h) at the start, and again at every SIGHUP. If the new
 * list is invalid, the node reports its first wrong line and keeps the previous list.
 *
 *   node.members ── start, SIGHUP ──► list ──► node_on_members
 */
#ifndef HEARSAY_DAEMON_MEMBERS_FILE_H
#define HEARSAY_DAEMON_MEMBERS_FILE_H

#include "daemon/event_log.h"
#include "socket/transport.h"
#include "state/member_list.h"

struct members_file {
    const char *path;         /* borrowed; "" = no list */
    struct member_list *list; /* list in force; NULL = the configuration names none */
};

/* Loads the list. MISSING, FAILED, TOO_BIG, MALFORMED: the configured file cannot be used. path
 * must stay valid. */
enum error members_file_load(struct members_file *file, const char *path,
                             struct problem *problem) MUST_USE;
void members_file_free(struct members_file *file);

void members_file_begin(const struct members_file *file, struct node *node, uint64_t now_ns);
bool members_file_is_used(const struct members_file *file);
/* Called after a SIGHUP. */
void members_file_read_again(struct members_file *file, struct node *node, struct event_log *report,
                             uint64_t now_ns);

#endif
