#!/usr/bin/env bash
# Training ruins a model. The node must report it, and the remedy that it prints must restore the best
# score: test_guard.sh HEARSAY
set -euo pipefail
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

nodes=(--set node.save_s=1 --set train.evaluate_s=0.5
    --set 'model.layers=dense 32, relu, dense 10')

learned() { shows one '"kept_accuracy":0\.(4[5-9]|[5-9])'; }

tell 'a node keeps the best base that it has saved'
start one "${nodes[@]}"
wait_for 20 'what auto comes to' notes one 'learns with sgd: rate 0.02, momentum 0.9, weight decay 0.0005, clip 5'
wait_for 60 'the model to learn' learned
says "$dir/page.out" '"state":"well"' || fail 'the guard does not report "well"'
leave one
[[ -s $dir/one/base-best.safetensors ]] || fail 'there is no best base'
! notes one '"note":"training","level":"(warning|error)"' || fail 'the guard raised a false alarm'
notes one '"note":"evaluated".*"averaged":.*"accuracy":0\.' || fail 'the averaged base is not evaluated'
expect 0 'accuracy +[0-9.]+ %' "$hearsay" eval --state "$dir/one/base-averaged.safetensors" \
    --set data.source=generated --set data.train_count=600 --set data.test_count=200
expect 0 'the best is number [0-9]+, with [0-9.]+ % on the test set' "$hearsay" rewind --state "$dir/one"
kept=$(sed -n 's/.*the best is number [0-9]*, with \([0-9.]*\) % on .*/\1/p' "$dir/said.out")

tell 'a restart with fifty times the rate ruins the model, and the node prints a remedy'
start one "${nodes[@]}" --set train.rate=1 --set train.clip=0 --set train.weight_decay=0
wait_for 60 'the warning' notes one '"note":"training","level":"(warning|error)".*hearsay rewind'
notes one "\"note\":\"training\".*to return to the best base .$kept %.: hearsay rewind" || fail 'the warning does not name the best score'
wait_for 20 'the status to report it' shows one '"is_well":false'
expect 0 'alarm: +training has a problem' "$hearsay" status --state "$dir/one"
leave one

tell 'the leaving node compares its base with the best one, and the best base is unchanged'
notes one "\"note\":\"training\".*the saved base has .* and the best evaluation had [0-9.]+ %; (to return to the best base .$kept %, base-best.safetensors.: hearsay rewind|use the averaged base)" ||
    fail 'the leaving node does not name a better base'
remedy=$(sed -n 's/.*"note":"training".*\(hearsay rewind[^"]*--to best\)".*/\1/p' "$dir/one.log" | tail -n 1)
read -ra words <<<"$remedy"
expect 0 'Next steps' "$hearsay" "${words[@]:1}" --out "$dir/start.safetensors"

tell 'a swarm that starts from the best base has its score'
start two "${nodes[@]}" --set node.swarm=hearsay-2 --set "model.start=$dir/start.safetensors" \
    --set train.enabled=no
expect 0 'accuracy' "$hearsay" eval --state "$dir/start.safetensors" --set data.source=generated \
    --set data.train_count=600 --set data.test_count=200
says "$dir/said.out" "accuracy +$kept" || fail "its accuracy is not $kept %"
wait_for 20 'two to run' shows two '"stage":"running"'
leave two

# Returns success if the averaged base of node $1 also contains samples of node four. The other nodes
# credit four with at least the 640 samples that three has trained (credited_samples.h).
averages() {
    local samples
    samples=$(head -c 4000 "$dir/$1/base-averaged.safetensors" 2>/dev/null | grep -ao '"samples":"[0-9]*"' | tr -dc 0-9)
    ((${samples:-0} >= 1000))
}

tell 'a node whose training has ended and a relay average the base of the others'
start three "${nodes[@]}" --set train.samples_max=640
address=$(address_of three)
wait_for 20 'three to have learned' notes three 'samples_max is reached'
start four "${nodes[@]}" --set "node.peers=$address"
start five "${nodes[@]}" --set "node.peers=$address" --set train.enabled=no
wait_for 60 'three to average' averages three
wait_for 60 'five to average' averages five
shows five '"averaged":{"loss":[0-9.]+,' || fail 'the relay does not evaluate its averaged base'
leave four
leave five
leave three

printf '%3d s  done\n' "$SECONDS"
