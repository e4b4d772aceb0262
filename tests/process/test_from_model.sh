#!/usr/bin/env bash
# A node saves its model, and another swarm starts from it: test_from_model.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

base=$dir/old/base.safetensors

# Prints a value of the report of eval on a saved model: said_of NAME KEY
said_of() {
    "$hearsay" eval --state "$dir/$1" --data-source generated --test-count 200 --json |
        sed "s/.*\"$2\": \"\{0,1\}\([^\",}]*\).*/\1/"
}

# Returns success if a status value is at least NUMBER: has NAME KEY NUMBER
has() {
    local said
    said=$("$hearsay" status --state "$dir/$1" --json 2>/dev/null |
        grep -oE "\"$2\":[0-9]+" | sed 's/.*://; q')
    [[ -n $said && $said -ge $3 ]]
}

tell 'a model is trained'
start old --set train.samples_max=3000 --set exchange.bytes_per_s=1M
wait_for 60 'old to learn' has old samples 3000
leave old
digest=$(said_of old digest)
[[ $digest =~ ^[0-9a-f]{16}$ ]] || fail "no digest: $digest"

tell 'a damaged copy is reported'
eval=("$hearsay" eval --data-source generated --test-count 200 --state "$dir/copy.safetensors")
size=$(stat -c %s "$base")
damage() {
    cp "$base" "$dir/copy.safetensors"
    printf '%b' "$1" | dd of="$dir/copy.safetensors" bs=1 seek=$((size - $2)) conv=notrunc status=none
}
damage '' 0
expect 0 "^digest    $digest\$" "${eval[@]}"
refused='copy.safetensors: its weights do not match its checksum: .*another copy'
damage '\0\0\0\x3e' 4 # 0.125
expect 1 "$refused" "${eval[@]}"
damage '\0\0\xc0\x3f' 4 # 1.5
expect 1 "$refused" "${eval[@]}"
damage '\0\0\xc0\x7f' 4 # NaN
expect 1 "$refused" "${eval[@]}"

tell 'a file of another program is evaluated as model.start reads it'
foreign=$dir/foreign.safetensors
sed 's/"format":"hearsay"/"format":"pytorch"/' "$base" >"$foreign"
cmp -s "$base" "$foreign" && fail 'the file was not changed'
eval=("$hearsay" eval --data-source generated --test-count 200 --state)
layers=(--layers 'dense 16, relu, dense 10' --set data.train_count=600)
"${eval[@]}" "$base" --json | sed 's/"samples": [0-9]*/"samples": null/; s/"config": "[^"]*"/"config": null/' >"$dir/ours.json"
"${eval[@]}" "$foreign" "${layers[@]}" --json >"$dir/foreign.json"
diff "$dir/ours.json" "$dir/foreign.json" || fail 'the same model gives two results'
expect 0 '^learned   unknown: the file does not say$' "${eval[@]}" "$foreign" "${layers[@]}"
# Metadata do not matter if the model is given.
expect 0 '^learned   unknown: the file does not say$' "${eval[@]}" "$base" "${layers[@]}"
holds='it holds 0.dense.weight F32 \[16,784\], .*; the model needs 0.dense.weight F32'
expect 1 "foreign.safetensors: tensor .* has another shape: $holds \[17,784\]" \
    "${eval[@]}" "$foreign" --layers 'dense 17, relu, dense 10'
expect 1 'the file does not name its model: "lenet" is assumed; name another with --model or --layers' \
    "${eval[@]}" "$foreign"
expect 1 "$holds \[16,784\]" "${eval[@]}" "$foreign" --layers 'dense 16, relu, dense 9, relu, dense 10'
expect 2 'name = nope: unknown model; known: ' "${eval[@]}" "$foreign" --model nope

tell 'another swarm starts from the model, bit for bit'
start quiet --set "model.start=$base" --set node.swarm=new --set train.enabled=no
address=$(address_of quiet)
says "$dir/quiet.log" "start $digest" || fail 'quiet does not note its start'
leave quiet
[[ $(said_of quiet digest) == "$digest" ]] || fail 'the base differs from the start model'
[[ $(said_of quiet samples) == 0 ]] || fail 'this swarm has learned nothing yet'

tell 'training continues, also with a node that starts from other weights'
start one --set "model.start=$base" --set node.swarm=new
address=$(address_of one)
start two --set "model.start=$base" --set node.swarm=new --set "node.peers=$address"
start three --set "model.start=$base" --set node.swarm=new --set "node.peers=$address"
start other --set node.swarm=new --set "node.peers=$address"
wait_for 20 'the other to take over its weights' notes other '"note":"first_weights"'
for name in one two three other; do
    wait_for 30 "$name to receive rumors" has "$name" rumors_received 1
done
kill -TERM "${pid[one]}" "${pid[two]}" "${pid[three]}" "${pid[other]}"
for name in one two three other; do
    reap "$name" 0
    [[ $(said_of one digest) == "$(said_of "$name" digest)" ]] || fail 'the nodes have different bases'
    cmp "$dir/one/base.safetensors" "$dir/$name/base.safetensors" || fail 'equal bases give different files'
done
[[ $(said_of one digest) != "$digest" ]] || fail 'the base did not change'

tell 'a node that took over initial weights is killed before its first checkpoint, and restarts'
"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
guarded=(--set node.swarm=guarded --set "node.operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")")
start keeps --set "model.start=$base" "${guarded[@]}"
guarded+=(--set "node.peers=$(address_of keeps)")
start goes --set "model.start=$base" "${guarded[@]}"
wait_for 30 'the two nodes to receive rumors' has goes rumors_received 1
page goes
gone=$(sed -n 's/.*"program":"[^"]*","id":"\([0-9a-f]*\)".*/\1/p' "$dir/page.out")
expect 0 '^order 1: ' "$hearsay" expel --key "$dir/operator.key" --state "$dir/keeps" \
    --reason 'it must go' --all "$gone"
