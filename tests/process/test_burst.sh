#!/usr/bin/env bash
# A listed member publishes a burst that moves every weight by 1, and then nothing more. The other members
# vote although it stays silent, so the burst moves no base: neither that of a joiner, nor that of nodes
# that leave meanwhile: test_burst.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
for name in one two three four villain other; do
    "$hearsay" keygen "$dir/$name.key" >"$dir/said.out"
    sed -n 's/^\([0-9a-f]\{64\}\)$/\1/p' "$dir/said.out" >>"$dir/members"
done
id_of() { sed -n "$1p" "$dir/members" | cut -c 1-8; }
four=$(id_of 4) villain=$(id_of 5) other=$(id_of 6)
nodes=(--set exchange.interval_s=0.5 "${patient[@]}" --set "node.members=$dir/members"
    --set node.quarantine=yes --set train.steps_per_s=20)

# Waits until these nodes have expelled the member: must_expel ID NAME...
must_expel() {
    local id=$1 name
    shift
    for name in "$@"; do
        wait_for 120 "$name to expel the attacker" notes "$name" \
            "$id.*is expelled: a majority of the members signed that its updates are harmful"
        ! notes "$name" 'they now enter the base' || fail "$name has applied the burst"
    done
}

tell 'four listed nodes train'
start_three "${nodes[@]}"
for name in one two three; do # nothing is withheld before each of three members has published 32 rumors
    wait_for 120 "publications of $name" shows "$name" '"rumors_published":([4-9][0-9]|[1-9][0-9][0-9])'
done

tell 'a fifth member publishes a burst, and a node joins in the midst of it'
start_villain burst "$one" "$two" "$three"
wait_for 60 'the burst' says "$dir/client.out" '^published'
start four "${nodes[@]}" --set "node.peers=$one"
must_expel "$villain" one two three four
says "$dir/client.out" '^turned away: BYE 9' || wait_for 20 'the attacker to be turned away' \
    says "$dir/client.out" '^turned away: BYE 9'
reap villain 3
for name in one two three; do
    ! notes "$name" "$four.*is expelled" || fail "$name has expelled the joiner"
done

tell 'a sixth member reports the samples of a minute with its burst, and all nodes leave'
start_member hostile.py other "$villain_layers" "$villain_parameters" --attack burst --samples 38400 \
    "$one" "$two" "$three"
wait_for 60 'the burst' says "$dir/client.out" '^published'
wait_for 60 'one to withhold it' shows one '"suspended":true'
leave_together one two three four
for name in one two three four; do
    notes "$name" "$other.*is expelled" || fail "$name left without a decision"
done
reap other 3
expect 0 'accuracy +[3-9][0-9]\.' "$hearsay" eval --state "$dir/one/base.safetensors" \
    --set data.source=generated --set data.train_count=600 --set data.test_count=200

printf '%3d s  done\n' "$SECONDS"
