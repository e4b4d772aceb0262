#!/usr/bin/env bash
# hearsay against what people use today, over slow links: against_torch.sh [options]
#
#   node1 ─ tbf ─┐                            ┌─ tbf ─► node1
#   ...          ├─► a switch: tests/process/delay.c ─┤        ...      tbf: the rate, up and down
#   node4 ─ tbf ─┘                            └─ tbf ─► node4   delay: one way
#
# Four processes of one thread in four network namespaces train one model on Fashion-MNIST, each
# on its own quarter, 32 samples a step, SGD with momentum 0.9, from the same first weights.
#
#   hearsay    four daemons with the defaults
#   ddp        PyTorch DistributedDataParallel over Gloo: every step everybody's gradient
#   fp16       the same with its fp16_compress_hook
#   powersgd   the same with its powerSGD_hook, rank 2, after two dense steps, in one bucket
#   local      local SGD: 50 steps alone, then the average of all weights by all-reduce
#   diloco     50 steps alone, then an outer Nesterov step (0.7, 0.9) with the mean difference
#
# Told for each: when 85 % and 88 % of the 10,000 test images were first classified right, the bytes
# that all had sent by then and the samples they had learned, and samples per second. Accuracies are
# computed afterwards, by one program for all, from models that the first process left: hearsay in
# checkpoints every 5 s, the others every 50 steps. The clock begins when all have met, hearsay's
# when the first of its daemons has started.
#
# Each rival has the best of the rates, found on an unlimited network, where it also shows how many
# steps it needs; what it learns in a step does not depend on the network. Then it runs on the
# limited one. If that cannot end in --seconds, some rounds are timed and the product is told as
# "extrapolated". hearsay has the best of the same rates at the first point. "At equal speed" is the
# time less what the processes would have saved by computing as fast as hearsay's.
set -euo pipefail
shopt -s inherit_errexit

readonly usage='options:
  --points "M/D ..."     Mbit/s up and down / milliseconds one way
                         (default: 2 5 10 20 100 by 5 40 100)
  --models "NAME ..."    lenet (215,370 parameters), cnn (1,663,370) (default: both)
  --contestants "NAME ..."
                         hearsay ddp fp16 powersgd local diloco (default: all)
  --rates "R ..."        learning rates to choose from (default: 0.01 0.02 0.05 0.1)
  --seconds S            at most so long for each run (default 300)
  --steps N              at most so many steps to look for 88 % (default 3000)
  --every N              steps between two averages, and two models left (default 50)
  --own-weights          rivals start from the weights that PyTorch draws
  --set SECTION.KEY=V    one more setting of the daemons; may be repeated
  --hearsay FILE         the program (default build/hearsay; delay is looked for beside it)
  --out DIR              results; what is there is not run again (default ./against_torch)
  --quick                one point, 10/40, lenet, 60 s, one rate: to see that all of it works
  --check                only measure the network at the points: round trip, speed, losses
  --help                 print this

One JSON line for each run in DIR/results.jsonl, a table, and DIR/accuracy.svg: accuracy over time
at the first point; the logs of the daemons in DIR/logs. Exit codes: 0 done, 1 a run failed, 2 wrong usage or something is missing.'

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
readonly here
readonly nodes=4 queue_ms=200 save_s=5
readonly data=/usr/share/datasets/fashion-mnist
readonly dir=/run/against # on a file system that only this script sees
readonly -A layers=(
    [lenet]='conv 16 5x5 pad 2, relu, maxpool 2, conv 32 5x5 pad 2, relu, maxpool 2, '\
'dense 128, relu, dense 10'
    [cnn]='conv 32 5x5 pad 2, relu, maxpool 2, conv 64 5x5 pad 2, relu, maxpool 2, '\
'dense 512, relu, dense 10'
)
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

points='' models='lenet cnn' contestants='hearsay ddp fp16 powersgd local diloco'
rates='0.01 0.02 0.05 0.1' seconds=300 steps=3000 every=50 out=against_torch check='' own_weights=''
hearsay=$here/../../build/hearsay
sets=() pids=()

fail() {
    printf 'against_torch: %s\n' "$*" >&2
    exit 2
}

help() { # what stands at the head of this file, too
    sed -n '2,/^set /{/^set /d;s/^#$//;s/^# //;p}' "${BASH_SOURCE[0]}"
    printf '\n%s\n' "$usage"
}

