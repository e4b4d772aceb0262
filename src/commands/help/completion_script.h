/* Shell functions that ask the program for completions (completion.h). */
#ifndef HEARSAY_COMMANDS_HELP_COMPLETION_SCRIPT_H
#define HEARSAY_COMMANDS_HELP_COMPLETION_SCRIPT_H

/* The scripts run: hearsay completion --ask WORD... */
#define COMPLETION_ASK "--ask"

/* Returns the script for bash, zsh or fish; NULL for another shell. */
const char *completion_script(const char *shell);

#endif
