#!/usr/bin/env bash
# A node can no longer write its log, because its terminal was hung up (EIO) or no process reads it
# (EPIPE). It must continue to train and report the failure elsewhere: test_log.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"
command -v python3 >/dev/null || { echo 'skipped: no python3 to open a terminal with'; exit 77; }
scripts=$(dirname "${BASH_SOURCE[0]}")

steps() { page "$1" && sed -n 's/.*"steps":\([0-9]*\).*/\1/p' "$dir/page.out"; }
trained_on() { local now; now=$(steps "$1") && ((now > $2)); }
trains() {
    wait_for 20 "$1 to train" shows "$1" '"steps":[1-9]'
    wait_for 20 "$1 to train on" trained_on "$1" "$(steps "$1")"
}

# Opens a terminal and sets $tty. hang_up closes it.
open_terminal() {
    coproc TERMINAL { exec python3 "$scripts/terminal.py"; }
    pid[terminal]=$TERMINAL_PID
    read -r tty <&"${TERMINAL[0]}"
}
hang_up() {
    local said
    echo >&"${TERMINAL[1]}"
    read -r said <&"${TERMINAL[0]}"
    [[ $said == 'hung up' ]] || fail 'the terminal is still there'
    wait "${pid[terminal]}" || fail 'the terminal did not end'
    unset 'pid[terminal]'
    ! true 2>/dev/null >>"$tty" || fail 'the terminal can still be written to'
}

tell 'a log that is a terminal, which is hung up'
open_terminal
start one --log "$tty"
trains one
! says "$dir/one.err" 'the log cannot be written' || fail 'the log failed from the start'
hang_up
wait_for 20 'one to report it' says "$dir/one.err" 'the log cannot be written: Input/output error.*the node continues'
trains one
leave one
(($(grep -c 'the log cannot be written' "$dir/one.err") == 1)) || fail 'the node repeats the message'

tell 'all output goes to a terminal, which is hung up'
open_terminal
hearsay_here=$hearsay
to_terminal() { exec "$hearsay_here" "$@" >"$tty" 2>&1; }
"$hearsay" keygen "$dir/two.key" >"$dir/said.out"
hearsay=to_terminal
start two --log -
hearsay=$hearsay_here
trains two
hang_up
trains two
kill -TERM "${pid[two]}"
reap two 0
[[ -s $dir/two/base.safetensors ]] || fail 'the node did not save its base'

tell 'no process reads the output'
"$hearsay" keygen "$dir/three.key" >"$dir/said.out"
mkfifo "$dir/pipe"
to_pipe() { exec "$hearsay_here" "$@" 2>"$dir/pipe"; }
hearsay=to_pipe
start three
hearsay=$hearsay_here
exec 3<"$dir/pipe"
trains three
exec 3<&-
trains three
kill -TERM "${pid[three]}"
reap three 0
notes three '"note":"left"' || fail 'its log does not say that it left'
[[ -s $dir/three/base.safetensors ]] || fail 'the node did not save its base'

printf '%3d s  done\n' "$SECONDS"
