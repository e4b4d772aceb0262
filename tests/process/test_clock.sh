#!/usr/bin/env bash
# The wall clock of a node jumps, forward and back, by an hour and by a year. It must continue to
# train, all peers must keep it, and no incarnation may repeat, not even if its state is lost:
# test_clock.sh HEARSAY FAULTS
set -euo pipefail
# shellcheck source=tests/process/faults_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_story.sh"

readonly hour=3600 year=31536000
nodes=(--set node.save_s=0.5 --set exchange.interval_s=1 --set node.verbose=yes)
together() { shows one '"members_live":2,' && shows two '"members_live":2,'; }

tell 'two nodes'
start_faulty one "${nodes[@]}" --set data.shard=1/2
start two "${nodes[@]}" --set data.shard=2/2 --set "node.peers=$(address_of one)"
wait_for 30 'both nodes to be connected' together

for jump in "$hour" 0 "-$hour" "$year" "-$year" 0; do
    tell "the clock is wrong by $jump s"
    suffers "$jump" 0
    again one 'a checkpoint is on disk'
    trains one
    heard=$(rumors two)
    wait_for 30 'two to receive more of its rumors' has_heard two "$heard"
    together || fail 'the other node is lost'
    ! notes two '"note":"neighbour_lost"' || fail 'two has lost it'
done

come_again() {
    local before
    before=$(incarnation one)
    suffers "$1" 0
    start_faulty one "${nodes[@]}" --set data.shard=1/2 --set "node.peers=$(address_of two)"
    wait_for 30 'both nodes to be connected again' together
    (($(page one && sed -n 's/.*"address":"[^"]*","incarnation":\([0-9]*\).*/\1/p' "$dir/page.out") >= before)) ||
        fail "an incarnation is used again: $before is the smallest free one"
}
for jump in "-$year" "$year" 0; do
    tell "a start with a clock that is wrong by $jump s"
    leave one
    wait_for 30 'two to be alone' shows two '"members_live":1,'
    rm "$dir/one.log"
    come_again "$jump"
done

(($(incarnation one) > (EPOCHSECONDS + year / 2) * 1000)) || fail 'the clock was never wrong'

tell 'a start without its state, with a clock that is a year slow'
leave one
wait_for 30 'two to be alone' shows two '"members_live":1,'
before=$(incarnation one)
rm -r "$dir/one" "$dir/one.log"
suffers "-$year" 0
start_faulty one "${nodes[@]}" --set data.shard=1/2 --set "node.peers=$(address_of two)"
wait_for 60 'one to continue above its earlier life' notes one \
    '"level":"warning".*an earlier start of this node had a later incarnation .* clock was set back'
wait_for 60 'both nodes to be connected again' together
(($(incarnation one) > before)) || fail "an incarnation is used again: $before is the smallest free one"
! notes one 'limits.incarnations' || fail 'one blames the table of incarnations'

tell 'both nodes end with one model'
leave_together one two
! grep -h '"level":"error"' "$dir/one.log" "$dir/two.log" || fail 'a node logged an error'

printf '%3d s  done\n' "$SECONDS"
