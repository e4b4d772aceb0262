/* Whose base is kept when two sides that learned apart meet; partition.c says more. */
#ifndef HEARSAY_NODE_TRANSFER_PARTITION_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PARTITION_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* Samples learned on either side and not known on the other. */
struct contest {
    double ours, theirs; /* how many, on either side */
    uint64_t first_tag;  /* the smallest tag of the origins of which one side knows more */
    bool first_is_ours;  /* which side that is */
};
#define CONTEST ((struct contest){.first_tag = UINT64_MAX})
void partition_count(struct contest *contest, uint64_t tag, uint64_t ours, uint64_t theirs);
bool partition_is_decisive(const struct contest *contest);
bool partition_ours_preferred(const struct contest *contest);

#endif
