/* Comparison of settings that all nodes of a swarm must share.
 *
 *   on opening, from each side   SETTINGS: lines of text, one setting each
 *
 *     train.rate=0.02            must be equal on both sides
 *     data.shard!2/5             must differ: each node learns another part
 *
 *   before HELLO, from the dialer   SETTINGS ──► the acceptor's SETTINGS; the dialer need not join
 *   two neighbours have one part    SETTINGS to each: of.ID.data.shard!2/5, ID of the other one
 *   mixed up labels, to neighbours  SETTINGS: labels.contradict=WORDS, or no words when it ends
 *
 * A setting that one side does not send is not compared, so versions may know different settings. A
 * difference causes only a note, since only people know which side is right. Differences that
 * prevent learning together (model, swarm, protocol) are refused at the gate. Tests:
 * tests/world/test_settings.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_SETTINGS_H
#define HEARSAY_NODE_CONNECTION_SETTINGS_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Names of two settings with values of the form "mean M and deviation D of KIND": the moments of
 * the samples that a node's model gets, and of the numbers that the model learns to predict. Two
 * values differ only if one deviation is more than twice the other, or the means are farther apart
 * than the larger deviation. */
#define SETTINGS_INPUTS  "data.inputs"
#define SETTINGS_TARGETS "data.targets"

/* Names of two settings with one number each: the mean and the deviation that normalise a node's
 * bytes. Two values differ only if they are more than a tenth of the deviation apart. */
#define SETTINGS_MEAN      "data.mean"
#define SETTINGS_DEVIATION "data.deviation"

/* Name of the setting with a value of the form "LOWEST .. HIGHEST": the range of a node's labels.
 */
#define SETTINGS_LABELS "data.labels"

/* Name of the setting with the checksum of a program's frozen tensors. */
#define SETTINGS_CHECKSUM "train.frozen"

/* Name of the setting in which a node says how its labels contradict the shared model
 * (own_labels.h); "" = no longer. */
#define SETTINGS_CONTRADICT "labels.contradict"

/* Beginning of the name of another node's setting; its id in hex, a dot and the name follow. */
#define SETTINGS_OF "of."

/* Beginnings of the notes about a neighbour's settings; ": " and a list of the settings follow. */
#define SETTINGS_OTHER "has other values for settings that must be equal on all nodes"
#define SETTINGS_SAME  "has the same part of the data as this node; give each node its own part"
#define SETTINGS_RANGE                                                                             \
    "has another range of labels (a site may lack classes; otherwise, number the classes from 0 "  \
    "on all nodes)"
#define SETTINGS_FROZEN                                                                            \
    "has other weights in its frozen layers: on all nodes, load the same ones before the node is " \
    "made"

/* Differences between two nodes' settings, in words, as far as they fit; "" = none. */
struct settings_difference {
    char other[200];  /* settings that must be equal and differ */
    char same[200];   /* settings that must differ and are equal */
    char labels[200]; /* the range of labels, if it differs */
    char frozen[200]; /* the checksum of frozen tensors, if it differs */
};

/* Compares a peer's text of settings with `ours`, which is valid. Returns MALFORMED or TOO_BIG
 * if `theirs` is invalid. */
enum error settings_compare(const char *ours, const struct bytes *theirs,
                            struct settings_difference *found);

/* Sends this node's settings, if any: those of the options, and the protocol versions (spoken.h).
 * Also answers a peer that sends its settings before HELLO. */
void settings_show(struct node *node, const struct peer *peer);

/* Tells a neighbour how this node's labels contradict the shared model; "" = no longer. */
void settings_show_labels(struct node *node, const struct peer *peer, const char *text);

/* Compares the neighbour's settings with ours and warns of differences. Ends the conversation if
 * the text is too long or invalid, or reveals a downgrade (spoken.h). */
void settings_on_message(struct node *node, const struct peer *peer, const struct bytes *text);

#endif
