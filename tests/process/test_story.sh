#!/usr/bin/env bash
# The waits of story.sh end at once if a process ends too early: test_story.sh
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# Runs these commands with the functions of story.sh. Their wait must fail with this message.
must_fail() {
    local said
    if said=$(bash -c 'source "$1/story.sh" true; eval "$2"' story "$here" "$2" 2>&1); then
        echo "FAILED: does not fail: $2" >&2
        exit 1
    fi
    [[ $said == *"$1, so stopped waiting for: an event"* ]] || {
        printf 'FAILED: %s\nsays: %s\n' "$2" "$said" >&2
        exit 1
    }
}
other='sleep 600 & pid[other]=$!;'

must_fail 'no process runs' 'wait_for 20 "an event" false'
must_fail 'one has ended with code 1' "$other"' (exit 1) & pid[one]=$!; wait_for 20 "an event" false'
must_fail 'one has ended with code 3' "$other"' (exit 3) & pid[one]=$!; wait_for 20 "an event" notes one never'
must_fail 'one has ended with code 0' "$other"' true & pid[one]=$!; wait_for 20 "an event" says one.err never'

# An end that is no error concerns only the waits for that process, and a last try comes after it.
bash -c 'source "$1/story.sh" true
    (sleep 0.3; echo late >"$dir/other.log") & pid[other]=$!
    (exit 3) & pid[one]=$!
    wait_for 20 "an event" notes other late
    wait_for 20 "its end" dead one
    reap one 3' story "$here"
