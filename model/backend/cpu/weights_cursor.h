/* Access to single weights (base/weights.h) that is fast if entries ascend. */
#ifndef HEARSAY_MODEL_BACKEND_CPU_WEIGHTS_CURSOR_H
#define HEARSAY_MODEL_BACKEND_CPU_WEIGHTS_CURSOR_H

#include "base/weights.h"

struct weights_cursor {
    struct weights weights;
    /* part that contains the last accessed entry; begins at the entry that was accessed first in
     * it */
    struct weights_part here;
};

static inline struct weights_cursor weights_cursor(struct weights weights)
{
    return (struct weights_cursor){.weights = weights};
}

static inline float *weights_at(struct weights_cursor *cursor, uint32_t entry)
{
    if (entry - cursor->here.first >= cursor->here.count)
        cursor->here = weights_part(cursor->weights, entry, SIZE_MAX);
    return cursor->here.at + (entry - cursor->here.first);
}

/* Prefetches a weight for writing, if it is in the part of the last accessed entry. */
static inline void weights_prefetch(const struct weights_cursor *cursor, uint32_t entry)
{
    if (entry - cursor->here.first < cursor->here.count)
        __builtin_prefetch(cursor->here.at + (entry - cursor->here.first), 1);
}

#endif
