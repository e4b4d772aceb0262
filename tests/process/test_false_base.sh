#!/usr/bin/env bash
# A member sends a joiner the true history of the swarm, but blocks of zeros: test_false_base.sh
# HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

nodes=(--set exchange.interval_s=0.2 --set exchange.bytes_per_s=4K "${patient[@]}")

tell 'two nodes train until a joiner needs a base'
start one "${nodes[@]}"
one=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$one"
two=$(address_of two)
wait_for 60 'many rumors' shows one '"rumors_known":[2-9][0-9][0-9]'

tell 'a joiner receives zeros before it reaches another node'
leave two
start three "${nodes[@]}" --set "node.peers=$two" --set train.enabled=no
three=$(address_of three)
make_villain
start_villain false-base "$one" --victim "$three"
wait_for 240 'the liar to be turned away' says "$dir/client.out" \
    '^turned away: BYE 5: sent a base that contradicts its history'
reap villain 3
notes three "\"note\":\"false_base\".*$villain" || fail 'three does not say who gave it'
! notes three 'has the base of the swarm' || fail 'three takes zeros for the base'

tell 'the joiner takes the base of another node'
start two "${nodes[@]}" --set "node.listen=$two" --set "node.peers=$one"
wait_for 120 'three to hold the base' notes three 'has the base of the swarm'
wait_for 60 'three to be connected to both' shows three '"neighbours":2,'
joined_again() { (($(grep -c '"note":"joined"' "$dir/two.log") > 1)); } # the log contains both starts
wait_for 120 'two to have joined again' joined_again

tell 'all nodes end with one model'
leave_together one two three
! grep -h '"level":"error"' "$dir"/*.log || fail 'a node logged an error'

printf '%3d s  done\n' "$SECONDS"
