/* Finds the process that holds the lock of a state folder, for the message to a second one. */
#ifndef HEARSAY_DAEMON_LOCK_HOLDER_H
#define HEARSAY_DAEMON_LOCK_HOLDER_H

#define LOCK_HOLDER_BYTES 128

/* Writes the id and the machine of this process into the lock file, which is open for writing. */
void lock_holder_sign(int file);

/* Writes "held by process 1234 (python3)" for the processes that have the open file, as far as this
 * user may see them. Otherwise writes what lock_holder_sign has written: "held by process 1234 of
 * machine". Writes "" if both are unknown. */
void lock_holder_find(int file, char text[static LOCK_HOLDER_BYTES]);

#endif
