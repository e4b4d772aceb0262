#!/usr/bin/env bash
# A member restarts with a new incarnation five thousand times and publishes each time. All nodes
# must receive the rumors of nodes that join or rejoin afterwards: test_begin_again.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

nodes=(--set exchange.interval_s=1 --set exchange.bytes_per_s=2K "${patient[@]}")
start_three "${nodes[@]}"

id_of() { sed -n 's/.*hearsay [0-9.]* node \([0-9a-f]*\) in.*/\1/p' "$dir/$1.err" | head -n 1; }

heard_of() {
    page "$1"
    local member
    member=$(grep -o "\"id\":\"$2[^}]*" "$dir/page.out" | grep -o '"base_rumors":[0-9]*' | head -n 1)
    echo "${member#*:}"
}
hears_more_of() { [[ $(heard_of "$1" "$2") -gt $3 ]]; }

tell 'a member restarts again and again'
make_villain
know_each_other
start_villain begin-again "$one" --times 5000
wait_for 240 'the client to publish in every incarnation' says "$dir/client.out" '^began 5000 times'
wait_for 60 'one to name it' notes one \
    "$villain.*the table of incarnations is full for this member"

tell 'all nodes receive rumors of an unknown node'
start late "${nodes[@]}" --set "node.peers=$one"
wait_for 60 'late to print its identity' says "$dir/late.err" ' node [0-9a-f]* in swarm'
for name in one two three; do
    wait_for 90 "$name to receive its rumors" hears_more_of "$name" "$(id_of late)" 1
done

tell 'all nodes receive rumors of a returning node'
two=$(id_of two)
leave two
before=$(heard_of one "$two")
start two "${nodes[@]}" --set "node.peers=$one"
for name in one three late; do
    wait_for 90 "$name to receive its rumors" hears_more_of "$name" "$two" "$before"
done

tell 'all nodes end with one model'
kill "${pid[villain]}"
wait "${pid[villain]}" 2>/dev/null || true
unset 'pid[villain]'
leave_together one two three late

printf '%3d s  done\n' "$SECONDS"
