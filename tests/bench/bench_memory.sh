#!/usr/bin/env bash
# Measures the memory of a daemon per neighbour: bench_memory.sh [HEARSAY]
#
#   a trainer ─► the daemon ─► 0 or 15 more neighbours;   lenet, rumors at full speed
#
# Prints the reserved memory (bench_memory.c). Then prints the daemon's resident memory with one
# neighbour and with 16, after its log is full. The difference shows the used part of the buffers
# and queues of a neighbour.
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
set -- "$(realpath -- "${1:-$here/../../build/hearsay}")"
# shellcheck source=tests/process/story.sh
source "$here/../process/story.sh"

readonly more=15 filled_bytes=4000000
small=(--set data.source=generated --set data.train_count=600 --set data.test_count=200
    --set model.name=lenet --set exchange.log_bytes=1M --set node.save_s=0 --set exchange.density_max=1
    --set exchange.interval_s=0.1 --set exchange.steps_min=1)
export OPENBLAS_NUM_THREADS=1

# Returns success if node $1 has received filled_bytes of rumors.
is_filled() {
    local heard
    heard=$(sed -n 's/.*"note":"status".*"rumor_bytes_received":\([0-9]*\).*/\1/p' "$dir/$1.log" | tail -n 1)
    ((${heard:-0} >= filled_bytes))
}

# Writes the resident KiB of a daemon with $1 neighbours besides the trainer to $dir/resident.
resident() {
    local name=d$1 first i
    start "$name" --set train.enabled=no --set node.listen=127.0.0.1:0
    first=$(address_of "$name")
    for ((i = 1; i <= $1; i++)); do
        start "$name-$i" --set train.enabled=no --set node.listen=none --set "node.peers=$first"
        wait_for 60 'a neighbour' notes "$name-$i" 'is a neighbour'
    done
    start "$name-t" --set node.listen=none --set "node.peers=$first" \
        --set exchange.bytes_per_s=500000
    wait_for 120 'the log to be filled' is_filled "$name"
    sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/${pid[$name]}/status" >"$dir/resident"
    kill -KILL "${pid[@]}"
    wait "${pid[@]}" 2>/dev/null || true
    pid=()
}

"$(dirname -- "$hearsay")/bench_memory"
resident 0
few=$(<"$dir/resident")
resident $more
many=$(<"$dir/resident")
awk -v few="$few" -v many="$many" -v more=$more 'BEGIN {
    printf "resident with one neighbour                       %8.2f MiB\n", few / 1024
    printf "resident with %d                                  %8.2f MiB\n", more + 1, many / 1024
    printf "so for each neighbour, in use                     %8.3f MiB\n",
        (many - few) / more / 1024 }'
