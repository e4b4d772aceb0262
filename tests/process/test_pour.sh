#!/usr/bin/env bash
# A listed member signs thousands of records a second and asks for all members again and again. The
# node reads it late, names it, and keeps its other neighbours: test_pour.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
for name in one two three villain; do
    "$hearsay" keygen "$dir/$name.key" >"$dir/said.out"
    sed -n 's/^\([0-9a-f]\{64\}\)$/\1/p' "$dir/said.out" >>"$dir/members"
done
villain=$(tail -n 1 "$dir/members" | cut -c 1-8)
nodes=(--set exchange.interval_s=0.5 "${patient[@]}" --set "node.members=$dir/members")

tell 'three listed nodes train'
start_three "${nodes[@]}"
know_each_other

tell 'a fourth member sends more than a node checks, until a note names it'
start_villain pour "$one"
wait_for 120 'one to name the member' notes one \
    "\"note\":\"excess\",\"level\":\"warning\",\"peer\":\"$villain.*sends more than this node checks: [0-9]+ records and queries a second"
wait_for 60 'one to have three neighbours' shows one '"neighbours":3,'
for name in one two three; do
    ! notes "$name" '"note":"neighbour_lost"' || fail "$name has lost a neighbour"
done
for name in two three; do
    ! notes "$name" '"note":"excess"' || fail "$name names a node that relays"
done
alive villain || fail 'the member was turned away'
kill -KILL "${pid[villain]}"
wait "${pid[villain]}" || true
unset 'pid[villain]'

tell 'all nodes end with one model'
leave_together one two three

printf '%3d s  done\n' "$SECONDS"
