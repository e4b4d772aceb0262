#!/usr/bin/env bash
# Measures how soon a large model uses its links fully: bench_beginning.sh [HEARSAY] [FOLDER]
# [KEY=VALUE ...]
#
#   NODES daemons that train, each ─► RATE_MBIT up and down (tc tbf) ─► bridge
#
# Prints, for three spans and per node and second, as means over all nodes: the bytes published, the
# bytes sent as a part of the link's capacity, and the steps. The spans are the first 5 s after a
# node's first publication, the next 10 s, and the last 10 s, when rates are steady. The ratio of
# the bytes published in the second span to those in the last is 1 if nodes publish as much after
# 5 s as at the end. Also prints the rumors that wait for each learner at the end, and the use of
# the learners: the part of their processor time spent on steps instead of publishing and applying.
#
# NODES, HIDDEN (units of the hidden layer, with 795 parameters each), RATE_MBIT (none: one loopback
# for all) and SECONDS_MOST in the environment change the setup. Further arguments are settings of
# all nodes. Needs root, or user namespaces.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
hearsay=$(realpath -- "${1:-$here/../../build/hearsay}")
dir=$(realpath -- "${2:-$(mktemp -d)}")
readonly settings=("${@:3}")
readonly here hearsay dir nodes=${NODES:-3} hidden=${HIDDEN:-31500} rate_mbit=${RATE_MBIT:-10}
readonly seconds_most=${SECONDS_MOST:-45}
export OPENBLAS_NUM_THREADS=1
declare -a pids=()

fail() { printf 'bench_beginning: %s\n' "$*" >&2; exit 2; }

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'jq jq' 'unshare util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    [[ -x $hearsay ]] || fail "$hearsay not found; build it with ./run build"
    mkdir -p -- "$dir"
    [[ ! -e $dir/swarm.key ]] || fail "$dir has a swarm already; name another folder"
}

