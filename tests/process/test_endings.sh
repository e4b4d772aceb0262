#!/usr/bin/env bash
# A node ends when its terminal is closed, except under nohup and the like: test_endings.sh HEARSAY
set -euo pipefail

# Restores the default of SIGHUP, because the tests may run under nohup.
[[ ${HUP_IS_DEFAULT:-} ]] || HUP_IS_DEFAULT=1 exec env --default-signal=HUP bash "$0" "$@"

# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

learns() { shows "$1" '"stage":"running"' && ! says "$dir/page.out" '"steps":0,'; }
has_saved() { says "$dir/$1.err" "saved the base as $dir/$1/base.safetensors" && [[ -s $dir/$1/base.safetensors ]]; }
has_scored() { says "$dir/$1.err" 'the base at the end: .*; accuracy [0-9.]+ %, loss .* on 200 test samples'; }

tell 'SIGHUP ends a node as SIGTERM does'
start one
wait_for 20 'one to learn' learns one
kill -HUP "${pid[one]}"
reap one 0
has_saved one || fail 'one did not save its base'

tell 'it scores the saved base, although it ends before its first evaluation'
has_scored one || fail 'one did not score its base'
! notes one '"note":"evaluated"' || fail 'one had evaluated its base before'

tell 'a second signal soon after counts as one'
start two
wait_for 20 'two to learn' learns two
kill -HUP "${pid[two]}"
kill -TERM "${pid[two]}" 2>/dev/null || true
reap two 0
has_saved two || fail 'two did not save its base'

tell 'a node under nohup continues'
trap '' HUP
start three
trap - HUP
wait_for 20 'three to learn' learns three
kill -HUP "${pid[three]}"
learns three || fail 'three stopped learning'
alive three || fail 'three has ended'
leave three

tell 'a node without a step cannot know how long a score takes, and says so'
start relay --set train.enabled=no
wait_for 20 'the relay to run' shows relay '"stage":"running"'
leave relay
says "$dir/relay.err" "the base is not scored, because that may take longer than 5 s; 'hearsay eval' scores it" ||
    fail 'the relay does not say why its base has no score'

tell 'a node that lacks blocks of its base scores none, and says so'
start donor --set exchange.serve_bytes_per_s=1 --set 'model.layers=dense 100, relu, dense 10'
wait_for 20 'the donor to learn' learns donor
start joiner --set model.seed=2 --set 'model.layers=dense 100, relu, dense 10' --set train.evaluate_s=0.5 \
    --set node.grace_s=1 --set "node.peers=$(address_of donor)"
wait_for 20 'the joiner to wait with its evaluation' notes joiner 'the evaluation waits until this node has the swarm.s base'
kill -TERM "${pid[joiner]}"
reap joiner 1
says "$dir/joiner.err" 'the base was incomplete .* no new checkpoint is saved' || fail 'the joiner has saved a part'
says "$dir/joiner.err" 'the base is not scored, because it is incomplete' || fail 'the joiner does not say that it scores no base'
! says "$dir/joiner.err" 'accuracy' || fail 'the joiner scores a base that it does not have'
leave donor

tell 'a node saves and ends when its terminal closes'
"$hearsay" keygen "$dir/four.key" >/dev/null
python3 - "$dir/four.out" "$dir/four.log" "$hearsay" node "${small[@]}" --set "node.identity=$dir/four.key" \
    --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/four" --log "$dir/four.log" <<'P' || fail 'exit code'
import os, pty, select, sys
out, log, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
while not os.path.exists(log) or '"steps"' not in open(log).read():
    if select.select([terminal], [], [], 0.05)[0]:
        os.read(terminal, 65536)
os.close(terminal)
_, status = os.waitpid(pid, 0)
sys.exit(status != 0)
P
[[ -s $dir/four/base.safetensors ]] || fail 'four did not save its base'

echo "all endings are as they should be"
