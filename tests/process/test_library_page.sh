#!/usr/bin/env bash
# The program on the page of the library: test_library_page.sh HEARSAY. It is compiled against what
# is installed somewhere, and runs.
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"
page=$(dirname "${BASH_SOURCE[0]}")/../../src/library/README.md

tell 'installed, where nothing of it was meant to be'
expect 0 'pkgconfig/hearsay.pc' cmake --install "${hearsay%/*}" --prefix "$dir/usr"
export LD_LIBRARY_PATH PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$dir/usr" -name hearsay.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$dir/usr" -name libhearsay.so)")

tell 'the program of the page, which learns what its functions make of it'
{
    cat <<'C'
static void init(float weight[10][784], float *bias)
{
    for (int i = 0; i < 7840; i++)
        weight[i / 784][i % 784] = bias[i % 10] = 0;
}
static double train_step(float weight[10][784], float *bias)
{
    for (int i = 0; i < 7840; i++)
        weight[i / 784][i % 784] += 0.001f * ((float)(i % 7) - weight[i / 784][i % 784]);
    return bias[0];
}
C
    # shellcheck disable=SC2016 # these are quotes of the page
    sed -n '/^```c$/,/^```$/{/^```/d;p}' "$page"
} >"$dir/program.c"
read -ra flags < <(pkg-config --cflags --libs hearsay)
cc -Wall -Werror -o "$dir/program" "$dir/program.c" "${flags[@]}" || fail 'it does not compile'

tell 'with keys and a configuration as of any node'
cd "$dir"
printf '[node]\nlisten = 127.0.0.1:0\nlog = node.log\n' >node.conf
expect 1 'node.key' ./program
expect 0 '^node.key: ' "$hearsay" keygen
expect 0 '^swarm.key: ' "$hearsay" swarmkey
expect 0 '^nothing is wrong$' ./program
grep -q '"steps":10000,' node.log || fail 'the log does not have its ten thousand steps'
[[ -e state/checkpoint-1 ]] || fail 'it left no checkpoint'
