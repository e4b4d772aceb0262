/* Results of an inference request (INFERENCE). */
#ifndef HEARSAY_NET_WIRE_REPLY_H
#define HEARSAY_NET_WIRE_REPLY_H

enum reply_reason {
    REPLY_DONE, /* bulk has the predictions; for no samples, text describes what the model accepts
                 */
    REPLY_BUSY, /* ask again after `wait` */
    REPLY_NONE  /* no model can be asked now; ask again after `wait` */
};

#endif
