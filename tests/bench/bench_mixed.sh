#!/usr/bin/env bash
# A GPU and two CPUs train Fashion-MNIST together: bench_mixed.sh HEARSAY [GPU_SAMPLES
# [CPU_SAMPLES]]. Each node has a third of the data. The GPU learns GPU_SAMPLES (3,000,000) and each
# CPU CPU_SAMPLES (200,000), with a cosine schedule. Prints the samples of each node, the accuracy
# of the base and its digest. The data are in the default folder or in $FASHION_MNIST. Fails without
# a GPU.
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/../process/story.sh"

gpu_samples=${2:-3000000} cpu_samples=${3:-200000}
data=(--set "data.dir=${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}")
small=(--set model.name=lenet --set node.listen=127.0.0.1:0 --set node.grace_s=10 "${data[@]}"
    --set train.schedule=cosine --set train.decay=0.05
    --set "train.period_samples=$((gpu_samples + 2 * cpu_samples))")

status_of() {
    "$hearsay" status --state "$dir/$1" --json 2>/dev/null |
        grep -oE "\"$2\":\"?[0-9a-f]+" | sed 's/.*[":]//; q'
}
has_learned() {
    alive "$1" || fail "$1 has ended"
    [[ $(status_of "$1" samples) -ge $2 ]]
}
all_alike() {
    local digest
    digest=$(status_of gpu digest)
    [[ -n $digest && $(status_of one digest) == "$digest" && $(status_of two digest) == "$digest" ]]
}

"$hearsay" --version | grep '^cuda:0: ' || fail 'there is no GPU here'
begin=$SECONDS
start one --set train.device=cpu --set train.threads=4 --set data.shard=1/3 \
    --set "train.samples_max=$cpu_samples"
address=$(address_of one)
start two --set train.device=cpu --set train.threads=4 --set data.shard=2/3 \
    --set "train.samples_max=$cpu_samples" --set "node.peers=$address"
start gpu --set train.device=cuda:0 --set data.shard=3/3 --set "train.samples_max=$gpu_samples" \
    --set "node.peers=$address"
for name in one two; do
    wait_for 600 "$name to learn" has_learned "$name" "$cpu_samples"
    echo "$name has learned after $((SECONDS - begin)) s"
done
wait_for 600 'gpu to learn' has_learned gpu "$gpu_samples"
echo "gpu has learned after $((SECONDS - begin)) s"
wait_for 60 'all to hold the same base' all_alike
echo "$((SECONDS - begin)) s until all have learned and hold one base"
for name in gpu one two; do
    printf '%s: %s samples, base %s\n' "$name" "$(status_of "$name" samples)" \
        "$(status_of "$name" digest)"
done
for name in gpu one two; do
    leave "$name"
    "$hearsay" eval --state "$dir/$name" "--data-dir" "${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}" --json |
        grep -oE '"accuracy": [0-9.]+' | sed "s/^/$name: /"
done
