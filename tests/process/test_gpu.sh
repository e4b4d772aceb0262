#!/usr/bin/env bash
# A node with a GPU learns together with nodes on processors: test_gpu.sh HEARSAY. On a machine without
# a GPU, $STAND_IN plays one.
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

tell 'a program that was copied without the module of the GPU'
why='^built without CUDA$'
[[ ! -e ${hearsay%/*}/hearsay-cuda.so ]] ||
    why='^built with CUDA, but hearsay-cuda.so is neither beside the program nor in ../lib/hearsay'
cp "$hearsay" "$dir/hearsay"
expect 0 "$why" env -u HEARSAY_CUDA "$dir/hearsay" --version

if ! "$hearsay" --version | grep -q '^cuda:0: '; then
    export HEARSAY_CUDA=$STAND_IN
    played=yes
fi

# Enough data that the model does not memorize it. A fixed budget publishes all residuals from the
# start, so results do not depend on how the budget adapts.
small+=(--set data.train_count=20000 --set exchange.bytes_per_s=1M)
with_gpu=(--set train.device=cuda:0)
without=(--set train.device=cpu)

tell 'the GPU is listed and can be selected'
expect 0 '^cuda:0: .*compute capability [0-9.]+, GPU-[0-9a-f-]{36}$' "$hearsay" --version
uuid=$(sed -n 's/^cuda:0: .*, \(GPU-[0-9a-f-]*\)$/\1/p' "$dir/said.out")
"$hearsay" keygen "$dir/me.key" >/dev/null
"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
doctor=("$hearsay" doctor "${small[@]}" --set "node.identity=$dir/me.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/me")
expect 0 '^ok    device: cuda:0: ' "${doctor[@]}"
expect 0 '^ok    device: cuda:0: ' "${doctor[@]}" --set "train.device=cuda:$uuid"
expect 0 '^ok    device: cpu: ' "${doctor[@]}" --set train.device=cpu
expect 0 '^precision = fp32$' "$hearsay" node --set train.device=cpu --print-config
expect 0 '^ok    device: cpu: ' "${doctor[@]}" --set train.enabled=no
expect 1 '^FAIL  device: there is no GPU 99' "${doctor[@]}" --set train.device=cuda:99
expect 1 '^FAIL  device: no GPU here has the UUID GPU-00-00' "${doctor[@]}" \
    --set train.device=cuda:GPU-00-00
expect 1 '^FAIL  device: .*CUDA cannot be loaded: .*no-such.so' env HEARSAY_CUDA="$dir/no-such.so" \
    "${doctor[@]}" --set train.device=cuda:0

status_of() {
    "$hearsay" status --state "$dir/$1" --json 2>/dev/null |
        grep -oE "\"$2\":\"?[0-9a-f]+" | sed 's/.*[":]//; q'
}

has_learned() { [[ $(status_of "$1" samples) -ge $2 ]]; }

all_alike() {
    local digest
    digest=$(status_of gpu digest)
    [[ -n $digest && $(status_of one digest) == "$digest" && $(status_of two digest) == "$digest" ]]
}

tell 'a GPU and two processors learn one model'
start gpu "${with_gpu[@]}" --set train.samples_max=12000
address=$(address_of gpu)
says "$dir/gpu.err" 'computes on cuda:0: .*, multiplies in (fp32|tf32)' || fail 'the node does not report its device'
[[ -s $dir/gpu/cuda-cache/1/kernels ]] || fail 'the sandbox keeps no compiled kernels'
start one "${without[@]}" --set train.samples_max=150000 --set "node.peers=$address"
start two "${without[@]}" --set train.samples_max=150000 --set "node.peers=$address"
wait_for 60 'gpu to learn' has_learned gpu 12000
wait_for 60 'one to learn' has_learned one 150000
wait_for 60 'two to learn' has_learned two 150000
wait_for 20 'all to hold the same base' all_alike
leave one
leave gpu
leave two
for name in gpu one two; do
    expect 0 '"accuracy": 0\.[5-9]' "$hearsay" eval --state "$dir/$name" --data-source generated \
        --test-count 500 --json
done

tell 'the node continues from its checkpoint, also on the other device'
start gpu "${without[@]}" --set train.samples_max=14000
wait_for 60 'the node to continue' has_learned gpu 1900
leave gpu
start gpu "${with_gpu[@]}" --set train.samples_max=16000
wait_for 60 'the node to continue' has_learned gpu 1900
leave gpu

[[ ${played:-no} == yes ]] || exit 0 # the tests below break a GPU

tell 'the node selects and reports the precision'
wide='model.layers=dense 1024, relu, dense 10'
expect 0 'device: .* multiplies in tf32, with a peak speed of matrix products 8 times that of fp32$' "${doctor[@]}"
expect 0 'device: .* multiplies in bf16, with a peak speed of matrix products 16 times ' "${doctor[@]}" --set "$wide"
expect 0 'device: .* multiplies in fp32: .* 8 times as high in tf32, which train.precision = auto chooses' \
    "${doctor[@]}" --set train.precision=fp32
expect 0 'device: .* multiplies in fp32$' env CUDA_ON_CPU_CAPABILITY=7 "${doctor[@]}" --set "$wide"
expect 0 '^precision = bf16$' "$hearsay" node "${with_gpu[@]}" --set "$wide" --print-config
expect 0 '^precision = fp32$' env CUDA_ON_CPU_CAPABILITY=7 "$hearsay" node --set "$wide" --print-config

tell 'an old driver, and a lost GPU'
old='CUDA 13\.0 needs NVIDIA driver 580 or later, and the one here is for CUDA 12\.4'
expect 0 "^WARN  device: cpu: .*$old" env CUDA_ON_CPU_DRIVER=12040 "${doctor[@]}"
shows_peak() {
    shows lost '"device":.*"memory_bytes":536870912,.*"peak_part":[0-9]'
}
start lost
wait_for 60 'the node to show its part of the peak' shows_peak
expect 0 '^  GPU        [0-9.]+ MB of 537 MB free; model .*FLOP/s, .* % of the peak' \
    "$hearsay" status --state "$dir/lost"
leave lost
CUDA_ON_CPU_DRIVER=12040 start lost
wait_for 20 'the node to report that its GPU is lost' \
    says "$dir/lost.err" 'warning: computes on cpu: .*, but computed on cuda:0: .* before: check the GPU with nvidia-smi'
leave lost

tell 'a GPU without compiled kernels'
expect 1 '^FAIL  device: GPU 0 cannot be used: no kernel image' env CUDA_ON_CPU_KERNELS=0 "${doctor[@]}"

tell 'a model too large for the GPU'
large=(--set 'model.layers=dense 4000, relu, dense 10')
expect 0 '^ok    GPU memory: .* that are free with CUDA loaded, of .*, scratch buffers and libraries ' "${doctor[@]}"
expect 1 '^FAIL  GPU memory: a trial start failed with .* free of 41.9 MB, with CUDA loaded \(out of memory: .*; take a smaller model' \
    env CUDA_ON_CPU_MIB=40 "${doctor[@]}" "${large[@]}"
expect 1 'out of memory: .* on GPU 0.*take a smaller model' env CUDA_ON_CPU_MIB=40 \
    "$hearsay" node "${small[@]}" --set "node.identity=$dir/me.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/large" "${with_gpu[@]}" \
    --set 'model.layers=dense 4000, relu, dense 10'

tell 'hearsay swarm uses all GPUs in turn'
CUDA_ON_CPU_DEVICES=2 expect 0 'All nodes hold the same model' "$hearsay" swarm --nodes 3 \
    --data generated --layers 'dense 16, relu, dense 10' --target 50 --dir "$dir/many"
for place in '1 cuda:0' '2 cuda:1' '3 cuda:0'; do
    says "$dir/many/node${place% *}/node.err" "computes on ${place#* }: " ||
        fail "a node does not compute on its own GPU: $place"
done

tell 'a node uses two GPUs and continues with one'
expect 1 '^FAIL  device: .*GPU 0 is named twice' env CUDA_ON_CPU_DEVICES=2 "${doctor[@]}" \
    --set train.device=cuda:0,0
expect 1 '^FAIL  device: there is no GPU 2: the 2 here' env CUDA_ON_CPU_DEVICES=2 "${doctor[@]}" \
    --set train.device=cuda:0,2
expect 1 '^FAIL  device: several GPUs need NCCL, which cannot be loaded' env CUDA_ON_CPU_DEVICES=2 \
    HEARSAY_NCCL="$dir/no-such.so" "${doctor[@]}" --set train.device=cuda:0,1
export HEARSAY_NCCL=$STAND_IN
both=(--set train.device=cuda:all --set train.optimizer=adam --set train.rate=0.001)
expect 0 '^ok    device: cuda:0: .*; with cuda:1, multiplies in tf32' env CUDA_ON_CPU_DEVICES=2 "${doctor[@]}" "${both[@]}"
says "$dir/said.out" '^ok    memory: .* of GPU memory, and .*B on each further GPU' ||
    fail 'the status lacks the memory of the second GPU'
CUDA_ON_CPU_DEVICES=2 start pair "${both[@]}" --set train.samples_max=12000
wait_for 60 'the node to learn' has_learned pair 12000
says "$dir/pair.err" 'computes on cuda:0: .*; with cuda:1' || fail 'the node does not report its devices'
leave pair
start pair "${both[@]}" --set train.device=cuda:0 --set train.samples_max=15000
wait_for 60 'the node to continue' has_learned pair 2900
leave pair
expect 0 '"accuracy": 0\.[5-9]' "$hearsay" eval --state "$dir/pair" --data-source generated \
    --test-count 500 --json

tell 'samples that exceed GPU memory stay in host memory'
CUDA_ON_CPU_MIB=80 start far "${with_gpu[@]}" --set data.train_count=40000 --set train.samples_max=2000
wait_for 60 'the node to learn' has_learned far 2000
says "$dir/far.err" 'computes on cuda:0: .*, and fetches its samples from the memory of the host' ||
    fail 'the node does not report where its samples are'
leave far

tell 'the GPU breaks, and the other nodes continue'
start other "${without[@]}"
address=$(address_of other)
CUDA_ON_CPU_BREAKS=$dir/broken start breaks "${with_gpu[@]}" --set node.save_s=1 \
    --set "node.peers=$address"
wait_for 60 'the node to learn' has_learned breaks 100
wait_for 60 'a checkpoint' compgen -G "$dir/breaks/checkpoint-*[0-9]" >/dev/null
touch "$dir/broken"
reap breaks 1
says "$dir/breaks.err" 'the GPU failed .*uncorrectable ECC error.*goes on from its last checkpoint' ||
    fail 'the node does not report why it ended'
wait_for 10 'the other to see it' notes other '"note":"(neighbour_lost|member_dead)"'
alive other || fail 'the other node ended too'
compgen -G "$dir/breaks/checkpoint-*[0-9]" >/dev/null || fail 'no checkpoint is left'
before=$(cut -d ' ' -f 1 "$dir/breaks/incarnation")
start breaks "${with_gpu[@]}" --set "node.peers=$address"
wait_for 20 'the node to learn again' has_learned breaks 100
[[ $(cut -d ' ' -f 1 "$dir/breaks/incarnation") -gt $before ]] || fail 'the incarnation is not new'
leave breaks
leave other

printf '%3d s  done\n' "$SECONDS"
