#!/usr/bin/env bash
# hearsay status asks a running node: test_status.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

status=("$hearsay" status)
answers() { "${status[@]}" --state "$dir/$1" >"$dir/said.out" 2>&1; }

value() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/p" "$dir/said.out"; }

tell 'status fails without a node'
expect 1 'no node runs with the state_dir .*--state DIR or --config FILE' \
    "${status[@]}" --state "$dir/nowhere"
expect 2 'hearsay status --help' "${status[@]}" --no-such-option
expect 2 'give either --state once, or --config and --set' "${status[@]}" --state a --config b
expect 1 "no node runs with the state_dir $dir/nowhere" \
    "${status[@]}" --set "node.state_dir=$dir/nowhere"
expect 2 'batch = 0: too small' "${status[@]}" --set train.batch=0
expect 2 'no-such.conf' "${status[@]}" --config "$dir/no-such.conf"
expect 0 'exit codes are for health probes' "$hearsay" help status
expect 0 'q or Ctrl.C ends' "$hearsay" help top

tell 'a running node answers'
start one --set node.grace_s=60 --set limits.silence_s=60
address=$(address_of one)
wait_for 20 'one to answer' answers one
[[ $(stat -c %a "$dir/one/status.sock") == 600 ]] || fail 'others may ask'
expect 0 'in swarm "hearsay", up .*: running$' "${status[@]}" --state "$dir/one"
expect 0 "listens on $address" "${status[@]}" --state "$dir/one"
expect 0 '^  exchange   publishes every [0-9.]+ m?s, gain [0-9.]+, beta 0\.[0-9]+, withheld 0\.0000$' \
    "${status[@]}" --state "$dir/one"
expect 0 'no connection to any other node' "${status[@]}" --state "$dir/one"
(($(wc -L <"$dir/said.out") <= 80)) || fail 'a line is longer than 80 columns'
expect 0 '^\{.*"stage":"running","healthy":true' "${status[@]}" --state "$dir/one" --json
(($(wc -l <"$dir/said.out") == 1)) || fail 'the JSON is not one line'
id=$(value id)
says "$dir/said.out" '"checkpoint_age_s":(null|[0-9.]+)' || fail 'no checkpoint age'
printf '[node]\nstate_dir = %s\n' "$dir/one" >"$dir/one.conf"
expect 0 "\"id\":\"$id\"" "${status[@]}" --config "$dir/one.conf" --json
expect 0 "\"id\":\"$id\"" "${status[@]}" --set "node.state_dir=$dir/one" --json
expect 1 'top needs a terminal.*hearsay status' "$hearsay" top --state "$dir/one"

tell 'the node reports its neighbour and the traffic of the link'
start two --set "node.peers=$address"
has_two() { answers one && says "$dir/said.out" '^[0-9a-f]{8}  *127.0.0.1:[0-9]* *[0-9hms.]+ .*>?[0-9.]+ k?B/s'; }
wait_for 20 'one to show its link' has_two
(($(grep -cE '^[0-9a-f]{8} 127.0.0.1:[0-9]+ +(this|live) ' "$dir/said.out") == 2)) ||
    fail 'the status does not show two members'
wait_for 20 'two to have joined' answers two
expect 0 '"open":true,"dialled":true,"listens":true' "${status[@]}" --state "$dir/two" --json
expect 0 '"rate_age_s":[0-9.e-]+,' "${status[@]}" --state "$dir/two" --json
expect 0 '"neighbours":1,"members_live":2' "${status[@]}" --state "$dir/two" --json

tell 'top draws on any terminal'
wait_for 20 'one to report its samples' shows one '"samples":[1-9][^{}]*"is_self":true'
# Runs top with q already typed, so that it draws once: top_on COLUMNS ENVIRONMENT
top_on() {
    script -qec "stty rows 30 cols $1; env $2 '$hearsay' top --state '$dir/one'" /dev/null \
        >"$dir/top.out" 2>&1 <<<q || fail "top with $2 ends with $?"
}
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    top_on 60 'TERM=xterm LC_ALL=C.UTF-8 NO_COLOR='
    says "$dir/top.out" 'MEMBER   STATE SAMPLES ' || fail 'no members'
    says "$dir/top.out" $'this  \033\\[32m[█▉▊▋▌▍▎▏░]{6}\033\\[m +[0-9]+ % ' || fail 'no bar'
    top_on 60 'TERM=xterm LC_ALL=C NO_COLOR=1'
    says "$dir/top.out" 'this  [#.]{6} +[0-9]+ % ' || fail 'no bar in ASCII without colours'
    ! says "$dir/top.out" $'\033\\[3[0-9]m' || fail 'colours in spite of NO_COLOR'
    (top_on 80 'TERM=dumb') 2>/dev/null && fail 'top on a terminal that cannot be drawn on'
    says "$dir/top.out" 'needs a terminal with cursor movement' || fail 'top does not report the unsuitable terminal'
