#!/usr/bin/env bash
# Kills a daemon again and again while it saves, and checks that it resumes:
# resume.sh HEARSAY [COUNT] [FOLDER] [SEED]
#
#   start ─► resumes, refuses no file ─► trains, saves all the time ─► SIGKILL at a random moment
#     ▲                                                                   │
#     └── sometimes first alone: its digest must be that of the newest file ┘
#
# Kills COUNT (1000) times, about twice a second. The model is saved in four parts, and some kills
# happen between two parts. A peer keeps the swarm alive. At the end both nodes leave with one
# model. FOLDER keeps the files of the run. SEED repeats its random choices.
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

count=${2:-1000}
keep=${3:-}
seed=${4:-$RANDOM}
readonly count keep seed
RANDOM=$seed
small=(--set data.source=generated --set data.train_count=100 --set data.test_count=100
    --set 'model.layers=dense 256, relu, dense 10' --set node.listen=127.0.0.1:0 --set node.save_s=0.01)
drawn=0 incarnation=0 newest=0 kills=0 early=0 looks=0 slowest_ms=0 before=0 drafts=0 between=0

[[ -z $keep ]] || mkdir -p -- "$keep"
finish() {
    local code=$?
    set +e
    [[ -z $keep ]] || cp -r -- "$dir/." "$keep"
    (exit "$code") # the exit code for cleanup
    cleanup
}
trap finish EXIT

draw() { drawn=$(($1 + RANDOM % ($2 - $1 + 1))); } # sets drawn to $1..$2; a subshell would not advance RANDOM

sleep_ms() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }

# Waits up to 30 s until the command succeeds. Checks more often than wait_for.
soon() {
    local until=$((SECONDS + 30))
    until "$@"; do
        ((SECONDS < until)) || fail "timed out: $*"
        sleep 0.01
    done
}

# Sets newest to the number of the newest generation on disk.
look_at_disk() {
    local file number
    newest=0
    for file in "$dir"/it/checkpoint-*; do
        number=${file##*-}
        if [[ $number =~ ^[0-9]+$ ]] && ((number > newest)); then
            newest=$number
        fi
    done
}

has_newer() {
    look_at_disk
    ((newest > $1))
}

is_up() {
    alive it || fail "the node ended by itself: $(tail -n 1 "$dir/it.err")"
    notes it '"note":"started"'
}

begin() {
    rm -f -- "$dir/it.log"
    start it "$@"
}

comes_up() {
    local from=${EPOCHREALTIME/[.,]/} took_ms number
    soon is_up
    took_ms=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))
    ((took_ms <= slowest_ms)) || slowest_ms=$took_ms
    read -r number _ <"$dir/it/incarnation"
    ((number > incarnation)) || fail "incarnation $number is not above the previous $incarnation"
    incarnation=$number
}

# Fails if standard error of the last start reports a refused file.
nothing_refused() {
    local bad='checkpoint-[0-9]+:|incarnation: |a defect|Sanitizer|runtime error|not the sum of its'
    ! grep -E -- "$bad" "$dir/it.err" >&2 || fail 'a generation was refused, or worse'
}

# Returns success during a save, after its first part of 1 MiB.
is_between_parts() {
    is_up
    [[ $(find "$dir/it" -name 'checkpoint-*.new' -size +1023k 2>/dev/null) ]]
}

# Kills the node with SIGKILL. No complete generation may disappear.
end_it() {
    local code=0
    look_at_disk
    before=$newest
    kill -KILL "${pid[it]}" 2>/dev/null || true
    { wait "${pid[it]}" || code=$?; } 2>/dev/null # hides bash's message about the kill
    unset 'pid[it]'
    ((code == 137)) || fail "the node ended by itself with $code"
    look_at_disk
    ((newest >= before)) || fail "generation $before is gone, the newest is $newest"
    ! compgen -G "$dir/it/checkpoint-*.new" >/dev/null || drafts=$((drafts + 1))
    nothing_refused
}

value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/p" "$dir/said.out"; }

answers() { "$hearsay" status --json --state "$dir/it" >"$dir/said.out" 2>&1; }

# Prints the digest of the base's data, which precedes the checksum (4 bytes) at the end of the
# newest generation (src/state/checkpoint.h). Prints nothing if it spans two chunks of the file.
digest_on_disk() {
    local file=$dir/it/checkpoint-$newest bytes
    bytes=$(stat -c %s "$file")
    ((bytes % 65536 < 12)) || od -An -tx8 -j$((bytes - 12)) -N8 "$file" | tr -d ' '
}

# Starts the node alone, without training and saving. It must have exactly the newest generation.
look_alone() {
    local want
    want=$(digest_on_disk)
    [[ $want ]] || return 0
    begin --set train.enabled=no --set node.save_s=0
    comes_up
    soon answers
    [[ $(value digest) == "$want" ]] ||
        fail "the node continued from $(value digest), but generation $newest has $want"
    end_it
    looks=$((looks + 1))
}

# Starts the node once and kills it. Of eight kills, on average one comes before the node is ready,
# and two come between two parts of a checkpoint. Two come up to 150 ms after a new checkpoint, and
# three up to 150 ms after the node is ready.
live() {
    begin --set "node.peers=$peer"
    draw 1 8
    if ((drawn == 1)); then
        draw 0 60
        sleep_ms "$drawn"
        early=$((early + 1))
    else
        comes_up
        ((drawn % 2 == 0)) || { look_at_disk && soon has_newer "$newest"; }
        if ((drawn > 6)); then
            until is_between_parts; do :; done
            between=$((between + 1))
        else
            draw 0 150
            sleep_ms "$drawn"
        fi
    fi
    end_it
    kills=$((kills + 1))
    alive peer || fail 'the peer has ended'
    draw 1 4
    ((drawn > 1 || newest == 0)) || look_alone
}

final() { sed -n "s/.*\"note\":\"final\".*\"$2\":\"\([^\"]*\)\".*/\1/p" "$dir/$1.log"; }

is_running() { answers && [[ $(value stage) == running ]]; }

tell "$count kills, seed $seed"
start peer --set node.save_s=0
peer=$(address_of peer)
while ((kills < count)); do
    live
    ((kills % 100 > 0)) || tell "$kills kills, generation $newest"
done
printf '%d of them before it had come up; %d between two parts; %d left a draft; %d looked at alone; ' \
    "$early" "$between" "$drafts" "$looks"
printf '%d generations; the slowest start took %d ms\n' "$newest" "$slowest_ms"

tell 'the node starts again, and both nodes leave with one model'
begin --set "node.peers=$peer"
comes_up
wait_for 60 'the node to run with its peer' is_running
kill -TERM "${pid[it]}" "${pid[peer]}"
reap it 0
reap peer 0
nothing_refused
[[ $(final it digest) =~ ^[0-9a-f]{16}$ ]] || fail 'no digest at the end'
for name in it peer; do
    [[ $(final "$name" digest) == "$(final it digest)" ]] || fail 'their digests differ'
    [[ $(final "$name" base_digest) == "$(final it digest)" ]] || fail "the base of $name differs"
done
tell 'done'
