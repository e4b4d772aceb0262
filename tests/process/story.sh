# Functions for tests of whole processes. Source it with the program as $1 (and meddle as $2).
# shellcheck shell=bash
set -euo pipefail

hearsay=$1
# shellcheck disable=SC2034 # used by the sourcing script
meddle=${2:-}
dir=$(mktemp -d "${TMPDIR:-/tmp}/hearsay-test-XXXXXX")
declare -A pid=() # process ids by name
story=start

# Settings of a model and data so small that a node is ready at once. A node that makes more steps a
# second than it needs takes the processor from other tests.
small=(--set train.steps_per_s=300 --set data.source=generated --set data.train_count=600 --set data.test_count=200
    --set 'model.layers=dense 16, relu, dense 10' --set node.listen=127.0.0.1:0
    --set node.grace_s=10)

cleanup() {
    local code=$? name
    for name in "${!pid[@]}"; do
        kill -KILL "${pid[$name]}" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf -- "$dir"
    exit "$code"
}
trap cleanup EXIT

tell() {
    story=$1
    printf '%3d s  %s\n' "$SECONDS" "$story"
}

fail() {
    local file
    printf 'FAILED: %s: %s\n' "$story" "$*" >&2
    for file in "$dir"/*.err "$dir"/*.out "$dir"/swarm/node*/node.err; do
        [[ ! -s $file ]] || { printf '%s\n' "--- $file"; tail -n 15 "$file"; } >&2
    done
    exit 1
}

# Prints the processor time of all started processes and their children, in seconds.
processor_s() {
    local name stat fields sum=0
    for name in "${!pid[@]}"; do
        for stat in "/proc/${pid[$name]}" $(sed 's|[0-9]\{1,\}|/proc/&|g' \
            "/proc/${pid[$name]}/task/${pid[$name]}/children" 2>/dev/null); do
            read -ra fields < <(sed 's/.*) //' "$stat/stat" 2>/dev/null) || continue
            sum=$((sum + fields[11] + fields[12])) # utime and stime, proc(5)
        done
    done
    echo "$((sum / $(getconf CLK_TCK)))"
}

# Returns success if the processes have used NEED seconds of a processor, were idle (used less than
# a fiftieth of the time), or 20 minutes have passed: had_its_chance NEED WAITED USED
had_its_chance() {
    local need=$1 waited=$2 had=$3
    ((had >= need || had * 50 < waited || waited >= 1200))
}

# Waits until the command succeeds: wait_for SECONDS EVENT COMMAND. A slow machine must not fail the
# test, so this waits for at least 5 minutes. It then gives up if the processes have used SECONDS of
# processor time, which suffice on an idle machine. It also gives up if the processes were idle, or
# after 20 minutes. It gives up at once if no process runs, or one has ended too early.
wait_for() {
    local need=$1 what=$2 begin=$SECONDS before waited
    shift 2
    before=$(processor_s)
    until "$@"; do
        waited=$((SECONDS - begin))
        if ! any_alive; then
            ! "$@" || return 0
            fail "no process runs, so stopped waiting for: $what"
        elif has_ended_early "$@"; then
            ! "$@" || return 0
            fail "$early, so stopped waiting for: $what"
        elif ((waited >= 300)) &&
            had_its_chance "$need" "$waited" "$(($(processor_s) - before))"; then
            fail "timed out waiting for: $what"
        fi
        sleep 0.05
    done
}

# Returns success, and sets early, if a process has ended that the command of a wait needs: one whose
# log, output or status it reads, or any that failed with an error (1, 2) or crashed (134, 139).
has_ended_early() {
    local name code needed=
    case $1 in
    notes | shows) needed=$2 ;;
    says) needed=${2##*/} needed=${needed%%.*} ;;
    esac
    for name in "${!pid[@]}"; do
        ! alive "$name" || continue
        code=0
        wait "${pid[$name]}" 2>/dev/null || code=$?
        early="$name has ended with code $code"
        case $code in 1 | 2 | 134 | 139) return 0 ;; esac
        [[ $name != "$needed" ]] || return 0
    done
    return 1
}

any_alive() {
    local name
    for name in "${!pid[@]}"; do
        ! alive "$name" || return 0
    done
    return 1
}

says() { grep -qE -- "$2" "$1" 2>/dev/null; }

# Runs a command, which must end with this exit code and print text that matches: expect CODE
# PATTERN COMMAND
expect() {
    local want=$1 pattern=$2 code=0
    shift 2
    timeout 600 "$@" >"$dir/said.out" 2>&1 </dev/null || code=$?
    ((code == want)) || fail "exit code $code, not $want: $*"
    says "$dir/said.out" "$pattern" || fail "does not say \"$pattern\": $*"
}

# Starts a node: start NAME [OPTION...]. It writes NAME.out, NAME.err and NAME.log.
start() {
    local name=$1
    shift
    [[ -e $dir/$name.key ]] || "$hearsay" keygen "$dir/$name.key" >/dev/null
    [[ -e $dir/swarm.key ]] || "$hearsay" swarmkey "$dir/swarm.key" >/dev/null
    "$hearsay" node "${small[@]}" --set "node.identity=$dir/$name.key" \
        --set "node.swarm_key=$dir/swarm.key" --set "node.state_dir=$dir/$name" \
        --log "$dir/$name.log" "$@" >"$dir/$name.out" 2>"$dir/$name.err" </dev/null &
    pid[$name]=$!
}

page() { "$hearsay" status --state "$dir/$1" --json >"$dir/page.out" 2>/dev/null || true; }
shows() { page "$1" && says "$dir/page.out" "$2"; }
# Prints the last digest of the base in the log of a node.
digest() { sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$dir/$1.log" | tail -n 1; }

notes() { says "$dir/$1.log" "$2"; } # Returns success if the log of this node matches.
alive() { kill -0 "${pid[$1]}" 2>/dev/null; }
dead() { ! alive "$1"; }

address_of() {
    wait_for 20 "$1 to listen" notes "$1" '"note":"started".*"address"'
    sed -n 's/.*"note":"started".*"address":"\([^"]*\)".*/\1/p' "$dir/$1.log"
}

# Waits until a node ends by itself. It must end with this exit code: reap NAME CODE
reap() {
    local name=$1 want=$2 code=0
    wait_for 40 "$name to end" dead "$name"
    wait "${pid[$name]}" || code=$?
    unset "pid[$name]"
    ((code == want)) || fail "$name ended with $code, not $want"
}

# Asks a node to leave. It must report that it left, and save its base.
leave() {
    kill -TERM "${pid[$1]}"
    reap "$1" 0
    says "$dir/$1.err" 'left the swarm' || fail "$1 did not say that it left"
    [[ -s $dir/$1/base.safetensors ]] || fail "$1 did not save its base"
}

# Asks nodes to leave at the same time. They must end with equal models.
leave_together() {
    local name
    for name in "$@"; do
        kill -TERM "${pid[$name]}"
    done
    for name in "$@"; do
        reap "$name" 0
    done
    for name in "$@"; do
        [[ -n $(digest "$name") && $(digest "$name") == "$(digest "$1")" ]] ||
            fail "$name and $1 end with different models"
    done
}

# Skips the test with AddressSanitizer, which locks no memory and must be the first library. $1 names what
# the test needs and AddressSanitizer does not allow.
skip_if_sanitized() {
    if grep -q __asan_init "$hearsay"; then
        echo "skipped: AddressSanitizer does not go with $1"
        exit 77
    fi
}
