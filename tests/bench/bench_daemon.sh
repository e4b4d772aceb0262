#!/usr/bin/env bash
# Measures the cost of receiving and relaying rumors in a daemon:
# bench_daemon.sh [HEARSAY] [MEGABYTES] [RATE]
#
#   an origin (bench_daemon.c) ─► daemon a ─► daemon b;   over loopback, encrypted; none trains
#
# Prints for each density of rumors: their number, their size, and the percentage that b received
# twice; nanoseconds of processor time of a's loop and of a's learner per byte of relayed rumors;
# the bits received and sent per second of the loop's processor time, and per second elapsed. The
# origin sends RATE megabytes per second (10; 0: at the speed of a). With fewer processors than the
# five threads of all three, b lags behind, requests rumors, and receives them twice.
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
set -- "$(realpath -- "${1:-$here/../../build/hearsay}")" "${2:-64}" "${3:-10}"
# shellcheck source=tests/process/story.sh
source "$here/../process/story.sh"

megabytes=$2 rate=$3
origin=$(dirname -- "$hearsay")/bench_daemon
readonly megabytes rate origin parameters=9540010
readonly layers='dense 12000, relu, dense 10'
readonly model="1x28x28: $layers; seed 1"
export OPENBLAS_NUM_THREADS=1

begin() {
    start "$@" --set "model.layers=$layers" --set train.enabled=no --set data.train_count=100 \
        --set data.test_count=10 --set "exchange.log_bytes=$((4 * megabytes))M" --set node.save_s=0
}

# Prints the processor time of daemon a in nanoseconds: its loop, and all other threads.
used() {
    local task ns loop=0 learner=0
    for task in /proc/"${pid[a]}"/task/*; do
        read -r ns _ <"$task/schedstat"
        if [[ ${task##*/} == "${pid[a]}" ]]; then
            loop=$ns
        else
            learner=$((learner + ns))
        fi
    done
    printf '%d %d\n' "$loop" "$learner"
}

# Prints a number from the status of node $1, even if the node is not healthy.
known() {
    { "$hearsay" status --json --state "$dir/$1" 2>/dev/null || true; } |
        sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p"
}

has_all() { [[ $(known "$1" rumors_known) == "$2" && $(known "$1" waiting) == 0 ]]; }

measure() {
    local density=$1 loop learner loop_then learner_then rumors bytes from now twice
    rm -rf -- "$dir/a" "$dir/b" "$dir"/?.log "$dir/sent"
    begin a
    begin b --set "node.peers=$(address_of a)"
    wait_for 20 'b to be a neighbour' notes b 'is a neighbour'
    read -r loop learner < <(used)
    "$origin" "$(address_of a | sed 's/.*://')" "$dir/swarm.key" "$model" $parameters "$density" \
        "$megabytes" "$rate" >"$dir/sent" 2>"$dir/origin.err" &
    pid[origin]=$!
    wait_for 60 'the rumors' test -s "$dir/sent"
    read -r rumors bytes from <"$dir/sent"
    wait_for 300 'b to receive all rumors' has_all b "$rumors"
    read -r now _ </proc/uptime
    wait_for 300 'a to receive all rumors' has_all a "$rumors"
    read -r loop_then learner_then < <(used)
    twice=$(known b duplicates)
    kill -KILL "${pid[@]}"
    wait "${pid[@]}" 2>/dev/null || true
    pid=()
    awk -v d="$density" -v n="$rumors" -v b="$bytes" -v loop=$((loop_then - loop)) \
        -v learner=$((learner_then - learner)) -v s="$from" -v e="$now" -v t="$twice" 'BEGIN {
        printf "%7s %7d %8.1f %6.1f %10.2f %13.2f %15.2f %12.3f\n", d, n, b / n / 1000,
            100 * t / n, loop / b, learner / b, 16 * b / loop, 16 * b / (e - s) / 1e9 }'
}

[[ -x $origin ]] || fail "$origin not found; build it with ./run build"
printf '%7s %7s %8s %6s %10s %13s %15s %12s\n' density rumors 'kB each' twice 'loop ns/B' \
    'learner ns/B' 'Gbit/s of loop' 'Gbit/s here'
for density in 0.001 0.01 0.1; do
    measure "$density"
done