fi

tell 'a node that has not joined yet answers with 3'
start early --set "node.peers=127.0.0.1:1"
wait_for 20 'early to answer' eval 'answers early; (($? == 3))'
says "$dir/said.out" ': joining$' || fail 'the status does not show the stage'

tell 'a node without a reachable peer trains and is not ready'
is_alone() { answers early || (($? == 3)) && says "$dir/said.out" '^  alone: '; }
wait_for 40 'early to be alone' is_alone
says "$dir/said.out" ': running$' || fail 'early does not train'
says "$dir/said.out" 'no neighbour for [0-9]' || fail 'the status lacks the time without a peer'
says "$dir/said.out" '^ +127.0.0.1:1 cannot be reached: connection refused' || fail 'its message lacks the reason'
expect 3 '"stage":"running","healthy":false,"peers_configured":1,"alone_s":[0-9.]+,"alone_reason":"127' \
    "${status[@]}" --state "$dir/early" --json
wait_for 20 'early to warn on standard error' says "$dir/early.err" 'alone: no neighbour for 1'

tell 'two signals at the same time count as one'
kill -STOP "${pid[early]}" # so that both signals arrive at once
kill -TERM "${pid[early]}"
kill -INT "${pid[early]}"
kill -CONT "${pid[early]}"
reap early 0
says "$dir/early.err" 'left the swarm' || fail 'early did not leave'
! says "$dir/early.err" 'second signal' || fail 'the second signal counted'

tell 'a node of another model is also alone'
start other --set "node.peers=$address" --set 'model.layers=dense 20, relu, dense 10' --alone
other_is_alone() { answers other || (($? == 3)) && says "$dir/said.out" 'theirs'; }
wait_for 40 'other to be alone' other_is_alone

tell 'a later second signal ends a node at once'
kill -STOP "${pid[two]}" # node one must wait for it
kill -TERM "${pid[one]}"
wait_for 20 'one to be leaving' notes one '"note":"leaving"'
ends_at_last() { kill -TERM "${pid[one]}" 2>/dev/null; says "$dir/one.err" 'second signal \(15\): ending at once'; }
wait_for 30 'a signal to count' ends_at_last
reap one 0
kill -CONT "${pid[two]}"
leave other
start one --set "node.listen=$address"
wait_for 20 'one to answer' answers one

tell 'a state folder can have only one node'
node=("$hearsay" node "${small[@]}" --set "node.identity=$dir/two.key"
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/one")
expect 1 "another node uses this state_dir \($dir/one\)" "${node[@]}"
expect 0 "\"id\":\"$id\"" "${status[@]}" --state "$dir/one" --json # the first node still runs

tell 'a stopped node does not answer'
kill -STOP "${pid[two]}"
expect 1 "process ${pid[two]}\) has not answered within 5 s: it is stopped" \
    "${status[@]}" --state "$dir/two"
kill -CONT "${pid[two]}"
wait_for 20 'two to answer again' answers two

tell 'a socket of a killed node does not prevent a start'
kill -KILL "${pid[two]}"
wait "${pid[two]}" 2>/dev/null || true
[[ -S $dir/two/status.sock ]] || fail 'the socket is gone' # otherwise the next line tests nothing
expect 1 'no node runs with' "${status[@]}" --state "$dir/two"
start two --set "node.peers=$address"
wait_for 20 'two to answer' answers two

tell 'a leaving node removes its socket'
leave two
leave one
[[ ! -e $dir/one/status.sock ]] || fail 'the socket is left'
expect 1 'no node runs with' "${status[@]}" --state "$dir/one"

printf '%3d s  done\n' "$SECONDS"
