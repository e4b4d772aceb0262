#!/usr/bin/env bash
# Sends bad input to a node: test_bad_input.sh HEARSAY MEDDLE
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

node=("$hearsay" node "${small[@]}" --set "node.identity=$dir/node.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/state")
"$hearsay" keygen "$dir/node.key" >/dev/null
"$hearsay" swarmkey "$dir/swarm.key" >/dev/null

tell 'configurations'
printf '[train]\nbatch = 8\n[node]\nlisen = none\n' >"$dir/unknown.conf"
expect 2 "unknown.conf:4: .*lisen.*listen" "${node[@]}" --config "$dir/unknown.conf"
printf '\n[train]\nbatch = 0\n' >"$dir/range.conf"
expect 2 "range.conf:3: .*batch.*1 to 4096" "${node[@]}" --config "$dir/range.conf"
printf '[train]\nschedule = step\n' >"$dir/step.conf"
expect 2 'step.conf:2: \[train\] schedule needs' "${node[@]}" --config "$dir/step.conf"
expect 2 'rate = -1: too small' "${node[@]}" --set train.rate=-1
expect 2 'no-such.conf' "${node[@]}" --config "$dir/no-such.conf"
expect 2 'hearsay node --help' "${node[@]}" --no-such-option
expect 2 'unknown command "nod"; did you mean "node".; see: hearsay --help' "$hearsay" nod
expect 2 'unknown command "staus"; did you mean "status"' "$hearsay" staus
expect 2 'unknown command "xyzzy"; see: hearsay --help' "$hearsay" help xyzzy
expect 2 'did you mean --json. see: hearsay status --help' "$hearsay" status --jsn
expect 2 'not of the form section.key=value; did you mean node.peers=x:1' "$hearsay" node --set peers=x:1
expect 2 'see: hearsay swarm --help' "$hearsay" swarm --no-such-option
expect 2 'nodes 0: write a whole number from 1 to 32' "$hearsay" swarm --nodes 0
expect 2 'name = lenett: unknown model; did you mean lenet' \
    "${node[@]}" --set model.layers= --set model.name=lenett
expect 2 'layers: layer 1, .dens 10.: no such layer; did you mean dense' \
    "${node[@]}" --set 'model.layers=dens 10'
expect 2 'optimizer = adm: unknown choice; did you mean adam' "${node[@]}" --set train.optimizer=adm
expect 2 '\[model\] layers: layer 1, .dense 3.*10' "${node[@]}" --set 'model.layers=dense 3'
expect 2 'data.classes = 3, but local labels go up to 9' "${node[@]}" --set data.classes=3
expect 1 'state_dir .*not a directory' "${node[@]}" --set "node.state_dir=$dir/node.key"
expect 1 'state_dir .*/no/such: No such file.*; choose another in an existing folder' \
    "${node[@]}" --set "node.state_dir=$dir/no/such"
expect 2 'cannot be read: Is a directory; name a file' "${node[@]}" --config "$dir"

tell 'data'
idx=(--set data.source=idx --set "data.dir=$dir/data")
expect 1 "$dir/data" "${node[@]}" "${idx[@]}"
mkdir "$dir/data"
# The header of ten images of 28x28, followed by only three bytes.
printf '\0\0\10\3\0\0\0\12\0\0\0\34\0\0\0\34abc' >"$dir/data/train-images-idx3-ubyte"
printf '\0\0\10\1\0\0\0\12\0\1\2\3\4\5\6\7\10\11' >"$dir/data/train-labels-idx1-ubyte"
expect 1 'train-images-idx3-ubyte.*(short|truncated|ends|cut)' "${node[@]}" "${idx[@]}"
gzip -c "$dir/data/train-images-idx3-ubyte" | head -c 30 >"$dir/data/train-images-idx3-ubyte.gz"
rm "$dir/data/train-images-idx3-ubyte"
expect 1 'train-images-idx3-ubyte.gz' "${node[@]}" "${idx[@]}"
head -c 200 /dev/urandom >"$dir/data/train-images-idx3-ubyte.gz"
expect 1 'train-images-idx3-ubyte.gz' "${node[@]}" "${idx[@]}"

tell 'keys'
expect 1 'no-such.key.*hearsay keygen' "${node[@]}" --set "node.identity=$dir/no-such.key"
expect 1 'no-such.key.*hearsay swarmkey' "${node[@]}" --set "node.swarm_key=$dir/no-such.key"
expect 1 'node.key' "$hearsay" keygen "$dir/node.key" # the file exists
expect 1 'node.key: .*hearsay keygen' env -C "$dir/data" "$hearsay" node
[[ ! -e $dir/data/state ]] || fail 'a node without a key has made a folder'
cp "$dir/node.key" "$dir/open.key"
chmod 0644 "$dir/open.key"
expect 1 'open.key.*chmod' "${node[@]}" --set "node.identity=$dir/open.key"
expect 2 'are the same file' "${node[@]}" --set "node.identity=$dir/swarm.key"
"$hearsay" swarmkey "$dir/other.key" >/dev/null
expect 1 'other.key: is not an identity file' \
    "${node[@]}" --set "node.identity=$dir/other.key" # a key of the wrong kind

tell 'saved models'
mkdir -p "$dir/nowhere" "$dir/early/state"
expect 1 '^hearsay: state: cannot be opened' env -C "$dir/nowhere" "$hearsay" eval
expect 1 '^hearsay: state/base.safetensors: the file does not exist yet; a node writes it every node.save_s' \
    env -C "$dir/early" "$hearsay" eval
