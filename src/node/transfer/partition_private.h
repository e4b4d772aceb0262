/* The contest between the bases of two sides after a partition; partition.c explains it. */
#ifndef HEARSAY_NODE_TRANSFER_PARTITION_PRIVATE_H
#define HEARSAY_NODE_TRANSFER_PARTITION_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* Comparison of the samples that only one side has learned. */
struct contest {
    /* samples that only our side has learned, and samples that only the other side has */
    double ours, theirs;
    uint64_t first_tag; /* smallest tag of an origin of which one side knows more samples */
    bool first_is_ours; /* our side knows more samples of the origin first_tag */
};
#define CONTEST ((struct contest){.first_tag = UINT64_MAX})
void partition_count(struct contest *contest, uint64_t tag, uint64_t ours, uint64_t theirs);
bool partition_is_decisive(const struct contest *contest);
bool partition_ours_preferred(const struct contest *contest);

#endif
