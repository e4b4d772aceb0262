#!/usr/bin/env python3
"""Checks the subjects of commits: `area: change`, at most 72 characters.

    tests/house/subjects.py FILE         checks the message in FILE (the commit-msg hook calls this)
    tests/house/subjects.py --new        checks each commit since this rule came into the repository

The area is a folder, a command or a topic, in lower case; two areas are separated by a comma. The
change begins with a verb in the imperative and has no full stop at its end. This program does not
recognize verbs, but refuses changes that begin with a relative pronoun. Prints each subject that breaks
the rule with a reason, and fails if there is one. A shallow clone that lacks the rule's first commit has
nothing to compare with: --new then says so and passes.
"""
import pathlib
import re
import subprocess
import sys

CHARACTERS = 72
AREA = r'[a-z0-9][a-z0-9_./+-]*'
SUBJECT = re.compile(rf'{AREA}(?:, {AREA})*: (?P<change>\S.*)')
RIDDLE = re.compile(r'(?:who|whoever|whom|whose|what|whatever|that which)\b', re.I)
ROOT = pathlib.Path(__file__).resolve().parents[2]
RULE = 'tests/house/subjects.py'


def why_not(subject):
    """Returns what is wrong with a subject, or None."""
    if len(subject) > CHARACTERS:
        return f'has {len(subject)} characters, over {CHARACTERS}'
    found = SUBJECT.fullmatch(subject)
    if not found:
        return 'is not of the form "area: change", such as "rate: publish every four steps"'
    if RIDDLE.match(found['change']):
        return 'begins with a relative clause: begin with a verb, such as "add", "fix" or "remove"'
    if subject.endswith('.'):
        return 'ends with a full stop'
    return None


def subject_of(message):
    """Returns the first line of a commit message that is not a comment, or an empty string."""
    return next((line.strip() for line in message.split('\n')
                 if line.strip() and not line.startswith('#')), '')


def git(*words):
    return subprocess.run(('git', '-C', ROOT, *words), text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def new_subjects():
    """Yields (commit, subject) of each commit except merges after the one that added this file."""
    first = git('log', '--diff-filter=A', '--format=%H', '--', RULE).split()
    if not first:
        print('subjects: this clone does not have the commit that introduced the rule; none checked')
        return
    for line in git('log', '--no-merges', '--format=%h %s', f'{first[-1]}..HEAD').splitlines():
        yield line.split(' ', 1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == '--new':
        subjects = new_subjects()
    else:
        subject = subject_of(pathlib.Path(sys.argv[1]).read_text(errors='replace'))
        if re.match(r'(?:fixup|squash|amend)! |Merge |$', subject):
            return  # git rewrites or refuses these itself
        subjects = [('this commit', subject)]
    broken = [(commit, subject, why) for commit, subject in subjects if (why := why_not(subject))]
    for commit, subject, why in broken:
        print(f'{commit}: the subject "{subject}" {why}')
    sys.exit(bool(broken))


if __name__ == '__main__':
    main()
