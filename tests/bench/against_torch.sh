#!/usr/bin/env bash
# Compares hearsay with the usual PyTorch methods over slow links: against_torch.sh [options]
#
# Four processes of one thread in four network namespaces (shaped_network.sh) train one model. Each
# has its own quarter of the data, and all begin with the same weights. There are two kinds of tasks.
# An image model learns Fashion-MNIST: 32 samples a step, SGD with momentum 0.9. A GPT learns the
# bytes of a dictionary: 8 windows of 64 bytes a step, AdamW, warm-up of 50 steps, then a constant rate.
#
#   hearsay    four daemons with the default settings
#   ddp        PyTorch DistributedDataParallel over Gloo: an all-reduce of gradients at every step
#   fp16       the same with its fp16_compress_hook
#   powersgd   the same with its powerSGD_hook, rank 2, after two dense steps, in one bucket
#   local      local SGD: 50 steps alone, then the mean of all weights by all-reduce
#   diloco     50 steps alone, then an outer Nesterov step (0.7, 0.9) with the mean difference
#   torchft    the same by torchft's DiLoCo, with its manager and lighthouse
#   streaming  torchft's Streaming DiLoCo: exchanges a quarter of the model at a time, while all
#              processes train
#   sparseloco 50 steps alone, then the mean of messages with one of 32 entries, at two bits each
#
# A number after a method, such as diloco/20, replaces the 50 steps.
#
# Prints for each method the time to reach two targets, the bytes sent and samples learned by all
# until then, and samples per second. For images the targets are 85 % and 88 % of the 10,000 test
# images. For text they are the losses on held-out text that ddp reaches after half of --steps and
# after all. One program evaluates all models afterwards: those that the first process saved, every
# 5 s (hearsay) or every 50 steps (others). The clock starts when all processes are connected; for
# hearsay, when its first daemon has started.
#
# Each rival uses the best of the rates, found on an unlimited network. That run also shows how many
# steps the rival needs, because the progress per step does not depend on the network; the delay of
# streaming is a fixed number of steps. Then the rival runs on the limited network. If it cannot
# finish within --seconds, some rounds are timed and the result is "extrapolated". hearsay uses the
# rate that is best for it at the first point. "At equal speed" subtracts the time that a method
# would save by computing as fast as hearsay. With --steps-per-s all methods have one speed, so that
# the machine's load does not matter; check the steps that they made.
set -euo pipefail
shopt -s inherit_errexit

readonly usage='options:
  --points "M/D ..."     Mbit/s up and down / milliseconds one way
                         (default: 2 5 10 20 100 by 5 40 100)
  --models "NAME ..."    lenet (215,370 parameters), cnn (1,663,370) (default: both); gpt (366,432)
  --contestants "NAME ..."
                         hearsay ddp fp16 powersgd local diloco (default: these) torchft streaming
                         sparseloco
  --rates "R ..."        learning rates to choose from (default: 0.01 0.02 0.05 0.1)
  --seconds S            at most so long for each run (default 300)
  --steps N              at most so many steps to look for 88 % (default 3000); of ddp, whose loss
                         with gpt is to be reached (others: twice as many)
  --every N              steps between two averages, and at least between two models left (default 50)
  --steps-per-s X        nobody makes more; 0 is no limit (default)
  --own-weights          rivals start from the weights that PyTorch draws
  --set SECTION.KEY=V    one more setting of the daemons; may be repeated
  --hearsay FILE         the program (default build/hearsay; delay is looked for beside it)
  --out DIR              results; what is there is not run again (default ./against_torch)
  --python FILE          with torch, and torchft for its contestants (default: python3 that has it)
  --quick                one point, 10/40, lenet, 60 s, one rate: to see that all of it works
  --check                only measure the network at the points: round trip, speed, losses
  --help                 print this

