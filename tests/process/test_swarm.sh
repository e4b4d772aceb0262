#!/usr/bin/env bash
# hearsay swarm runs whole swarms of processes: test_swarm.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

swarm=("$hearsay" swarm --nodes 3 --data generated --layers 'dense 32, relu, dense 10'
    --set data.train_count=1500 --set data.test_count=500 --set train.evaluate_s=1
    --json "$dir/result.json" --dir "$dir/swarm")

values() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$dir/result.json"; }

# Prints the processes whose command line contains the test's folder.
ours() {
    local line
    for line in /proc/[0-9]*/cmdline; do
        if tr '\0' ' ' 2>/dev/null <"$line" | grep -qF -- "$dir/${1:-}"; then
            line=${line%/cmdline}
            printf '%s\n' "${line#/proc/}"
        fi
    done 2>/dev/null
}

run_swarm() {
    rm -rf -- "$dir/swarm" "$dir/swarm.out"
    "${swarm[@]}" "$@" >"$dir/swarm.out" 2>"$dir/swarm.err" </dev/null &
    pid[swarm]=$!
}

out() { says "$dir/swarm.out" "$1"; }

# Returns success if all nodes have a neighbour. Such nodes handle signals.
all_met() {
    local node
    for node in 1 2 3; do
        says "$dir/swarm/node$node/node.err" 'is a neighbour' || return 1
    done
}

nobody_left() {
    local left
    left=$(ours swarm/)
    [[ -z $left ]] || fail "processes are left: $left"
}

is_near() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(a - b <= by && b - a <= by) }'; }

tell 'three nodes reach the target and hold one model'
run_swarm --target 40
reap swarm 0
for key in id accuracy loss version digest samples samples_per_second bytes_sent bytes_received \
    dense_bytes rumors_published rumors_received duplicates seconds rss_bytes_max; do
    (($(values "$key" | tail -n 3 | grep -c .) == 3)) || fail "no $key of each node in the JSON"
done
[[ $(values ok) == true && $(values same_model) == true ]] || fail 'the JSON says no'
(($(values digest | sort -u | grep -c '^[0-9a-f]\{16\}$') == 1)) || fail 'digests differ'
(($(values id | sort -u | grep -c '^[0-9a-f]\{64\}$') == 3)) || fail 'ids do not differ'
(($(values rumors_published | grep -vcx 0) == 3)) || fail 'a node published nothing'
(($(values bytes_sent | head -n 1) * 100 <= $(values dense_bytes | head -n 1))) ||
    fail 'the bytes sent exceed one percent of a dense exchange'
out 'All nodes hold the same model, bit for bit' || fail 'no verdict'
nobody_left

tell 'the saved base is the model that was measured'
expect 0 '"accuracy"' "$hearsay" eval --state "$dir/swarm/node2" --data-source generated \
    --test-count 500 --json
read -r loss accuracy digest < <(sed 's/[^:]*: "\{0,1\}\([^",}]*\)[^:]*/\1 /g' "$dir/said.out" |
    awk '{ print $1, $2, $4 }')
is_near "$accuracy" "$(values accuracy | sed -n 3p)" 0.000001 || fail "accuracy is $accuracy"
is_near "$loss" "$(values loss | sed -n 2p)" 0.0001 || fail "loss is $loss"
[[ $digest == "$(values digest | head -n 1)" ]] || fail "digest is $digest"

tell 'a node is killed, the others finish and agree; a target not met is no success'
run_swarm --target 1 --seconds 3000 --set limits.silence_s=2
wait_for 30 'something to be published' out 'published [1-9]'
wait_for 60 'all three to have met' all_met
kill -KILL "$(ours swarm/node2/)"
kill -INT "${pid[swarm]}"
reap swarm 1
out 'The nodes that finished hold the same model, bit for bit; not all finished' ||
    fail 'no verdict'
out 'killed by signal 9 [(]Killed[)]' || fail 'the dead is not in the table'
out 'not met' || fail 'the output does not mention the target'
[[ $(values same_model) == true && $(values ok) == false ]] || fail 'the JSON is wrong'
[[ $(values finished | tr '\n' ' ') == '2 true false true ' ]] || fail 'others did not finish'
nobody_left

tell 'Ctrl+C ends a swarm in order'
run_swarm --target 1 --seconds 3000
wait_for 30 'a live line' out 'samples/s'
wait_for 60 'all three to have met' all_met
kill -INT "${pid[swarm]}"
reap swarm 1
out 'interrupted' || fail 'does not say why it ended'
out 'All nodes hold the same model' || fail 'no verdict'
(($(values finished | grep -cx true) == 3)) || fail 'not all nodes finished'
nobody_left

