#!/usr/bin/env bash
# A member sends three real nodes three different rumors with the same number. Another member
# publishes a rumor that moves the base too far: test_two_rumors.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

nodes=(--set exchange.interval_s=1 --set exchange.bytes_per_s=2K "${patient[@]}")
start_three "${nodes[@]}"

has_its_rumor() { shows "$1" "\"id\":\"${villain}[0-9a-f]*\",\"incarnation\":[0-9]*,\"rumors\""; }

tell 'a member signs a different rumor with one number for each of three nodes'
make_villain
know_each_other
start_villain equivocate "$one" "$two" "$three"
wait_for 240 'the attacker to be turned away' says "$dir/client.out" \
    '^turned away: BYE 9: it signed two different rumors under one number'
reap villain 3

tell 'all nodes expel the member and keep the proof'
for name in one two three; do
    wait_for 40 "$name to report it" notes "$name" \
        "$villain.*is expelled: it signed two different rumors under one number"
    wait_for 20 "$name to take out what it had of it" eval "! has_its_rumor $name"
    wait_for 20 "$name to write the proof down" test -s "$dir/$name/proofs"
    shows "$name" '"members_live":3,' || fail "$name counts it"
done

tell 'a restarted node remembers the expulsion'
leave two
start two "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'two to answer' shows two '"members_live":3,'
start_villain equivocate "$(address_of two | tail -n 1)"
reap villain 3
says "$dir/client.out" '^turned away: BYE 9: it signed two' || fail 'two does not say why'

tell 'another member signs a rumor that moves a weight three times as far as allowed'
rm -f "$dir/villain.key"
make_villain
start_villain exceed "$one"
wait_for 240 'the attacker to be turned away' says "$dir/client.out" \
    '^turned away: BYE 5: sent an invalid rumor'
reap villain 3
for name in one two three; do
    wait_for 40 "$name to report it" notes "$name" \
        "$villain.*is expelled: it signed a rumor that moves the base or reports samples beyond the limits"
    ! has_its_rumor "$name" || fail "$name has taken it"
done

tell 'an invalid proof is ignored'
leave three
cp "$dir/three/proofs" "$dir/proofs.good"
printf 'x' >>"$dir/three/proofs"
start three "${nodes[@]}" --set "node.peers=$one"
reap three 1
says "$dir/three.err" 'proofs: they have an invalid size' || fail 'the message lacks the reason'
cp "$dir/proofs.good" "$dir/three/proofs"
start three "${nodes[@]}" --set "node.peers=$one"
wait_for 40 'three to be back' shows three '"members_live":3,'

tell 'all nodes end with one model'
leave_together one two three
! grep -h '"kind":"digest"' "$dir"/*.log || fail 'a log blames an honest node'

printf '%3d s  done\n' "$SECONDS"
