#!/usr/bin/env bash
# The disk of a node becomes full, broken or read-only. The node must report it, continue to train, and
# save again once the disk works: test_disk.sh HEARSAY FAULTS
# Mounts small disks in memory, which only root may do. Otherwise that part is skipped.
set -euo pipefail
if [[ -z ${HEARSAY_MOUNTS:-} ]]; then
    can=no
    if ((EUID == 0)) && unshare --mount --propagation private mount -t tmpfs none /mnt 2>/dev/null; then
        can=yes
    fi
    [[ $can == no ]] || exec env HEARSAY_MOUNTS=yes unshare --mount --propagation private bash "$0" "$@"
    export HEARSAY_MOUNTS=no
fi
# shellcheck source=tests/process/faults_story.sh
source "$(dirname "${BASH_SOURCE[0]}")/faults_story.sh"

put_disks_away() {
    local code=$? mounted
    for mounted in "$dir/small" "$dir/one" "$dir/one"; do
        umount --lazy "$mounted" 2>/dev/null || true
    done
    (exit "$code")
    cleanup
}
trap put_disks_away EXIT

"$hearsay" operatorkey "$dir/operator.key" >"$dir/said.out"
operator=$(sed -n 's/^node.operator = //p' "$dir/said.out")
nodes=(--set "node.operator=$operator" --set node.save_s=0.5 --set exchange.interval_s=1 --set node.verbose=yes)
by=(--key "$dir/operator.key" --state "$dir/two")

# The node's disk must contain a checkpoint from which it can start.
is_whole() {
    rm -rf -- "$dir/copy"
    mkdir "$dir/copy"
    until cp -- "$dir/$1"/checkpoint-*[0-9] "$dir/copy" 2>/dev/null; do # retries if the node removed an older one
        continue
    done
    expect 0 "^ok +checkpoint: $dir/copy/.*: the node continues from it" "$hearsay" doctor "${small[@]}" \
        "${nodes[@]:0:2}" --set "node.identity=$dir/$1.key" --set "node.swarm_key=$dir/swarm.key" \
        --set "node.state_dir=$dir/copy"
}

begin() {
    start one "${nodes[@]}" --set data.shard=1/2
    wait_for 20 'one to save' notes one 'a checkpoint is on disk'
    start two "${nodes[@]}" --set data.shard=2/2 --set "node.peers=$(address_of one)"
    wait_for 20 'both nodes to be connected' shows one '"members_live":2,'
}

# Checks node one while its disk fails with this error.
suffer() {
    local how=$1 order
    again one "checkpoint.*$how|cannot be (written|made).*$how"
    trains one
    is_whole one
    expect 0 '^order [0-9]+: the swarm gets a new key' "$hearsay" rekey "${by[@]}" --anyone --both 24
    order=$(sed -n 's/^order \([0-9]*\):.*/\1/p' "$dir/said.out")
    wait_for 20 'one to have the key' shows one "\"order\":$order,\"missing\":0"
    wait_for 20 'one to report that it cannot save the key' says "$dir/one.err" "swarm\.key(\.older)?: cannot.*$how"
    [[ ! -e $dir/one/swarm.key ]] || ! cmp -s "$dir/one/swarm.key" "$dir/two/swarm.key" ||
        fail 'the key is there'
}
recover() {
    again one 'a checkpoint is on disk'
    wait_for 30 'one to have kept the key' cmp -s "$dir/one/swarm.key" "$dir/two/swarm.key"
    wait_for 30 'one to report it' says "$dir/one.err" 'swarm.key is on disk now'
    wait_for 30 'one to have kept the orders' cmp -s "$dir/one/orders" "$dir/two/orders"
    is_whole one
    trains one
}

tell 'a disk whose writes fail'
start_faulty one "${nodes[@]}" --set data.shard=1/2
wait_for 20 'one to save' notes one 'a checkpoint is on disk'
start two "${nodes[@]}" --set data.shard=2/2 --set "node.peers=$(address_of one)"
wait_for 20 'both nodes to be connected' shows one '"members_live":2,'
suffers 0 5 # errno 5: EIO
suffer 'Input/output error'
expect 0 '^order [0-9]+: the swarm gets a new key' "$hearsay" rekey --key "$dir/operator.key" --state "$dir/one" --anyone --both 24
[[ -s $dir/one/swarm.key.next ]] || fail 'the only copy of the key on the disk is gone'
[[ -s $dir/one/order ]] || fail 'the only copy of the order on the disk is gone'
suffers 0 0
recover
[[ ! -e $dir/one/swarm.key.next ]] || fail 'the key is left in a second file'
wait_for 20 'one to remove the order that it has saved' test ! -e "$dir/one/order"
first=$(incarnation one)
leave_together one two

tell 'a node does not start with a disk that cannot keep its incarnation'
cp "$dir/one/incarnation" "$dir/incarnation.before"
suffers 0 5
start_faulty one "${nodes[@]}"
reap one 1
says "$dir/one.err" 'incarnation.*Input/output error' || fail 'its message lacks the reason'
cmp -s "$dir/one/incarnation" "$dir/incarnation.before" || fail 'the failed start changed the incarnation'
((first > 0)) || fail 'no incarnation'

if [[ $HEARSAY_MOUNTS != yes ]]; then
    echo '     skipped: only root may mount a small disk'
    printf '%3d s  done\n' "$SECONDS"
    exit
fi

tell 'a disk that is full'
rm -rf -- "${dir:?}/one" "${dir:?}/two" "$dir"/*.log
mkdir "$dir/one"
mount -t tmpfs -o size=2m none "$dir/one"
begin
fill() { dd if=/dev/zero of="$dir/one/filler" bs=4096 2>/dev/null || true; }
fill
suffer 'No space left'
rm "$dir/one/filler"
recover
kill -KILL "${pid[one]}"
wait "${pid[one]}" 2>/dev/null || true
unset 'pid[one]'
before=$(incarnation one)
fill
start one "${nodes[@]}"
reap one 1
says "$dir/one.err" 'incarnation.*No space left' || fail 'the message lacks the reason'
[[ $(incarnation one) == "$before" ]] || fail 'the failed start changed the incarnation'
rm "$dir/one/filler" "$dir/one.log"

tell 'a disk that becomes read-only'
start one "${nodes[@]}" --set data.shard=1/2 --set "node.peers=$(address_of two)"
wait_for 20 'one to be back' shows one '"members_live":2,'
(($(incarnation one) > before)) || fail 'an incarnation is used again'
again one 'a checkpoint is on disk'
mount --bind "$dir/one" "$dir/one" # the node uses this mount from now on
mount -o remount,bind,ro "$dir/one"
suffer 'Read-only file system'
mount -o remount,bind,rw "$dir/one"
recover
leave_together one two

tell 'a log on a disk that is full for a while'
mkdir -p "$dir/small"
mount -t tmpfs -o size=64k none "$dir/small"
dd if=/dev/zero of="$dir/small/filler" bs=4096 2>/dev/null || true
start three --log "$dir/small/log"
wait_for 20 'three to report it' says "$dir/three.err" 'the log cannot be written: No space left.*the node continues'
rm "$dir/small/filler"
wait_for 20 'three to go on with it' says "$dir/three.err" 'the log can be written again'
wait_for 20 'a line' says "$dir/small/log" '"samples'
leave three

printf '%3d s  done\n' "$SECONDS"
