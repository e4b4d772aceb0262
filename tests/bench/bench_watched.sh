#!/usr/bin/env bash
# Measures the cost of an open status page: bench_watched.sh [HEARSAY] [SECONDS]
#
# Four daemons train on this machine, with fifteen steps a second each. Prints the processor time of
# one daemon, in clock ticks, for its loop's thread and for all threads: first for SECONDS (40)
# without pages, then for SECONDS with two open pages and one scrape a second.
set -euo pipefail

hearsay=$(realpath "${1:-build/hearsay}")
seconds=${2:-40}
work=$(mktemp -d)
cd "$work"
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf -- "$work"' EXIT

"$hearsay" swarmkey >/dev/null
for n in 1 2 3 4; do
    "$hearsay" keygen "$n.key" >/dev/null
    "$hearsay" node --set node.identity="$n.key" --set node.state_dir="state$n" --log "$n.jsonl" \
        --set node.listen="127.0.0.1:$((7860 + n))" --set node.http=127.0.0.1:0 \
        --set node.peers="$( ((n == 1)) || echo 127.0.0.1:7861)" --set data.source=generated \
        --set data.shard="$n/4" --set train.device=cpu --set train.steps_per_s=15 >"$n.out" 2>&1 &
    [[ $n != 1 ]] || node=$!
done
until http=$(sed -n 's/.*"note":"web".*http:\/\/\(127.0.0.1:[0-9]*\)\/.*/\1/p' 1.jsonl 2>/dev/null) && [[ $http ]]; do
    sleep 0.2
done
sleep 15 # until the nodes are connected

loop() { awk '{ print $14 + $15 }' "/proc/$node/task/$node/stat"; }
whole() { awk '{ print $14 + $15 }' "/proc/$node/stat"; }
measure() { # measure NAME
    local loop_before whole_before
    loop_before=$(loop) whole_before=$(whole)
    sleep "$seconds"
    echo "$1: loop $(($(loop) - loop_before)), all threads $(($(whole) - whole_before)) of $((seconds * $(getconf CLK_TCK))) ticks"
}
measure alone
curl -sN "http://$http/events" >/dev/null &
curl -sN "http://$http/events" >/dev/null &
while curl -s "http://$http/metrics" >/dev/null; do sleep 1; done &
measure watched
