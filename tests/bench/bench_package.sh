#!/usr/bin/env bash
# Measures training with the Python package over slow links: bench_package.sh [options] RUN...
#
# Four processes of one thread run in four network namespaces (shaped_network.sh). They train the GPT
# of src/python/examples/char_gpt.py (3 x 96) on the bytes of a dictionary, with AdamW and 8 windows
# of 64 bytes a step. The learning rate rises and falls with the samples of all processes, until they
# have learned --samples.
#
#   hearsay    a hearsay.Node in each process
#   churn      as hearsay, but the fourth node is killed after a third of the samples, and a fifth
#              node joins after half of them
#   diloco/50  50 steps alone, then an outer Nesterov step with the mean difference, over Gloo
#   ddp        DistributedDataParallel over Gloo
#   alone/32   one process with all data and 32 windows a step, at full speed
#
# A run writes three files. OUT/RUN.jsonl has a line every 10 s (alone: 30 s) with the time, the
# samples of all, and the loss of the shared model on the held-out end of the text; its last line
# has the bytes sent through each port. OUT/RUN.diaries.jsonl has such lines of each process, without
# the loss. OUT/RUN.links.jsonl has the counters of all ports.
set -euo pipefail
shopt -s inherit_errexit

readonly usage='options:
  --point M/D       Mbit/s up and down / milliseconds one way (default 10/40)
  --samples N       of all together (default 64000)
  --rate R          learning rate (default 0.004)
  --steps-per-s X   of each process at most (default 5); 0: no limit
  --seconds S       a run ends then (default: it does not)
  --python FILE     with torch (default python3)
  --set SECTION.KEY=VALUE  one more setting of the nodes; may be repeated
  --out DIR         default ./bench_package
  --help            print this'

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
readonly here root=${here%/tests/bench}
# shellcheck source=tests/bench/shaped_network.sh
. "$here/shaped_network.sh"
readonly nodes=5 queue_ms=200 held_out_bytes=300000 text=/usr/share/dictd/gcide.dict.dz dir=/run/package
readonly delay=$root/build/delay
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONPATH=$root/src/python PYTHONDONTWRITEBYTECODE=1
export HEARSAY_LIBRARY=$root/build/libhearsay.so HEARSAY_PROGRAM=$root/build/hearsay

point=10/40 samples=64000 rate=0.004 steps_per_s=5 seconds=1e9 python=python3 out=bench_package
runs=() pids=() sets=()

fail() {
    printf 'bench_package: %s\n' "$*" >&2
    exit 2
}

