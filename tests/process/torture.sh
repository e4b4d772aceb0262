#!/usr/bin/env bash
# Kills, stops and terminates eight daemons at random. The swarm must survive:
# torture.sh HEARSAY [SECONDS] [FOLDER] [SEED]
#
#   every 5 s one of them gets   SIGKILL, and restarts in its folder
#                                SIGSTOP, and SIGCONT 1 to 8 s later
#                                SIGTERM, and restarts after it has left
#   then 10 s without faults; then all leave ─► no crash, one model, constant memory
#   the same swarm without faults, with equal samples ─► its accuracy is better by at most one point
#   (2 points below ten million samples, 3 below a million)
#
# Takes twice SECONDS (600) and half a minute. SEED repeats the faults, but not what a daemon does
# when one occurs. FOLDER keeps logs, output, and the memory of each second (rss.log).
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

seconds=${2:-600}
keep=${3:-}
seed=${4:-$RANDOM}
readonly seconds keep seed
readonly nodes=8 fault_ms=5000 calm_ms=10000 leave_ms=60000
readonly long_s=60 flat_percent=5 # seconds after warm-up that make a life long enough to judge, and its limit of growth
readonly warm_bytes=2000000         # bytes of received rumors after which logs and rings are full
readonly tests=4000
RANDOM=$seed
small=(--set data.source=generated --set data.train_count=64000 --set "data.test_count=$tests"
    --set train.evaluate_s=86400 --set exchange.log_bytes=1M --set node.save_s=3
    --set train.batch=16 --set train.rate=0.01
    --set 'model.layers=conv 8 5x5, relu, maxpool 2, conv 16 5x5, relu, maxpool 2, dense 10')
declare -A state=() until_ms=() lives=() killed=() stopped=() left=()
now_ms=0 drawn=0 faults=0

[[ -z $keep ]] || mkdir -p -- "$keep"
finish() {
    local code=$?
    set +e
    [[ -z $keep ]] || cp -r -- "$dir/." "$keep"
    (exit "$code") # the exit code for cleanup
    cleanup
}
trap finish EXIT

look_at_clock() { now_ms=$((${EPOCHREALTIME/[.,]/} / 1000)); }

draw() { drawn=$(($1 + RANDOM % ($2 - $1 + 1))); } # sets drawn to $1..$2; a subshell would not advance RANDOM

# Prints loopback address $1 of this run. The port is fixed, so that peers find a restarted daemon
# again.
address() { printf '127.%d.%d.%d:17770' $((1 + $$ % 250)) $((1 + $$ / 250 % 250)) "$1"; }

# Keeps the output and log of an ended process under other names.
put_by() {
    local life=$((${lives[$1]:-0}))
    [[ ! -e $dir/$1.err ]] || cat -- "$dir/$1.err" >>"$dir/$1.said"
    rm -f -- "$dir/$1.err"
    [[ ! -e $dir/$1.log ]] || mv -- "$dir/$1.log" "$dir/$1.life$life.log"
    lives[$1]=$((life + 1))
}

# Starts node NUMBER with address FIRST + NUMBER and a name that begins with PREFIX: begin NUMBER
# FIRST PREFIX [OPTION...]
begin() {
    local i=$1 first=$2 name=$3$1 peers='' other
    shift 3
    for ((other = 1; other <= nodes; other++)); do
        ((other == i)) || peers+=${peers:+,}$(address $((first + other)))
    done
    put_by "$name"
    start "$name" --set "data.shard=$i/$nodes" --set "node.listen=$(address $((first + i)))" \
        --set "node.peers=$peers" "$@"
}

come() {
    begin "$1" 0 n
    state[$1]=up
}

