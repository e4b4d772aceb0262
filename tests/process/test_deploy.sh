#!/usr/bin/env bash
# The start commands in configs/deploy: test_deploy.sh HEARSAY
# Parts that need a missing tool are skipped with a message. slurm.sh tests a real Slurm.
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
readonly root
readonly deploy=$root/configs/deploy
readonly scripts=("$deploy/slurm/hearsay.sbatch" "$deploy/slurm/hearsay-task"
    "$deploy/kubernetes/hearsay-pod")

skip() { printf '     skipped: %s\n' "$*"; }
has() { command -v "$1" >/dev/null; }

# hearsay node must accept these arguments. Writes the resulting configuration to config.out.
accepted() {
    "$hearsay" "$@" --print-config >"$dir/config.out" 2>"$dir/config.err" || fail "refused: $*"
}
gives() { says "$dir/config.out" "^$1 = $2\$" || fail "not $1 = $2"; }

# The seconds ($1) that a manager waits must suffice for node.grace_s and half a minute of saving.
is_enough() {
    (($1 >= $(sed -n 's/^grace_s = //p' "$dir/config.out") + 30)) ||
        fail "nodes are killed while they leave, after $1 s"
}

tell 'scripts'
for script in "${scripts[@]}" "$root/tests/process/slurm.sh"; do
    bash -n "$script" || fail "$script"
done
for script in "${scripts[@]}"; do
    [[ -x $script ]] || fail "$script may not be executed"
done
if has shellcheck; then
    shellcheck "${scripts[@]}" "$root/tests/process/slurm.sh" || fail shellcheck
else
    skip 'no shellcheck'
fi

# A fake program that records its arguments, one per line.
mkdir "$dir/fake"
cat >"$dir/fake/hearsay" <<'SCRIPT'
#!/bin/sh
printf '%s\n' "$@" >>"$FAKE_CALLS"
[ "$1" != keygen ] || : >"$2"
SCRIPT
# A fake scontrol that prints $FAKE_HOSTS as lines.
cat >"$dir/fake/scontrol" <<'SCRIPT'
#!/bin/sh
[ "$*" = "show hostnames $FAKE_LIST" ] || exit 1
printf '%s\n' $FAKE_HOSTS
SCRIPT
chmod +x "$dir/fake/hearsay" "$dir/fake/scontrol"

called() { grep -qxF -- "$1" "$dir/calls" || fail "not called with $1"; }

# Runs hearsay-task: task NUMBER COUNT HOSTS TASKS_PER_MACHINE [ARGUMENT...], with tasks such as
# "2(x2),1".
task() {
    local number=$1 count=$2 hosts=$3 per_machine=$4
    shift 4
    rm -f -- "$dir/calls"
    env PATH="$dir/fake:$PATH" FAKE_CALLS="$dir/calls" FAKE_LIST='n[1-9]' FAKE_HOSTS="$hosts" \
        SLURM_SUBMIT_DIR="$dir/job" SLURM_STEP_NODELIST='n[1-9]' SLURM_PROCID="$number" \
        SLURM_NTASKS="$count" SLURM_STEP_TASKS_PER_NODE="$per_machine" "${task_with[@]}" \
        "$deploy/slurm/hearsay-task" "$@" 2>"$dir/task.err"
}
task_with=()
mkdir "$dir/job"

tell 'Slurm: tasks find the first of each machine'
task 0 1 n1 1 || fail 'task 0'
called node.peers=
called node.listen=0.0.0.0:7770
called data.shard=1/1
called train.threads=1
task 0 4 'n1 n2' '2(x2)' || fail 'task 0'
called node.peers=n2:7772
task 3 4 'n1 n2' '2(x2)' || fail 'task 3'
called node.peers=n1:7770,n2:7772
called node.listen=0.0.0.0:7773
called data.shard=4/4
called "node.state_dir=$dir/job/task-3"
task 2 4 'n1 n2' '2(x2)' || fail 'task 2' # the first task of its machine
called node.peers=n1:7770
task 9 12 'n1 n2 n3 n4 n5' '3,1(x3),6' || fail 'task 9'
called node.peers=n1:7770,n2:7773,n3:7774
task 6 12 'n1 n2 n3 n4 n5' '3,1(x3),6' || fail 'task 6'
called node.peers=n1:7770,n2:7773,n3:7774
task 4 12 'n1 n2 n3 n4 n5' '3,1(x3),6' || fail 'task 4'
called node.peers=n1:7770,n2:7773,n4:7775

