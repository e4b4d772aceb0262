/* The shells' part of completion.h: functions that ask the program what may come next. */
#ifndef HEARSAY_COMMANDS_HELP_COMPLETION_SCRIPT_H
#define HEARSAY_COMMANDS_HELP_COMPLETION_SCRIPT_H

/* How the scripts ask: hearsay completion --ask WORD... */
#define COMPLETION_ASK "--ask"

/* Of bash, zsh or fish; NULL: it is none of these. */
const char *completion_script(const char *shell);

#endif