parse() {
    while (($#)); do
        case $1 in
        --points) points=${2?} && shift ;;
        --models) models=${2?} && shift ;;
        --contestants) contestants=${2?} && shift ;;
        --rates) rates=${2?} && shift ;;
        --seconds) seconds=${2?} && shift ;;
        --steps) steps=${2?} && shift ;;
        --every) every=${2?} && shift ;;
        --set) sets+=(--set "${2?}") && shift ;;
        --hearsay) hearsay=${2?} && shift ;;
        --out) out=${2?} && shift ;;
        --quick) points=10/40 models=lenet seconds=60 rates=0.05 ;;
        --own-weights) own_weights=yes ;;
        --check) check=yes ;;
        --help) help && exit 0 ;;
        *) fail "no option $1; see --help" ;;
        esac
        shift
    done
    [[ $points ]] || points=$(printf '%s ' {10,2,5,20,100}/{40,5,100})
}

validate() {
    local word
    for word in $points; do
        [[ $word =~ ^[0-9]+/[0-9]+$ ]] || fail "$word is no point, such as 10/40; see --help"
    done
    for word in $models; do
        [[ ${layers[$word]:-} ]] || fail "no model $word; there are ${!layers[*]}"
    done
    for word in $contestants; do
        [[ " hearsay ddp fp16 powersgd local diloco " == *" $word "* ]] ||
            fail "no contestant $word; see --help"
    done
    for word in "$seconds" "$steps" "$every"; do
        [[ $word =~ ^[1-9][0-9]*$ ]] || fail "$word is no number; see --help"
    done
}

