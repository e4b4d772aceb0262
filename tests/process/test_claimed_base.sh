#!/usr/bin/env bash
# A listed member claims many rumors that it has never published, and gives all nodes a base of zeros
# that contains them. No node takes that base, and a joiner ends with the swarm's:
# test_claimed_base.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/client_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/client_story.sh"

"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
for name in one two three four villain; do
    "$hearsay" keygen "$dir/$name.key" >"$dir/said.out"
    sed -n 's/^\([0-9a-f]\{64\}\)$/\1/p' "$dir/said.out" >>"$dir/members"
done
villain=$(tail -n 1 "$dir/members" | cut -c 1-8)
nodes=(--set exchange.interval_s=1 --set train.steps_per_s=50 "${patient[@]}" --set "node.members=$dir/members"
    --set node.quarantine=yes)

tell 'three listed nodes train'
start_three "${nodes[@]}"
wait_for 60 'many rumors' shows one '"rumors_known":([3-9][0-9]|[1-9][0-9][0-9])'

tell 'a fourth member claims a million rumors'
start_villain claim-base "$one" "$two" "$three"
for name in one two three; do
    wait_for 120 "$name to name the liar" notes "$name" "\"note\":\"false_base\".*$villain.*claims 1048576 rumors"
done

tell 'a joiner ends with the base of the swarm'
start four "${nodes[@]}" --set "node.peers=$one"
wait_for 120 'four to train' notes four '"note":"joined"'
for name in one two three; do
    ! notes "$name" 'the takeover of its base begins' || fail "$name has given up its base"
done
kill -TERM "${pid[villain]}"
wait "${pid[villain]}" || true
unset 'pid[villain]'

tell 'all nodes end with one model'
leave_together one two three four
expect 0 'accuracy +[3-9][0-9]\.' "$hearsay" eval --state "$dir/one/base.safetensors" \
    --set data.source=generated --set data.train_count=600 --set data.test_count=200

printf '%3d s  done\n' "$SECONDS"
