#!/usr/bin/env bash
# Runs checks and measurements on a GPU machine that is available for minutes: visit.sh --help.
# test_visit.sh tests it on the stand-in for a GPU.
set -uo pipefail

readonly KIT_BYTES_MAX=56000000
readonly NO_TIME=98 # code of a step that did not run for lack of time
readonly SKIPPED=77 # code of a step that lacks a tool or a GPU

# Name and time limit in seconds, the most valuable step first.
readonly STEPS=(
    'machine 15'
    'tests 90'
    'ours 60'
    'torch 95'
    'llmc 40'
    'kernels 60'
    'node 60'
    'mixed 60'
    'script 110'
    'exchange 30'
    'ptx 60'
    'races 600'
)

usage() {
    cat <<'TEXT'
visit.sh pack [--build DIR] [--llmc FILE] [--to FILE] [--stand-in]
    Writes a kit of at most 56 MB: programs, tests, libraries, scripts and Fashion-MNIST, from a
    build with tests (build) into build-visit/kit.tar.xz.
      --build DIR    the build
      --llmc FILE    a train_gpt2cu of llm.c, compiled for the GPU of the visit. This project holds
                     none of its code: without a path the step llmc is skipped
      --to FILE      the kit
      --stand-in     carry the stand-in that runs the kernels on the CPU where there is no GPU
    'ninja hearsay-cuda-ptx' before it adds the module that the step ptx needs.

visit.sh go SECONDS [STEP...]
    Unpacks the kit and runs the steps, or those named, for SECONDS in all. Needs CUDA's libraries
    of the same major version, of the system or of PyTorch. Variables: KIT, the kit or its folder
    (build-visit/kit.tar.xz); OUT, the folder of the results (build-visit/results); CAP, the most
    seconds of a step.

      machine   GPU, driver, clocks, versions
      tests     every test that can use a GPU
      ours      samples a second of our step
      torch     the same of torch.compile
      llmc      the same of llm.c
      kernels   time and bytes of each kernel of one step, by ncu, and the bytes by count
      node      a GPU and two processors as sandboxed nodes, checkpoints on either device
      mixed     a GPU and two processors learn Fashion-MNIST
      script    the cost of a node for a PyTorch script
      exchange  samples, exchange and publishing
      ptx       the first two starts of a sandboxed node whose kernels are PTX alone
      races     racecheck, one test after another

    OUT/summary.tsv gets a line as each step ends: its name, exit code and seconds. OUT/STEP.txt
    has its output as it comes, so a cut loses only what was not printed. Codes: 0 passed,
    77 skipped for want of a tool, 98 no time was left, 124 or 137 cut at its cap.

Exit codes: 0 no step failed, 1 one did or was cut, 2 wrong arguments.
TEXT
}

fail() {
    printf 'visit.sh: %s\n' "$*" >&2
    exit 1
}
misused() {
    printf 'visit.sh: %s; see visit.sh --help\n' "$*" >&2
    exit 2
}
root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)

# Packing.

# Prints the commands of unit tests that use a GPU, by a RUN_ macro of tests/support or directly,
# and of random_calls.
list_tests() {
    local build=$1 file name
    for file in $(grep -lE '^ *RUN_[A-Z_]+\(|cuda_module\(\)->' -r "$root/tests/unit" --include='test_*.c' | sort); do
        name=$(basename "$file" .c)
        [[ ! -x $build/$name ]] || echo "$name"
    done
    echo 'random_calls 2 20000'
}

# Prints the shared libraries that the programs need, except those that every Linux has and CUDA's
# large libraries.
list_libraries() {
    local common='libc|libm|libdl|librt|libpthread|ld-linux.*|libstdc\+\+|libgcc_s'
    ldd "$@" 2>/dev/null | awk '$3 ~ /^\// {print $3}' | sort -u |
        grep -vE "/($common|libcuda|libcublas(Lt)?|libcudnn[a-z_]*|libnccl)\.so"
}