# Node $1 has ended, and its exit code must be $2.
gone() {
    local name=n$1 code=0
    { wait "${pid[$name]}" || code=$?; } 2>/dev/null # hides bash's message about the kill
    unset "pid[$name]"
    if ((code == 1 && $2 == 0)) && says "$dir/$name.err" 'because its takeover had not ended'; then
        code=0 # allowed: it had nothing to save yet
    fi
    ((code == $2)) || fail "$name ended with $code, not $2"
    draw 500 4000
    state[$1]=down
    until_ms[$1]=$((now_ms + drawn))
}

hurt() {
    local i=$1 name=n$1
    alive "$name" || fail "$name has ended by itself"
    draw 1 3
    case $drawn in
    1)
        kill -KILL "${pid[$name]}"
        gone "$i" 137
        killed[$i]=$((${killed[$i]:-0} + 1))
        ;;
    2)
        kill -STOP "${pid[$name]}"
        draw 1000 8000
        state[$i]=stopped
        until_ms[$i]=$((now_ms + drawn))
        stopped[$i]=$((${stopped[$i]:-0} + 1))
        ;;
    3)
        kill -TERM "${pid[$name]}"
        state[$i]=leaving
        until_ms[$i]=$((now_ms + leave_ms))
        left[$i]=$((${left[$i]:-0} + 1))
        ;;
    esac
    faults=$((faults + 1))
}

# Causes a fault at a running node: the first one without a fault, counted from a random node on.
hurt_one() {
    local i k
    draw 1 "$nodes"
    for ((k = 0; k < nodes; k++)); do
        i=$(((drawn + k - 1) % nodes + 1))
        [[ ${state[$i]} == up ]] || continue
        hurt "$i"
        return
    done
}

attend() {
    local i=$1 name=n$1
    if [[ ${state[$i]} == leaving ]] && dead "$name"; then
        gone "$i" 0
    elif [[ ${state[$i]} != down ]] && dead "$name"; then
        fail "$name has ended by itself"
    elif [[ ${state[$i]} == up ]] || ((now_ms < until_ms[$i])); then
        return
    elif [[ ${state[$i]} == leaving ]]; then
        fail "$name does not leave after SIGTERM"
    elif [[ ${state[$i]} == down ]]; then
        come "$i"
    else
        kill -CONT "${pid[$name]}"
        state[$i]=up
    fi
}

# Records "name life milliseconds pages" of each running node whose name begins with $1.
weigh() {
    local i pages
    for ((i = 1; i <= nodes; i++)); do
        [[ -n ${pid[$1$i]:-} ]] || continue
        read -r _ pages _ 2>/dev/null <"/proc/${pid[$1$i]}/statm" || continue
        printf '%s %d %d %d\n' "$1$i" "${lives[$1$i]}" "$now_ms" "$pages"
    done >>"$dir/rss.log"
}

# Watches the nodes for $1 ms. If $2 is "faults", causes one every fault_ms.
live_on() {
    local i ends fault_at weigh_at
    look_at_clock
    ends=$((now_ms + $1)) fault_at=$((now_ms + fault_ms)) weigh_at=$now_ms
    while look_at_clock && ((now_ms < ends)); do
        for ((i = 1; i <= nodes; i++)); do
            attend "$i"
        done
        if ((now_ms >= weigh_at)); then
            weigh n
            weigh_at=$((weigh_at + 1000))
        fi
        if [[ $2 == faults ]] && ((now_ms >= fault_at)); then
            hurt_one
            fault_at=$((fault_at + fault_ms))
        fi
        sleep 0.1
    done
}

all_run() {
    local i
    for ((i = 1; i <= nodes; i++)); do
        [[ ${state[$i]} == up ]] || return 1
        "$hearsay" status --state "$dir/n$i" >"$dir/status" 2>&1 || return 1
    done
}

settle() {
    local until=$((SECONDS + 120))
    until all_run; do
        ((SECONDS < until)) || fail "not all nodes run again: $(head -n 1 "$dir/status")"
        live_on 1000 calm
    done
}