reap goes 4
start late "${guarded[@]}" --set node.save_s=600
wait_for 20 'late to have the order' shows late '"number":1,'
kill -KILL "${pid[late]}"
reap late 137
start late "${guarded[@]}"
wait_for 30 'late to receive rumors again' has late rumors_received 1
leave late
leave keeps

tell 'a node continues from its checkpoint only with the same start'
start one --set "model.start=$base" --set node.swarm=new
wait_for 20 'one to learn' has one samples 1
leave one
again=("$hearsay" node "${small[@]}" --set "node.identity=$dir/one.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/one" --set node.swarm=new)
expect 1 'none of the .* checkpoints is usable' "${again[@]}"

tell 'a checkpoint of another swarm or model is described'
of() { expect 1 "checkpoint-[0-9]+: is of $1" "${again[@]}" "${@:2}"; }
of "a swarm that started from start $digest, but this swarm starts from seed 1; restore model.seed or"
again+=(--set "model.start=$base")
of 'swarm "new", but this is swarm "old"; set node.swarm to that name, or' --set node.swarm=old
of 'node [0-9a-f]{8}, but this is node [0-9a-f]{8}; set node.identity to that node.s key, or' \
    --set "node.identity=$dir/old.key"
of 'another model \(1x28x28, layout 2: dense 16, relu, dense 10.*\); give each model its own folder' \
    --set model.start= --set 'model.layers=dense 16, tanh, dense 10'

is_saved() {
    local samples
    samples=$(said_of "$1" samples 2>/dev/null) || return 1
    [[ $samples =~ ^[0-9]+$ && $samples -ge $2 ]]
}

tell 'the model is saved during training, and survives a crash'
start trains --set node.save_s=0.3
wait_for 20 'a model' is_saved trains 1
alive trains || fail 'the node has ended'
wait_for 20 'a newer model' is_saved trains $(($(said_of trains samples) + 1))
kill -KILL "${pid[trains]}"
reap trains 137
is_saved trains 1 || fail 'the model is gone'
saved=$(said_of trains samples)
! notes trains '"note":"resumed"' || fail 'there was nothing to go on from'
touch "$dir/trains/base.safetensors.new" # as left by a crash during a save
start trains --set node.save_s=0.3
wait_for 20 'a newer model' is_saved trains $((saved + 1))
resumed="continues from $dir/trains/checkpoint-[0-9]+, [0-9.]+ m?s old: \
the sum of [0-9]+ rumors, [0-9]+ samples"
notes trains "\"note\":\"resumed\",\"level\":\"info\",\"text\":\"$resumed" ||
    fail 'the node does not log what it continues from'
says "$dir/trains.err" "$resumed" || fail 'the node does not print what it continues from'
leave trains

tell 'a node reports a damaged checkpoint and uses the previous one'
newest=$(cd "$dir/trains" && printf '%s\n' checkpoint-* | sort -t - -k 2n | tail -n 1)
truncate -s 5000 "$dir/trains/$newest"
start trains
wait_for 20 'the node to continue' \
    notes trains '"note":"resumed","level":"warning","text":"continues from an older one, .*checkpoint-'
notes trains "\"note\":\"resumed\",\"level\":\"warning\",\"text\":\".*$newest: chunk" ||
    fail 'its message lacks the reason'
leave trains
for left in "$dir"/trains/*.new "$dir"/trains/base.safetensors.*; do
    [[ ! -e $left ]] || fail "a crash has left a file permanently: $left"
done

tell 'checkpoints continue if the base cannot be saved'
mkdir -p "$dir/blocked/base.safetensors"
start blocked --set node.save_s=0.3
wait_for 20 'blocked to report it' notes blocked '"note":"saved","level":"error".*cannot save the model'
wait_for 20 'a checkpoint' has blocked checkpoint_age_s 0
kill -TERM "${pid[blocked]}"
reap blocked 1
says "$dir/blocked.err" 'base.safetensors: cannot save the model: Is a directory' ||
    fail 'its message lacks the reason'
rmdir "$dir/blocked/base.safetensors"
start blocked
wait_for 20 'blocked to continue' has blocked samples 1
leave blocked

tell 'unusable files are refused'
node=("$hearsay" node "${small[@]}" --set "node.identity=$dir/one.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/none")
expect 1 '\[model\] start: .*no-such: cannot be opened' "${node[@]}" --set "model.start=$dir/no-such"
head -c 300 /dev/urandom >"$dir/noise"
expect 1 '\[model\] start: .*noise: ' "${node[@]}" --set "model.start=$dir/noise"
expect 1 '\[model\] start: .*another shape' "${node[@]}" --set "model.start=$base" \
    --set 'model.layers=dense 17, relu, dense 10'
expect 1 'is overwritten when this node saves its base' "$hearsay" node "${small[@]}" \
    --set "node.identity=$dir/old.key" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.state_dir=$dir/old" --set "model.start=$dir/./old/base.safetensors"
expect 1 '^FAIL  model: \[model\] start: .*is overwritten when this node saves its base' "$hearsay" doctor \
    "${small[@]}" --set "node.identity=$dir/old.key" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.state_dir=$dir/old" --set "model.start=$base"
expect 1 '^FAIL  model: \[model\] start: .*no-such' "$hearsay" doctor "${small[@]}" \
    --set "node.identity=$dir/one.key" --set "node.swarm_key=$dir/swarm.key" \
    --set "node.state_dir=$dir/none" --set "model.start=$dir/no-such"

printf '%3d s  done\n' "$SECONDS"