pack() {
    local build=$root/build llmc='' to=$root/build-visit/kit.tar.xz stand_in='' kit name bytes
    while (($# > 0)); do
        case $1 in
        --stand-in) stand_in=yes ;;
        --build | --llmc | --to)
            (($# > 1)) || misused "$1 needs a path"
            [[ $1 != --build ]] || build=$2
            [[ $1 != --llmc ]] || llmc=$2
            [[ $1 != --to ]] || to=$2
            shift
            ;;
        *) misused "no such option: $1" ;;
        esac
        shift
    done
    [[ -x $build/hearsay && -x $build/test_backend ]] ||
        fail "$build is no build with tests; 'cmake -B build -DTESTS=ON' and build it, or name another with --build"
    [[ -z $llmc || -x $llmc ]] || fail "$llmc is no program; build llm.c's train_gpt2cu and name it"
    kit=$(mktemp -d)
    # shellcheck disable=SC2064 # expands now
    trap "rm -rf -- '$kit'" EXIT
    mkdir -p "$kit/build" "$kit/lib" "$kit/data" "$kit/src" "$kit/tests/process" "$(dirname "$to")"
    list_tests "$build" >"$kit/tests.list"
    for name in hearsay bench_gpu step_plan libhearsay.so.2 $(cut -d ' ' -f 1 "$kit/tests.list"); do
        [[ ! -e $build/$name ]] || cp -L "$build/$name" "$kit/build/" || exit
    done
    for name in hearsay-cuda.so hearsay-cuda-ptx.so ${stand_in:+hearsay-cuda-on-cpu.so}; do
        [[ ! -e $build/$name ]] || cp -L "$build/$name" "$kit/build/" || exit
    done
    [[ -z $llmc ]] || cp -L "$llmc" "$kit/build/train_gpt2cu" || exit
    list_libraries "$kit"/build/* | xargs -r -I{} cp -L {} "$kit/lib/"
    find "$kit/build" "$kit/lib" -type f -exec strip --strip-debug {} + 2>/dev/null
    cp -r "$root/tests/gpu" "$root/tests/bench" "$kit/tests/"
    cp "$root/configs/README.md" "$kit/tests/text.md" || exit # text for the language model
    cp "$root/tests/process/"{story,test_gpu}.sh "$kit/tests/process/"
    cp -r "$root/src/python" "$kit/src/"
    cp /usr/share/datasets/fashion-mnist/*.gz "$kit/data/" 2>/dev/null ||
        echo 'visit.sh: no Fashion-MNIST here: the step mixed will be skipped' >&2
    XZ_OPT='-2 -T0' tar -C "$kit" -cJf "$to" . || fail "cannot write $to"
    bytes=$(stat -c %s "$to")
    ((bytes <= KIT_BYTES_MAX)) ||
        fail "$to has $bytes bytes, over $KIT_BYTES_MAX; leave out llm.c or the PTX module"
    printf '%s: %d bytes, %d tests\n' "$to" "$bytes" "$(wc -l <"$kit/tests.list")"
}

# Running.

# Prints the folders where the system and PyTorch keep CUDA's libraries.
list_cuda_folders() {
    local folder
    for folder in /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib \
        $(python3 -c 'import nvidia; print(*nvidia.__path__)' 2>/dev/null | xargs -r -n 1 sh -c 'echo "$0"/*/lib'); do
        [[ ! -d $folder ]] || printf ':%s' "$folder"
    done
}

# Links only those of the kit's libraries that this machine lacks into a folder. Other links would
# precede the libraries that this machine's Python needs.
link_libraries() {
    local known file
    known=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null)
    for file in "$KIT"/lib/*; do
        [[ $known == *"${file##*/} "* ]] || ln -s "$file" "$scratch/lib/"
    done
}

note() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$OUT/summary.tsv"
    printf '%-10s %4s %5s s\n' "$1" "$2" "$3"
}

run_step() {
    local name=$1 cap=$2 from=$SECONDS code=0
    if ((cap < 1)); then
        note "$name" "$NO_TIME" 0
        return
    fi
    running=$name
    timeout --kill-after=3 "$cap" bash "${BASH_SOURCE[0]}" step "$name" >"$OUT/$name.txt" 2>&1 </dev/null &
    child=$!
    wait "$child" || code=$?
    running=''
    note "$name" "$code" $((SECONDS - from))
    tail -n 12 "$OUT/$name.txt" | sed 's/^/    /'
    ((code == 0 || code == SKIPPED)) || failed=yes
}

# Ends the step and notes the interruption. `timeout` passes the signal to all processes of the
# step.
on_cut() {
    [[ -z $running ]] || {
        kill -TERM "$child" 2>/dev/null
        wait "$child"
        note "$running" 143 -
    }
    exit 1
}

is_among() { [[ " ${*:2} " == *" $1 "* ]]; }