leave_all() {
    local i
    for ((i = 1; i <= nodes; i++)); do
        kill -TERM "${pid[$1$i]}"
    done
    for ((i = 1; i <= nodes; i++)); do
        reap "$1$i" 0
    done
}

final() {
    sed -n "s/.*\"note\":\"final\".*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p" "$dir/$1.log" | tail -n 1
}

# Parts of the saved base of node $1: length of the header, samples in the header, and a digest of
# the tensors. Whole files differ, because headers list members in different orders.
header_bytes() { od -An -tu8 -N8 "$dir/$1/base.safetensors"; }

swarm_samples() {
    head -c "$(($(header_bytes "$1") + 8))" "$dir/$1/base.safetensors" | tr -d '\0' |
        grep -aoE '"samples": *"?[0-9]+' | grep -oE '[0-9]+$'
}

tensors_of() {
    tail -c "+$(($(header_bytes "$1") + 9))" "$dir/$1/base.safetensors" | sha256sum | cut -c 1-16
}

# All nodes must have the same base, which must be the sum of the rumors.
agree() {
    local i name digest tensors
    digest=$(final "$1"1 digest) tensors=$(tensors_of "$1"1)
    [[ $digest =~ ^[0-9a-f]{16}$ ]] || fail "$1""1 has left no digest"
    for ((i = 1; i <= nodes; i++)); do
        name=$1$i
        [[ $(final "$name" digest) == "$digest" ]] || fail "$name has another digest than $1""1"
        [[ $(final "$name" base_digest) == "$digest" ]] || fail "the base of $name is another"
        [[ $(tensors_of "$name") == "$tensors" ]] || fail "$name has saved another base than $1""1"
    done
}

no_defect() {
    local bad='a defect|Sanitizer|runtime error|not the sum of its rumors|is damaged|cannot be read'
    ! grep -sE -- "$bad" "$dir/$1"?.said "$dir/$1"?.err >&2 || fail 'a daemon reported a defect'
}

# Prints after how many milliseconds the process with log $1 had received warm_bytes bytes of rumors.
# Prints nothing if it never had.
warm_up() {
    awk -v most=$warm_bytes 'match($0, /"rumor_bytes_received":[0-9]+/) {
        received = substr($0, RSTART, RLENGTH)
        sub(/.*:/, "", received)
        if (received + 0 < most) next
        match($0, /"t":[0-9.]+/)
        printf "%d\n", 1000 * substr($0, RSTART + 4, RLENGTH - 4)
        exit
    }' "$1"
}

# Prints "name life seconds early late percent" for life $2 of node $1 if it lasted long_s after its
# warm-up of $3 ms. early and late are medians (KiB) over the first and last quarter of its samples.
judge_life() {
    awk -v name="$1" -v life="$2" -v warm="$3" -v long=$long_s -v page="$(getconf PAGESIZE)" '
function median(from, to,   i, j, v, sorted) {
    for (i = from; i < to; i++) {
        v = pages[i]
        for (j = i - from; j > 0 && sorted[j - 1] > v; j--) sorted[j] = sorted[j - 1]
        sorted[j] = v
    }
    return sorted[int((to - from) / 2)] * page / 1024
}
$1 != name || $2 != life { next }
!born { born = $3 }
$3 - born >= warm { ms[count + 0] = $3; pages[count++] = $4 }
END {
    span = count ? (ms[count - 1] - ms[0]) / 1000 : 0
    if (span < long) exit
    early = median(0, int(count / 4))
    late = median(count - int(count / 4), count)
    printf "%s %d %d %d %d %.1f\n", name, life, span, early, late, 100 * (late / early - 1)
}' "$dir/rss.log"
}

judge_memory() {
    local name life notes warm
    cut -d ' ' -f 1,2 "$dir/rss.log" | sort -u -k1,1 -k2,2n | while read -r name life; do
        notes=$dir/$name.life$life.log
        [[ -e $notes ]] || notes=$dir/$name.log # the last life
        warm=$(warm_up "$notes")
        [[ -z $warm ]] || judge_life "$name" "$life" "$warm"
    done >"$dir/memory"
}

