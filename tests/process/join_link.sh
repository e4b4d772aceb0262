#!/usr/bin/env bash
# Measures how nodes join, over a real link, a swarm whose logs no longer reach back to the start:
# join_link.sh [HEARSAY] [JOINERS] [FOLDER] [HIDDEN]
#
#   three daemons that train ─► bridge ─► 20 Mbit/s (tc tbf) ─► joiners, one after the other
#
# RATE_MBIT in the environment sets another rate. Prints for each joiner the bytes of the base's
# blocks, the bytes on the link and the time. Prints for the three trainers the samples per second,
# before a joiner starts and while it takes over the base. Other work on this machine distorts
# samples per second, so the script also prints samples per second of the learners' processor time.
# The trainers share one processor and the joiner has another, so that it does not slow them.
#
# Exit code 0: the blocks of each base had at most 1.1 times its plain size (4 bytes a parameter).
# Each takeover took at most 1.15 times the time that the link needs for all bytes that it carried
# meanwhile, rumors included. The network consists of namespaces that end with this script.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
hearsay=$(realpath -- "${1:-$here/../../build/hearsay}")
joiners=${2:-3}
keep=${3:-}
hidden=${4:-6000} # units of the hidden layer, with 795 parameters each
readonly here hearsay joiners keep hidden
readonly nodes=3 rate_mbit=${RATE_MBIT:-20} before_s=10 most_bytes=1.1 most_time=1.15
readonly dir=/run/join # a file system that only this script sees
export OPENBLAS_NUM_THREADS=1
declare -A pid=()

fail() {
    printf 'join_link: %s\n' "$*" >&2
    exit 2
}

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'jq jq' 'unshare util-linux' 'taskset util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    [[ -x $hearsay ]] || fail "$hearsay not found; build it with ./run build"
    [[ $joiners =~ ^[1-9][0-9]*$ ]] || fail "$joiners is not a number of joiners"
}

# Restarts the script as the first process of new namespaces, which end with it.
enter() {
    local own=(--net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || own+=(--map-root-user)
    unshare "${own[@]}" true || fail 'cannot create namespaces; run this as root'
    [[ -z $keep ]] || mkdir -p -- "$keep"
    JOIN_LINK=inside unshare "${own[@]}" "$BASH" "${BASH_SOURCE[0]}" "$hearsay" "$joiners" \
        "${keep:+$(realpath -- "$keep")}" "$hidden" &
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

# The three trainers share a namespace. Only the bridge's port to the joiners is limited.
make_network() {
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
}

# Starts a node: begin NAME PEERS CPU LISTEN COMMAND... The program's command line begins with
# COMMAND.
begin() {
    local name=$1 peers=${2:-} cpu=$3 listen=$4
    shift 4
    "$hearsay" keygen "$dir/$name.key" >/dev/null
    "$@" taskset -c "$cpu" "$hearsay" node --log "$dir/$name.log" \
        --set "node.identity=$dir/$name.key" --set "node.swarm_key=$dir/swarm.key" \
        --set "node.state_dir=$dir/$name" --set "node.listen=$listen" --set "node.peers=$peers" \
        --set "model.layers=dense $hidden, relu, dense 10" --set data.source=generated \
        --set data.train_count=20000 --set data.test_count=100 --set exchange.log_bytes=1M \
        --set exchange.bytes_per_s=50000 >"$dir/$name.out" 2>&1 </dev/null &
    pid[$name]=$!
}

notes() { grep -qs -- "$2" "$dir/$1.log"; }

wait_for() { # until the log of node $1 matches $2
    local until=$((SECONDS + 120))
    until notes "$1" "$2"; do
        kill -0 "${pid[$1]}" || fail "$1 ended: $(tail -n 3 "$dir/$1.out")"
        ((SECONDS < until)) || fail "timed out waiting for $1 to log: $2"
        sleep 0.02
    done
}

rumor_bytes_published() {
    local i sum=0
    for ((i = 1; i <= nodes; i++)); do
        sum=$((sum + $(tail -n 1 "$dir/node$i.log" | jq '.rumor_bytes_published // 0')))
    done
    printf '%d' "$sum"
}

begin_swarm() {
    local i
    "$hearsay" swarmkey "$dir/swarm.key" >/dev/null
    for ((i = 1; i <= nodes; i++)); do
        begin "node$i" "$( ((i == 1)) || printf 10.0.0.1:7001)" "$near_cpu" "10.0.0.1:700$i" env
        wait_for "node$i" '"note":"started"'
    done
    while (($(rumor_bytes_published) < 3000000)); do # three times the size of a log
        sleep 1
    done
}

sent() { sed -n 's/^ *port:\( *[0-9]*\)\{8\} *\([0-9]*\).*/\2/p' /proc/net/dev; }

# Records lines "time node kind value": processor seconds of loops and of learners (all other
# threads), and bytes on the link.
watch() {
    local i task ns loop learner
    while sleep 0.1; do
        for ((i = 1; i <= nodes; i++)); do
            loop=0 learner=0
            for task in /proc/"${pid[node$i]}"/task/*; do
                read -r ns _ <"$task/schedstat" || continue
                if [[ ${task##*/} == "${pid[node$i]}" ]]; then
                    loop=$ns
                else
                    learner=$((learner + ns))
                fi
            done
            printf '%s %d loop %d.%09d\n' "$EPOCHREALTIME" "$i" $((loop / 1000000000)) \
                $((loop % 1000000000))
            printf '%s %d learner %d.%09d\n' "$EPOCHREALTIME" "$i" $((learner / 1000000000)) \
                $((learner % 1000000000))
        done
        printf '%s 1 link %d\n' "$EPOCHREALTIME" "$(sent)"
    done >"$dir/watched" 2>/dev/null
}

