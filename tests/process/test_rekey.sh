#!/usr/bin/env bash
# A swarm of real nodes changes its key during training. Python clients have the old key:
# test_rekey.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

by=(--key "$dir/operator.key" --state "$dir/one")

tell 'three nodes with an operator'
"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")
nodes=(--set "node.operator=$operator" --set exchange.interval_s=1 --set exchange.bytes_per_s=2K "${patient[@]}")
start_three "${nodes[@]}"
know_each_other

# Starts a client that only requests the new swarm key. id_of prints its id.
ask_as() { start_client "$1" 'dense 16, relu, dense 10' 12730 "$one" --learn-key "$dir/$1.new" "${@:2}"; }
id_of() { "$hearsay" keygen "$dir/$1.key" | sed -n 's/^\([0-9a-f]\{64\}\)$/\1/p'; }
is_member() { shows one "\"id\":\"$1\",[^{}]*\"admitted_by\""; }
has_key() { shows "$1" "\"swarm_key\":\{\"hash\":\"[0-9a-f]*\",\"order\":$2,\"missing\":0,\"older\":$3,"; }
turned_away() {
    reap "$1" 3
    says "$dir/client.out" "^turned away: $2" || fail "$1 does not receive \"$2\""
    [[ ! -e $dir/$1.new ]] || fail "$1 has the new key"
}

tell 'invalid orders are refused'
expect 2 'both soon: write a number from 0 to 87600' "$hearsay" rekey "${by[@]}" --both soon
expect 2 'both -1: write a number' "$hearsay" rekey "${by[@]}" --both -1
expect 2 'one argument too many' "$hearsay" rekey "${by[@]}" now
expect 2 'the --reason, which all nodes show' "$hearsay" rekey "${by[@]}" --reason ''
expect 1 'no node runs' "$hearsay" rekey "${by[@]}" --state "$dir/nowhere"
expect 1 'first admit the present members \(hearsay admit --present\), or give --anyone' \
    "$hearsay" rekey "${by[@]}"
[[ ! -e $dir/one/swarm.key.next ]] || fail 'a refused command left a key'

tell 'a member is expelled; the others and a client are admitted'
villain=$(id_of villain)
guest=$(id_of guest)
ask_as villain
wait_for 40 'one to know the attacker' is_member "$villain"
expect 0 '^order 1: ' "$hearsay" expel "${by[@]}" "$villain" --reason 'publishes noise'
turned_away villain 'BYE 9: publishes noise'
expect 0 '^order 4: ' "$hearsay" admit "${by[@]}" --present
expect 0 '^order 5: ' "$hearsay" admit "${by[@]}" "$guest" guest

tell 'the swarm gets a new key, and all nodes stay connected'
expect 0 '^order 6: the swarm gets a new key: a laptop was stolen$' \
    "$hearsay" rekey "${by[@]}" --both 24 --reason 'a laptop was stolen'
says "$dir/said.out" '^older keys are accepted until 20[0-9-]* [0-9:]* UTC; a node that is offline' ||
    fail 'the output lacks the end of the old key'
for name in one two three; do
    wait_for 40 "$name to have the key" has_key "$name" 6 1
    shows "$name" '"members_live":3,' || fail "$name has lost members"
    ! notes "$name" '"note":"neighbour_lost".*(keys|goodbye)' || fail "$name has lost a neighbour"
    [[ $(stat -c %a "$dir/$name/swarm.key") == 600 ]] || fail "others may read the key of $name"
    cmp -s "$dir/one/swarm.key" "$dir/$name/swarm.key" || fail "$name has another key"
    cmp -s "$dir/swarm.key" "$dir/$name/swarm.key.older" || fail "$name does not keep the old key"
    expect 0 '^  swarm key  key of order 6; older keys accepted until 20' \
        "$hearsay" status --state "$dir/$name"
