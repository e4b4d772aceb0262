#!/usr/bin/env bash
# Runs a swarm under a real Slurm on this machine: slurm.sh HEARSAY
#
# Starts a controller and two machines (slurmctld, two slurmd, munged), submits the job of
# configs/deploy/slurm, and checks the exit codes of its nodes: at the time limit, after a
# requeue and when cancelled. Takes about a minute. ./run test does not run it. It needs:
#   - root, for its own namespaces: it changes nothing outside of them and leaves nothing behind
#   - Debian's packages slurmctld slurmd slurm-client munge jq
set -euo pipefail

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
readonly root

tell() { printf '%3d s  %s\n' "$SECONDS" "$*"; }

fail() {
    local file
    printf 'FAILED: %s\n' "$*" >&2
    for file in "$dir"/*.log "$dir"/run/*.out; do
        [[ ! -s $file ]] || { printf '%s\n' "--- $file"; tail -n 15 "$file"; } >&2
    done
    exit 1
}

wait_for() {
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < until)) || fail "timed out waiting for: $what"
        sleep 0.5
    done
}

# Restarts the script in its own network, process, mount and host name namespaces, which end with
# it.
enter() {
    local tool
    for tool in slurmctld slurmd sbatch munged jq unshare; do
        command -v "$tool" >/dev/null || { echo "slurm.sh: no $tool here" >&2; exit 2; }
    done
    ((EUID == 0)) || { echo 'slurm.sh: needs root' >&2; exit 2; }
    dir=$(mktemp -d "${TMPDIR:-/tmp}/hearsay-slurm-XXXXXX")
    chmod 0711 "$dir" # required by munged
    trap 'rm -rf -- "$dir"' EXIT
    hearsay_in_slurm=$dir unshare --mount --net --uts --pid --fork --kill-child --mount-proc \
        nice bash "${BASH_SOURCE[0]}" "$1"
}

write_configuration() {
    cat >"$dir/hosts" <<TEXT
127.0.0.1 localhost
10.0.0.1 head
10.0.0.2 n1
10.0.0.3 n2
TEXT
    cat >"$dir/slurm.conf" <<TEXT
ClusterName=test
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/controller
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd-%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=n1 NodeHostname=head NodeAddr=n1 Port=17001 CPUs=4
NodeName=n2 NodeHostname=head NodeAddr=n2 Port=17002 CPUs=4
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE
TEXT
}

start_slurm() {
    hostname head
    ip link set lo up
    local i
    for i in 1 2 3; do # Slurm refuses addresses that begin with 127
        ip address add "10.0.0.$i/32" dev lo
    done
    write_configuration
    mount --bind "$dir/hosts" /etc/hosts
    export SLURM_CONF=$dir/slurm.conf
    mkdir "$dir/controller" "$dir/spool-n1" "$dir/spool-n2"
    head -c 128 /dev/urandom >"$dir/munge.key"
    chmod 0600 "$dir/munge.key"
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
        --pid-file="$dir/munge.pid" --log-file="$dir/munge.log" --seed-file="$dir/munge.seed"
    slurmctld
    slurmd -N n1
    slurmd -N n2
    wait_for 30 'two machines' two_idle
}

two_idle() { (($(sinfo -h -N -o %T | grep -cx idle) == 2)); }

# Submits four tasks on two machines and prints the job's number. Each task trains $1 samples (0: no
# limit). Further arguments are options of sbatch.
submit() {
    local samples=$1
    shift
    (cd "$dir/run" && sbatch --parsable --ntasks-per-node=2 --cpus-per-task=1 "$@" \
        hearsay.sbatch --set data.source=generated --set data.train_count=600 \
        --set data.test_count=200 --set 'model.layers=dense 16, relu, dense 10' \
        --set "train.samples_max=$samples")
}

state() { squeue -h -j "$1" -o %T 2>/dev/null || true; }
is_running() { [[ $(state "$1") == RUNNING ]]; }
is_pending() { [[ $(state "$1") == PENDING ]]; }
is_over() { [[ $(state "$1") =~ ^(|COMPLETED|CANCELLED|FAILED|TIMEOUT)$ ]]; }

nodes_with() { { grep -lE -- "$1" "$dir"/run/task-*/log.jsonl 2>/dev/null || true; } | wc -l; }
all_have() { (($(nodes_with "$1") == 4)); }

finals() { jq -r "select(.note == \"final\") | $1" "$dir"/run/task-*/log.jsonl; }

# Fails unless each line of versions, "id/incarnation:next ...", names four nodes.
know_four() {
    awk '{ split("", ids); count = 0
           for (i = 1; i <= NF; i++) { sub("/.*", "", $i); count += !ids[$i]++ }
           if (count != 4) exit 1 }'
}

# All nodes of job $1 must leave, have all rumors, and have one model.
agree() {
    wait_for 90 'the job to end' is_over "$1"
    all_have '"note":"final"' || fail "$(nodes_with '"note":"final"') of 4 nodes ended in order"
    (($(finals .base_digest | sort -u | wc -l) == 1)) || fail "digests: $(finals .base_digest)"
    finals .version | know_four || fail 'a node lacks rumors of another'
    (($(finals .id | sort -u | wc -l) == 4)) || fail 'two nodes have one identity'
    tell "4 nodes ended with digest $(finals .base_digest | head -n 1)," \
        "the sum of $(finals .rumors_known | head -n 1) rumors"
}

forget() { rm -f -- "$dir"/run/task-*/log.jsonl; }

run_story() {
    mkdir "$dir/run"
    cp -- "$root/configs/deploy/slurm"/hearsay{.sbatch,-task} "$dir/run"
    hearsay swarmkey "$dir/run/swarm.key" >/dev/null

    tell 'a job that meets its time limit'
    local job ids rumors
    job=$(submit 3000000 --time=1 --signal=TERM@20)
    wait_for 60 'four nodes that receive rumors' all_have '"rumors_received":[1-9]'
    agree "$job"
    ids=$(finals .id)
    rumors=$(finals .rumors_known | head -n 1)

    tell 'a job in the same folder is requeued'
    forget
    job=$(submit 0 --time=10)
    wait_for 60 'four nodes that receive rumors' all_have '"rumors_received":[1-9]'
    scontrol requeue "$job"
    wait_for 60 'the job to wait' is_pending "$job"
    all_have '"note":"final"' ||
        fail "$(nodes_with '"note":"final"') of 4 nodes left in order when put back"
    forget
    scontrol update "JobId=$job" StartTime=now
    wait_for 90 'the job to run again' is_running "$job"
    wait_for 60 'four nodes that receive rumors' all_have '"rumors_received":[1-9]'
    grep -q "job $job, start 2" "$dir/run/hearsay-$job.out" ||
        fail 'the job does not report its restart'

    tell 'the job is cancelled'
    scancel "$job"
    agree "$job"
    [[ $(finals .id) == "$ids" ]] || fail 'the identities are not those of the first job'
    (($(finals .rumors_known | head -n 1) > rumors)) || fail 'the nodes did not continue from their state'
}

if [[ -z ${hearsay_in_slurm:-} ]]; then
    enter "$(realpath -- "${1:?slurm.sh HEARSAY}")"
    exit
fi
dir=$hearsay_in_slurm
mkdir "$dir/bin"
ln -s -- "$1" "$dir/bin/hearsay"
export PATH=$dir/bin:$PATH
start_slurm
run_story
tell 'done'
