#!/usr/bin/env bash
# hearsay doctor checks a machine before a node starts: test_doctor.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

"$hearsay" keygen "$dir/me.key" >/dev/null
"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
"$hearsay" swarmkey "$dir/other.key" >/dev/null
doctor=("$hearsay" doctor "${small[@]}" --set "node.identity=$dir/me.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/me")

also() { says "$dir/said.out" "$1" || fail "does not say \"$1\""; }

tell 'all checks pass'
expect 0 'all checks passed' "${doctor[@]}"
also "^ok    identity: $dir/me.key: node [0-9a-f]{8}"
also '^ok    keys: [0-9]+ KiB for keys are locked in memory'
also '^ok    data: 600 training samples \(shard 1/1\), 200 test samples, 1x28x28, 10 classes$'
also '^ok    model: 12730 parameters: 1x28x28, layout 2: dense 16, relu, dense 10'
also '^ok    disk: .* free for .*, which needs up to 917 kB$'
also '^ok    memory: the node needs .* free, [0-9.]+ bytes for each parameter: weights 50.9 kB, base 50.9 kB,'
also '^ok    port: 127.0.0.1:0 is free: the system will choose'
also '^ok    clock: 20'
also '^ok    peers: node.peers is empty'
also '^ok    reach: other nodes are told to dial 127.0.0.1, an address of only this machine'
[[ ! -e $dir/me ]] || fail 'doctor created a folder'
expect 0 '^WARN  reach: other nodes are told to dial 192.0.2.2:7770, an address for documentation.*no node can dial it' \
    "${doctor[@]}" --set node.advertise=192.0.2.2:7770
expect 0 '^ok    reach: other nodes are told to dial 9.9.9.9:7770, a public address; only another machine' \
    "${doctor[@]}" --set node.advertise=9.9.9.9:7770
printf '[data]\nsource = generated\n' >"$dir/me.conf"
expect 0 "^ok    configuration: $dir/me.conf" "${doctor[@]}" --config "$dir/me.conf"

tell 'usage and configuration'
expect 2 'hearsay doctor --help' "${doctor[@]}" --no-such-option
expect 2 'doctor takes no argument "me.conf"' "${doctor[@]}" me.conf
expect 0 'WARN' "$hearsay" help doctor
expect 2 '^FAIL  configuration: .*no-such.conf' "${doctor[@]}" --config "$dir/no-such.conf"
expect 2 '^FAIL  configuration: .*batch = 0' "${doctor[@]}" --set train.batch=0
expect 2 '^FAIL  configuration: .*rat.*rate' "${doctor[@]}" --set train.rat=1

tell 'the log'
expect 0 "^ok    log: $dir/me.log: will be created" "${doctor[@]}" --log "$dir/me.log"
[[ ! -e $dir/me.log ]] || fail 'doctor created the log'
printf 'old\n' >"$dir/me.log"
expect 0 "^ok    log: $dir/me.log: will be appended to" "${doctor[@]}" --log "$dir/me.log"
[[ $(<"$dir/me.log") == old ]] || fail 'doctor wrote to the log'
expect 1 "^FAIL  log: cannot write the log $dir/no/me.log: .*choose another node.log" \
    "${doctor[@]}" --log "$dir/no/me.log"
expect 1 "^FAIL  log: cannot write the log $dir: Is a directory" "${doctor[@]}" --set "node.log=$dir"

tell 'keys'
expect 1 '^FAIL  identity: .*no-such.key.*hearsay keygen' \
    "${doctor[@]}" --set "node.identity=$dir/no-such.key"
expect 1 '^FAIL  swarm key: .*no-such.key.*hearsay swarmkey' \
    "${doctor[@]}" --set "node.swarm_key=$dir/no-such.key"
also '^ok    model' # doctor continues after a failure
cp "$dir/me.key" "$dir/open.key"
chmod 0644 "$dir/open.key"
expect 1 '^FAIL  identity: .*open.key.*chmod' "${doctor[@]}" --set "node.identity=$dir/open.key"

tell 'the state folder'
expect 1 '^FAIL  state_dir: /proc/hearsay does not exist and cannot be created' \
    "${doctor[@]}" --set node.state_dir=/proc/hearsay # not even root may write there
expect 1 '^FAIL  state_dir: /proc/self cannot be written to' \
    "${doctor[@]}" --set node.state_dir=/proc/self
mkdir "$dir/me"
touch -d '+2 days' "$dir/me/base.safetensors"
expect 0 '^WARN  clock: .*me/base.safetensors was written (2d00h|1d23h) later' "${doctor[@]}"
also 'no check failed, warnings: 1'
rm -r "$dir/me"

tell 'data and model'
expect 1 "^FAIL  data: .*$dir/data" "${doctor[@]}" --set data.source=idx --set "data.dir=$dir/data"
expect 1 '^FAIL  model: .*dense 3' "${doctor[@]}" --set 'model.layers=dense 3'
expect 0 '^WARN  device: .*train.threads is 64' "${doctor[@]}" --set train.threads=64

tell 'files of an earlier start'
start old --set train.samples_max=640
wait_for 20 'old to learn' notes old '"steps":[1-9]'
leave old
rm "$dir/old.log"
start old --set train.enabled=no # for two checkpoints
address_of old >/dev/null
leave old
old=("${doctor[@]}" --set "node.identity=$dir/old.key" --set "node.state_dir=$dir/old")
content() { (cd "$dir/old" && sha256sum -- *); }
before=$(content)
expect 0 "^ok    checkpoint: $dir/old/checkpoint-2, [0-9.]+ m?s old: the node continues from it" "${old[@]}"
expect 1 '^FAIL  checkpoint: .*none of the 2 checkpoints is usable' \
    "${doctor[@]}" --set "node.state_dir=$dir/old"