unpack() {
    local from=${KIT:-$root/build-visit/kit.tar.xz}
    scratch=$(mktemp -d)
    trap 'rm -rf -- "$scratch"' EXIT
    mkdir "$scratch/lib" "$scratch/kit"
    if [[ -f $from ]]; then
        tar -C "$scratch/kit" -xf "$from" 2>/dev/null ||
            python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' \
                "$from" "$scratch/kit" ||
            fail "cannot unpack $from: neither tar with xz nor python3 does"
        from=$scratch/kit
    elif [[ -e $root/tests.list ]]; then
        from=$root # this script is part of an unpacked kit
    fi
    [[ -e $from/tests.list ]] || fail "$from is no kit; make one with 'visit.sh pack', or name it in KIT"
    KIT=$(CDPATH='' cd -- "$from" && pwd -P)
}

go() {
    local seconds=${1:-} begun=$SECONDS name cap left known
    [[ $seconds =~ ^[0-9]+$ ]] || misused 'go needs a number of seconds'
    shift
    known=" $(printf '%s\n' "${STEPS[@]}" | cut -d ' ' -f 1 | xargs) "
    for name in "$@"; do
        [[ $known == *" $name "* ]] || misused "no such step: $name"
    done
    OUT=${OUT:-$root/build-visit/results}
    mkdir -p "$OUT" && : >"$OUT/summary.tsv" || fail "cannot write into $OUT"
    OUT=$(CDPATH='' cd -- "$OUT" && pwd -P)
    unpack
    export OUT KIT PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
    link_libraries
    LD_LIBRARY_PATH=$scratch/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}$(list_cuda_folders)
    export LD_LIBRARY_PATH
    running='' failed=''
    trap on_cut TERM INT
    for name in "${STEPS[@]}"; do
        cap=${name#* } name=${name% *}
        (($# == 0)) || is_among "$name" "$@" || continue
        left=$((seconds - (SECONDS - begun)))
        ((left > 3)) || left=0 # reserves time to end the processes of an interrupted step
        ((${CAP:-$cap} >= cap)) || cap=$CAP
        run_step "$name" $((cap < left ? cap : left))
    done
    printf '%d s, results in %s\n' $((SECONDS - begun)) "$OUT"
    [[ -z $failed ]]
}

# The steps. The caller sets KIT and OUT and redirects the output to a file.

skip() {
    printf 'skipped: %s\n' "$*"
    exit $SKIPPED
}
has_gpu() { "$KIT/build/hearsay" --version | grep -q '^cuda:0: '; }
is_played() { [[ ${HEARSAY_CUDA:-} == *on-cpu.so ]]; }
needs_gpu() { ! is_played || skip 'the stand-in is no GPU'; }
bench() { stdbuf -oL "$KIT/build/bench_gpu" cuda:0 "$@"; }

# Selects the stand-in if the kit contains it and this machine has no GPU.
choose_device() {
    has_gpu && return
    export STAND_IN=$KIT/build/hearsay-cuda-on-cpu.so
    [[ -e $STAND_IN ]] || return 0
    export HEARSAY_CUDA=$STAND_IN
}

step_machine() {
    "$KIT/build/hearsay" --version
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem,ecc.mode.current \
        --format=csv 2>/dev/null || echo 'no nvidia-smi'
    python3 -c 'import torch; print("torch", torch.__version__, torch.backends.cudnn.version())' 2>/dev/null ||
        echo 'no PyTorch'
    has_gpu || fail 'no GPU that hearsay can use, and the kit has no stand-in'
}

# Runs a line of tests.list and prints its name, exit code and seconds; on failure also its last lines.
run_test() {
    local name=${1%% *} from=$SECONDS code=0 log
    log=$OUT/tests/$name.txt
    # shellcheck disable=SC2086 # a command and its arguments
    timeout --foreground --kill-after=3 80 "$KIT/build/"$1 >"$log" 2>&1 || code=$?
    printf '%s\t%d\t%d\n' "$name" "$code" $((SECONDS - from))
    ((code == 0)) || tail -n 4 "$log"
    return "$code"
}
step_tests() {
    local jobs=6
    (($(nproc) >= 12)) || jobs=$(((($(nproc) + 1) / 2)))
    mkdir -p "$OUT/tests"
    export OPENBLAS_NUM_THREADS=1
    export -f run_test
    xargs -P "$jobs" -I{} bash -c 'run_test "{}"' <"$KIT/tests.list"
}

step_ours() {
    if is_played; then
        bench 1000 1000 bf16 mlp
    else
        bench 100000000 2 bf16 gpt2-124m gpt-mini wide
    fi
}
step_torch() {
    needs_gpu
    python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || skip 'no PyTorch with CUDA'
    python3 "$KIT/tests/bench/bench_torch.py" --cuda bf16 gpt2-124m gpt-mini compiled
}
step_llmc() {
    needs_gpu
    [[ -x $KIT/build/train_gpt2cu ]] || skip 'no train_gpt2cu in the kit: visit.sh pack --llmc FILE'
    cd "$(mktemp -d)" || exit
    python3 "$KIT/tests/gpu/random_tokens.py" 50257 4194304 train.bin
    python3 "$KIT/tests/gpu/random_tokens.py" 50257 1048576 val.bin
    stdbuf -oL "$KIT/build/train_gpt2cu" -i train.bin -j val.bin -e d12 -b 16 -t 1024 -d 16384 -x 60 -v 0 -s 0
}
# The learner's first step is not recorded as a graph, so ncu sees single kernels.
step_kernels() {
    needs_gpu
    command -v ncu >/dev/null || skip 'no ncu'
    ncu --clock-control none --launch-count 1100 --csv --log-file "$OUT/kernels.csv" \
        --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum \
        "$KIT/build/bench_gpu" cuda:0 1000000 1000 bf16 gpt2-124m
    python3 "$KIT/tests/gpu/kernel_table.py" "$OUT/kernels.csv"
    python3 "$KIT/tests/gpu/step_bytes.py" "$KIT/build/step_plan"
}
step_node() { exec bash "$KIT/tests/process/test_gpu.sh" "$KIT/build/hearsay"; }
step_mixed() {
    needs_gpu
    [[ -e $KIT/data/train-images-idx3-ubyte.gz ]] || skip 'no Fashion-MNIST in the kit'
    FASHION_MNIST=$KIT/data exec bash "$KIT/tests/bench/bench_mixed.sh" "$KIT/build/hearsay" 1500000 50000
}
step_script() {
    local type
    needs_gpu
    python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || skip 'no PyTorch with CUDA'
    export HEARSAY_LIBRARY=$KIT/build/libhearsay.so.2 HEARSAY_PROGRAM=$KIT/build/hearsay PYTHONPATH=$KIT/src/python
    for type in float32 bfloat16; do
        python3 -m hearsay.local --nodes 2 "$KIT/tests/bench/bench_package_gpu.py" "$KIT/tests/text.md" $type
    done
}
step_exchange() {
    if is_played; then
        bench 100000 1000 fp32 exchange
    else
        bench 100000000 2 fp32 exchange publishing samples
    fi
}
step_ptx() {
    local turn begin code=0
    needs_gpu
    [[ -e $KIT/build/hearsay-cuda-ptx.so ]] || skip "no hearsay-cuda-ptx.so in the kit: 'ninja hearsay-cuda-ptx' before packing"
    cd "$(mktemp -d)" || exit
    "$KIT/build/hearsay" keygen && "$KIT/build/hearsay" swarmkey || return
    for turn in first second; do
        begin=$SECONDS
        HEARSAY_CUDA=$KIT/build/hearsay-cuda-ptx.so "$KIT/build/hearsay" node --set data.source=generated \
            --set node.listen=127.0.0.1:0 --set train.device=cuda:0 --set train.samples_max=3200 \
            --set node.grace_s=0 2>&1 || code=$?
        printf '%s start: code %d after %d s\n' "$turn" "$code" $((SECONDS - begin))
    done
    return "$code"
}
# Runs the tests of kernels with shared memory under racecheck, with a time limit for each.
step_races() {
    local test failed=0
    needs_gpu
    command -v compute-sanitizer >/dev/null || skip 'no compute-sanitizer'
    for test in test_entries test_dense test_threshold test_backend test_snapshot test_learner test_optimizer test_comeback; do
        [[ -x $KIT/build/$test ]] || continue
        timeout --foreground 100 compute-sanitizer --tool racecheck --racecheck-report analysis \
            --kernel-name-exclude kernel_substring=cub "$KIT/build/$test" >"$OUT/races-$test.txt" 2>&1 || failed=1
        printf '%s: %s\n' "$test" "$(grep -E 'RACECHECK SUMMARY' "$OUT/races-$test.txt" || echo 'did not end')"
    done
    return $failed
}

step() {
    choose_device
    "step_$1"
}

case ${1:-} in
pack | go | step) "$@" ;;
--help) usage ;;
*) usage >&2 && exit 2 ;;
esac
