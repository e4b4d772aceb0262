#!/usr/bin/env bash
# A member publishes the opposite of each rumor that it receives. The three others expel it by their
# votes: test_votes.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

nodes=(--set "node.members=$dir/members" --set node.quarantine=yes --set exchange.interval_s=1
    --set exchange.bytes_per_s=2K --set train.steps_per_s=20 --set train.rate=0.02 "${patient[@]}")

has_votes() { [[ $(stat -c %s "$dir/$1/votes" 2>/dev/null) == 420 ]]; }

tell 'four members are listed, and three become nodes'
"$hearsay" swarmkey "$dir/swarm.key" >"$dir/said.out"
make_villain
for name in one two three; do
    "$hearsay" keygen "$dir/$name.key" >"$dir/$name.id"
    sed -n "s/^\([0-9a-f]\{64\}\)\$/\1 $name/p" "$dir/$name.id" >>"$dir/members"
done
sed -n 's/^\([0-9a-f]\{64\}\)$/\1 villain/p' "$dir/villain.out" >>"$dir/members"

tell 'without a list of members there are no votes'
expect 2 'quarantine = yes counts votes, so it needs a list of members' \
    "$hearsay" node "${small[@]}" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.identity=$dir/one.key" --set "node.state_dir=$dir/none" --set node.quarantine=yes

tell 'three nodes connect'
start_three "${nodes[@]}"
know_each_other
expect 1 'this swarm has no operator, and only an operator gives orders: .*hearsay operatorkey.*node.members' \
    "$hearsay" expel --state "$dir/one" "$villain" --reason 'no key was ever made'

tell 'the fourth member publishes the opposite of each rumor until all three nodes have voted'
# Proofs against outsiders must not take the place of the decision.
start_villain oppose --throwaway 256 "$one" "$two" "$three"
wait_for 240 'the attacker to be turned away' says "$dir/client.out" \
    '^turned away: BYE 9: most members signed that its updates are harmful'
reap villain 3

tell 'all nodes expel the member, report the reason, and keep the votes'
for name in one two three; do
    wait_for 40 "$name to report it" notes "$name" \
        "$villain.*is expelled: a majority of the members signed that its updates are harmful"
    shows "$name" '"is_voted":true' || fail "$name does not show it"
    wait_for 20 "$name to write three votes down" has_votes "$name"
    shows "$name" '"members_live":3,' || fail "$name counts it"
    [[ ! -s $dir/$name/proofs ]] || fail "$name has stored a proof against an outsider"
done

tell 'a restarted node remembers the expulsion'
leave two
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to answer' shows two '"members_live":3,'
start_villain nothing "$(address_of two | tail -n 1)"
reap villain 3
says "$dir/client.out" '^turned away: BYE 9: most members signed' || fail 'two does not say why'

tell 'an invalid vote is ignored'
leave three
cp "$dir/three/votes" "$dir/votes.good"
printf 'x' >>"$dir/three/votes"
start three "${nodes[@]}" --set "node.peers=$one"
reap three 1
says "$dir/three.err" 'votes: they have an invalid size' || fail 'the message lacks the reason'
cp "$dir/votes.good" "$dir/three/votes"
start three "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'three to be back' shows three '"members_live":3,'

tell 'all nodes end with one model'
leave_together one two three
! grep -h '"kind":"digest"' "$dir"/*.log || fail 'a log blames an honest node'

printf '%3d s  done\n' "$SECONDS"
