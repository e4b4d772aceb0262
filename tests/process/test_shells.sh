#!/usr/bin/env bash
# Types command lines into real shells and presses Tab. The completions must be what the program accepts.
# Exit code 77: zsh or fish is missing (the rest was checked).
set -euo pipefail
program=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OPENBLAS_NUM_THREADS=1 TERM=xterm LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1

fail() { printf 'test_shells: %s\n' "$*" >&2; exit 1; }
if ! command -v python3 >/dev/null; then
    [[ -z ${REQUIRE_SHELLS:-} ]] || fail 'no python3 here'
    echo 'skipped: no python3 here'
    exit 77
fi

# A fake program. It passes on requests for completions to the real program and records all other
# calls.
mkdir "$work/bin" "$work/here"
cat >"$work/bin/hearsay" <<TEXT
#!/bin/sh
[ "\$1" != completion ] || exec '$program' "\$@"
printf '<%s>' "\$@" >>'$work/given'
echo >>'$work/given'
TEXT
chmod +x "$work/bin/hearsay"
export PATH=$work/bin:$PATH
touch "$work/here/mine.conf" "$work/here/weights.safetensors"
cd "$work/here"

# Each case: the typed keys, with \t for Tab, and the arguments that the program must receive.
readonly cases=(
    $'hearsay eva\t'                                '<eval>'
    $'hearsay eval --sta\tweig\t'                   '<eval><--state><weights.safetensors>'
    $'hearsay eval --data-source gen\t'             '<eval><--data-source><generated>'
    $'hearsay node --config mi\t'                   '<node><--config><mine.conf>'
    $'hearsay node --set train.optimi\tmuo\t'       '<node><--set><train.optimizer=muon>'
    $'hearsay node --set train.sched\tcos\t--alo\t' '<node><--set><train.schedule=cosine><--alone>'
    $'hearsay node --set model.start=weig\t'        '<node><--set><model.start=weights.safetensors>'
    $'hearsay sim mi\t'                             '<sim><mine.conf>'
    $'hearsay help exp\t'                           '<help><exp>' # ambiguous: export or expel
)

# Types all cases into this shell and compares the recorded arguments.
types() {
    local i keys='' wanted=''
    rm -f "$work/given"
    for ((i = 0; i < ${#cases[@]}; i += 2)); do
        keys+=${cases[i]}$'\n' wanted+=${cases[i + 1]}$'\n'
    done
    printf '%sexit\n' "$keys" | python3 "$here/typed.py" "$@" >"$work/shown" || fail "$1 failed: $(<"$work/shown")"
    [[ $(<"$work/given")$'\n' == "$wanted" ]] ||
        fail "$1: $(diff <(printf %s "$wanted") "$work/given"; cat -v "$work/shown")"
}

"$program" completion bash >"$work/bash"
printf "PS1='READY>'; source '%s'; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'\n" \
    "$work/bash" >"$work/bashrc"
types bash --noprofile --rcfile "$work/bashrc" -i

skipped=no
if command -v zsh >/dev/null; then
    mkdir "$work/zsh"
    "$program" completion zsh >"$work/zsh/_hearsay"
    printf "fpath=('%s' \$fpath); autoload -Uz compinit; compinit -u -D; unsetopt beep zle_bracketed_paste; PROMPT='READY>'\n" \
        "$work/zsh" >"$work/.zshrc"
    ZDOTDIR=$work types zsh -d -i
else
    skipped=zsh
fi
# Asks fish for its completions of a line, instead of typing it.
fish_offers() { # line, expected completion
    fish --no-config -c "source '$work/hearsay.fish'; complete -C '$1'" >"$work/shown" 2>&1
    cut -f1 "$work/shown" | grep -qxF -- "$2" || fail "fish: \"$1\": not $2 in: $(<"$work/shown")"
}
if command -v fish >/dev/null; then
    export XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work
    "$program" completion fish >"$work/hearsay.fish"
    fish_offers 'hearsay eva' eval
    fish_offers 'hearsay eval --sta' --state
    fish_offers 'hearsay eval --state weig' weights.safetensors
    fish_offers 'hearsay eval --data-source gen' generated
    fish_offers 'hearsay node --config mi' mine.conf
    fish_offers 'hearsay node --set train.optimi' train.optimizer=
    fish_offers 'hearsay node --set train.optimizer=muo' train.optimizer=muon
    fish_offers 'hearsay node --set model.start=weig' model.start=weights.safetensors
else
    skipped=fish
fi

# The completion scripts must offer exactly the options in each command's help. test_help.sh
# compares the help with the parser.
for command in $("$program" completion --ask '' | cut -f1 | grep -v -e '^-' -e '^help$'); do
    "$program" "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' >"$work/known"
    "$program" completion --ask "$command" -- | cut -f1 >"$work/offered"
    cmp -s "$work/known" "$work/offered" ||
        fail "$command: $(diff "$work/known" "$work/offered")"
done

[[ $skipped == no || -z ${REQUIRE_SHELLS:-} ]] || fail "no $skipped here"
[[ $skipped == no ]] || { echo "skipped: no $skipped here"; exit 77; }
