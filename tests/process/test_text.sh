#!/usr/bin/env bash
# Nodes learn text; commands evaluate, use and export their model: test_text.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

# All lines are equal except for a number, so most letters can be predicted from those before.
seq 1 3000 | sed 's/.*/gossip spreads & rumors/' >"$dir/text.txt"
gzip -k "$dir/text.txt"
printf %s 'sixty letters, or so, of which six are for the test at its end' >"$dir/few.txt"
small+=(--set data.source=text --set "data.text=$dir/text.txt" --set data.context=16
    --set 'model.layers=embed 256 16, position 16, residual(norm, attention 2), residual(norm, dense 32, gelu, dense 16), norm, logits tied'
    --set train.optimizer=adam --set train.rate=0.003 --set train.batch=8 --set train.clip=1
    --set train.schedule=linear --set train.warmup_samples=200 --set train.period_samples=1000000
    --set train.evaluate_s=1 --set train.evaluate_part=1/20)

loss_below() {
    local loss
    loss=$(grep -o '"note":"evaluated".*"loss":[0-9.]*' "$dir/$1.log" | sed 's/.*"loss"://; $!d')
    [[ -n $loss ]] && awk -v loss="$loss" -v most="$2" 'BEGIN { exit !(loss < most) }'
}

tell 'two nodes learn half of the text each'
start one --set data.shard=1/2
address=$(address_of one)
start two --set data.shard=2/2 --set "node.peers=$address"
for name in one two; do
    wait_for 120 "$name to learn" loss_below "$name" 2.5
done
says "$dir/one.log" '16 bytes, layout 2: embed 256 16, ' || fail 'one does not log its model'

tell 'a node with another context is refused'
start other --set data.context=8 --set "node.peers=$address" \
    --set 'model.layers=embed 256 16, position 16, residual(norm, attention 2), norm, logits tied'
wait_for 40 'other to be refused' says "$dir/other.err" 'other model'
leave other
leave one
leave two

tell 'evaluations of the saved model'
eval=("$hearsay" eval --state "$dir/two")
expect 0 '^loss      [0-2]\.[0-9]{4} nats per byte, [0-3]\.[0-9]{4} bits per byte$' \
    "${eval[@]}" --text "$dir/text.txt"
sed 's/^source = .*/source = generated/' "$dir/two/started.conf" >"$dir/generated.conf"
expect 0 ' next bytes predicted correctly\)$' \
    "${eval[@]}" --config "$dir/generated.conf" --set "data.text=$dir/text.txt"
expect 1 'the model takes sequences of 16 tokens' \
    "${eval[@]}" --set data.source=generated --set "data.text=$dir/text.txt"
expect 0 '^perplexity [0-9]*\.[0-9]{2}$' "${eval[@]}" --text "$dir/text.txt"
expect 0 ' next bytes predicted correctly\)$' "${eval[@]}" --text "$dir/text.txt"
"${eval[@]}" --json --text "$dir/text.txt" >"$dir/plain.json"
"${eval[@]}" --json --text "$dir/text.txt.gz" >"$dir/packed.json"
diff "$dir/plain.json" "$dir/packed.json" || fail 'packed text is other text'
says "$dir/plain.json" '"bits_per_byte": [0-3]\.' || fail 'no bits per byte'

tell 'invalid data are refused'
expect 1 'the model takes sequences of 16 tokens; name test data with --text or --tokens' \
    "${eval[@]}" --data-source generated
expect 1 'data.text is empty; name the files' "${eval[@]}" --data-source text
expect 1 'nowhere.txt: cannot be opened: No such file' "${eval[@]}" --text "$dir/nowhere.txt"
expect 1 'the test has 7 tokens, and with a context of 16 at least 17 are needed; ' \
    "${eval[@]}" --text "$dir/few.txt"
tokens_below() { for ((i = 0; i < 2000; i++)); do printf "\\x$(printf %02x $((i % $1)))\\0"; done; }
tokens_below 100 >"$dir/100.bin"
tokens_below 120 >"$dir/120.bin"
start tokens --set data.source=tokens --set "data.tokens=$dir/100.bin" --set data.context=8 \
    --set 'model.layers=embed 128 8, norm, logits' --set train.samples_max=64
wait_for 20 'the node to learn tokens' notes tokens '"steps":[1-9]'
leave tokens
expect 1 'the model has learned tokens 0 to 99, but the test set has tokens up to 119; name a test set' \
    "$hearsay" eval --state "$dir/tokens" --tokens "$dir/120.bin"
node=("$hearsay" node "${small[@]}" --set "node.identity=$dir/one.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/none")
expect 1 'no file matches "' "${node[@]}" --set "data.text=$dir/no*.txt"
expect 2 "embed is the first layer|an embed reads tokens" "${node[@]}" --set data.source=generated
expect 2 'layer 1, .dense 10' "${node[@]}" --set 'model.layers=dense 10'
expect 2 'data. source = tokens needs tokens' "${node[@]}" --set data.source=tokens

tell 'hearsay doctor checks the data'
doctor=("$hearsay" doctor "${small[@]}" --set "node.identity=$dir/one.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/none")
bytes=$(wc -c <"$dir/text.txt")
expect 0 "^ok    data: [0-9]+ training samples .shard 1/1. of 16 bytes, cut from $((bytes * 9 / 10)) tokens; [0-9]+ test samples, cut from [0-9]+ tokens; 256 classes\$" \
    "${doctor[@]}"