join() {
    local name=$1
    sleep "$before_s"
    begin "$name" 10.0.0.1:7001,10.0.0.1:7002,10.0.0.1:7003 "$far_cpu" none ip netns exec far
    wait_for "$name" 'has the base of the swarm'
    wait_for "$name" '"steps":[1-9]'
    end "$name"
}

end() {
    local name
    for name in "$@"; do
        kill -TERM "${pid[$name]}"
    done
    for name in "$@"; do
        wait "${pid[$name]}" || fail "$name failed: $(tail -n 3 "$dir/$name.out")"
        notes "$name" '"note":"final"' || fail "$name left nothing"
    done
}

# Records for each joiner when it started, when its takeover of the base began and ended, and the
# number and bytes of the blocks.
takings() {
    local i
    for ((i = 1; i <= joiners; i++)); do
        jq -r -n --arg name "joiner$i" '
def wall: (.time[:19] + "Z" | fromdate) + ("0" + .time[19:23] | tonumber);
[inputs] | (map(select(.note == "started")) | first) as $start |
(map(select(.text // "" | test("the takeover of its base begins"))) | first) as $from |
(map(select(.text // "" | test("holds the base"))) | first) as $to |
($to.text | capture(": (?<blocks>[0-9]+) blocks, (?<mega>[0-9.]+) MB")) as $held |
[$name, ($start | wall), ($to | wall) - ($to.t - $from.t), ($to | wall), $held.blocks,
 ($held.mega | tonumber * 1e6 | round)] | @tsv' "$dir/joiner$i.log"
    done >"$dir/takings"
}

samples() { # lines "time node kind value", as from watch
    local i
    for ((i = 1; i <= nodes; i++)); do
        jq -r --arg i "$i" '
def wall: (.time[:19] + "Z" | fromdate) + ("0" + .time[19:23] | tonumber);
select(.note == "status") | [wall, $i, "samples", .samples] | @tsv' "$dir/node$i.log"
    done >"$dir/samples"
}

# Prints rows for each joiner. Fails if one exceeds a limit.
judge() {
    awk -v bits=$((rate_mbit * 1000000)) -v plain=$((4 * parameters)) -v nodes=$nodes \
        -v before=$before_s -v most_bytes=$most_bytes -v most_time=$most_time '
# Interpolates the value of node i at this time between two recorded ones.
function at(when, i, kind,   k, part) {
    for (k = 1; k < n[i, kind] - 1 && x[i, kind, k] < when; k++);
    part = (when - x[i, kind, k - 1]) / (x[i, kind, k] - x[i, kind, k - 1])
    return y[i, kind, k - 1] + (y[i, kind, k] - y[i, kind, k - 1]) * part
}
function gain(from, to, kind,   i, sum) {
    for (i = 1; i <= nodes; i++)
        if (n[i, kind] > 1) sum += at(to, i, kind) - at(from, i, kind)
    return sum
}
function fall(a, b) { return sprintf("%8.0f %8.0f %+6.1f %%", a, b, 100 * (b / a - 1)) }
FILENAME !~ "takings$" { x[$2, $3, n[$2, $3] + 0] = $1; y[$2, $3, n[$2, $3]++] = $4; next }
{
    name = $1; start = $2; from = $3; to = $4; bytes = $6
    span = to - from; earlier = start - before; wire = gain(from, to, "link")
    printf "%s: %d blocks, %.3f MB (%.3f of plain) in %.2f s (%.3f of what the blocks need)\n",
        name, $5, bytes / 1e6, bytes / plain, span, span * bits / 8 / bytes
    printf "  the link carried %.3f MB meanwhile: %.3f of the time that this needs\n",
        wire / 1e6, span * bits / 8 / wire
    printf "  from its start on %.2f s and %.3f MB\n", to - start, gain(start, to, "link") / 1e6
    s0 = gain(earlier, start, "samples"); s1 = gain(from, to, "samples")
    c0 = gain(earlier, start, "learner"); c1 = gain(from, to, "learner")
    l0 = gain(earlier, start, "loop"); l1 = gain(from, to, "loop")
    printf "  the three, samples per second                   %s\n", fall(s0 / before, s1 / span)
    printf "  ... per second of their learners\47 processor time %s\n", fall(s0 / c0, s1 / c1)
    printf "  processor time of their loops, ms per second    %s\n",
        fall(1000 * l0 / before, 1000 * l1 / span)
    printf "  ... of their learners                           %s\n",
        fall(1000 * c0 / before, 1000 * c1 / span)
    if (bytes > most_bytes * plain) { print "  too many bytes"; bad = 1 }
    if (span > most_time * wire * 8 / bits) { print "  too slow"; bad = 1 }
    if (bytes < plain / 4) { print "  too few bytes to be a base"; bad = 1 }
}
END { exit bad }' "$dir/samples" "$dir/watched" "$dir/takings"
}

needs
[[ ${JOIN_LINK:-} == inside ]] || enter
mount -t tmpfs none /run
mkdir "$dir"
trap leave EXIT
readonly near_cpu=0
far_cpu=$(($(nproc) > 1))
((far_cpu > 0)) || printf 'This machine has one processor, so joiners slow the trainers.\n'
make_network
begin_swarm
parameters=$(sed -n 's/.*"note":"started".*(\([0-9]*\) parameters).*/\1/p' "$dir/node1.log")
printf '%d parameters, %d bytes; told so far: %d bytes; %d Mbit/s down\n' "$parameters" \
    $((4 * parameters)) "$(rumor_bytes_published)" "$rate_mbit"
watch &
watcher=$!
for ((i = 1; i <= joiners; i++)); do
    join "joiner$i"
done
sleep 2
kill "$watcher"
end node1 node2 node3
digests=$(cat "$dir"/node?.log | jq -r 'select(.note == "final") | .digest, .base_digest' | sort -u)
[[ $digests =~ ^[0-9a-f]{16}$ ]] || fail 'the three trainers end with different models'
takings
samples
judge || {
    printf 'More than %s times the plain size or %s times the ideal time.\n' $most_bytes $most_time
    exit 1
}
printf 'All joined within %s times the plain size and %s times the ideal time.\n' \
    $most_bytes $most_time