parse() {
    while (($#)); do
        case $1 in
        --point) point=${2?} && shift ;;
        --samples) samples=${2?} && shift ;;
        --rate) rate=${2?} && shift ;;
        --steps-per-s) steps_per_s=${2?} && shift ;;
        --seconds) seconds=${2?} && shift ;;
        --python) python=${2?} && shift ;;
        --set) sets+=("${2?}") && shift ;;
        --out) out=${2?} && shift ;;
        --help) sed -n '2,/^set /{/^set /d;s/^#$//;s/^# //;p}' "${BASH_SOURCE[0]}" && printf '\n%s\n' "$usage" && exit 0 ;;
        -*) fail "no option $1; see --help" ;;
        *) [[ $1 =~ ^(hearsay|churn|ddp|(diloco|alone)/[1-9][0-9]*)$ ]] || fail "no run $1; see --help"
            runs+=("$1") ;;
        esac
        shift
    done
    ((${#runs[@]} > 0)) || fail 'which runs? see --help'
    [[ -e $text ]] || fail "no $text; install dict-gcide"
    "$python" -c 'import torch' 2>/dev/null || fail "$python has no torch; name another with --python"
}

split_text() {
    zcat -- "$text" >"$dir/all"
    head -c "-$held_out_bytes" "$dir/all" >"$dir/train"
    tail -c "$held_out_bytes" "$dir/all" >"$dir/valid"
    rm -- "$dir/all"
}

start() { # number, strategy, options
    ${within[@]+"${within[@]}"} "$python" "$here/bench_package.py" worker --strategy "$2" --number "$1" \
        --folder "$folder" --data "$dir" --samples "$samples" --rate "$rate" --seconds "$seconds" "${@:3}" \
        >"$folder/$1.out" 2>&1 </dev/null &
    pids[$1]=$!
}

start_node() { # number, numbers of the nodes at the end
    local i=$1 peers=''
    ((i == 1)) || peers=10.0.0.1:7770
    [[ -e $folder/swarm.key ]] || "$HEARSAY_PROGRAM" swarmkey "$folder/swarm.key" >/dev/null
    mkdir "$folder/$i"
    "$HEARSAY_PROGRAM" keygen "$folder/$i/node.key" >/dev/null
    printf '%s\n' '[node]' "listen = 10.0.0.$i:7770" "peers = ${peers:-\"\"}" "identity = $folder/$i/node.key" \
        "swarm_key = $folder/swarm.key" "state_dir = $folder/$i/state" "log = $folder/$i/log" \
        >"$folder/$i/node.conf"
    for set in "${sets[@]}"; do
        printf '[%s]\n%s\n' "${set%%.*}" "${set#*.}" >>"$folder/$i/node.conf"
    done
    within=(ip netns exec "node$i")
    start "$i" hearsay --steps-per-s "$steps_per_s" --at-end "$2"
    within=()
}

# Prints the samples of all nodes that the first node knows.
known() { tail -n 1 "$folder/diary1.jsonl" 2>/dev/null | sed -n 's/.*"samples": \([0-9]*\).*/\1/p'; }

wait_for() { # samples
    until (($(known || true) + 0 >= $1)); do
        kill -0 "${pids[1]}" 2>/dev/null || fail "the first has ended: $(tail -n 5 "$folder/1.out")"
        sleep 1
    done
}

swarm() { # numbers of the nodes at the end
    local i
    for i in 1 2 3 4; do
        start_node "$i" "$1"
    done
}

gloo() { # strategy, options
    local i
    for i in 1 2 3 4; do
        within=(ip netns exec "node$i")
        GLOO_SOCKET_IFNAME=eth0 start "$i" "$1" --address 10.0.0.1:7771 --world 4 \
            --steps-per-s "$steps_per_s" "${@:2}"
    done
    within=()
}

# Waits for the first process, whose results count. Then kills the others.
wait_for_first() {
    wait "${pids[1]}" || fail "the first failed: $(tail -qn 5 "$folder"/*.out)"
    kill -KILL "${pids[@]}" 2>/dev/null || true
    wait "${pids[@]}" 2>/dev/null || true
    pids=()
}

wait_for_all() {
    local pid
    for pid in "${pids[@]}"; do
        wait "$pid" || fail "a process failed: $(tail -qn 5 "$folder"/*.out)"
    done
    pids=()
}

run_one() { # run
    folder=$dir/run within=()
    rm -rf -- "$folder" && mkdir "$folder"
    printf '%s\n' "$1" >&2
    begin_links "${point#*/}" "$folder"
    case $1 in
    hearsay) swarm '1 2 3 4' ;;
    churn)
        swarm '1 2 3 5'
        wait_for $((samples / 3))
        kill -KILL "${pids[4]}"
        wait "${pids[4]}" 2>/dev/null || true
        unset 'pids[4]'
        wait_for $((samples / 2))
        start_node 5 '1 2 3 5'
        ;;
    ddp) gloo ddp ;;
    diloco/*) gloo diloco --every "${1#*/}" ;;
    alone/*) start 1 alone --batch "${1#*/}" --leave-s 30 ;;
    esac
    case $1 in ddp | diloco/*) wait_for_first ;; *) wait_for_all ;; esac
    end_links
    "$python" "$here/bench_package.py" judge --folder "$folder" --data "$dir" >"$out/${1/\//-}.jsonl"
    cp -- "$folder/links.jsonl" "$out/${1/\//-}.links.jsonl"
    cat -- "$folder"/diary*.jsonl >"$out/${1/\//-}.diaries.jsonl"
    tail -n 1 "$out/${1/\//-}.jsonl"
}

parse "$@"
mkdir -p -- "$out"
[[ ${SHAPED_NETWORK:-} == inside ]] || enter "$@"
out=$(realpath -- "$out")
mount -t tmpfs none /run
mkdir "$dir"
split_text
make_network
set_point "${point%/*}"
for run in "${runs[@]}"; do
    run_one "$run"
done