One JSON line for each run in DIR/results.jsonl, a table, and DIR/marks-MODEL.svg: how good
models were over time at the first point; the logs of the daemons in DIR/logs. Exit codes: 0 done, 1 a run failed, 2 wrong usage or something is missing.'

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
readonly here
# shellcheck source=tests/bench/shaped_network.sh
. "$here/shaped_network.sh"
readonly nodes=4 queue_ms=200 save_s=5
readonly images=/usr/share/datasets/fashion-mnist text=/usr/share/dictd/gcide.dict.dz
readonly held_out_bytes=300000 warmup=50 learners=' ddp fp16 powersgd local diloco torchft streaming sparseloco '
readonly dir=/run/against # a file system that only this script sees
readonly -A layers=(
    [lenet]='conv 16 5x5 pad 2, relu, maxpool 2, conv 32 5x5 pad 2, relu, maxpool 2, '\
'dense 128, relu, dense 10'
    [cnn]='conv 32 5x5 pad 2, relu, maxpool 2, conv 64 5x5 pad 2, relu, maxpool 2, '\
'dense 512, relu, dense 10'
    [gpt]='embed 256 96, position 64, 3 * (residual(norm, attention 4), '\
'residual(norm, dense 384, gelu, dense 96)), norm, logits tied'
)
readonly -A task=([lenet]=images [cnn]=images [gpt]=language)
readonly -A data=([images]=$images [language]=$dir/text) # folder or file of the task's data
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

points='' models='lenet cnn' contestants='hearsay ddp fp16 powersgd local diloco'
rates='0.01 0.02 0.05 0.1' seconds=300 steps=3000 every=50 out=against_torch check='' own_weights='' steps_per_s=0 python=''
hearsay=$here/../../build/hearsay
sets=() pids=()

fail() {
    printf 'against_torch: %s\n' "$*" >&2
    exit 2
}