tell 'Slurm: other arguments and messages of a task'
: >"$dir/job/node.conf"
mkdir "$dir/elsewhere"
task_with=(HEARSAY_PORT=9000 SLURM_CPUS_PER_TASK=3)
task 1 2 'n1 n2' '1(x2)' --set train.batch=64 || fail 'with options'
task_with=()
called node.listen=0.0.0.0:9001
called node.peers=n1:9000
called train.threads=3
called "$dir/job/node.conf"
[[ $(tail -n 2 "$dir/calls" | tr '\n' ' ') == '--set train.batch=64 ' ]] || fail 'its arguments'
[[ $(head -n 1 "$dir/calls") == keygen ]] || fail 'made no identity'
mapfile -t words < <(sed '1,2d' "$dir/calls")
accepted "${words[@]}"
gives shard 2/2
gives peers n1:9000
task 1 2 'n1 n2' '1(x2)' || fail 'again'
[[ $(head -n 1 "$dir/calls") == node ]] || fail 'made another identity'
[[ $(stat -c %a "$dir/job/task-1/node.key") == 600 ]] || fail 'its identity is open to others'
task_with=(HEARSAY_DIR="$dir/elsewhere")
task 0 1 n1 1 || fail 'in a folder of its own'
task_with=()
called "node.swarm_key=$dir/elsewhere/swarm.key"
! task 0 2 'n1 n2' 2 || fail 'hearsay-task does not notice a missing machine'
says "$dir/task.err" 'cannot match' || fail 'says nothing about it'

tell 'Kubernetes: a pod derives its settings from its name'
mkdir "$dir/etc" "$dir/secret" "$dir/state" "$dir/run"
sed -n '/^  node.conf: |$/,/^---$/{/^    /s///p}' "$deploy/kubernetes/hearsay.yaml" \
    >"$dir/etc/node.conf"
says "$dir/etc/node.conf" '^\[node\]$' || fail 'no node.conf in hearsay.yaml'
echo key >"$dir/secret/swarm.key"
chmod 0440 "$dir/secret/swarm.key"
pod() {
    local name=$1
    shift
    rm -f -- "$dir/calls"
    env PATH="$dir/fake:$PATH" FAKE_CALLS="$dir/calls" HOSTNAME="$name" HEARSAY_SERVICE=there \
        HEARSAY_SHARDS=4 HEARSAY_ETC="$dir/etc" HEARSAY_SECRET="$dir/secret" \
        HEARSAY_STATE="$dir/state" HEARSAY_RUN="$dir/run" \
        "$deploy/kubernetes/hearsay-pod" "$@" 2>"$dir/pod.err"
}
pod my-swarm-1 --set train.batch=64 || fail 'pod 1'
called node.peers=my-swarm-0.there:7770,my-swarm-2.there:7770
called data.shard=2/4
[[ $(stat -c %a "$dir/run/swarm.key") == 600 ]] || fail 'the swarm key is open to others'
mapfile -t words < <(sed '1,2d' "$dir/calls")
accepted "${words[@]}"
gives shard 2/4
gives batch 64
chmod 0660 "$dir/state/node.key" # as clusters set it on volumes
pod my-swarm-11 || fail 'pod 11'
called node.peers=my-swarm-0.there:7770,my-swarm-1.there:7770,my-swarm-2.there:7770
called data.shard=4/4
[[ $(head -n 1 "$dir/calls") == node ]] || fail 'made another identity'
[[ $(stat -c %a "$dir/state/node.key") == 600 ]] || fail 'its identity is open to others'
! pod somewhere || fail 'no ordinal, and it starts'

yaml() { sed -n "s/^ *$1: *\([^ ]*\).*/\1/p" "$deploy/kubernetes/hearsay.yaml"; }

tell 'Kubernetes: the manifests'
if has python3 && python3 -c 'import yaml' 2>/dev/null; then
    python3 -c 'import sys, yaml
kinds = [document["kind"] for document in yaml.safe_load_all(open(sys.argv[1]))]
sys.exit(kinds != ["ConfigMap", "Service", "PodDisruptionBudget", "StatefulSet"])' \
        "$deploy/kubernetes/hearsay.yaml" || fail 'hearsay.yaml'
else
    skip 'no python3 with yaml: whether hearsay.yaml is YAML'
fi
is_enough "$(yaml terminationGracePeriodSeconds)"
says "$deploy/kubernetes/hearsay.yaml" "HEARSAY_SHARDS, value: \"$(yaml replicas)\"" ||
    fail 'replicas and HEARSAY_SHARDS differ'
expect 0 '--state' "$hearsay" help status
expect 1 '.' "$hearsay" status --state "$dir/nowhere"