# Debian's own python3, where another that comes first has no torch.
find_python() {
    for python in python3 /usr/bin/python3; do
        ! "$python" -c 'import numpy, torch.distributed' 2>/dev/null || return 0
    done
    fail 'python3 has no torch; install python3-torch python3-numpy'
}

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'sysctl procps' 'jq jq' 'gnuplot gnuplot-nox' \
        'unshare util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    hearsay=$(realpath -- "$hearsay")
    delay=${hearsay%/*}/delay
    [[ -x $hearsay ]] || fail "there is no program $hearsay; ./run build makes it"
    [[ -x $delay ]] || fail "there is no program $delay; ./run build makes it"
    [[ -e $data/train-images-idx3-ubyte.gz ]] || fail "no $data; install dataset-fashion-mnist"
    find_python
}

# Begin again as the first process of a world of our own: when it ends, everything in it does.
enter() {
    local own=(--net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || own+=(--map-root-user)
    unshare "${own[@]}" true || fail 'may not make namespaces; try as root'
    mkdir -p -- "$out"
    AGAINST_TORCH=inside unshare "${own[@]}" "$BASH" "${BASH_SOURCE[0]}" "$@" &
    world=$!
    trap 'kill -KILL "$world"; exit 130' HUP INT TERM
    wait "$world"
    exit
}

# node1 .. node4, each with a port of the switch; the last byte of its address says which.
make_network() {
    local i
    ip link set lo up
    ip netns add hub
    for ((i = 1; i <= nodes; i++)); do
        ip netns add "node$i"
        ip -n hub link add "port$i" type veth peer name eth0 netns "node$i"
        ip -n "node$i" link set eth0 address "02:00:00:00:00:0$i"
        ip -n "node$i" addr add "10.0.0.$i/24" dev eth0
        ip netns exec "node$i" sysctl -q -w net.ipv4.tcp_no_metrics_save=1 \
            net.ipv6.conf.all.disable_ipv6=1
        ip netns exec hub sysctl -q -w "net.ipv6.conf.port$i.disable_ipv6=1"
        ip -n "node$i" link set lo up
        ip -n "node$i" link set eth0 up
        ip -n "node$i" route replace 10.0.0.0/24 dev eth0 src "10.0.0.$i" congctl cubic
        ip -n hub link set "port$i" up
    done
}

# In namespace $1 what leaves through $2: at $3 Mbit/s. TCP's super-frames take 2 ms at most.
limit() {
    local segments=$((1 + $3 * 250 / 1500))
    ip -n "$1" link set "$2" gso_max_segs "$segments"
    tc -n "$1" qdisc replace dev "$2" root tbf rate "$3mbit" burst $((1600 * (segments + 4))) \
        latency "${queue_ms}ms"
}

set_point() { # Mbit/s
    local i
    for ((i = 1; i <= nodes; i++)); do
        limit "node$i" eth0 "$1"
        limit hub "port$i" "$1"
    done
}

begin_links() { # milliseconds, folder
    local ports
    ports=$(printf 'port%d ' $(seq $nodes))
    read -r load _ </proc/loadavg
    # shellcheck disable=SC2086 # a list of words
    ip netns exec hub "$delay" "$1" $ports >"$2/delay.json" &
    relay=$!
    while sleep 0.5; do
        printf '{"at":%s,"ports":%s}\n' "$EPOCHREALTIME" \
            "$(ip -n hub -s -j link show type veth | tr -d '\n')"
    done >"$2/links.jsonl" &
    watcher=$!
}

end_links() {
    kill -TERM "$relay" "$watcher"
    wait "$relay" "$watcher" || true
}

# The processes of this run that are still there: they are given no time to say goodbye.
end_all() {
    kill -KILL "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
    pids=()
}

# A line about the run in a folder, which is removed then.
judge() { # folder, contestant, model, Mbit/s, milliseconds, rate, options
    local folder=$1
    "$python" "$here/against_torch_score.py" score --folder "$folder" --contestant "$2" \
        --model "$3" --point "$4/$5" --mbit "$4" --rate "$6" --layers "${layers[$3]}" \
        --data "$data" --world "$nodes" --threads "$(nproc)" --load "$load" "${@:7}" |
        jq -c --slurpfile delay "$folder/delay.json" '. + {delay: $delay[0]}'
    rm -rf -- "$folder"
}

# What hearsay starts from, as the others read it.
first_weights() {
    local model=$1 folder=$dir/first
    [[ ! -e $out/first-$model.npy ]] || return 0
    rm -rf -- "$folder" && mkdir "$folder"
    start_daemon 1 "$model" "$folder" 127.0.0.1 0.02 --set train.enabled=no
    wait_for "$folder/node1.log" '"started"'
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" || fail "$(tail -n 3 "$folder/node1.out")"
    pids=()
    "$python" "$here/against_torch_score.py" first --file "$folder/node1/base.safetensors" \
        --to "$out/first-$model.npy"
}

start_daemon() { # number, model, folder, its address, rate, options
    local i=$1 model=$2 folder=$3 address=$4 rate=$5 peers='' save=0
    shift 5
    ((i == 1)) && save=$save_s || peers=10.0.0.1:7770
    [[ -e $folder/swarm.key ]] || "$hearsay" swarmkey "$folder/swarm.key" >/dev/null
    "$hearsay" keygen "$folder/node$i.key" >/dev/null
    ${within[@]+"${within[@]}"} "$hearsay" node --log "$folder/node$i.log" \
        --set "node.listen=$address:7770" --set "node.peers=$peers" \
        --set "node.identity=$folder/node$i.key" --set "node.swarm_key=$folder/swarm.key" \
        --set "node.state_dir=$folder/node$i" --set "node.save_s=$save" \
        --set "model.layers=${layers[$model]}" --set "data.dir=$data" \
        --set "data.shard=$i/$nodes" --set "train.rate=$rate" --set train.momentum=0.9 \
        "${sets[@]}" "$@" \
        >"$folder/node$i.out" 2>&1 </dev/null &
    pids+=("$!")
}

wait_for() { # a file, until something like $2 is in it
    local until=$((SECONDS + 120))
    until grep -qs -- "$2" "$1"; do
        kill -0 "${pids[@]}" 2>/dev/null || fail "ended: $(tail -n 3 "${1%.*}.out")"
        ((SECONDS < until)) || fail "waited in vain for $2 in $1"
        sleep 0.05
    done
}

# Each checkpoint is kept under a second name before the daemon removes it.
keep_models() { # folder, seconds
    local until=$((SECONDS + $2)) file
    mkdir "$1/models"
    while ((SECONDS < until)); do
        for file in "$1"/node1/checkpoint-*; do
            [[ ! $file =~ checkpoint-[0-9]+$ || -e $1/models/${file##*/} ]] ||
                ln -- "$file" "$1/models/" || true
        done
        sleep 0.5
    done
}