also '^WARN  checkpoint: .*checkpoint-2: is of node [0-9a-f]{8}, but this is node [0-9a-f]{8}; '
expect 1 '^WARN  checkpoint: .*checkpoint-2: is of a swarm that started from seed 1, but' \
    "${old[@]}" --set model.seed=2
expect 1 '^WARN  checkpoint: .*checkpoint-2: is of another model' \
    "${old[@]}" --set 'model.layers=dense 20, relu, dense 10'
[[ $(content) == "$before" ]] || fail 'doctor changed a file'
cp -r "$dir/old" "$dir/kept"
truncate -s 5000 "$dir/old/checkpoint-2"
expect 0 '^WARN  checkpoint: .*checkpoint-2: chunk 0 is damaged' "${old[@]}"
also "^ok    checkpoint: $dir/old/checkpoint-1, "
truncate -s 5000 "$dir/old/checkpoint-1"
expect 1 '^FAIL  checkpoint: .*none of the 2 checkpoints is usable' "${old[@]}"
rm -r "$dir/old"
cp -r "$dir/kept" "$dir/old"
: >"$dir/old/caller"
expect 0 "^ok    checkpoint: $dir/old: is of a program that has its own model" "${old[@]}"
rm "$dir/old/caller"
printf x >>"$dir/old/incarnation"
expect 1 "^FAIL  incarnation: $dir/old/incarnation: is damaged" "${old[@]}"

tell 'a good peer'
start one
address=$(address_of one)
expect 0 "^ok    peer $address: 127.0.0.1 accepts connections, round trip .*median of 3" \
    "${doctor[@]}" --set "node.peers=$address"
also "^ok    peer $address: is node [0-9a-f]{8} and accepts this node"
expect 0 'median of 3' "${doctor[@]}" --set "node.peers=localhost:${address##*:}"
also 'is node [0-9a-f]{8} and accepts this node'
also '^all checks passed'
expect 0 "^WARN  peer $address: has other values for settings that must be equal on all nodes: train.rate = 0.02 \(here 0.5\)" \
    "${doctor[@]}" --set "node.peers=$address" --set train.rate=0.5
also 'no check failed, warnings: 1'
! notes one '"note":"(neighbour|member|refused|settings)"' || fail 'the doctor has left traces'

tell 'peers with other first weights than this node and each other'
start two --set model.seed=2
start three --set model.seed=3
expect 0 '^all checks passed' "${doctor[@]}" \
    --set "node.peers=$(address_of two), $address, $(address_of three)"
(($(grep -c 'accepts this node; the first weights differ' "$dir/said.out") == 2)) ||
    fail 'no word of other first weights'
leave two
leave three

tell 'a peer that is this node itself, or a copy of it'
free=$((20000 + $$ % 10000)) # below the range of automatic ports; differs between most processes
expect 0 'is this node itself, which it does not dial' "${doctor[@]}" \
    --set "node.listen=127.0.0.1:$free" --set "node.peers=127.0.0.1:$free"
expect 1 "^FAIL  peer $address: is another running node with this node's identity .*hearsay keygen" \
    "${doctor[@]}" --set "node.identity=$dir/one.key" --set "node.peers=$address"

tell 'a port in use, a folder in use'
expect 1 "^FAIL  port: cannot listen on $address: .*choose another node.listen port" \
    "${doctor[@]}" --set "node.listen=$address"
expect 1 "^FAIL  state_dir: $dir/one: a running node uses this folder" \
    "${doctor[@]}" --set "node.state_dir=$dir/one"

tell 'instructions for matrix products'
if grep -q ' avx2 ' /proc/cpuinfo; then
    expect 0 '^cpu: OpenBLAS, [A-Z]' env -u OPENBLAS_CORETYPE "$hearsay" --version
    ! says "$dir/said.out" '(Prescott|Core2|Nehalem|generic) kernels' || fail 'slow kernels'
    expect 0 '^cpu: OpenBLAS, Prescott kernels' env OPENBLAS_CORETYPE=Prescott "$hearsay" --version
fi

tell 'peers that do not accept this node'
expect 1 "^FAIL  peer $address: does not accept this node: it closed without an answer: another swarm key" \
    "${doctor[@]}" --set "node.peers=$address" --set "node.swarm_key=$dir/other.key"
also "^ok    peer $address: 127.0.0.1 accepts connections"
expect 1 'not accept this node: other model: theirs dense 16, ours dense 20; give all nodes the same model' \
    "${doctor[@]}" --set "node.peers=$address" --set 'model.layers=dense 20, relu, dense 10'
expect 1 'not accept this node: other swarm id' \
    "${doctor[@]}" --set "node.peers=$address" --set node.swarm=elsewhere
expect 1 "^WARN  peer $address: was not asked whether it accepts this node" \
    "${doctor[@]}" --set "node.peers=$address" --set "node.identity=$dir/no-such.key"

tell 'unreachable peers'
expect 1 '^FAIL  peer 127.0.0.1:1: cannot be reached .*connection refused.*no program listens' \
    "${doctor[@]}" --set "node.peers=127.0.0.1:1, $address, no-such-host.invalid:7770"
also "^ok    peer $address: is node"
also '^FAIL  peer no-such-host.invalid:7770: its name cannot be resolved'
also '^checks failed: 2, warnings: 0'

tell 'a peer that is stuck'
kill -STOP "${pid[one]}"
expect 1 "^FAIL  peer $address: does not accept this node: it does not answer" \
    "${doctor[@]}" --set "node.peers=$address"
kill -CONT "${pid[one]}"
leave one

printf '%3d s  done\n' "$SECONDS"
