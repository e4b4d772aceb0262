#!/usr/bin/env bash
# Compares the simulator with real daemons: compare_real.sh [HEARSAY] [SECONDS] [FOLDER]
#
#   four daemons, each with 5 Mbit/s up and down ─► logs ─► speeds, counters, accuracy ─┐
#   the same swarm as a scenario, at those speeds ─► hearsay sim ─► its results ────────┴► table
#
# Exit code 0: the accuracies at the end differ by at most 1.5 points, and the published bytes by at
# most 15 %. The script takes SECONDS (60) of training and a similar time of simulation.
# FOLDER keeps the logs, the scenario and the report. The network consists of namespaces that end
# with this script. Needs root only where user namespaces are disabled.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
hearsay=$(realpath -- "${1:-$here/../../build/hearsay}")
seconds=${2:-60}
keep=${3:-}
readonly here hearsay seconds keep
readonly nodes=4 rate_mbit=5 evaluate_s=10 accuracy_points=1.5 told_percent=15
readonly data=/usr/share/datasets/fashion-mnist
readonly dir=/run/compare # a file system that only this script sees
export OPENBLAS_NUM_THREADS=1

fail() {
    printf 'compare_real: %s\n' "$*" >&2
    exit 2
}

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'jq jq' 'unshare util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    [[ -x $hearsay ]] || fail "$hearsay not found; build it with ./run build"
    [[ -e $data/train-images-idx3-ubyte.gz ]] || fail "no $data; ./run deps installs it"
    [[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "$seconds is no number of seconds"
}

# Restarts the script as the first process of new namespaces, which end with it.
enter() {
    local own=(--net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || own+=(--map-root-user)
    unshare "${own[@]}" true || fail 'cannot create namespaces; run this as root'
    [[ -z $keep ]] || mkdir -p -- "$keep"
    COMPARE_REAL=inside unshare "${own[@]}" "$BASH" "${BASH_SOURCE[0]}" "$hearsay" "$seconds" \
        "${keep:+$(realpath -- "$keep")}" &
    world=$!
    trap 'kill -KILL "$world"; exit 130' HUP INT TERM
    wait "$world"
    exit
}

leave() {
    local code=$?
    [[ -z $keep || ! -d $dir ]] || cp -r -- "$dir/." "$keep"
    exit "$code"
}

limit() { # namespace, interface
    tc -n "$1" qdisc add dev "$2" root tbf rate "${rate_mbit}mbit" burst 16kb latency 400ms
}

# Creates node1 to node4, each on a port of one bridge. Limits the node's side (up) and the bridge's
# side (down).
make_network() {
    local i
    ip netns add hub
    ip -n hub link add bridge type bridge
    ip -n hub link set bridge up
    for ((i = 1; i <= nodes; i++)); do
        ip netns add "node$i"
        ip -n hub link add "port$i" type veth peer name eth0 netns "node$i"
        ip -n hub link set "port$i" master bridge up
        ip -n "node$i" addr add "10.0.0.$i/24" dev eth0
        ip -n "node$i" link set eth0 up
        limit "node$i" eth0
        limit hub "port$i"
    done
}

# Prints the settings that the daemons and the scenario share. Published bytes depend on the budget
# more than on the nodes' speed, which varies on a shared machine. The scenario has the mean speed.
settings() {
    cat <<CONF
[model]
name = lenet

[train]
batch = 16
rate = 0.01
momentum = 0.9

[exchange]
bytes_per_s = 70000
interval_s = 0.25
steps_min = 16
density_max = 0.4

[data]
source = idx
dir = $data
CONF
}

# Prints the configuration of node $1. The first node evaluates the base every evaluate_s seconds,
# the others as by default.
node_config() {
    local first='""'
    settings
    (($1 == 1)) || first=10.0.0.1:7770
    cat <<CONF
shard = $1/$nodes

[node]
listen = 10.0.0.$1:7770
peers = $first
identity = $dir/node$1.key
swarm_key = $dir/swarm.key
state_dir = $dir/node$1
log = $dir/node$1.log
CONF
    (($1 > 1)) || printf '\n[train]\nevaluate_s = %d\nevaluate_part = 1/5\n' "$evaluate_s"
}

start_node() {
    "$hearsay" keygen "$dir/node$1.key" >/dev/null
    node_config "$1" >"$dir/node$1.conf"
    ip netns exec "node$1" "$hearsay" node --config "$dir/node$1.conf" \
        >"$dir/node$1.out" 2>&1 </dev/null &
    pids+=("$!")
}

wait_for() {
    local until=$((SECONDS + 60))
    until grep -qs -- "$2" "$dir/node$1.log"; do
        kill -0 "${pids[$1 - 1]}" || fail "node $1 ended: $(tail -n 3 "$dir/node$1.out")"
        ((SECONDS < until)) || fail "timed out waiting for node $1 to log: $2"
        sleep 0.1
    done
}

watch_links() {
    local second
    for ((second = 0; second <= seconds; second++)); do
        printf '{"at":%s,"ports":%s}\n' "$EPOCHREALTIME" \
            "$(ip -n hub -s -j link show master bridge | tr -d '\n')"
        sleep 1
    done >"$dir/links.log"
}

play_real() {
    local i
    pids=()
    "$hearsay" swarmkey "$dir/swarm.key" >/dev/null
    for ((i = 1; i <= nodes; i++)); do
        start_node "$i"
        ((i > 1)) || wait_for 1 '"started"' # the other nodes dial node 1
    done
    for ((i = 1; i <= nodes; i++)); do
        wait_for "$i" '"steps":[1-9]'
    done
    watch_links
    kill -TERM "${pids[@]}"
    for ((i = 1; i <= nodes; i++)); do
        wait "${pids[i - 1]}" || fail "node $i failed: $(tail -n 3 "$dir/node$i.out")"
    done
}

# Interpolates linearly between rows {x, y} in the order of x.
# shellcheck disable=SC2016 # variables of jq
readonly between='
def between($x):
    (map(select(.x <= $x)) | last) as $a | (map(select(.x > $x)) | first) as $b |
    if $a == null then $b.y elif $b == null then $a.y
    else $a.y + ($b.y - $a.y) * ($x - $a.x) / ($b.x - $a.x) end;'

# Computes the results of each node and of the swarm from the logs. A node's speed is measured from
# the first status line with a step to the end of training.
measure_real() {
    jq -n --slurpfile links "$dir/links.log" --argjson rate "$((rate_mbit * 125000))" \
        --argjson every "$evaluate_s" "$between"'
def wall: (.time[:19] + "Z" | fromdate) + ("0" + .time[19:23] | tonumber);
def node:
    map(select(.note == "status" and .steps > 0) | {x: wall, y: .samples}) as $trained |
    (map(select(.note == "leaving")) | first | wall) as $left |
    (map(select(.note == "final")) | first) as $final |
    (($final.samples - $trained[0].y) / ($left - $trained[0].x)) as $speed |
    {$trained, $left, $final, $speed, came: (map(select(.note == "started")) | first | wall),
     marks: map(select(.note == "started" or .note == "evaluated")) |
         [range(1; length) as $i | {at: (.[$i - 1] | wall + $every), accuracy: .[$i].accuracy}]};
def uses($from; $to): # of each link, in both directions
    [range($from.ports | length) as $i | ("rx", "tx") as $way |
     ($to.ports[$i].stats64[$way].bytes - $from.ports[$i].stats64[$way].bytes)
     / ($to.at - $from.at) / $rate] | max;
[inputs | . + {from: input_filename}] | group_by(.from) | map(node) as $all |
($all | map(.came) | min) as $begin |
{
    nodes: $all | map({speed, samples: .final.samples, from: (.came - $begin)}),
    seconds: (($all | map(.left) | max) - $begin),
    digests: $all | map(.final.base_digest) | unique | length,
    samples: $all | map(.final.samples) | add,
    accuracy: $all[0].final.accuracy,
    rumors: $all | map(.final.rumors_published) | add,
    rumor_bytes_published: $all | map(.final.rumor_bytes_published) | add,
    sent_bytes: $all | map(.final.bytes_sent) | add,
    heard: $all | map(.final.rumors_received) | add,
    duplicates: $all | map(.final.duplicates) | add,
    mean_use: uses($links[0]; $links[-1]),
    peak_use: [range(1; $links | length) | uses($links[. - 1]; $links[.])] | max,
    marks: $all[0].marks |
        map(.at as $at | {accuracy, samples: ($all | map(.trained | between($at)) | add)})
}' "$dir"/node?.log >"$dir/real.json"
    (($(jq .digests "$dir/real.json") == 1)) || fail 'the daemons do not hold the same model'
}

scenario() {
    cat <<CONF
[scenario]
about = What tests/bench/compare_real.sh has just done with daemons
source = measured
evaluate_s = 2
evaluate_samples = 2000
link = all, rtt 0.1 ms
CONF
    jq -r --arg limit "$rate_mbit Mbit/s" 'def round2: 100 * . | round / 100;
"seconds = \(.seconds | round2)", (.nodes | to_entries[] |
"nodes = 1 node\(.key + 1), \(.value.speed | round2) samples/s, " +
"from \(.value.from | round2) s, up \($limit), down \($limit)")' "$dir/real.json"
    settings
}

play_simulated() {
    scenario >"$dir/again.conf"
    "$hearsay" sim "$dir/again.conf" --only --out "$dir/report" >"$dir/sim.out" 2>"$dir/sim.err" ||
        fail "the simulation failed: $(tail -n 3 "$dir/sim.out" "$dir/sim.err")"
}

# Parses a CSV without quotes into objects of numbers and texts.
# shellcheck disable=SC2016 # variables of jq
readonly table='
def table: split("\n") | map(select(. != "") | split(",")) | .[0] as $names | .[1:] |
    map([$names, .] | transpose | map({(.[0]): (.[1] | tonumber? // .)}) | add);'

measure_simulated() {
    jq -n --rawfile series "$dir/report/series.csv" --rawfile nodes "$dir/report/nodes.csv" \
        --slurpfile summary "$dir/report/summary.json" --slurpfile real "$dir/real.json" \
        "$between $table"'
def numbers: map(select(type == "number"));
($series | table | map(select(.accuracy != "") | {x: .samples, y: .accuracy}) |
 .[:-1]) as $curve | # the last row is an evaluation of the whole test set
$summary[0] | {
    samples, accuracy, rumors, rumor_bytes_published, sent_bytes,
    heard: .nodes | map(.rumors_received) | add,
    duplicates: .nodes | map(.duplicates) | add,
    mean_use: .nodes | map(.up_use, .down_use) | max,
    peak_use: $nodes | table | map(.up_use, .down_use) | numbers | max,
    marks: $real[0].marks | map({samples, accuracy: (.samples as $x | $curve | between($x))})
}' >"$dir/simulated.json"
}

# Prints rows "name real simulated difference" separated by tabs, and at last true if the results
# agree.
compare() {
    jq -n -r --slurpfile real "$dir/real.json" --slurpfile simulated "$dir/simulated.json" \
        --argjson points "$accuracy_points" --argjson percent "$told_percent" '
def digits($n): . * pow(10; $n) | round / pow(10; $n);
def signed: if . > 0 then "+\(.)" else "\(.)" end;
def row($name; $a; $b): [$name, $a, $b, "\(100 * ($b / $a - 1) | digits(1) | signed) %"];
def share($name; $a; $b):
    [$name, (($a, $b) | "\(100 * . | digits(2)) %"), "\(100 * ($b - $a) | digits(2) | signed)"];
def mega: . / 1e6 | digits(2) | "\(.) MB";
def bytes($name; $a; $b): row($name; $a; $b) | .[1:3] |= map(mega);
def again: .duplicates / (.heard + .duplicates);
def abs: if . < 0 then -. else . end;
$real[0] as $a | $simulated[0] as $b |
([$a.marks, $b.marks] | transpose) as $pairs |
(row("samples"; $a.samples; $b.samples),
 share("accuracy at the end"; $a.accuracy; $b.accuracy),
 ($pairs[] | share("  after \(.[0].samples | round) samples"; .[0].accuracy; .[1].accuracy)),
 row("rumors told"; $a.rumors; $b.rumors),
 bytes("told"; $a.rumor_bytes_published; $b.rumor_bytes_published),
 bytes("sent"; $a.sent_bytes; $b.sent_bytes),
 share("duplicates, of those received"; $a | again; $b | again),
 share("busiest link, mean"; $a.mean_use; $b.mean_use),
 share("busiest link, its busiest second"; $a.peak_use; $b.peak_use),
 [(($b.accuracy - $a.accuracy | abs) <= $points / 100 and
   ($b.rumor_bytes_published / $a.rumor_bytes_published - 1 | abs) <= $percent / 100)]) | @tsv'
}

print_table() {
    local name real simulated difference agree=false
    printf '%-34s %10s %10s %10s\n' '' real simulated difference
    while IFS=$'\t' read -r name real simulated difference; do
        if [[ -n $real ]]; then
            printf '%-34s %10s %10s %10s\n' "$name" "$real" "$simulated" "$difference"
        else
            agree=$name
        fi
    done <"$dir/table"
    [[ $agree == true ]]
}

needs
[[ ${COMPARE_REAL:-} == inside ]] || enter
mount -t tmpfs none /run
mkdir "$dir"
trap leave EXIT
make_network
printf '%d daemons train for %d s\n' "$nodes" "$seconds"
play_real
measure_real
jq -r '.nodes | map(.speed | round | tostring) | "their speeds: \(join(", ")) samples/s"' \
    "$dir/real.json"
play_simulated
measure_simulated
compare >"$dir/table"
if print_table; then
    printf 'They agree.\n'
else
    printf 'They differ by more than %s points of accuracy or %s %% of the published bytes.\n' \
        "$accuracy_points" "$told_percent"
    exit 1
fi
