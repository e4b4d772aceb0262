#!/usr/bin/env bash
# Makes one allocation of a program fail at each start. The program must work without it, or end with exit
# code 1 and a message, and the next start must work with its files: test_memory.sh HEARSAY FAULTS
# The learner has one thread, because OpenBLAS raises a signal when it cannot start its threads.
set -euo pipefail
# shellcheck source=tests/process/faults_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_story.sh"

readonly sentence='out of memory|no memory left|Cannot allocate memory'
options=(--set train.threads=1 --set data.train_count=60 --set data.test_count=20)
last=0     # number of the last allocation that failed
survived=0 # starts that worked despite a failure in a library

for name in new one; do
    "$hearsay" keygen "$dir/$name.key" >/dev/null
done
"$hearsay" swarmkey "$dir/swarm.key" >/dev/null

refuse() { FAULTS_ALLOCATION=$refused LD_PRELOAD=$faults exec "$hearsay_here" "$@"; }
is_refused() { says "$dir/$1.err" '^faults: this memory is refused'; }

# Starts node $1 while its $2-th allocation fails. It must end with a message, or continue and log
# $3. Returns failure if the node made fewer than $2 allocations until then.
start_refused() {
    local name=$1 code=0
    refused=$2
    rm -f -- "$dir/$name.log"
    hearsay=refuse
    start "$name" "${options[@]}"
    hearsay=$hearsay_here
    until dead "$name" || notes "$name" "$3"; do
        sleep 0.01
    done
    kill -KILL "${pid[$name]}" 2>/dev/null || true
    wait "${pid[$name]}" 2>"$dir/wait" || code=$?
    unset "pid[$name]"
    is_refused "$name" || return 1
    last=$refused
    if ((code == 137)) && notes "$name" "$3"; then
        survived=$((survived + 1))
    elif ((code != 1)) || ! says "$dir/$name.err" "^hearsay: .*($sentence)"; then
        fail "request $refused: exit code $code, or no sentence"
    fi
}

# Runs a command again and again while its n-th allocation fails, for n from 1 in steps of $1, until
# the command makes fewer than n allocations.
refuse_command() {
    local step=$1 code
    shift
    refused=1
    until false; do
        code=0
        (refuse "$@") >"$dir/command.out" 2>"$dir/command.err" </dev/null || code=$?
        is_refused command || break
        ((code == 0)) || { ((code == 1)) && grep -qE "$sentence" "$dir"/command.*; } ||
            fail "request $refused: exit code $code, or no sentence: $*"
        refused=$((refused + step))
    done
    ((refused > 3 * step)) || fail "hardly asks for memory: $*"
}

tell 'a first start'
for ((n = 1; n < 400; n += 9)); do
    start_refused new "$n" '"note":"started"' || break
done
((last > 30)) || fail 'no allocation failed'

tell 'a node with a checkpoint'
start one "${options[@]}"
wait_for 20 'one to train' shows one '"steps":[1-9]'
leave one
first=$(incarnation one)

tell 'its next start, with each allocation until it trains'
last=0
for ((n = 1; ; n += n < 80 ? 1 : 9)); do # later allocations are mostly for notes
    start_refused one "$n" '"note":"status"' || break
done
((last > 100)) || fail "only $last requests"
((survived < 40)) || fail "$survived starts did without"
echo "     $last requests; $survived of those that were refused are not needed"

tell 'a start without failing allocations'
start one "${options[@]}"
wait_for 20 'one to train again' shows one '"steps":[1-9]'
(($(incarnation one) > first)) || fail 'an incarnation is used again'
leave one

tell 'commands'
refuse_command 7 eval --state "$dir/one" --data-source generated
refuse_command 1999 sim --faults --seeds 1
refuse_command 1 doctor "${small[@]}" "${options[@]}" --set "node.identity=$dir/one.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/one"

printf '%3d s  done\n' "$SECONDS"
