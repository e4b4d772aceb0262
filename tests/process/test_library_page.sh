#!/usr/bin/env bash
# Compiles and runs the program on the page of the library against an installed copy, with pkg-config
# and with CMake's find_package: test_library_page.sh HEARSAY
# shellcheck source=tests/process/story.sh
source "$(dirname "${BASH_SOURCE[0]}")/story.sh"
# shellcheck source=tests/process/page_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/page_program.sh"
page=$(realpath -- "$(dirname "${BASH_SOURCE[0]}")/../../src/library/README.md")

tell 'the library is installed in another folder'
expect 0 'pkgconfig/hearsay.pc' cmake --install "${hearsay%/*}" --prefix "$dir/first"
mv -- "$dir/first" "$dir/usr" # moved, so that no file contains its path
export LD_LIBRARY_PATH PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$dir/usr" -name hearsay.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$dir/usr" -name libhearsay.so)")

tell 'the program of the page learns'
page_program "$page" >"$dir/program.c"
read -ra flags < <(pkg-config --cflags --libs hearsay)
cc -Wall -Werror -o "$dir/program" "$dir/program.c" "${flags[@]}" || fail 'the program does not compile'

tell 'the program of the page, built with CMake'
# shellcheck disable=SC2016 # backquotes in the page
sed -n '/^```cmake$/,/^```$/{/^```/d;p}' "$page" >"$dir/CMakeLists.txt"
unset PKG_CONFIG_PATH
expect 0 'Build files have been written' cmake -S "$dir" -B "$dir/by-cmake" -DCMAKE_PREFIX_PATH="$dir/usr"
expect 0 'Built target program' cmake --build "$dir/by-cmake"
mkdir "$dir/newer"
sed 's/(hearsay [0-9.]*/(hearsay 9/' "$dir/CMakeLists.txt" >"$dir/newer/CMakeLists.txt"
expect 1 'requested version "9"' cmake -S "$dir/newer" -B "$dir/newer" -DCMAKE_PREFIX_PATH="$dir/usr"

tell 'the program of the page with keys and a configuration'
cd "$dir"
printf '[node]\nlisten = 127.0.0.1:0\nlog = node.log\n' >node.conf
expect 1 'node.key' ./program
expect 0 '^node.key: ' "$hearsay" keygen
expect 0 '^swarm.key: ' "$hearsay" swarmkey
expect 0 '^the call succeeded$' ./program
grep -q '"steps":10000,' node.log || fail 'the log does not have its ten thousand steps'
[[ -e state/checkpoint-1 ]] || fail 'the program left no checkpoint'
rm -r state
expect 0 '^the call succeeded$' by-cmake/program
