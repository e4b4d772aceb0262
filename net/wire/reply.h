/* Results of an inference request, for the field `reason` of a REPLY. */
#ifndef HEARSAY_NET_WIRE_REPLY_H
#define HEARSAY_NET_WIRE_REPLY_H

enum reply_reason {
    /* bulk has the predictions; for a request without samples, text describes the model's input */
    REPLY_DONE,
    REPLY_BUSY, /* the learner is busy; ask again after `wait` */
    REPLY_NONE  /* the node has no model now; ask again after `wait` */
};

#endif
