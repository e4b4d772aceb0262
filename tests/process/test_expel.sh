#!/usr/bin/env bash
# The operator expels members from a swarm of real nodes: first the client of test_client.sh, which
# ignores the order, then a node, which obeys it: test_expel.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

expel=("$hearsay" expel --key "$dir/operator.key" --state "$dir/one")

tell 'an operator makes a key'
expect 0 '^node.operator = [0-9a-f]{64}$' "$hearsay" operatorkey "$dir/operator.key"
operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")
expect 1 'never overwritten' "$hearsay" operatorkey "$dir/operator.key"
expect 0 '^node.operator = ' "$hearsay" operatorkey "$dir/other.key"
[[ $(stat -c %a "$dir/operator.key") == 600 ]] || fail 'others may read the key'
expect 2 'operator is not 64 hex digits' "$hearsay" node --set node.operator=12ab

nodes=(--set "node.operator=$operator" --set exchange.interval_s=1 --set exchange.bytes_per_s=2K "${patient[@]}")
start_three "${nodes[@]}"

own_id() { page "$1" && sed -n 's/.*"healthy":[a-z]*,.*"program":"[^"]*","id":"\([0-9a-f]*\)".*/\1/p' "$dir/page.out"; }

tell 'a member of the swarm publishes'
make_villain
know_each_other
start_client villain 'dense 16, relu, dense 10' 12730 "$one" "$two" "$three" --stay
wait_for 240 'the attacker to publish' says "$dir/client.out" '^3 neighbours hold it'
for name in one two three; do
    shows "$name" "\"id\":\"${villain}[0-9a-f]*\",\"incarnation\":[0-9]*,\"rumors\":1," ||
        fail "$name does not know its rumor"
done

tell 'invalid orders are refused'
expect 2 'name one member by its id' "${expel[@]}" --reason why
expect 2 'is not the beginning of an id' "${expel[@]}" --reason why xyz
expect 2 'give a --reason' "${expel[@]}" "$villain"
expect 2 'give a --reason' "${expel[@]}" "$villain" --reason $'two\nlines'
expect 1 'begins with 0123456789ab; .* give all 64 digits' \
    "${expel[@]}" --reason why 0123456789ab
expect 1 'is this node itself' "${expel[@]}" --reason why "$(own_id one)"
expect 1 "no node runs with the state_dir $dir/nowhere" \
    "${expel[@]}" --state "$dir/nowhere" --reason why "$villain"
expect 1 'is the key of another operator' \
    "${expel[@]}" --key "$dir/other.key" --reason why "$villain"
expect 1 'no-such.key: not found; .*hearsay operatorkey' \
    "${expel[@]}" --key "$dir/no-such.key" --reason why "$villain"
printf 'no order' >"$dir/one/order"
wait_for 20 'one to refuse the invalid order' notes one 'was refused: it is not an order'
[[ ! -e $dir/one/order ]] || fail 'the refused order is still in the folder'

tell 'all nodes expel the member and remove its rumors from their bases'
expect 0 "^order 1: $villain is expelled from the swarm: publishes noise$" \
    "${expel[@]}" "$villain" --reason 'publishes noise'
says "$dir/said.out" '1 are retracted from the base, and 0 stay$' || fail 'the output lacks the number of retracted rumors'
wait_for 20 'the attacker to be turned away' says "$dir/client.out" \
    '^turned away: BYE 9: publishes noise'
reap villain 3
for name in one two three; do
    wait_for 20 "$name to obey" shows "$name" \
        "\"number\":1,\"id\":\"${villain}[0-9a-f]*\",\"reason\":\"publishes noise\""
    shows "$name" '"members_live":3,' || fail "$name counts it"
    ! shows "$name" "\"id\":\"${villain}[0-9a-f]*\",\"incarnation\":[0-9]*,\"rumors\"" ||
        fail "$name still has its rumor"
    wait_for 20 "$name to write the order down" test -s "$dir/$name/orders"
    expect 0 "^  expelled   $villain: publishes noise$" "$hearsay" status --state "$dir/$name"
done

tell 'a restarted node obeys the order at once'
leave two
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to answer' shows two "\"number\":1,\"id\":\"$villain"

tell 'an expelled node ends and cannot rejoin'
out=$(own_id three)
expect 0 "^order 2: ${out:0:8} is expelled" "${expel[@]}" "${out:0:12}" --all --reason 'its disk is broken'
reap three 4
says "$dir/three.err" 'expelled this node from the swarm \(order 2\): its disk is broken' ||
    fail 'its message lacks the reason'
start three "${nodes[@]}" --set "node.peers=$one"
reap three 4
# Node two's log does not reach back before its restart, so it takes over the base of node one.
obeys() { shows "$1" '"number":2,' && ! says "$dir/page.out" "\"id\":\"$out\",\"incarnation\":[0-9]*,\"rumors\""; }
wait_for 40 'one to obey' obeys one
wait_for 40 'two to obey' obeys two

tell 'the other nodes end with one model'
leave_together one two
! grep -h '"level":"error"' "$dir/two.log" || fail 'a node logged an error'

printf '%3d s  done\n' "$SECONDS"
