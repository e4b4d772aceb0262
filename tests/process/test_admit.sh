#!/usr/bin/env bash
# The operator of a swarm of real nodes admits its members: test_admit.sh HEARSAY
set -euo pipefail

# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

admit=("$hearsay" admit --key "$dir/operator.key" --state "$dir/one")
id_in() { sed -n 's/^\([0-9a-f]\{64\}\)$/\1/p' "$1"; }

tell 'three nodes with an operator form a swarm'
"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")
nodes=(--set "node.operator=$operator" --set exchange.interval_s=1 --set exchange.bytes_per_s=2K
    --set limits.silence_s=120 --set limits.handshake_s=60)
start one "${nodes[@]}"
at=$(address_of one)
start two "${nodes[@]}" --set "node.peers=$at"
start three "${nodes[@]}" --set "node.peers=$at"
for name in one two three; do
    wait_for 40 "$name to be connected to the others" shows "$name" '"members_live":3,'
done
"$hearsay" keygen "$dir/four.key" >"$dir/four.id"
four=$(id_in "$dir/four.id")

tell 'invalid admissions are refused'
expect 2 'name one member by its id' "${admit[@]}"
expect 2 'name one member by its id' "${admit[@]}" --present "$four"
expect 2 'is not the beginning of an id' "${admit[@]}" xyz
expect 2 'a name has 1 to 64 printable' "${admit[@]}" "$four" $'two\nlines'
expect 1 'no member has been admitted yet' "${admit[@]}" "$four" 'node four'
expect 1 "no node runs with the state_dir $dir/nowhere" "${admit[@]}" --state "$dir/nowhere" --present

tell 'all present members are admitted at once, and none is expelled'
expect 0 '^order 3: ' "${admit[@]}" --present
expect 1 'are already admitted' "${admit[@]}" --present
for name in one two three; do
    wait_for 20 "$name to obey" shows "$name" '"number":3,'
    shows "$name" '"members_live":3,' || fail "$name has lost members"
    ! notes "$name" 'not admitted by this swarm' || fail "$name was expelled meanwhile"
done
expect 0 '^[0-9a-f]{8}  *[0-9a-f]{8} live  order [123] ' "$hearsay" members --state "$dir/two"

tell 'a fourth node that is not admitted ends'
doctor=("$hearsay" doctor "${small[@]}" "${nodes[@]}" --set "node.identity=$dir/four.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.peers=$at")
expect 1 "^FAIL  peer $at: is node .* does not accept this node; have the id of this node listed or admitted: not admitted by" \
    "${doctor[@]}" --set "node.state_dir=$dir/new"
start four "${nodes[@]}" --set "node.peers=$at" --set train.evaluate_s=1
reap four 5
says "$dir/four.err" "no member admits this node; have its id listed or admitted .*$four" ||
    fail 'the message of four does not say what to do'
! says "$dir/four.err" 'the base: accuracy' || fail 'four scores its first weights'
(($(grep -c 'is no longer a neighbour' "$dir/four.err") <= 3)) || fail 'four repeats that a member refuses it'
(($(grep -c 'is a neighbour' "$dir/four.err") <= 3)) || fail 'four repeats that a member is a neighbour'

tell 'the fourth node is admitted and joins'
expect 1 "begins with ${four:0:8}; .* for another node, give all 64 digits" "${admit[@]}" "${four:0:8}"
expect 0 "^order 4: ${four:0:8} is admitted: node four$" "${admit[@]}" "$four" 'node four'
expect 1 "${four:0:8} is already admitted, by order 4" "${admit[@]}" "$four"
start four "${nodes[@]}" --set "node.peers=$at"
for name in one two three four; do
    wait_for 60 "$name to be connected to the others" shows "$name" '"members_live":4,'
done
expect 0 '^node four  *[0-9a-f]{8} live  order 4 ' "$hearsay" members --state "$dir/two"

tell 'the fourth node is expelled'
expect 0 "^order 5: ${four:0:8} is expelled" "$hearsay" expel --key "$dir/operator.key" \
    --state "$dir/one" "$four" --all --reason 'its disk is broken'
reap four 4
says "$dir/four.err" "\(order 5\): its disk is broken; if it is to return: hearsay admit $four" ||
    fail 'the message of four does not name the remedy'
expect 1 "^WARN  expulsion: $dir/four/orders: order 5 .* expels this node: its disk is broken;" \
    "${doctor[@]}" --set "node.state_dir=$dir/four"
expect 1 "^FAIL  peer $at: is node .* does not accept this node; this node is expelled: its disk is broken$" \
    "${doctor[@]}" --set "node.state_dir=$dir/new"
tell 'the start of an expelled node ends'
start four "${nodes[@]}" --set "node.peers=$at" --set train.evaluate_s=1
reap four 4
! says "$dir/four.err" 'the base: accuracy' || fail 'four scores a base that is not the swarm'
says "$dir/four.err" '\(order 5\): its disk is broken; it does not train, and asks the members' ||
    fail 'four does not say at its start that it is expelled'
says "$dir/four.err" 'not training, expelled by an order, ' || fail 'its status line does not say so'

tell 'the fourth node is admitted again, and joins with its state folder'
expect 0 "^order 6: ${four:0:8} is admitted: node four again$" "${admit[@]}" "${four:0:12}" 'node four again'
start four "${nodes[@]}" --set "node.peers=$at"
for name in one two three four; do
    wait_for 60 "$name to be connected to the others" shows "$name" '"members_live":4,'
done

tell 'the fourth node gets another name'
expect 1 'already admitted, by order 6; give another NAME to rename it' "${admit[@]}" "$four" 'node four again'
expect 0 "^order 7: ${four:0:8} is admitted: ward 4$" "${admit[@]}" "$four" 'ward 4'
for name in one two three four; do
    wait_for 20 "$name to obey" shows "$name" '"number":7,'
    shows "$name" '"members_live":4,' || fail "$name has lost members"
done
expect 0 '^ward 4  *[0-9a-f]{8} live  order 7 ' "$hearsay" members --state "$dir/two"

tell 'all nodes end with one model'
leave_together one two three four

printf '%3d s  done\n' "$SECONDS"