touch "$dir/early/state/caller"
expect 1 '^hearsay: state/base.safetensors: .* node of a script, .* save node.state_dict' \
    env -C "$dir/early" "$hearsay" eval
expect 1 '^hearsay: state: cannot be read: .*; name the state folder of a node .node.state_dir' \
    env -C "$dir/nowhere" "$hearsay" rewind
expect 1 'no-such-state' "$hearsay" eval --state "$dir/no-such-state"
head -c 300 /dev/urandom >"$dir/noise.safetensors"
expect 1 'noise.safetensors' "$hearsay" eval --state "$dir/noise.safetensors"

tell 'a port in use'
start one --set limits.handshake_s=1
address=$(address_of one)
port=${address##*:}
expect 1 "$address.*choose another node.listen port" "${node[@]}" --set "node.listen=$address"

tell 'a log on a full disk'
start full --log /dev/full
wait_for 20 'full to report it' says "$dir/full.err" 'the log cannot be written: No space left'
wait_for 20 'full to train' says "$dir/full.err" 'samples/s'
leave full
[[ $(grep -c 'the log cannot be written' "$dir/full.err") == 1 ]] || fail 'the node repeats the message'

tell 'another swarm key'
start stranger --set "node.peers=$address" --set "node.swarm_key=$dir/other.key"
wait_for 20 'the stranger to be told why' notes stranger \
    '"level":"warning".*another swarm key \(copy the newest\), or not a hearsay node \(try 1\)'
wait_for 20 'one to note the stranger' notes one 'did not prove the swarm key'

tell 'another model'
start larger --set "node.peers=$address" --set 'model.layers=dense 20, relu, dense 10'
wait_for 20 'larger to see the difference' \
    notes larger 'other model: theirs dense 16, ours dense 20; give all nodes the same model'
wait_for 20 'one to see the difference' \
    notes one 'other model: theirs has 15,910 parameters, ours 12,730; its own message names the first difference'
reap larger 3
says "$dir/larger.err" 'no peer accepts this node: .*other model.*--alone' ||
    fail "larger does not say why it ended: $(<"$dir/larger.err")"

tell 'another swarm'
start elsewhere --alone --set "node.peers=$address" --set node.swarm=elsewhere
wait_for 20 'elsewhere to see the difference' notes elsewhere 'other swarm id'

tell 'the same identity twice'
start twin --set "node.peers=$address" --set "node.identity=$dir/one.key"
wait_for 20 'the twin to see it' notes twin '"note":"identity_taken".*hearsay keygen'
wait_for 20 'one to see it' notes one '"note":"identity_taken".*hearsay keygen'
reap twin 6
says "$dir/twin.err" 'two nodes run with one identity .*node.identity is .*one.key' ||
    fail "twin does not say why it ended: $(<"$dir/twin.err")"
says "$dir/twin.err" 'no new checkpoint is saved' || fail 'twin has saved what it has not shared'
wait_for 30 'elsewhere to train all the same' says "$dir/elsewhere.err" 'alone: no neighbour'
notes stranger 'compare this node.s swarm key with theirs .copy the newest.; this node trains alone' ||
    fail 'the stranger does not say why it trains alone'
for name in one stranger elsewhere; do
    alive "$name" || fail "$name has ended"
done
for name in stranger elsewhere; do
    kill -TERM "${pid[$name]}"
done
for name in stranger elsewhere; do
    reap "$name" 0
done

throw() { cat >"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null

tell 'noise on the port'
for ((i = 0; i < 40; i++)); do
    head -c 3000 /dev/urandom | throw || true  # most begin with an impossible length
    printf '\0\160truncated' | throw || true   # a truncated first message
    printf '\377\377oversized' | throw || true # longer than a first message may be
    printf '\0\0' | throw || true              # shorter than any message
    { printf '\0\160' && head -c 112 /dev/urandom; } | throw || true # the right size, but not sealed with the swarm key
done
exec {held}<>"/dev/tcp/127.0.0.1/$port" # sends nothing
wait_for 20 'one to refuse' notes one '"note":"refused".*"text":"was refused'
wait_for 20 'the silent caller to be sent away' notes one 'the handshake timed out'
exec {held}>&-
alive one || fail 'the node has ended'
[[ -z $(sed -n 's/.*"note":"refused".*"text":"\([^"]*\)".*/\1/p' "$dir/one.log" | sort | uniq -d) ]] ||
    fail 'one repeats notes about strangers'

tell 'the swarm continues'
start two --set "node.peers=$address"
wait_for 20 'the two to be neighbours' notes two '"neighbours":1'
wait_for 20 'two to receive rumors' notes two '"rumors_received":[1-9]'

tell 'a shared setting differs'
start hasty --set "node.peers=$address" --set train.rate=0.5
wait_for 20 'hasty to be told' notes hasty 'settings that must be equal on all nodes: train.rate = .* \(here 0.5\)'
wait_for 20 'one to be told' notes one 'settings that must be equal on all nodes: train.rate = 0.5 \(here'
kill -TERM "${pid[hasty]}"
reap hasty 0

tell 'bits change in transit'
coproc "$meddle" "$port"
pid[meddle]=$COPROC_PID
read -r -u "${COPROC[0]}" between
start three --set "node.peers=127.0.0.1:$between"
wait_for 60 'a changed record to be seen' notes one 'a record failed authentication'
wait_for 20 'three to receive rumors' notes three '"rumors_received":[1-9]'
for name in three two one; do
    leave "$name"
done

printf '%3d s  done\n' "$SECONDS"