# Restarts the script as the first process of new namespaces, which end with it.
enter() {
    local own=(--net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || own+=(--map-root-user)
    unshare "${own[@]}" true || fail 'cannot create namespaces; run this as root'
    BENCH_BEGINNING=inside unshare "${own[@]}" "$BASH" "${BASH_SOURCE[0]}" "$hearsay" "$dir" \
        "${settings[@]}" &
    world=$!
    trap 'kill -KILL "$world"; exit 130' HUP INT TERM
    wait "$world"
    exit
}

make_network() {
    local i shape
    mount -t tmpfs none /run
    ip link set lo up
    [[ $rate_mbit != none ]] || return 0
    shape="root tbf rate ${rate_mbit}mbit burst $((rate_mbit < 100 ? 32 : 512))kb latency 200ms"
    ip link add bridge type bridge
    ip link set bridge up
    for ((i = 1; i <= nodes; i++)); do
        ip netns add "place$i"
        ip link add "port$i" type veth peer name eth0 netns "place$i"
        ip link set "port$i" master bridge up
        ip -n "place$i" addr add "10.0.0.$i/24" dev eth0
        ip -n "place$i" link set eth0 up
        # shellcheck disable=SC2086 # words
        tc qdisc add dev "port$i" $shape
        # shellcheck disable=SC2086
        ip netns exec "place$i" tc qdisc add dev eth0 $shape
    done
}

at() { # prints the address of node $1
    [[ $rate_mbit == none ]] && printf '127.0.0.1:700%d' "$1" || printf '10.0.0.%d:7001' "$1"
}

begin() {
    local i=$1 setting own=() within=()
    [[ $rate_mbit == none ]] || within=(ip netns exec "place$i")
    for setting in "${settings[@]}"; do
        own+=(--set "$setting")
    done
    "$hearsay" keygen "$dir/node$i.key" >/dev/null
    "${within[@]}" "$hearsay" node --log "$dir/node$i.log" --set "node.identity=$dir/node$i.key" \
        --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/node$i" \
        --set node.save_s=0 --set node.grace_s=10 --set node.verbose=yes --set "node.listen=$(at "$i")" \
        --set "node.peers=$( ((i == 1)) || at 1)" --set "model.layers=dense $hidden, relu, dense 10" \
        --set data.source=generated --set data.train_count=6000 --set data.test_count=100 \
        --set "data.shard=$i/$nodes" --set train.batch=1 --set train.rate=0.002 \
        --set train.evaluate_s=0 "${own[@]}" \
        >"$dir/node$i.out" 2>&1 </dev/null &
    pids+=($!)
}

# Waits for the first publication of every node, and then SECONDS_MOST seconds.
watch() {
    local i pid until=0
    while ((until == 0 || SECONDS < until)); do
        for pid in "${pids[@]}"; do
            kill -0 "$pid" 2>/dev/null || fail "a node ended: $(tail -qn 1 "$dir"/node?.out)"
        done
        for ((i = 1; i <= nodes && until == 0; i++)); do
            grep -qs '"rumors_published":[1-9]' "$dir/node$i.log" || break
        done
        ((until > 0 || i <= nodes)) || until=$((SECONDS + seconds_most))
        ((SECONDS < 600)) || fail 'nothing is published'
        sleep 0.5
    done
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null || true
}

measure() {
    local line=0
    [[ $rate_mbit == none ]] || line=$((rate_mbit * 125000))
    jq -rn --argjson line "$line" '
def at($t; f): . as $all | (map(select(.t <= $t)) | last) as $a | (map(select(.t > $t)) | first) as $b |
    if $b == null then ($a | f) else ($a | f) + (($b | f) - ($a | f)) * ($t - $a.t) / ($b.t - $a.t) end;
def rate($from; $to; f): (at($to; f) - at($from; f)) / ($to - $from);
def mean: add / length;
def digits($n): . * pow(10; $n) | round / pow(10; $n);
[inputs | select(.note == "status") | . + {file: input_filename}] | group_by(.file) |
map((map(select(.rumors_published > 0)) | first | .t) as $first | (last | .t) as $until |
    [[$first, $first + 5], [$first + 5, $first + 15], [$until - 10, $until]] as $spans | . as $all |
    $spans | map(. as [$from, $to] | $all |
        {published: rate($from; $to; .rumor_bytes_published), sent: rate($from; $to; .bytes_sent),
         steps: rate($from; $to; .steps)})) | transpose |
map({published: map(.published) | mean, sent: map(.sent) | mean, steps: map(.steps) | mean}) as $spans |
(range(3) as $k | $spans | [["the first 5 s", "the next 10 s", "the last 10 s"][$k],
    "\(.[$k].published / 1000 | digits(1)) kB/s published",
    if $line > 0 then "\(100 * .[$k].sent / $line | digits(1)) % of the line" else
        "\(.[$k].sent / 1000 | digits(1)) kB/s sent" end,
    "\(.[$k].steps | digits(2)) steps/s"] | @tsv),
"the next 10 s are \($spans[1].published / $spans[2].published | digits(2)) of the last 10 s"' "$dir"/node?.log
    jq -rn '[inputs | select(.note == "status") | {of: input_filename, waiting}] | group_by(.of) |
        "rumors that wait at the end: \(map(last.waiting | tostring) | join(", "))"' "$dir"/node?.log
    jq -rs 'map(select(.note == "final")) | (map(.cpu_steps_s) | add) as $steps |
        (map(.cpu_exchange_s) | add) as $exchange |
        "use of the learners: \(1000 * $steps / ($steps + $exchange) | round / 10) %"' "$dir"/node?.log
}

needs
[[ ${BENCH_BEGINNING:-} == inside ]] || enter
make_network
"$hearsay" swarmkey "$dir/swarm.key" >/dev/null
for ((n = 1; n <= nodes; n++)); do
    begin "$n"
done
watch
measure
