#!/usr/bin/env bash
# Runs a node as a user's own service: test_user_service.sh HEARSAY. A real systemd, in its own
# namespaces (processes, /run), runs the unit and the command of configs/deploy/systemd/README.md.
# Exits with 77 if systemd is missing or the namespaces cannot be made.
set -euo pipefail
hearsay=$(realpath -- "$1")
here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
readonly here deploy=$here/../../configs/deploy/systemd

skip() {
    echo "skipped: $*"
    exit 77
}

if [[ ${USER_SERVICE:-} != inside ]]; then
    [[ -x /lib/systemd/systemd ]] || skip 'no systemd'
    own=(--mount --pid --ipc --fork --kill-child --mount-proc)
    unshare "${own[@]}" true 2>/dev/null || skip 'cannot create namespaces; run this as root'
    USER_SERVICE=inside exec unshare "${own[@]}" "$BASH" "$0" "$hearsay"
fi

# shellcheck source=tests/process/story.sh
source "$here/story.sh"
skip_if_sanitized 'the system calls that a unit leaves'
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/user/0
chmod 0700 /run/user/0
group=$(find /sys/fs/cgroup -maxdepth 1 -name systemd)
group=${group:-/sys/fs/cgroup}/hearsay-test-$$
if ! mkdir "$group" || ! echo $$ >"$group/cgroup.procs"; then
    skip 'no control group may be made'
fi
export XDG_RUNTIME_DIR=/run/user/0 HOME=$dir/home OPENBLAS_NUM_THREADS=1 CUDA_VISIBLE_DEVICES=
unset DBUS_SESSION_BUS_ADDRESS
mkdir -p "$HOME/.config/systemd/user" "$HOME/hearsay" "$dir/bin"
ln -s "$hearsay" "$dir/bin/hearsay"

tell "a user's manager"
/lib/systemd/systemd --user >"$dir/manager.out" 2>&1 &
pid[manager]=$!
has_started() { systemctl --user is-system-running 2>/dev/null | grep -qE '^(running|degraded)$'; }
until has_started; do
    alive manager || skip "systemd --user does not run here: $(tail -n 1 "$dir/manager.out")"
    sleep 0.1
done

is() { [[ $(systemctl --user show --value -p "$2" "$1") == "$3" ]]; }
main_pid() { systemctl --user show --value -p MainPID "$1"; }

tell 'the unit becomes ready, restarts after a crash, and saves when it stops'
sed "s|^ExecStart=hearsay |ExecStart=$hearsay |; s|^RestartSec=.*|RestartSec=0|" \
    "$deploy/user/hearsay.service" >"$HOME/.config/systemd/user/hearsay.service"
cd "$HOME/hearsay"
"$hearsay" keygen >/dev/null
"$hearsay" swarmkey >/dev/null
cat >node.conf <<'CONF'
[node]
listen = 127.0.0.1:0
[data]
source = generated
train_count = 600
test_count = 200
[model]
layers = dense 16, relu, dense 10
CONF
systemctl --user daemon-reload
systemctl --user start hearsay # returns when the node is ready
is hearsay ActiveState active || fail 'the unit is not active'
"$hearsay" status | grep -q 'running' || fail 'the node does not answer'
first=$(main_pid hearsay)
kill -KILL "$first"
is_another() { is hearsay ActiveState active && [[ $(main_pid hearsay) != "$first" ]]; }
wait_for 20 'the node to come again' is_another
systemctl --user stop hearsay
is hearsay Result success || fail "stopped with $(systemctl --user show -p Result hearsay)"
[[ -s state/base.safetensors ]] || fail 'the node did not save its base'

tell 'a mistake in the configuration causes no restart'
echo 'no_such_key = 1' >>node.conf
systemctl --user reset-failed hearsay 2>/dev/null || true
! systemctl --user start hearsay 2>/dev/null || fail 'the node started with an invalid configuration'
if ! is hearsay ActiveState failed || ! is hearsay NRestarts 0; then
    fail 'systemd restarts the unit'
fi
sed -i '$d' node.conf

tell 'the command of the page: systemd-run'
rm -r state
# shellcheck disable=SC2016 # backquotes in the page
sed -n '/^systemd-run --user/,/[^\\]$/p' "$deploy/README.md" |
    sed '$s/node .*/node --config node.conf/' >"$dir/line"
[[ -s $dir/line ]] || fail 'there is no such line'
PATH=$dir/bin:$PATH "$BASH" -e "$dir/line" 2>/dev/null || fail 'the command of the page does not start'
is hearsay-once ActiveState active || fail 'the unit is not active'
is hearsay-once RestartPreventExitStatus '2 4 6' || fail 'RestartPreventExitStatus differs'
systemctl --user stop hearsay-once
[[ -s state/base.safetensors ]] || fail 'the node did not save its base'

tell 'done'
kill -TERM "${pid[manager]}"
wait "${pid[manager]}" || true
unset 'pid[manager]'
echo $$ >"${group%/*}/cgroup.procs"
find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