expect 0 '^ok    model: [0-9]+ parameters: 16 bytes, layout 2: embed 256 16' "${doctor[@]}"
expect 1 '^FAIL  model: .*position 16.*data.context' "${doctor[@]}" --set data.context=32
expect 1 '^FAIL  data: data.text: the test has 7 tokens' "${doctor[@]}" --set "data.text=$dir/few.txt"

tell 'hearsay generate continues a text'
writes=("$hearsay" generate --state "$dir/two" --prompt 'gossip' --tokens 40)
"${writes[@]}" >"$dir/first" || fail 'generate failed'
(($(wc -c <"$dir/first") == 47)) || fail 'the output is not 6 and 40 letters and a line break'
[[ $(<"$dir/first") == gossip* ]] || fail 'the text does not begin with the prompt'
"${writes[@]}" | cmp - "$dir/first" || fail 'the same seed gives another text'
! "${writes[@]}" --seed 2 | cmp -s - "$dir/first" || fail 'another seed gives the same text'
expect 0 '^gossip' "${writes[@]}" --temperature 0 --top-k 5
expect 2 'temperature -1: write a number from 0 to 100' "${writes[@]}" --temperature -1
expect 2 'write a whole number' "${writes[@]}" --top-k many
expect 1 'none.safetensors: ' "$hearsay" generate --state "$dir/none.safetensors"

tell 'the model is exported for transformers and imported again'
expect 0 'config.json are written' "$hearsay" export --state "$dir/two" "$dir/gpt2"
says "$dir/gpt2/config.json" '"n_embd": 16' || fail 'config.json does not say how wide it is'
"$hearsay" generate --state "$dir/gpt2" --prompt 'gossip' --tokens 40 | cmp - "$dir/first" ||
    fail 'the imported model generates another text'
expect 0 '^embed 256 16 ' "$hearsay" model "$dir/gpt2"
loss=$("${eval[@]}" --text "$dir/text.txt" | grep ^loss)
exported=("$hearsay" eval --state "$dir/gpt2" --text "$dir/text.txt" --set data.context=16)
expect 0 "^$loss\$" "${exported[@]}"
expect 1 'model.layers out' "$hearsay" doctor "${small[@]}" --set "model.start=$dir/gpt2" \
    --set 'model.layers=embed 256 16, position 16, residual(norm, attention 4), residual(norm, dense 32, gelu, dense 16), norm, logits tied' \
    --set "node.identity=$dir/one.key" --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/none"
expect 1 'is not a GPT-2, Llama or ResNet' "$hearsay" export --state "$dir/other" "$dir/none"
expect 2 'name one file or folder to write' "$hearsay" export --state "$dir/two"
expect 2 "foo.onx: no format has the extension .onx: write $dir/foo.onnx for ONNX, or a folder" \
    "$hearsay" export --state "$dir/two" "$dir/foo.onx"
[[ ! -e $dir/foo.onx ]] || fail 'a folder with a mistyped name was made'
expect 0 'config.json are written' "$hearsay" export --state "$dir/two" "$dir/gpt2-0.1b"

tell 'another swarm starts from the export, whose config.json names the layers'
start again --set model.layers= --set "model.start=$dir/gpt2" --set node.swarm=again --set train.enabled=no
digest=$("${exported[@]}" | grep ^digest)
wait_for 20 'the node to start' notes again '"note":"started".*logits tied; start '
leave again
expect 0 "^$digest\$" "$hearsay" eval --state "$dir/again" --text "$dir/text.txt"
sed -i 's/gelu_new/relu/' "$dir/gpt2/config.json"
expect 1 'start: .*config.json: activation_function is relu' "${node[@]}" --set model.layers= \
    --set "model.start=$dir/gpt2"
expect 1 'is a model of sequences, which continues a text: hearsay generate' \
    "$hearsay" predict --state "$dir/two" --input "$dir/text.txt"

tell 'hearsay swarm learns text'
# A fixed budget publishes all residuals from the start, so results do not depend on how the budget
# adapts.
swarm=("$hearsay" swarm --nodes 2 --set data.context=16 --set exchange.bytes_per_s=1M
    --set train.rate=0.0003 --set train.batch=64
    --layers 'embed 256 16, position 16, residual(norm, attention 2), norm, logits tied')
expect 0 'the target of 5 bits/byte is met' "${swarm[@]}" --set "data.text=$dir/text.txt" \
    --target 5
says "$dir/said.out" '^All nodes hold the same model, bit for bit' || fail 'the nodes end with different models'
says "$dir/said.out" '^It writes:' || fail 'no text at the end'
expect 1 'an embed reads tokens, and the data are images' "${swarm[@]}" --data generated
expect 2 'write bits per byte, from 0 to 8' "${swarm[@]}" --set "data.text=$dir/text.txt" --target 9

tell 'hearsay model describes the layers'
expect 0 '^all, forward, for each sample +858880 ' "$hearsay" model gpt-char
expect 0 '^gpt2-124m +embed 50257 768' "$hearsay" model
expect 2 "layer 2, 'dense 0': write it as" "$hearsay" model 'relu, dense 0'
expect 2 '"gpt-chr" is neither a layer nor a preset; did you mean gpt-char' "$hearsay" model gpt-chr
expect 2 'as in 3x32x32' "$hearsay" model --input 3 lenet

tell 'done'
