/* Finds the process that holds the lock of a state folder, for the error message of a second
 * node that tries to use this folder. */
#ifndef HEARSAY_DAEMON_LOCK_HOLDER_H
#define HEARSAY_DAEMON_LOCK_HOLDER_H

#define LOCK_HOLDER_BYTES 128

/* Writes this process's id and host name into the lock file, which is open for writing. */
void lock_holder_sign(int file);

/* Writes "held by process 1234 (python3)" for the processes that have the lock file open, as far as
 * this user may see them. Otherwise writes "held by process 1234 of HOST" from the text of
 * lock_holder_sign. Writes "" if both are unknown. */
void lock_holder_find(int file, char text[static LOCK_HOLDER_BYTES]);

#endif
