#!/usr/bin/env bash
# Trains a large model, joins, kills and resumes a node: bench_large.sh [HEARSAY] [FOLDER] [KEY=VALUE ...]
#
#   two daemons that train ─► bridge ─► 100 Mbit/s (tc tbf) ─► a third: joins, is killed, continues
#
# Trains gpt2-124m on the bytes of a text, with a short context, so that the optimizer dominates a
# step. Prints for the third node the bytes of the base, the time of its transfer and the bytes on
# the link. Also prints whether the third node resumes from its checkpoint after kill -9. Prints for
# the other two nodes the samples per second, and per second of their learners' processor time. They
# are measured before the third node starts and while it takes over the base. At the end prints the
# saved models and the peak memory per parameter.
#
# MODEL, CONTEXT, RATE_MBIT and TEXT (a file) in the environment change the setup. Further arguments
# are settings of all three nodes. The first two share one processor, and the third has another.
# Needs root, or user namespaces; and 20 GB of memory, and of disk in FOLDER.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
hearsay=$(realpath -- "${1:-$here/../../build/hearsay}")
dir=$(realpath -- "${2:-$(mktemp -d)}")
readonly settings=("${@:3}")
readonly here hearsay dir model=${MODEL:-gpt2-124m} context=${CONTEXT:-16} rate_mbit=${RATE_MBIT:-100}
readonly text=${TEXT:-/usr/share/dictd/gcide.dict.dz} before_s=30 log_bytes=1048576
export OPENBLAS_NUM_THREADS=1
declare -A pid=()

fail() { printf 'bench_large: %s\n' "$*" >&2; exit 2; }

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'jq jq' 'unshare util-linux' 'taskset util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    [[ -x $hearsay ]] || fail "$hearsay not found; build it with ./run build"
    [[ -r $text ]] || fail "there is no text $text; install dict-gcide, or name one as TEXT"
}