run_hearsay() { # model, Mbit/s, milliseconds, rate ─► a line of results
    local model=$1 mbit=$2 ms=$3 rate=$4 folder=$dir/run i
    rm -rf -- "$folder" && mkdir "$folder"
    begin_links "$ms" "$folder"
    for ((i = 1; i <= nodes; i++)); do
        within=(ip netns exec "node$i")
        start_daemon "$i" "$model" "$folder" "10.0.0.$i" "$rate"
    done
    within=()
    keep_models "$folder" "$seconds"
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" || printf 'a daemon failed: %s\n' "$(tail -qn 1 "$folder"/*.out)" >&2
    pids=()
    end_links
    mkdir -p "$out/logs/$model-$mbit-$ms-$rate"
    cp -- "$folder"/*.log "$folder"/*.out "$out/logs/$model-$mbit-$ms-$rate"
    judge "$folder" hearsay "$model" "$mbit" "$ms" "$rate" \
        --settings "${sets[*]}"
}

start_rival() { # number, rival, model, folder, address of the first, interface, rate, options
    local i=$1 rival=$2 model=$3 folder=$4 address=$5 interface=$6 rate=$7 first=()
    shift 7
    [[ $own_weights ]] || first=(--first "$out/first-$model.npy")
    GLOO_SOCKET_IFNAME=$interface ${within[@]+"${within[@]}"} "$python" \
        "$here/against_torch.py" train --rival "$rival" --layers "${layers[$model]}" \
        --data "$data" --folder "$folder" ${first[@]+"${first[@]}"} \
        --address "$address:7771" --rank $((i - 1)) --world "$nodes" --rate "$rate" \
        --every "$every" "$@" >"$folder/rank$i.out" 2>&1 </dev/null &
    pids+=("$!")
}

# Until the first process has ended: when it has, there is nothing more to measure.
wait_for_rivals() {
    wait "${pids[0]}" || {
        tail -qn 3 "$1"/rank*.out >&2
        end_all
        return 1
    }
    end_all
}

# On a network without limits: the accuracy after so many steps.
learn_steps() { # model, rival, rate
    local model=$1 rival=$2 rate=$3 folder=$dir/learn i
    local file=$out/steps-$model-$rival-$rate-$every.jsonl
    [[ ! -e $file ]] || return 0
    rm -rf -- "$folder" && mkdir "$folder"
    for ((i = 1; i <= nodes; i++)); do
        start_rival "$i" "$rival" "$model" "$folder" 127.0.0.1 lo "$rate" --steps "$steps" --test
    done
    wait_for_rivals "$folder"
    mv -- "$folder/rounds.jsonl" "$file"
}

# The best rate, and the steps to each target with it: {"rate", "0.85", "0.88", "best"}. In fp16
# a rival learns in a step what it learns without.
best_steps() { # model, rival
    local model=$1 rival=$2 rate
    [[ $rival != fp16 ]] || rival=ddp
    for rate in $rates; do
        learn_steps "$model" "$rival" "$rate"
    done
    for rate in $rates; do
        jq -s -c --argjson rate "$rate" 'map(select(.accuracy)) as $all |
def to($x): [$all[] | select(.accuracy >= $x) | .steps] | first;
{rate: $rate, "0.85": to(0.85), "0.88": to(0.88), best: ($all | map(.accuracy) | max)}' \
            "$out/steps-$model-$rival-$rate-$every.jsonl"
    done | jq -s -c 'sort_by(.["0.88"] // 1e9, .["0.85"] // 1e9, -(.best // 0)) | first'
}

run_rival() { # model, Mbit/s, milliseconds, rival ─► a line of results
    local model=$1 mbit=$2 ms=$3 rival=$4 folder=$dir/run i best rate need
    best=$(best_steps "$model" "$rival")
    rate=$(jq .rate <<<"$best")
    need=$(jq --argjson most "$steps" '.["0.88"] // $most' <<<"$best")
    rm -rf -- "$folder" && mkdir "$folder"
    begin_links "$ms" "$folder"
    for ((i = 1; i <= nodes; i++)); do
        within=(ip netns exec "node$i")
        start_rival "$i" "$rival" "$model" "$folder" 10.0.0.1 eth0 "$rate" \
            --steps $((need + 2 * every)) --seconds "$seconds"
    done
    within=()
    wait_for_rivals "$folder"
    end_links
    judge "$folder" "$rival" "$model" "$mbit" "$ms" "$rate" \
        --steps-to "$(jq -c 'del(.rate, .best)' <<<"$best")"
}

# Samples per second of each when nobody exchanges anything: {"hearsay", "torch"}.
measure_speed() {
    local model=$1 folder=$dir/speed i
    [[ ! -e $out/speed-$model.json ]] || return 0
    rm -rf -- "$folder" && mkdir "$folder"
    for ((i = 1; i <= nodes; i++)); do
        start_rival "$i" alone "$model" "$folder" 127.0.0.1 lo 0.02 --steps 200
    done
    wait_for_rivals "$folder"
    for ((i = 1; i <= nodes; i++)); do
        within=(ip netns exec "node$i")
        start_daemon "$i" "$model" "$folder" 127.0.0.1 0.02 --set node.peers=
    done
    within=()
    sleep 20
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" || true
    pids=()
    jq -n -c --slurpfile rounds "$folder/rounds.jsonl" '
{torch: ([$rounds[] | select(.steps)] | 128 * (last.steps - first.steps) / (last.t - first.t)),
 hearsay: ([inputs | select(.note == "status" and .steps > 0) + {from: input_filename}] |
 group_by(.from) | map((last.samples - first.samples) / (last.t - first.t)) | add)}' \
        "$folder"/node?.log >"$out/speed-$model.json"
}

# $1 is a file of results; the command that follows writes the line, unless it is there.
once() {
    local file=$1
    shift
    [[ ! -s $file ]] || return 0
    "$@" >"$dir/line"
    [[ -s $dir/line ]] || fail "no result of: $*"
    mv -- "$dir/line" "$file"
}

# The rate with which hearsay is best at the first point.
best_rate() {
    local model=$1 point=${points%% *} rate
    for rate in $rates; do
        printf '  hearsay, rate %s\n' "$rate" >&2
        once "$out/rates/$model-${point/\//-}-$rate.json" \
            run_hearsay "$model" "${point%/*}" "${point#*/}" "$rate"
    done
    jq -s 'sort_by(.reached["0.88"].s // 1e9, .reached["0.85"].s // 1e9, -(.best // 0)) |
first.rate' "$out/rates/$model-${point/\//-}"-*.json
}

