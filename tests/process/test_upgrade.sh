#!/usr/bin/env bash
# Upgrades a swarm of real nodes from the previous release, node by node: test_upgrade.sh HEARSAY FOLDER
# Builds that release once, from the Git history, in FOLDER. Exit code 77: the history or a build tool
# is missing, unless REQUIRE_PREVIOUS=1.
set -euo pipefail

# The commit of the previous release. Each release updates it.
readonly previous=f35118b961fecc68753704b7e415b0963ed34b8a speaks=11
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

skip() {
    echo "skipped: $*"
    [[ -z ${REQUIRE_PREVIOUS:-} ]] || exit 1
    exit 77
}

build_previous() {
    local folder=$1/$previous
    [[ ! -x $folder/build/hearsay ]] || return 0
    command -v git >/dev/null || skip 'no git to take the release before from the history'
    git -C "$root" cat-file -e "$previous^{commit}" 2>/dev/null ||
        skip "no commit $previous here: git fetch --unshallow"
    command -v ninja >/dev/null || skip 'no ninja to build the release before'
    ! command -v ccache >/dev/null ||
        export CCACHE_BASEDIR=$folder CCACHE_NOHASHDIR=1 CMAKE_C_COMPILER_LAUNCHER=ccache \
            CMAKE_CXX_COMPILER_LAUNCHER=ccache
    rm -rf -- "$folder"
    mkdir -p -- "$folder"
    git -C "$root" archive "$previous" | tar -x -C "$folder"
    { cmake -G Ninja -S "$folder" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DTESTS=OFF &&
        ninja -C "$folder/build" hearsay; } >"$folder/log" 2>&1 || {
        tail -n 20 "$folder/log" >&2
        echo 'FAILED: the release before cannot be built' >&2
        exit 1
    }
}

printf '%3d s  %s\n' "$SECONDS" 'the release before is built'
build_previous "$2"
older=$2/$previous/build/hearsay

# shellcheck source=tests/process/story.sh
source "$root/tests/process/story.sh"
newer=$hearsay
nodes=(--set exchange.interval_s=1 --set limits.silence_s=120 --set limits.handshake_s=60 --set node.save_s=1)

# Starts a node of a release: start_release PROGRAM NAME SHARD [OPTION...]
start_release() {
    local hearsay=$1 # `start` runs this variable
    start "$2" "${nodes[@]}" --set "data.shard=$3/4" "${@:4}"
}

# Returns success if this node has that many neighbours in this version.
speaks_with() {
    page "$1"
    (($(grep -o "\"open\":true[^{}]*\"protocol\":$2," "$dir/page.out" | wc -l) == $3))
}

nobody_complains() {
    ! grep -hE '"level":"(warning|error)"|"note":"refused"|"note":"dial_failed"' "$dir"/*.log "$dir"/*.log.before ||
        fail 'a node logged a complaint'
}

tell 'two nodes of the previous release and two of this one connect'
start_release "$older" old 1
old=$(address_of old)
start_release "$newer" new 2 --set "node.peers=$old"
new=$(address_of new)
start_release "$older" old-too 3 --set "node.peers=$new"
start_release "$newer" new-too 4 --set "node.peers=$old, $new"
for name in old new old-too new-too; do
    wait_for 40 "$name to be connected to the others" shows "$name" '"neighbours":3,'
    wait_for 40 "$name to have learned" shows "$name" '"rumors_published":[1-9]'
done

tell 'neighbours use the newest common protocol version'
for name in new new-too; do
    wait_for 20 "$name to speak $speaks with two" speaks_with "$name" "$speaks" 2
    wait_for 20 "$name to speak $((speaks + 1)) with one" speaks_with "$name" $((speaks + 1)) 1
    notes "$name" 'is a neighbour .*; it runs the previous release' || fail "$name does not say it"
done

tell 'the doctor of each release can check the other'
doctor=("${small[@]}" --set "node.swarm_key=$dir/swarm.key" --set "node.identity=$dir/guest.key"
    --set "node.state_dir=$dir/guest")
"$newer" keygen "$dir/guest.key" >"$dir/said.out"
expect 0 '^ok +peer .* accepts this node; it runs the previous release' "$newer" doctor "${doctor[@]}" \
    --set "node.peers=$old"
expect 0 '^ok +peer .* accepts this node$' "$newer" doctor "${doctor[@]}" --set "node.peers=$new"
expect 0 '^ok +peer .* lets us in$' "$older" doctor "${doctor[@]}" --set "node.peers=$new"

tell 'one node is upgraded during training and continues from its checkpoint'
leave old-too
mv "$dir/old-too.log" "$dir/old-too.log.before"
start_release "$newer" old-too 3 --set "node.peers=$new"
wait_for 40 'the upgraded node to continue' notes old-too '"note":"resumed"'
wait_for 40 'the upgraded node to be back' shows old-too '"neighbours":3,'
wait_for 40 'the upgraded node to learn' shows old-too '"rumors_published":[1-9]'
wait_for 20 'the upgraded node to use the newer version' speaks_with old-too $((speaks + 1)) 2
wait_for 20 'the upgraded node to use the older version' speaks_with old-too "$speaks" 1

tell 'the four nodes end with one model and without a complaint'
leave_together old new old-too new-too
nobody_complains

printf '%3d s  done\n' "$SECONDS"