help() { # prints the head of this file
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
        --steps-per-s) steps_per_s=${2?} && shift ;;
        --python) python=${2?} && shift ;;
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
        [[ "$learners hearsay " == *" ${word%/*} "* && $word =~ ^[a-z0-9]+(/[1-9][0-9]*)?$ ]] ||
            fail "no contestant $word; see --help"
    done
    for word in "$seconds" "$steps" "$every"; do
        [[ $word =~ ^[1-9][0-9]*$ ]] || fail "$word is no number; see --help"
    done
    [[ $steps_per_s =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "$steps_per_s is no number; see --help"
    [[ ! $own_weights || " $models " != *' gpt '* ]] || fail 'gpt has no --own-weights'
}

# Sets python to an interpreter with torch: that of --python, otherwise python3 or Debian's.
find_python() {
    local candidates=(python3 /usr/bin/python3)
    [[ ! $python ]] || candidates=("$python")
    for python in "${candidates[@]}"; do
        ! "$python" -c 'import numpy, torch.distributed' 2>/dev/null || return 0
    done
    fail "${candidates[*]}: no torch; install python3-torch python3-numpy, or into a venv, named with" \
        '--python, torch and numpy by pip'
}

needs() {
    local need
    for need in 'ip iproute2' 'tc iproute2' 'sysctl procps' 'jq jq' 'unshare util-linux'; do
        command -v "${need% *}" >/dev/null || fail "${need% *} is missing; install ${need#* }"
    done
    hearsay=$(realpath -- "$hearsay")
    delay=${hearsay%/*}/delay
    [[ -x $hearsay ]] || fail "$hearsay not found; build it with ./run build"
    [[ -x $delay ]] || fail "$delay not found; build it with ./run build"
    [[ -e $images/train-images-idx3-ubyte.gz ]] || fail "no $images; install dataset-fashion-mnist"
    [[ -e $text || " $models " != *' gpt '* ]] || fail "no $text; install dict-gcide"
    find_python
    [[ ! $contestants =~ torchft|streaming ]] || "$python" -c 'import torchft' 2>/dev/null ||
        fail "$python has no torchft; install it into a venv by pip, or leave out torchft and streaming"
}

end_all() {
    kill -KILL "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
    pids=()
}

# Prints a line about the run in a folder and removes the folder.
judge() { # folder, contestant, model, Mbit/s, milliseconds, rate, options
    local folder=$1
    "$python" "$here/against_torch_score.py" score --folder "$folder" --contestant "$2" \
        --model "$3" --point "$4/$5" --mbit "$4" --rate "$6" --layers "${layers[$3]}" \
        --task "${task[$3]}" --data "${data[${task[$3]}]}" --first "$out/first-$3.safetensors" \
        --targets "$(targets "$3")" --world "$nodes" --threads "$(nproc)" --load "$load" "${@:7}" |
        jq -c --slurpfile delay "$folder/delay.json" '. + {delay: $delay[0]}'
    rm -rf -- "$folder"
}

first_weights() {
    local model=$1 folder=$dir/first
    [[ ! -e $out/first-$model.safetensors ]] || return 0
    rm -rf -- "$folder" && mkdir "$folder"
    start_daemon 1 "$model" "$folder" 127.0.0.1 0.02 --set train.enabled=no
    wait_for "$folder/node1.log" '"started"'
    kill -TERM "${pids[@]}"
    wait "${pids[@]}" || fail "$(tail -n 3 "$folder/node1.out")"
    pids=()
    cp -- "$folder/node1/base.safetensors" "$out/first-$model.safetensors"
}

split_text() {
    mkdir -p "${data[language]}"
    zcat -- "$text" >"$dir/all"
    head -c "-$held_out_bytes" "$dir/all" >"${data[language]}/train"
    tail -c "$held_out_bytes" "$dir/all" >"${data[language]}/valid"
    rm -- "$dir/all"
}

# Prints the learning settings of a daemon, as lines of SECTION.KEY=VALUE.
task_settings() { # model
    local folder=${data[${task[$1]}]}
    if [[ ${task[$1]} == images ]]; then
        printf '%s\n' "data.dir=$folder" train.momentum=0.9
        return
    fi
    printf '%s\n' data.source=text "data.text=$folder/train" "data.valid=$folder/valid" \
        data.context=64 train.optimizer=adam train.batch=8 train.momentum=0.9 train.beta2=0.95 \
        train.weight_decay=0.1 train.clip=1 "train.warmup_samples=$((warmup * nodes * 8))"
}

start_daemon() { # number, model, folder, its address, rate, options
    local i=$1 model=$2 folder=$3 address=$4 rate=$5 peers='' save=0 own=() setting
    shift 5
    for setting in $(task_settings "$model"); do
        own+=(--set "$setting")
    done
    ((i == 1)) && save=$save_s || peers=10.0.0.1:7770
    [[ -e $folder/swarm.key ]] || "$hearsay" swarmkey "$folder/swarm.key" >/dev/null
    "$hearsay" keygen "$folder/node$i.key" >/dev/null
    ${within[@]+"${within[@]}"} "$hearsay" node --log "$folder/node$i.log" \
        --set "node.listen=$address:7770" --set "node.peers=$peers" \
        --set "node.identity=$folder/node$i.key" --set "node.swarm_key=$folder/swarm.key" \
        --set "node.state_dir=$folder/node$i" --set "node.save_s=$save" \
        --set "model.layers=${layers[$model]}" "${own[@]}" --set "data.shard=$i/$nodes" \
        --set "train.rate=$rate" --set "train.steps_per_s=$steps_per_s" "${sets[@]}" "$@" \
        >"$folder/node$i.out" 2>&1 </dev/null &
    pids+=("$!")
}

wait_for() { # file, pattern
    local until=$((SECONDS + 120))
    until grep -qs -- "$2" "$1"; do
        kill -0 "${pids[@]}" 2>/dev/null || fail "ended: $(tail -n 3 "${1%.*}.out")"
        ((SECONDS < until)) || fail "timed out waiting for $2 in $1"
        sleep 0.05
    done
}

# For this many seconds, gives each model that the first daemon saves a second name (a hard link),
# before the next save replaces it.
keep_models() { # folder, seconds
    local until=$((SECONDS + $2)) saved=$1/node1/base.safetensors count=0
    mkdir "$1/models"
    while ((SECONDS < until)); do
        if [[ -e $saved && ! $saved -ef $1/models/$count ]]; then
            ln -- "$saved" "$1/models/$((++count))"
        fi
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

start_rival() { # number, rival, model, folder, address of the first, its own, interface, rate, options
    local i=$1 rival=${2%/*} model=$3 folder=$4 address=$5 host=$6 interface=$7 rate=$8 first=()
    local local_steps=$every
    [[ $2 != */* ]] || local_steps=${2#*/}
    shift 8
    [[ $own_weights ]] || first=(--first "$out/first-$model.safetensors")
    GLOO_SOCKET_IFNAME=$interface ${within[@]+"${within[@]}"} "$python" \
        "$here/against_torch.py" train --task "${task[$model]}" --rival "$rival" \
        --layers "${layers[$model]}" --data "${data[${task[$model]}]}" --folder "$folder" \
        ${first[@]+"${first[@]}"} --address "$address:7771" --own "$host" --rank $((i - 1)) \
        --world "$nodes" --rate "$rate" --warmup "$warmup" --every "$every" \
        --local-steps "$local_steps" "$@" >"$folder/rank$i.out" 2>&1 </dev/null &
    pids+=("$!")
}

# Waits for the first process, whose models are evaluated. Then kills the others.
wait_for_rivals() {
    wait "${pids[0]}" || {
        tail -qn 3 "$1"/rank*.out >&2
        end_all
        return 1
    }
    end_all
}

# Trains on an unlimited network and records the mark by number of steps.
learn_steps() { # model, rival, rate
    local model=$1 rival=$2 rate=$3 folder=$dir/learn i count=$steps target=()
    local file=$out/steps-$model-${rival/\//-}-$rate-$every.jsonl
    [[ ! -e $file ]] || return 0
    printf '  %s, rate %s, on a free network\n' "$rival" "$rate" >&2
    [[ $model != gpt || $rival == ddp ]] || count=$((2 * steps))
    [[ $model/$rival == gpt/ddp ]] || target=(--target "$(targets "$model" | jq last)")
    rm -rf -- "$folder" && mkdir "$folder"
    for ((i = 1; i <= nodes; i++)); do
        start_rival "$i" "$rival" "$model" "$folder" 127.0.0.1 127.0.0.1 lo "$rate" \
            --steps "$count" --test "${target[@]}"
    done
    wait_for_rivals "$folder"
    mv -- "$folder/rounds.jsonl" "$file"
}

# Prints the list of targets. For gpt these are the results of ddp with its best rate.
targets() { # model
    local rate
    [[ $1 == gpt ]] || { echo '[0.85, 0.88]' && return; }
    for rate in $rates; do
        learn_steps gpt ddp "$rate"
        jq -s -c --argjson steps "$steps" 'map(select(.mark)) |
[(map(select(.steps <= $steps / 2)) | max_by(.mark).mark), max_by(.mark).mark]' \
            "$out/steps-gpt-ddp-$rate-$every.jsonl"
    done | jq -s -c 'max_by(last)'
}

# Prints the best rate and its steps to each target: {"rate", "to", "best", "tried"}. Per step, fp16
# learns like ddp, and torchft like diloco.
best_steps() { # model, rival
    local model=$1 rival=${2/torchft/diloco} rate
    [[ $rival != fp16 ]] || rival=ddp
    for rate in $rates; do
        learn_steps "$model" "$rival" "$rate"
    done
    for rate in $rates; do
        jq -s -c --argjson rate "$rate" --argjson targets "$(targets "$model")" '
map(select(.mark)) as $all |
def to($x): [$all[] | select(.mark >= $x) | .steps] | first;
{rate: $rate, to: ($targets | map(to(.))), best: ($all | map(.mark) | max), tried: ($all | last.steps)}' \
            "$out/steps-$model-${rival/\//-}-$rate-$every.jsonl"
    done | jq -s -c 'sort_by(.to[1] // 1e9, .to[0] // 1e9, -(.best // -1e9)) | first'
}

run_rival() { # model, Mbit/s, milliseconds, rival ─► a line of results
    local model=$1 mbit=$2 ms=$3 rival=$4 folder=$dir/run i best rate need
    best=$(best_steps "$model" "$rival")
    rate=$(jq .rate <<<"$best")
    need=$(jq '.to[1] // .tried' <<<"$best")
    rm -rf -- "$folder" && mkdir "$folder"
    begin_links "$ms" "$folder"
    for ((i = 1; i <= nodes; i++)); do
        within=(ip netns exec "node$i")
        start_rival "$i" "$rival" "$model" "$folder" 10.0.0.1 "10.0.0.$i" eth0 "$rate" \
            --steps $((need + 2 * every)) --seconds "$seconds" --steps-per-s "$steps_per_s"
    done
    within=()
    wait_for_rivals "$folder"
    end_links
    judge "$folder" "$rival" "$model" "$mbit" "$ms" "$rate" \
        --steps-to "$(jq -c .to <<<"$best")"
}

# Measures samples per second without exchange: {"hearsay", "torch"}.
measure_speed() {
    local model=$1 folder=$dir/speed i
    [[ ! -e $out/speed-$model.json && $steps_per_s == 0 ]] || return 0
    rm -rf -- "$folder" && mkdir "$folder"
    for ((i = 1; i <= nodes; i++)); do
        start_rival "$i" alone "$model" "$folder" 127.0.0.1 127.0.0.1 lo 0.02 --steps 200
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
    jq -n -c --slurpfile rounds "$folder/rounds.jsonl" \
        --argjson samples "$((nodes * ($([[ $model == gpt ]] && echo 8 || echo 32))))" '
{torch: ([$rounds[] | select(.steps)] | $samples * (last.steps - first.steps) / (last.t - first.t)),
 hearsay: ([inputs | select(.note == "status" and .steps > 0) + {from: input_filename}] |
 group_by(.from) | map((last.samples - first.samples) / (last.t - first.t)) | add)}' \
        "$folder"/node?.log >"$out/speed-$model.json"
}

# Runs a command and writes its output to file $1, unless that file has content.
once() {
    local file=$1
    shift
    [[ ! -s $file ]] || return 0
    "$@" >"$dir/line"
    [[ -s $dir/line ]] || fail "no result of: $*"
    mv -- "$dir/line" "$file"
}

# Prints the rate that is best for hearsay at the first point.
best_rate() {
    local model=$1 point=${points%% *} rate
    for rate in $rates; do
        printf '  hearsay, rate %s\n' "$rate" >&2
        once "$out/rates/$model-${point/\//-}-$rate.json" \
            run_hearsay "$model" "${point%/*}" "${point#*/}" "$rate"
    done
    jq -s 'sort_by(.reached[1].s // 1e9, .reached[0].s // 1e9, -(.best // -1e9)) | first.rate' "$out/rates/$model-${point/\//-}"-*.json
}

run_point() { # model, point, contestant
    local model=$1 mbit=${2%/*} ms=${2#*/} rival=$3 rate
    local file=$out/runs/$1-${2/\//-}-${3/\//-}.json
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
                cat -- "$out/runs/$model-${point/\//-}-${rival/\//-}.json" >>"$dir/results.jsonl"
            done
        done
    done
    cp -- "$dir/results.jsonl" "$out/results.jsonl"
}

probe() { # namespace, address, options; always in a subshell
    exec ip netns exec "$1" "$python" "$here/against_torch.py" probe --address "$2" "${@:3}"
}

# Measures the network itself: node 1 sends to node 2, then each node to the next at the same time.
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
mkdir -p -- "$out"
[[ ${SHAPED_NETWORK:-} == inside ]] || enter "$@"
out=$(realpath -- "$out")
mount -t tmpfs none /run
mkdir "$dir"
[[ " $models " != *' gpt '* ]] || split_text
within=()
make_network
if [[ $check ]]; then
    for point in $points; do
        check_point "${point%/*}" "${point#*/}"
    done
    exit
fi
run_all
"$python" "$here/against_torch_score.py" table --folder "$out" --point "${points%% *}" \
    --hearsay "$hearsay"