tell 'a temporary folder is removed'
mkdir "$dir/tmp"
TMPDIR=$dir/tmp expect 1 'the time is over' "$hearsay" swarm --nodes 1 --data generated \
    --layers 'dense 10' --set data.train_count=10 --set data.test_count=500 --target 1 --seconds 1
[[ -z $(ls -A "$dir/tmp") ]] || fail "left behind: $(ls -A "$dir/tmp")"

tell 'a folder is used twice: keys stay, models continue, and a new node joins'
again=("$hearsay" swarm --data generated --layers 'dense 16, relu, dense 10' --dir "$dir/again"
    --set data.train_count=1500 --set data.test_count=500 --set train.evaluate_s=1 --target 40)
expect 0 'All nodes hold the same model' "${again[@]}" --nodes 2
sum_of() { cat "$dir/again/swarm.key" "$dir/again"/node[12]/node.key | sha256sum; }
keys=$(sum_of)
rumors=$(sed -n 's/.*the sum of \([0-9]*\) rumors.*/\1/p' "$dir/said.out")
expect 0 'its keys and models are kept' "${again[@]}" --nodes 3
says "$dir/said.out" 'All nodes hold the same model' || fail 'the new one holds another model'
[[ $(sum_of) == "$keys" ]] || fail 'the keys are others'
(($(sed -n 's/.*the sum of \([0-9]*\) rumors.*/\1/p' "$dir/said.out") > rumors)) ||
    fail 'the models were reset'
mkdir -p "$dir/foreign/photos"
expect 1 'has files but no swarm .*name a folder that is new, empty' "${again[@]}" --dir "$dir/foreign"
[[ $(ls "$dir/foreign") == photos ]] || fail 'a file was added to the photos'

tell 'the target is given in percent, and the missing part is printed'
expect 2 'write a number from 0 to 100' "$hearsay" swarm --target 101
expect 1 'the target of 99.5 % is not met' "${again[@]}" --dir "$dir/percent" --nodes 1 \
    --target 99.5 --seconds 1
says "$dir/said.out" '^It had reached [0-9.]+ % after [0-9]+ samples when the time was over; .*--seconds' ||
    fail 'the output does not say that time ran out'
expect 1 'all samples are learned: training ends' "${again[@]}" --dir "$dir/samples" --nodes 1 \
    --target 1 --samples 100

tell 'a terminal shows a chart, with and without colours; other terminals show lines'
printf -v command '%q ' "${again[@]}" --dir "$dir/picture" --nodes 2
on_terminal() {
    env -u NO_COLOR TERM=xterm LC_ALL=C.UTF-8 "$@" script -qec "stty rows 24 cols 80; $command" \
        "$dir/picture.out" >/dev/null </dev/null
}
if why=$(script -qec true /dev/null 2>&1 </dev/null); then
    on_terminal || fail 'no swarm on a terminal'
    says "$dir/picture.out" '█+.* of 40 %' || fail 'no bar'
    says "$dir/picture.out" '^ +2  training ' || fail 'no line for the second node'
    says "$dir/picture.out" $'\r\033\\[[0-9]+A' || fail 'the chart is not redrawn in place'
    says "$dir/picture.out" $'\033\\[36m' || fail 'no colours'
    on_terminal NO_COLOR=1 || fail 'no swarm on a terminal without colours'
    says "$dir/picture.out" '█+.* of 40 %' || fail 'no bar without colours'
    ! says "$dir/picture.out" $'\033\\[3[0-9]m' || fail 'colours in spite of NO_COLOR'
    on_terminal TERM=dumb || fail 'no swarm on a dumb terminal'
    says "$dir/picture.out" '^ +[0-9]+ s  accuracy ' || fail 'no plain line'
    ! says "$dir/picture.out" $'\033' || fail 'an escape sequence in plain text'
else
    printf '     skipped: %s\n' "$why"
fi

tell 'three nodes started by hand connect through one address'
start one
address=$(address_of one)
start two --set "node.peers=$address"
start three --set "node.peers=$address"
for name in one two three; do
    wait_for 20 "$name to have two neighbours" notes "$name" '"neighbours":2'
done
wait_for 20 'all to receive rumors' notes one '"rumors_received":[1-9]'

! grep -h '"note":"status"' "$dir"/*.log | grep -qv '"steps":[0-9]' ||
    fail 'a status line without figures'
notes one '"note":"device".*"text":"computes on ' || fail 'one does not report its device'

tell 'the nodes leave one after the other, and the others continue'
leave two
wait_for 10 'one to see that two left' notes one '"note":"member_left"'
wait_for 10 'three to see that two left' notes three '"note":"member_left"'
alive one && alive three || fail 'another node ended too'
leave one # the others dial its address
wait_for 10 'three to be alone' notes three '"neighbours":0'
leave three

printf '%3d s  done\n' "$SECONDS"
