# Functions for tests with injected faults. Source it with the program as $1 and the library built from
# faults.c as $2.
# shellcheck shell=bash
faults=$2
set -- "$1"
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"
skip_if_sanitized 'a library that is loaded before it'

# Makes the wall clock of a faulty node wrong by $1 seconds and its disk fail with errno $2 from now on.
suffers() { printf 'clock %-12s\ndisk %-4s\n' "$1" "$2" 1<>"$dir/script"; }
printf '%64s' '' >"$dir/script"
suffers 0 0

hearsay_here=$hearsay
with_faults() { FAULTS=$dir/script LD_PRELOAD=$faults exec "$hearsay_here" "$@"; }
start_faulty() {
    [[ -e $dir/$1.key ]] || "$hearsay" keygen "$dir/$1.key" >/dev/null
    [[ -e $dir/swarm.key ]] || "$hearsay" swarmkey "$dir/swarm.key" >/dev/null
    hearsay=with_faults
    start "$@"
    hearsay=$hearsay_here
}

# Prints the number of lines in NAME.err that match: times NAME PATTERN
times() { grep -cE -- "$2" "$dir/$1.err" || true; }
more_often() { (($(times "$1" "$2") > $3)); }
# Waits until one more line in NAME.err matches: again NAME PATTERN
again() {
    local so_far
    so_far=$(times "$1" "$2")
    wait_for 30 "$1 to log once more: $2" more_often "$1" "$2" "$so_far"
}
steps() { page "$1" && sed -n 's/.*"steps":\([0-9]*\).*/\1/p' "$dir/page.out"; }
trained_on() { (($(steps "$1") > $2)); }
trains() { wait_for 30 "$1 to train on" trained_on "$1" "$(steps "$1")"; }
# Prints the smallest incarnation that the node has not used.
incarnation() { sed 's/ .*//' "$dir/$1/incarnation"; }

rumors() { page "$1" && sed -n 's/.*"rumors_received":\([0-9]*\).*/\1/p' "$dir/page.out"; }
has_heard() { (($(rumors "$1") > $2)); }
