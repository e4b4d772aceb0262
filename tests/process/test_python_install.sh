#!/usr/bin/env bash
# The Python package is installed from source into a new environment, as its page says, and its first
# example runs there.
#
#   test_python_install.sh PYTHON
#
# Exits with 77 without PyTorch or if pip reaches no index (with 1 if REQUIRE_PYTHON is set).
set -euo pipefail
python=$1
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
unset PYTHONPATH HEARSAY_LIBRARY HEARSAY_PROGRAM
export OMP_NUM_THREADS=1

skip() {
    echo "skipped: $*"
    [[ -z ${REQUIRE_PYTHON:-} ]] || exit 1
    exit 77
}

"$python" -c 'import torch' 2>/dev/null || skip 'no PyTorch (Debian package python3-torch)'
"$python" -m venv --system-site-packages "$folder/venv" || skip 'no venv (Debian package python3-venv)'
"$folder/venv/bin/pip" -q download --no-deps -d "$folder" 'scikit-build-core>=0.10' ||
    skip 'pip has no index to install from'

cd -- "$root"
before=$(git status --porcelain 2>/dev/null || true)
SKBUILD_CMAKE_DEFINE=WITH_CUDA=OFF "$folder/venv/bin/pip" install -q ./src/python # compiling for GPUs takes minutes
[[ $(git status --porcelain 2>/dev/null || true) == "$before" ]] || {
    echo 'installing changed the checkout' >&2
    exit 1
}

cd -- "$folder" # so that Python does not import from the source
venv/bin/hearsay --version
venv/bin/python -m hearsay.local --nodes 2 "$root/src/python/examples/char_gpt.py" \
    --text "$root/configs/README.md" --samples 3200 --width 32 >out
cat out
(($(grep -cE '^\[[12]\] validation [0-9.]+ nats per byte$' out) == 2))

# If HEARSAY_LIBRARY names a library, the installation builds nothing.
library=$(find venv -name 'libhearsay.so*')
cp -- "$library" libhearsay.so
HEARSAY_LIBRARY=$folder/libhearsay.so venv/bin/pip install -q --force-reinstall --no-deps "$root/src/python"
[[ -z $(find venv -name 'libhearsay.so*') ]]
HEARSAY_LIBRARY=$folder/libhearsay.so venv/bin/python -c 'import hearsay'
if venv/bin/python -c 'import hearsay' 2>err; then
    echo 'the module loaded without a library' >&2
    exit 1
fi
grep -q 'libhearsay cannot be loaded.*pip install' err
