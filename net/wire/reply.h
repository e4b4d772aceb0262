/* How a question (QUESTION) is answered. */
#ifndef HEARSAY_NET_WIRE_REPLY_H
#define HEARSAY_NET_WIRE_REPLY_H

enum reply_reason {
    REPLY_DONE, /* bulk is what the model says; of no samples, text is what it takes */
    REPLY_BUSY, /* ask again after the wait */
    REPLY_NONE  /* there is no model to ask now; the same */
};

#endif
