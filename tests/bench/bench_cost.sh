#!/usr/bin/env bash
# Measures the cost of the exchange while training uses the processors:
# bench_cost.sh [HEARSAY] [SECONDS] [CPUS]
#
# Four daemons on one machine train lenet on Fashion-MNIST for SECONDS (60). Each has its own
# quarter of the data and 20 Mbit/s up and down (uplink_max, downlink_max). Prints the processor
# seconds of each daemon for steps, for publishing and applying rumors (both as counted by the
# learner's thread), and for the loop's thread: codec, signatures, encryption and sockets. The last
# line is the exchange divided by the steps. With CPUS, a list for taskset, all daemons run on those
# processors.
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
set -- "$(realpath -- "${1:-$here/../../build/hearsay}")" "${2:-60}" "${3:-}"
# shellcheck source=tests/process/story.sh
source "$here/../process/story.sh"

seconds=$2 cpus=$3
readonly seconds cpus nodes=4 rate_bytes=2500000
small=(--set model.name=lenet --set node.listen=127.0.0.1:0 --set node.save_s=0
    --set "exchange.uplink_max=$rate_bytes"
    --set "exchange.downlink_max=$rate_bytes")
export OPENBLAS_NUM_THREADS=1
[[ -z $cpus ]] || taskset -p -c "$cpus" $$ >/dev/null

loop_of() {
    local ns
    read -r ns _ <"/proc/${pid[n$1]}/task/${pid[n$1]}/schedstat"
    printf '%d' "$ns"
}

final() {
    sed -n "s/.*\"note\":\"final\".*\"$2\":\([0-9.e+-]*\).*/\1/p" "$dir/n$1.log"
}

declare -A loop=()
first=''
for ((i = 1; i <= nodes; i++)); do
    start "n$i" --set "data.shard=$i/$nodes" ${first:+--set "node.peers=$first"}
    first=${first:-$(address_of n1)}
done
for ((i = 1; i <= nodes; i++)); do
    wait_for 60 'node to train' notes "n$i" '"note":"status".*"steps":[1-9]'
    loop[$i]=$(loop_of "$i") # excludes the start
done
sleep "$seconds"
for ((i = 1; i <= nodes; i++)); do
    loop[$i]=$(($(loop_of "$i") - loop[$i]))
done
for ((i = 1; i <= nodes; i++)); do
    kill -TERM "${pid[n$i]}"
done
for ((i = 1; i <= nodes; i++)); do
    reap "n$i" 0
done
printf '%4s %8s %8s %9s %9s %12s %10s %7s\n' node samples rumors 'told kB' 'heard kB' 'exchange s' \
    'loop s' 'steps s'
for ((i = 1; i <= nodes; i++)); do
    printf '%d %d %d %d %d %s %s %s\n' "$i" "$(final "$i" samples)" "$(final "$i" rumors_published)" \
        "$(final "$i" rumor_bytes_published)" "$(final "$i" rumor_bytes_received)" "$(final "$i" cpu_exchange_s)" \
        "${loop[$i]}" "$(final "$i" cpu_steps_s)"
done | awk '{
    printf "%4d %8d %8d %9.0f %9.0f %12.3f %10.3f %7.2f\n", $1, $2, $3, $4 / 1e3, $5 / 1e3, $6,
        $7 / 1e9, $8
    learner += $6; loop += $7 / 1e9; steps += $8 }
END { printf "exchange / training: (%.3f + %.3f) / %.2f = %.2f %%\n", learner, loop, steps,
    100 * (learner + loop) / steps }'