# Sanitizers keep freed memory to detect its use.
is_sanitized() { grep -qE '__(a|t)san_init' "$hearsay"; }

memory_is_flat() {
    judge_memory
    is_sanitized || awk -v most=$flat_percent '$6 > most || $6 < -most { bad = 1 }
        END { exit bad }' "$dir/memory"
}

table() {
    local i name accuracy
    printf '%4s  %5s %6s %7s %4s  %9s %7s  %8s  %s\n' node lives killed stopped left samples told \
        accuracy digest
    for ((i = 1; i <= nodes; i++)); do
        name=n$i
        accuracy=$(final "$name" accuracy)
        printf '%4d  %5d %6d %7d %4d  %9d %7d  %6.2f %%  %s\n' "$i" "${lives[$name]}" \
            "${killed[$i]:-0}" "${stopped[$i]:-0}" "${left[$i]:-0}" "$(final "$name" samples)" \
            "$(final "$name" rumors_published)" "$(awk "BEGIN { print 100 * $accuracy }")" \
            "$(final "$name" digest)"
    done
}

memory_table() {
    local name life span early late percent
    printf '\n%4s  %4s %8s %10s %10s  %s\n' name life seconds 'KiB early' late growth
    while read -r name life span early late percent; do
        printf '%4s  %4d %8d %10d %10d  %+.1f %%\n' "$name" "$life" "$span" "$early" "$late" \
            "$percent"
    done <"$dir/memory"
}

has_learned() { # node $1, number of samples
    local samples
    samples=$(sed -n 's/.*"note":"status".*"samples":\([0-9]*\).*/\1/p' "$dir/$1.log" | tail -n 1)
    ((${samples:-0} >= $2))
}

undisturbed() {
    local i each=$(($1 / nodes)) until=$((SECONDS + 20 * seconds + 120))
    for ((i = 1; i <= nodes; i++)); do
        begin "$i" 100 u --set "train.samples_max=$each"
    done
    for ((i = 1; i <= nodes; i++)); do
        until has_learned "u$i" "$each"; do
            ((SECONDS < until)) || fail "u$i has not learned $each samples in time"
            alive "u$i" || fail "u$i has ended by itself"
            look_at_clock
            weigh u
            sleep 1
        done
    done
    leave_all u
}

tell "$nodes daemons, faults for $seconds s, seed $seed"
for ((i = 1; i <= nodes; i++)); do
    come "$i"
done
settle
live_on $((seconds * 1000)) faults

tell 'no more faults; all nodes run again'
settle
live_on $calm_ms calm
settle

tell 'all nodes leave with one model'
leave_all n
agree n
no_defect n
samples=$(swarm_samples n1)
points=1 # with fewer samples the curve is steeper, and two runs differ by half a point anyway
((samples >= 10000000)) || points=2
((samples >= 1000000)) || points=3
table

tell "undisturbed, as many samples: $samples"
undisturbed "$samples"
agree u
no_defect u
mine=$(final n1 accuracy) theirs=$(final u1 accuracy)
awk -v a="$mine" -v b="$theirs" -v s="$samples" -v t="$(swarm_samples u1)" 'BEGIN {
    printf "disturbed: %.2f %% after %d samples; undisturbed: %.2f %% after %d\n",
        100 * a, s, 100 * b, t }'
memory_is_flat && flat=yes || flat=no
memory_table
[[ $flat == yes ]] || fail "the memory of a daemon is not flat within $flat_percent %"
awk -v a="$mine" -v b="$theirs" -v p=$points 'BEGIN { exit !(a >= b - p / 100) }' ||
    fail "the base is worse than without faults by more than $points points"
printf '%d faults, no crash, one model, memory flat, as good as undisturbed.\n' "$faults"
tell 'done'