run_point() { # model, point, contestant
    local model=$1 mbit=${2%/*} ms=${2#*/} rival=$3 file=$out/runs/$1-${2/\//-}-$3.json rate
    [[ ! -s $file ]] || return 0
    printf '%s, %s Mbit/s, %s ms: %s\n' "$model" "$mbit" "$ms" "$rival" >&2
    set_point "$mbit"
    if [[ $rival != hearsay ]]; then
        once "$file" run_rival "$model" "$mbit" "$ms" "$rival"
        return
    fi
    set_point "${points%%/*}"
    rate=$(best_rate "$model")
    set_point "$mbit"
    if [[ $2 == "${points%% *}" ]]; then
        cp -- "$out/rates/$model-${2/\//-}-$rate.json" "$file"
    else
        once "$file" run_hearsay "$model" "$mbit" "$ms" "$rate"
    fi
}

run_all() {
    local model point rival
    mkdir -p "$out/runs" "$out/rates"
    for model in $models; do
        first_weights "$model"
        measure_speed "$model"
        for point in $points; do
            for rival in $contestants; do
                run_point "$model" "$point" "$rival"
                cat -- "$out/runs/$model-${point/\//-}-$rival.json" >>"$dir/results.jsonl"
            done
        done
    done
    cp -- "$dir/results.jsonl" "$out/results.jsonl"
}

probe() { # namespace, address, options; always in a subshell
    exec ip netns exec "$1" "$python" "$here/against_torch.py" probe --address "$2" "${@:3}"
}

# Of the network itself: node 1 to node 2 alone, then everybody to the next at once.
check_point() { # Mbit/s, milliseconds
    local i flows=()
    set_point "$1"
    begin_links "$2" "$dir"
    for ((i = 1; i <= nodes; i++)); do
        probe "node$i" "10.0.0.$i" --listen &
        pids+=("$!")
    done
    sleep 3
    printf '%s Mbit/s, %s ms one way; one: %s\n' "$1" "$2" \
        "$(probe node1 10.0.0.2 --mbit "$1" --seconds 10)"
    for ((i = 1; i <= nodes; i++)); do
        probe "node$i" "10.0.0.$((i % nodes + 1))" --mbit "$1" --seconds 10 &
        flows+=("$!")
    done
    wait "${flows[@]}"
    end_all
    end_links
    cat "$dir/delay.json"
}

parse "$@"
validate
needs
[[ ${AGAINST_TORCH:-} == inside ]] || enter "$@"
mkdir -p -- "$out"
out=$(realpath -- "$out")
mount -t tmpfs none /run
mkdir "$dir"
within=()
make_network
if [[ $check ]]; then
    for point in $points; do
        check_point "${point%/*}" "${point#*/}"
    done
    exit
fi
run_all
"$python" "$here/against_torch_score.py" table --folder "$out" --point "${points%% *}"