tell 'systemd: the units'
unit=$deploy/systemd/hearsay.service
diff <(sed 's/hearsay-%i/hearsay/; s/%i\.conf/node.conf/; s/node %i$/node/' \
    "$deploy/systemd/hearsay@.service") "$unit" || fail 'the two units differ in more than names'
# shellcheck disable=SC2016 # systemd expands these variables
mapfile -t words < <(sed -n '/^ExecStart=/,/[^\\]$/p' "$unit" |
    sed 's/^ExecStart=hearsay//; s/\\$//' |
    sed 's|${STATE_DIRECTORY}|/state|; s|${RUNTIME_DIRECTORY}|/run/here|' |
    sed "s|/etc/hearsay/node.conf|$root/configs/node.conf|" | tr -s ' ' '\n' | grep .)
accepted "${words[@]}"
gives state_dir /state
gives swarm_key /run/here/swarm.key
is_enough "$(sed -n 's/^TimeoutStopSec=//p' "$unit")"
user_unit=$deploy/systemd/user/hearsay.service
# A unit must start again however often its node fails. Only a mistake that a restart cannot correct
# keeps it down.
for name in "$unit" "$deploy/systemd/hearsay@.service" "$user_unit"; do
    grep -qx 'StartLimitIntervalSec=0' "$name" || fail "$name gives up after some failures"
    grep -qx 'Restart=on-failure' "$name" || fail "$name is not restarted"
    grep -qx 'RestartPreventExitStatus=2 4 6' "$name" || fail "$name keeps other failures down"
done
# shellcheck disable=SC2046 # words of a command line
accepted $(sed -n 's/^ExecStart=hearsay //p' "$user_unit" | sed "s|node.conf|$root/configs/node.conf|")
is_enough "$(sed -n 's/^TimeoutStopSec=//p' "$user_unit")"
if has systemd-analyze; then
    for name in hearsay.service hearsay@.service; do
        # systemd searches programs only in fixed folders, so give it the path.
        sed "s|^ExecStart=hearsay |ExecStart=$hearsay |" "$deploy/systemd/$name" >"$dir/$name"
        systemd-analyze verify "$dir/$name" &>"$dir/verify.out" || fail "$name"
        [[ ! -s $dir/verify.out ]] || fail "$name"
        # The page promises an exposure of at most 1.0 of 10. Older versions have no --threshold.
        if systemd-analyze --help | grep -q -- --threshold; then
            systemd-analyze security --offline=yes --threshold=10 "$dir/$name" &>"$dir/verify.out" ||
                fail "$name is exposed by more than 1.0"
        fi
    done
    mkdir "$dir/user"
    sed "s|^ExecStart=hearsay |ExecStart=$hearsay |" "$deploy/systemd/user/hearsay.service" \
        >"$dir/user/hearsay.service"
    HOME=$dir XDG_RUNTIME_DIR=$dir systemd-analyze --user verify "$dir/user/hearsay.service" \
        &>"$dir/verify.out" || fail 'the unit of a user'
    [[ ! -s $dir/verify.out ]] || fail 'the unit of a user'
else
    skip 'no systemd-analyze: whether it takes the units'
fi

tell 'systemd: notifications of a node'
if has perl; then
    # Prints each datagram as a line, with | for its line breaks.
    perl -MSocket -e '$| = 1; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0]))
        or die; while (defined recv(S, $_, 4096, 0)) { s/\n/|/g; print "$_\n" }' \
        "$dir/notify" >"$dir/notify.out" &
    pid[manager]=$!
    wait_for 10 'the socket' test -S "$dir/notify"
    export NOTIFY_SOCKET=$dir/notify WATCHDOG_USEC=600000
    start one
    unset NOTIFY_SOCKET WATCHDOG_USEC
    heard() { says "$dir/notify.out" "$1"; }
    wait_for 20 'READY=1' heard '^READY=1$'
    wait_for 20 'a status' heard '^STATUS=.*samples/s, loss .*, neighbours 0, members 1, published '
    lives() { (($(grep -cx WATCHDOG=1 "$dir/notify.out") >= 2)); }
    wait_for 20 'signs of life' lives
    [[ $(head -n 1 "$dir/notify.out") == READY=1 ]] || fail 'a message preceded READY=1'
    leave one
    wait_for 10 'STOPPING=1' heard '^STOPPING=1\|STATUS=leaving'
    (($(grep -cx READY=1 "$dir/notify.out") == 1)) || fail 'ready more than once'
else
    skip 'no perl'
fi

printf '%3d s  done\n' "$SECONDS"
