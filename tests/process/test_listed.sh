#!/usr/bin/env bash
# A swarm of real nodes with a list of members refuses a node until the node is on the list:
# test_listed.sh HEARSAY
set -euo pipefail

# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

nodes=(--set "node.members=$dir/members" --set exchange.interval_s=1 --set exchange.bytes_per_s=2K
    --set limits.silence_s=120 --set limits.handshake_s=60)

tell 'keys are made and their ids listed'
"$hearsay" swarmkey "$dir/swarm.key" >"$dir/said.out"
for name in one two three four; do
    "$hearsay" keygen "$dir/$name.key" >"$dir/$name.id"
    sed -n 's/^\([0-9a-f]\{64\}\)$/\1/p' "$dir/$name.id" >"$dir/id"
    declare "$name=$(<"$dir/id")"
    [[ $name == four ]] || echo "$(<"$dir/id") node $name" >>"$dir/members"
done
# shellcheck disable=SC2154 # declared above
[[ ${#one} == 64 && ${#four} == 64 ]] || fail 'keygen does not show whole ids'

tell 'a list that cannot be used is refused with its line'
start_as() { start "$1" "${nodes[@]}" --set "node.identity=$dir/$1.key" "${@:2}"; }
printf '%s one\nthree\n' "$one" >"$dir/bad"
expect 1 "bad: line 2: the line does not begin with an id" \
    "$hearsay" node "${small[@]}" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.identity=$dir/one.key" --set "node.members=$dir/bad" --set "node.state_dir=$dir/none"
expect 1 'no-such: not found; create it with the ids of the members' \
    "$hearsay" node "${small[@]}" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.identity=$dir/one.key" --set "node.members=$dir/no-such" \
    --set "node.state_dir=$dir/none"

tell 'three listed nodes form a swarm'
start_as one
at=$(address_of one)
start_as two --set "node.peers=$at"
start_as three --set "node.peers=$at" --set node.listen=none # it only dials
for name in one two three; do
    wait_for 40 "$name to be connected to the others" shows "$name" '"members_live":3,'
done

tell 'a node that is not listed is refused and ends'
expect 1 "^FAIL  peer $at: is node .* does not accept this node; .* listed or admitted: not on this swarm.s list" \
    "$hearsay" doctor "${small[@]}" "${nodes[@]}" --set "node.identity=$dir/four.key" --set node.members= \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/new" --set "node.peers=$at"
start four "${nodes[@]}" --set "node.identity=$dir/four.key" --set node.members= \
    --set "node.peers=$at"
reap four 5
# shellcheck disable=SC2154
says "$dir/four.err" "no member admits this node; have its id listed or admitted .*$four" ||
    fail 'the message of four does not say what to do'
says "$dir/four.err" "not on this swarm.s list of members" || fail 'its message lacks the reason'
shows one '"members_live":3,' || fail 'one counts the refused node'

tell 'an invalid list is reported and the previous one kept'
cp "$dir/members" "$dir/members.good"
echo nonsense >>"$dir/members"
kill -HUP "${pid[one]}"
wait_for 20 'one to report the invalid list' notes one \
    'members: line 4: the line does not begin with an id.*the previous list stays in force'
shows one '"members_live":3,' || fail 'one lost members because of an invalid list'

tell 'a node listed only on one node joins through it; the others report that they do not list it'
cp "$dir/members.good" "$dir/members"
echo "$four node four" >>"$dir/members"
kill -HUP "${pid[one]}"
wait_for 20 'one to read its list again' notes one 'the list of members was reloaded: 4'
start_as four --set "node.peers=$at"
wait_for 60 'four to train' shows four '"stage":"running"'
wait_for 60 'one to count it' shows one '"members_live":4,'
wait_for 60 'two to have heard of it' notes two 'is a member for this neighbour but not for this node'
wait_for 60 'two to show it' shows two "\"strangers\":\[\{\"id\":\"$four\""
expect 0 "^  strangers  ${four:0:8}: other nodes have admitted it, this node has not" \
    "$hearsay" status --state "$dir/two"

expect 0 '^node three  *[0-9a-f]{8} live  list ' "$hearsay" members --state "$dir/one"
expect 0 "\"id\":\"$four\".*\"admitted_by\":\"list\",\"name\":\"node four\"" \
    "$hearsay" members --state "$dir/one" --json
expect 1 'no node runs' "$hearsay" members --state "$dir/nowhere"

tell 'after the lists are equal, all nodes are members'
kill -HUP "${pid[two]}" "${pid[three]}"
for name in one two three four; do
    wait_for 120 "$name to be connected to the others" shows "$name" '"members_live":4,'
done

tell 'a member that is taken off all lists warns, is not ready, and trains on'
cp "$dir/members" "$dir/members.good"
grep -v "^$three" "$dir/members.good" >"$dir/members"
kill -HUP "${pid[one]}" "${pid[two]}" "${pid[four]}"
wait_for 60 'three to be alone' shows three '"stage":"running","healthy":false,'
refusal="not on this swarm's list of members; have the id of this node listed or admitted"
expect 3 '^  alone:     no neighbour for [0-9]' "$hearsay" status --state "$dir/three"
shows three "\"alone_reason\":\"127.0.0.1:[0-9]+ .*: it said: $refusal" ||
    fail 'the status of three lacks the reason'
says "$dir/three.err" "warning: .*$refusal" || fail 'three does not warn'

tell 'once it is listed again, it returns, and the models are equal at the end'
received() { page three && sed -n 's/.*"rumors_received":\([0-9]*\),.*/\1/p' "$dir/page.out"; }
gets_rumors() { (($(received) > had)); }
had=$(received)
cp "$dir/members.good" "$dir/members"
kill -HUP "${pid[one]}" "${pid[two]}" "${pid[four]}"
for name in one two three four; do
    wait_for 120 "$name to be connected to the others" shows "$name" '"healthy":true.*"members_live":4,'
done
# after a long separation one side takes over the other's base first, which leaving nodes do not
wait_for 120 'three to receive rumors again' gets_rumors
leave_together one two three four

printf '%3d s  done\n' "$SECONDS"
