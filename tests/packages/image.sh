#!/usr/bin/env bash
# Tests the container image: image.sh [FOLDER]
#
#   dist/*.tar.gz ─► configs/deploy/oci/build-image ─► the image ─► its user, volume, health check
#                                                               └─► two containers, one model
#
# No container runtime is needed: buildah runs the containers in a chroot each, as the image's user.
# Exits with 77 if a tool or a privilege is missing (with 1 if REQUIRE_PACKAGES is set).
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=${here%/tests/*}
dist=$(realpath -- "${1:-$root/dist}")
work=$(mktemp -d "${TMPDIR:-/tmp}/hearsay-image-XXXXXX")
readonly here root dist work
readonly most_bytes=80000000 small='dense 16, relu, dense 10'
export OPENBLAS_NUM_THREADS=1

skip() {
    echo "skipped: $*"
    [[ -z ${REQUIRE_PACKAGES:-} ]] || exit 1
    exit 77
}
fail() {
    printf 'FAILED: %s\n' "$*" >&2
    tail -n 20 "$work"/*.out >&2
    exit 1
}

for tool in buildah mmdebstrap jq; do
    command -v "$tool" >/dev/null || skip "no $tool (Debian package $tool)"
done
((EUID == 0)) || skip 'needs root; or run it in: buildah unshare'

printf '{"default":[{"type":"insecureAcceptAnything"}]}' >"$work/policy.json"
images() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs "$@"; }
inside() { # container, command
    local container=$1
    shift
    images run --isolation chroot --env OPENBLAS_NUM_THREADS=1 "$container" -- "$@"
}

declare -A pids=()
leave() {
    local name
    for name in "${!pids[@]}"; do
        # shellcheck disable=SC2016 # for the shell in the container
        inside "$name" sh -c 'kill -KILL "$(cat pid)"' 2>/dev/null || true
    done
    wait
    images rm --all >/dev/null 2>&1 || true
    rm -rf -- "$work"
}
trap leave EXIT

echo 'the image'
image=$("$root/configs/deploy/oci/build-image" "$dist")
for name in one two; do
    images from --signature-policy "$work/policy.json" --name "$name" "docker-archive:$image" \
        >"$work/from.out" 2>&1 || fail 'the image cannot be loaded'
done
bytes=$(stat -c %s "$image")
echo "$bytes bytes, not compressed"
((bytes <= most_bytes)) || fail "more than $most_bytes"
config=$(images inspect --type container one | jq .Docker.config)
holds() { jq -e "$1" <<<"$config" >/dev/null || fail "not so: $1"; }
holds '.User == "7770:7770"'
holds '.Volumes | keys == ["/var/lib/hearsay"]'
holds '.WorkingDir == "/var/lib/hearsay" and .Entrypoint == ["hearsay"] and .Cmd == ["node"]'
holds '.StopSignal == "SIGTERM" and .Healthcheck.Test[0] == "CMD-SHELL"'
health=$(jq -r '.Healthcheck.Test[1]' <<<"$config")
healthy() { inside "$1" sh -c "$health" >/dev/null 2>&1; }

echo 'its program, as a user without a privilege'
inside one hearsay --version
# shellcheck disable=SC2016 # for the shell in the container
inside one sh -c 'while read -r key value; do case $key in Uid: | CapEff:) echo "$key" $value ;; esac
    done </proc/self/status' >"$work/user.out"
grep -qx 'Uid: 7770 7770 7770 7770' "$work/user.out" || fail 'the container runs as another user'
grep -qx 'CapEff: 0000000000000000' "$work/user.out" || fail 'the container has capabilities'
! inside one sh -c ': >/usr/local/bin/hearsay' 2>/dev/null || fail 'the container can write its program'
inside one sh -n /usr/local/bin/hearsay-pod || fail hearsay-pod
! healthy one || fail 'healthy, and nothing runs'

echo 'two containers come to one model'
inside one hearsay swarmkey >/dev/null
inside one cat swarm.key | inside two sh -c 'umask 077; cat >swarm.key'
start() { # container, then options of the node
    local name=$1
    shift
    inside "$name" hearsay keygen >/dev/null
    # shellcheck disable=SC2016 # for the shell in the container
    inside "$name" sh -c 'echo $$ >pid; exec hearsay node "$@"' sh --set data.source=generated \
        --set data.train_count=600 --set data.test_count=200 --set "model.layers=$small" \
        --log log "$@" >"$work/$name.out" 2>&1 &
    pids[$name]=$!
}
until_so() { # description, command; fails if a container has ended
    local what=$1 name
    shift
    until "$@"; do
        for name in "${!pids[@]}"; do
            kill -0 "${pids[$name]}" 2>/dev/null || fail "$name ended before: $what"
        done
        sleep 0.2
    done
}
logged() { inside "$1" cat log 2>/dev/null | grep -qE -- "$2"; }
start one --set node.listen=127.0.0.1:0
until_so 'one listens' logged one '"note":"started".*"address"'
address=$(inside one cat log | sed -n 's/.*"note":"started".*"address":"\([^"]*\)".*/\1/p')
start two --set node.listen=none --set "node.peers=$address"
until_so 'two has learned' logged two '"steps":[1-9].*"neighbours":1'
for name in one two; do
    healthy "$name" || fail "$name is not healthy"
done
for name in one two; do
    # shellcheck disable=SC2016 # for the shell in the container
    inside "$name" sh -c 'kill -TERM "$(cat pid)"'
done
for name in one two; do
    wait "${pids[$name]}" || fail "$name failed"
    unset "pids[$name]"
done
digest() { inside "$1" cat log | sed -n 's/.*"base_digest":"\([0-9a-f]*\)".*/\1/p' | tail -n 1; }
[[ -n $(digest one) && $(digest one) == "$(digest two)" ]] || fail 'digests differ'
echo "one model: $(digest one)"
