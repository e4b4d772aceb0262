#!/usr/bin/env bash
# Each command has a help text with its exit codes, and ends with the exit codes of the table. The manual
# pages must be well-formed and installed. Exit code 77: no mandoc here (the rest was checked).
#
#   test_help.sh PROGRAM BUILD     BUILD: the folder that it was built in
set -euo pipefail
program=$1 build=$2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1

fail() { printf 'test_help: %s\n' "$*" >&2; exit 1; }

mapfile -t commands < <("$program" --help | sed -nE 's/^  ([a-z]+) +.*/\1/p' | grep -vx help)
((${#commands[@]} >= 24)) || fail "only these commands: ${commands[*]}"

for command in "${commands[@]}"; do
    "$program" "$command" --help >"$work/help" || fail "$command --help: exit code $?"
    "$program" help "$command" | cmp -s - "$work/help" || fail "help $command is not $command --help"
    grep -q 'Exit codes' "$work/help" || fail "$command: the help says no exit codes"
    ! LC_ALL=C grep -n '[^ -~]\|^.\{101\}' "$work/help" || fail "$command: a line of its help"
    grep -q "^  $command " <("$program" help exit-codes) || fail "no exit codes of $command"
done

# Runs a command that must end with code $1 and, unless it is 0, print a message.
ends() {
    local code=0
    (cd "$work/empty" && "$program" "${@:2}" >"$work/out" 2>"$work/err" </dev/null) || code=$?
    [[ $code == "$1" ]] || fail "${*:2}: exit code $code, not $1: $(<"$work/err")"
    [[ $code == 0 || -s $work/err || -s $work/out ]] || fail "${*:2}: exit code $code, and not a word"
}
mkdir "$work/empty"
for command in "${commands[@]}"; do
    ends 2 "$command" --no-such-option
done
ends 2
ends 2 nonsense
ends 2 help nonsense
ends 0 --version
ends 0 help exit-codes
ends 2 node --config nothing.conf
ends 2 node --set train.rate=fast
ends 1 node # without keys
ends 1 status
ends 1 members
ends 1 top
ends 1 doctor
ends 1 admit 1a2b3c4d
ends 1 expel 1a2b3c4d --reason noise --all
ends 1 rekey
ends 1 rewind
ends 1 eval
ends 1 predict --input nothing.npy
ends 1 generate
ends 1 export there
ends 1 plot nothing.log
ends 1 data nothing.npy
ends 1 data --set data.source=npy --set data.x=nothing.npy --set data.y=nothing.npy
ends 2 model 'dense 10, nonsense'
mkdir "$work/empty/foreign"
printf '{' >"$work/empty/foreign/config.json"
ends 1 model foreign
ends 0 model lenet
ends 2 sim nothing.conf
ends 2 compare nothing.conf
ends 2 swarm --nodes 1000
ends 1 swarm --json nowhere/results.json
ends 0 keygen
ends 1 keygen # the file exists
ends 0 swarmkey
ends 1 swarmkey
ends 0 operatorkey
ends 1 operatorkey
ends 2 completion
ends 2 completion tcsh
ends 2 manual nonsense
ends 1 manual --all nowhere

# Checks the manual pages, which builds with a sanitizer lack.
mkdir "$work/man"
"$program" manual --all "$work/man" || fail 'no manual pages'
for command in "${commands[@]}"; do
    "$program" manual "$command" | cmp -s - "$work/man/hearsay-$command.1" ||
        fail "the page of $command, written or printed"
done
"$program" manual node.conf | cmp -s - "$work/man/hearsay-node.conf.5" || fail 'the page of keys'
"$program" node --print-config | sed -nE 's/^([a-z_0-9]+) = .*/\1/p' | while read -r key; do
    grep -qx "\\\\fB$key\\\\fR" "$work/man/hearsay-node.conf.5" || fail "the page of keys lacks $key"
done
if [[ -d $build/help ]]; then
    cmake --install "$build" --prefix "$work/installed" >"$work/out" || fail "$(<"$work/out")"
    for file in share/man/man1/hearsay.1 share/man/man1/hearsay-node.1 \
        share/man/man5/hearsay-node.conf.5 share/bash-completion/completions/hearsay \
        share/zsh/site-functions/_hearsay share/fish/vendor_completions.d/hearsay.fish; do
        [[ -s $work/installed/$file ]] || fail "not installed: $file"
    done
fi
if ! command -v mandoc >/dev/null; then
    [[ -z ${REQUIRE_SHELLS:-} ]] || fail 'no mandoc here'
    echo 'skipped: no mandoc here'
    exit 77
fi
cd "$work/man"
mandoc -Tlint -- * >"$work/lint" || true
[[ ! -s $work/lint ]] || fail "mandoc: $(head -n 20 "$work/lint")"
[[ $(cat -- * | grep -cx '\.nf') == $(cat -- * | grep -cx '\.fi') ]] || fail 'an example that does not end'
mandoc -Tascii hearsay-node.1 | sed 's/.\x08//g' | grep -q -- '--print-config' || fail 'no page to read'
