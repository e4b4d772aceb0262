#!/usr/bin/env bash
# Whole swarms of real processes: test_swarm.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

swarm=("$hearsay" swarm --nodes 3 --data generated --layers 'dense 32, relu, dense 10'
    --set data.train_count=1500 --set data.test_count=500 --set train.evaluate_s=1
    --json "$dir/result.json" --dir "$dir/swarm")

# The values of a key in the result, one per line.
values() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$dir/result.json"; }

# Processes whose command line names something of ours.
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

nobody_left() {
    local left
    left=$(ours swarm/)
    [[ -z $left ]] || fail "processes are left: $left"
}

is_near() { awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(a - b <= by && b - a <= by) }'; }

tell 'three nodes reach the target and hold one model'
run_swarm --target 0.4 --seconds 60
reap swarm 0
for key in id accuracy loss version digest samples samples_per_second bytes_sent bytes_received \
    dense_bytes rumors_published rumors_received duplicates seconds rss_bytes_max; do
    (($(values "$key" | tail -n 3 | grep -c .) == 3)) || fail "no $key of each node in the JSON"
done
[[ $(values ok) == true && $(values same_model) == true ]] || fail 'the JSON says no'
(($(values digest | sort -u | grep -c '^[0-9a-f]\{16\}$') == 1)) || fail 'digests differ'
(($(values id | sort -u | grep -c '^[0-9a-f]\{64\}$') == 3)) || fail 'ids do not differ'
(($(values rumors_published | grep -vcx 0) == 3)) || fail 'a node has told nothing'
(($(values bytes_sent | head -n 1) * 100 <= $(values dense_bytes | head -n 1))) ||
    fail 'more than one percent of what dense exchange takes was sent'
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
run_swarm --target 1 --seconds 4 --set limits.silence_s=2
wait_for 30 'something to be told' out 'told [1-9]'
kill -KILL "$(ours swarm/node2/)"
reap swarm 1
out 'The nodes that finished hold the same model, bit for bit; not all finished' ||
    fail 'no verdict'
out 'ended by signal 9' || fail 'the dead is not in the table'
out 'not met' || fail 'nothing is said of the target'
[[ $(values same_model) == true && $(values ok) == false ]] || fail 'the JSON is wrong'
[[ $(values finished | tr '\n' ' ') == '2 true false true ' ]] || fail 'others did not finish'
nobody_left

tell 'Ctrl+C ends a swarm in order'
run_swarm --target 1 --seconds 600
wait_for 30 'a live line' out 'samples/s'
kill -INT "${pid[swarm]}"
reap swarm 1
out 'interrupted' || fail 'does not say why it ended'
out 'All nodes hold the same model' || fail 'no verdict'
(($(values finished | grep -cx true) == 3)) || fail 'not all finished'
nobody_left

tell 'a folder made for the occasion is removed'
mkdir "$dir/tmp"
TMPDIR=$dir/tmp expect 1 'the time is over' "$hearsay" swarm --nodes 1 --data generated \
    --layers 'dense 10' --set data.train_count=10 --set data.test_count=500 --target 1 --seconds 1
[[ -z $(ls -A "$dir/tmp") ]] || fail "left behind: $(ls -A "$dir/tmp")"

tell 'three nodes by hand meet through one address'
start one
address=$(address_of one)
start two --set "node.peers=$address"
start three --set "node.peers=$address"
for name in one two three; do
    wait_for 20 "$name to have two neighbours" notes "$name" '"neighbours":2'
done
wait_for 20 'all to hear rumors' notes one '"rumors_received":[1-9]'

[[ -z $(grep -h '"note":"status"' "$dir"/*.log | grep -v '"steps":[0-9]') ]] ||
    fail 'a status line without figures'
notes one '"note":"device".*"text":"computes on ' || fail 'it does not say what it computes on'

tell 'they leave one after the other, and the others go on'
leave two
wait_for 10 'one to see that two left' notes one '"note":"member_left"'
wait_for 10 'three to see that two left' notes three '"note":"member_left"'
alive one && alive three || fail 'another node ended too'
leave one # whose address the others were given
wait_for 10 'three to be alone' notes three '"neighbours":0'
leave three

printf '%3d s  done\n' "$SECONDS"
