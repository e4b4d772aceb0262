#!/usr/bin/env bash
# Tests the NEON code of model/backend/cpu/survey_simd.c on a machine without NEON: compiles
# tests/unit/model/test_survey_simd.c for aarch64 and runs it with QEMU. The results must equal those of
# plain C bit for bit. Speed is not tested. Exits 77 if compiler or QEMU are missing, unless REQUIRE_QEMU=1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

compiler=aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)

links() { echo 'int main(void) { return 0; }' | "$compiler" -static -x c -o /dev/null -; }

if [ -z "$qemu" ] || ! links 2>/dev/null; then
    echo 'skipped: cannot run aarch64 programs; apt-get install gcc-aarch64-linux-gnu' \
        'libc6-dev-arm64-cross qemu-user-static'
    [ "${REQUIRE_QEMU:-0}" = 1 ] && exit 1
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The flags of CMakeLists.txt. Static linking spares QEMU the libraries of aarch64.
"$compiler" -std=c11 -O3 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
    -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror -fno-math-errno -ffp-contract=off \
    -static -Itests/fakes/stand_in -Iinclude -Imodel -o "$dir/test_sweep" tests/unit/model/test_survey_simd.c model/backend/cpu/survey_simd.c
timeout 300 "$qemu" "$dir/test_sweep" | tee "$dir/said"
grep -qx NEON "$dir/said" || { echo 'FAILED: NEON was not tried' >&2; exit 1; }