done
! cmp -s "$dir/swarm.key" "$dir/one/swarm.key" || fail 'the new key equals the old one'
[[ ! -e $dir/one/swarm.key.next ]] || fail 'the key lies about'
second=$(sed 's/.* //' "$dir/one/swarm.key")
[[ ${#second} == 64 ]] || fail 'no key'

tell 'a member with the old key receives the new one; an expelled member does not'
ask_as guest
reap guest 0
says "$dir/client.out" '^has the swarm key of order 6$' || fail 'the client did not receive the new key'
cmp -s "$dir/one/swarm.key" "$dir/guest.new" || fail 'the client received another key'
rm "$dir/guest.new"
ask_as villain
turned_away villain 'BYE 9: publishes noise'

tell 'a restarted node uses the new key, and the doctor reports it'
leave two
expect 0 "^ok +swarm key: $dir/two/swarm.key: the node uses this key of order 6, not $dir/swarm.key, which is accepted until" \
    "$hearsay" doctor "${small[@]}" "${nodes[@]}" --set "node.identity=$dir/two.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/two" --set "node.peers=$one"
says "$dir/said.out" '^ok +peer .* accepts this node' || fail 'the peer does not accept the doctor'
"$hearsay" swarmkey "$dir/fresh.key" >/dev/null # no order names it, so a node uses it
expect 1 "^ok +swarm key: $dir/fresh.key: key of swarm" "$hearsay" doctor "${small[@]}" "${nodes[@]}" \
    --set "node.identity=$dir/two.key" --set "node.swarm_key=$dir/fresh.key" \
    --set "node.state_dir=$dir/two" --set "node.peers=$one"
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to report its key' notes two \
    "the swarm key is that of $dir/two/swarm.key \(order 6\), which is newer than $dir/swarm.key"
wait_for 40 'two to be back' shows one '"neighbours":2,'

tell 'after another new key, no older key is accepted'
leave three
expect 0 '^order 7: the swarm gets a new key: the operator renews it$' \
    "$hearsay" rekey "${by[@]}" --both 0
says "$dir/said.out" '^older keys are no longer accepted' || fail 'the output does not say that old keys are refused'
for name in one two; do
    wait_for 40 "$name to have the key" has_key "$name" 7 0
    [[ ! -e $dir/$name/swarm.key.older ]] || fail "$name keeps an old key"
done
ask_as guest
turned_away guest 'closed without a word: it has another swarm key'
printf 'hearsay-swarm-key-1 %s\n' "$second" >"$dir/second.key"
ask_as guest --swarm-key "$dir/second.key"
turned_away guest 'closed without a word: it has another swarm key'
cp -p "$dir/one/swarm.key" "$dir/third.key"
ask_as guest --swarm-key "$dir/third.key"
reap guest 0
says "$dir/client.out" '^has the swarm key of order 7$' || fail 'the guest is not let in'

tell 'a node that missed both keys rejoins with a copy of the key file'
start three "${nodes[@]}" --set "node.peers=$one" --set train.enabled=no
wait_for 40 'three to be refused' notes three 'another swarm key \(copy the newest\)'
kill -TERM "${pid[three]}"
reap three 0
rm "$dir/three.log"
start three "${nodes[@]}" --set "node.peers=$one" --set "node.swarm_key=$dir/third.key"
wait_for 40 'three to be back' shows one '"neighbours":2,'
wait_for 40 'three to have the order' has_key three 7 0

for name in one two three; do
    wait_for 40 "$name to be connected to the others" shows "$name" '"neighbours":2,'
done
wait_for 40 'three to have joined' notes three '"note":"joined"'

tell 'no log contains a key, and the three nodes end with one model'
leave_together one two three
third=$(sed 's/.* //' "$dir/third.key")
! grep -rlE "$second|$third" "$dir"/*.log "$dir"/*.err "$dir"/*.out "$dir"/*/orders ||
    fail 'a log, an output or an order contains a key'
! grep -h '"level":"error"' "$dir"/*.log || fail 'a node logged an error'

printf '%3d s  done\n' "$SECONDS"
