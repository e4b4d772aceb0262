/* The process that holds the lock of a state folder, for the sentence that refuses another one. */
#ifndef HEARSAY_DAEMON_LOCK_HOLDER_H
#define HEARSAY_DAEMON_LOCK_HOLDER_H

#define LOCK_HOLDER_BYTES 128

/* Writes this process's number and machine into the lock file, which is open for writing. */
void lock_holder_sign(int file);

/* Writes "held by process 1234 (python3)" for the processes that have this file open, as far as
 * this user may look; otherwise what the file says: "held by process 1234 of machine"; otherwise
 * "". */
void lock_holder_find(int file, char text[static LOCK_HOLDER_BYTES]);

#endif