# Restarts the script as the first process of new namespaces, which end with it.
enter() {
    local own=(--net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || own+=(--map-root-user)
    unshare "${own[@]}" true || fail 'cannot create namespaces; run this as root'
    BENCH_LARGE=inside unshare "${own[@]}" "$BASH" "${BASH_SOURCE[0]}" "$hearsay" "$dir" \
        "${settings[@]}" &
    world=$!
    trap 'kill -KILL "$world"; exit 130' HUP INT TERM
    wait "$world"
    exit
}

make_network() {
    mount -t tmpfs none /run
    ip link set lo up
    ip link add bridge type bridge
    ip addr add 10.0.0.1/24 dev bridge
    ip link set bridge up
    ip netns add far
    ip link add port type veth peer name eth0 netns far
    ip link set port master bridge up
    ip -n far addr add 10.0.0.9/24 dev eth0
    ip -n far link set eth0 up
    tc qdisc add dev port root tbf rate "${rate_mbit}mbit" burst 64kb latency 200ms
    ip netns exec far tc qdisc add dev eth0 root tbf rate "${rate_mbit}mbit" burst 64kb latency 200ms
}

# Starts a node: begin NAME PEERS CPU LISTEN COMMAND... The program's command line begins with
# COMMAND.
begin() {
    local name=$1 peers=$2 cpu=$3 listen=$4 setting
    local own=()
    shift 4
    for setting in "${settings[@]}"; do
        own+=(--set "$setting")
    done
    [[ -e $dir/$name.key ]] || "$hearsay" keygen "$dir/$name.key" >/dev/null
    "$@" taskset -c "$cpu" "$hearsay" node --log "$dir/$name.log" \
        --set "node.identity=$dir/$name.key" --set "node.swarm_key=$dir/swarm.key" \
        --set "node.state_dir=$dir/$name" --set "node.listen=$listen" --set "node.peers=$peers" \
        --set node.verbose=yes --set node.save_s=40 --set "model.name=$model" --set data.source=text \
        --set "data.text=$text" --set "data.context=$context" --set train.batch=1 \
        --set train.optimizer=adam --set train.rate=0.0001 --set train.evaluate_s=0 \
        --set "exchange.log_bytes=$log_bytes" --set exchange.bytes_per_s=100000 \
        "${own[@]}" >>"$dir/$name.out" 2>&1 </dev/null &
    pid[$name]=$!
}

notes() { [[ ! -e $dir/$1.log ]] || grep -c -- "$2" "$dir/$1.log" || true; }

wait_for() { # until node $1 has logged $2 $3 times
    local until=$((SECONDS + 400))
    until (($(notes "$1" "$2") + 0 >= ${3:-1})); do
        kill -0 "${pid[$1]}" 2>/dev/null || fail "$1 ended: $(tail -n 3 "$dir/$1.out")"
        ((SECONDS < until)) || fail "timed out waiting for $1 to log: $2"
        sleep 0.1
    done
}

last() { jq -rs "map(select(.note == \"status\" or .note == \"final\")) | last | .$2" "$dir/$1.log"; }
sent() { sed -n 's/^ *port:\( *[0-9]*\)\{8\} *\([0-9]*\).*/\2/p' /proc/net/dev; }

# Nanoseconds of processor time of node $1 except its loop, including ended threads.
learner_ns() {
    local loop all
    read -r loop _ <"/proc/${pid[$1]}/task/${pid[$1]}/schedstat"
    all=$(sed 's/.*) //' "/proc/${pid[$1]}/stat" | awk -v hz="$(getconf CLK_TCK)" \
        '{ printf "%.0f", ($12 + $13) / hz * 1e9 }')
    printf '%d' $((all - loop))
}

# Prints the progress of nodes 1 and 2: samples, and nanoseconds of their learners.
done_by_now() {
    printf '%d %d' $(($(last node1 samples) + $(last node2 samples))) \
        $(($(learner_ns node1) + $(learner_ns node2)))
}

end() {
    local name
    for name in "$@"; do
        kill -TERM "${pid[$name]}"
    done
    for name in "$@"; do
        wait "${pid[$name]}" || fail "$name failed: $(tail -n 3 "$dir/$name.out")"
    done
}

needs
[[ ${BENCH_LARGE:-} == inside ]] || enter
readonly near_cpu=0 far_cpu=$(($(nproc) > 1))
make_network
"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
begin node1 '' "$near_cpu" 10.0.0.1:7001 env
wait_for node1 '"note":"started"'
parameters=$(sed -n 's/.*"note":"started".*(\([0-9]*\) parameters).*/\1/p' "$dir/node1.log")
begin node2 10.0.0.1:7001 "$near_cpu" 10.0.0.1:7002 env
wait_for node2 '"steps":[1-9]'
while (($(last node1 rumor_bytes_published) + $(last node2 rumor_bytes_published) < 3 * log_bytes)); do
    sleep 1
done
printf '%d parameters, %d bytes of base; %d Mbit/s\n' "$parameters" $((4 * parameters)) "$rate_mbit"

read -r steps_a ns_a < <(done_by_now) || true
sleep "$before_s"
read -r steps_b ns_b < <(done_by_now) || true
begin node3 10.0.0.1:7001,10.0.0.1:7002 "$far_cpu" none ip netns exec far
wait_for node3 'the takeover of its base begins'
read -r steps_c ns_c < <(done_by_now) || true
from=$EPOCHREALTIME wire=$(sent)
wait_for node3 'has the base of the swarm'
read -r steps_d ns_d < <(done_by_now) || true
to=$EPOCHREALTIME wire=$(($(sent) - wire))
grep -h -o 'has the base of the swarm[^"]*' "$dir/node3.log"
awk -v span="$(bc <<<"$to - $from")" -v wire="$wire" -v rate="$rate_mbit" -v before="$before_s" \
    -v s0=$((steps_b - steps_a)) -v s1=$((steps_d - steps_c)) \
    -v n0=$((ns_b - ns_a)) -v n1=$((ns_d - ns_c)) 'BEGIN {
    printf "the link carried %.1f MB in %.1f s: %.1f %% of what it can\n", wire / 1e6, span,
        100 * wire * 8 / (rate * 1e6) / span
    printf "steps of the two per second: %.3f before, %.3f while it joined (%+.1f %%)\n",
        s0 / before, s1 / span, 100 * ((s1 / span) / (s0 / before) - 1)
    printf "... per second of their learners\47 processor time: %.3f, %.3f (%+.1f %%)\n",
        s0 / n0 * 1e9, s1 / n1 * 1e9, 100 * ((s1 / n1) / (s0 / n0) - 1) }'

wait_for node3 '"steps":[1-9]'
wait_for node3 'a checkpoint is on disk'
kill -KILL "${pid[node3]}"
{ wait "${pid[node3]}" || true; } 2>/dev/null
before=$(notes node3 '"note":"started"')
begin node3 10.0.0.1:7001,10.0.0.1:7002 "$far_cpu" none ip netns exec far
wait_for node3 '"note":"started"' $((before + 1))
wait_for node3 '"note":"resumed"'
grep -h '"note":"resumed"' "$dir/node3.log" | jq -r '"after kill -9: " + .text'
steps=$(notes node3 '"steps":[1-9]')
wait_for node3 '"steps":[1-9]' $((steps + 5))
printf 'it has made %s steps since\n' "$(last node3 steps)"
for name in node1 node2 node3; do
    printf '%s: a step takes %.2f s\n' "$name" "$(bc -l <<<"1 / $(last "$name" samples_per_second)")"
done
end node3 node2 node1
for name in node1 node2 node3; do
    [[ $(last "$name" digest) == "$(last "$name" base_digest)" ]] || fail "$name: a wrong base"
    printf '%s: saved %d bytes; memory at its peak %.1f B a parameter\n' "$name" \
        "$(stat -c %s "$dir/$name/base.safetensors")" \
        "$(bc -l <<<"$(last "$name" rss_bytes_max) / $parameters")"
done
