#!/usr/bin/env bash
# Part of packages.sh that runs in a clean Debian. /given contains the packages, the tarball and
# this file.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 OPENBLAS_NUM_THREADS=1 HOME=/root
cd /root

story=start
tell() {
    story=$1
    printf '%3d s  %s\n' "$SECONDS" "$story"
}
fail() {
    printf 'FAILED: %s: %s\n' "$story" "$*" >&2
    exit 1
}
install_them() {
    apt-get install -qq -y --no-install-recommends "$@" >apt.log 2>&1 || { cat apt.log && exit 1; }
}

# Two nodes train on generated digits. They must end with one digest.
swarm() { # program, folder
    rm -rf -- "$2"
    mkdir -- "$2"
    "$1" swarm --nodes 2 --data generated --layers 'dense 32, relu, dense 10' --target 40 \
        --set data.train_count=1500 --set data.test_count=500 --set train.evaluate_s=1 \
        --json "$2/result.json" >"$2/out" 2>&1 || { cat -- "$2/out" && fail 'the swarm'; }
    grep -q '"same_model": true' "$2/result.json" || fail 'the nodes end with different models'
    (($(grep -c '"digest"' "$2/result.json") >= 2)) || fail 'no digests'
    (($(sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' "$2/result.json" | sort -u | wc -l) == 1)) ||
        fail 'digests differ'
}

storm() { "$1" sim --faults --seeds 1..1 >/root/storm 2>&1 || { cat /root/storm && fail 'the simulator'; }; }

ours() { find / -xdev \( -path /given -o -path /proc -o -path /root \) -prune -o -name '*hearsay*' -print; }

tell 'the tarball, unpacked in two places, and moved'
! ldconfig -p | grep -qE 'openblas|libuv|libsodium|inih' || fail 'this root is not clean'
for place in /opt/a '/srv/two words'; do
    mkdir -p -- "$place"
    tar -C "$place" -xzf /given/hearsay-*.tar.gz
    mv -- "$place"/hearsay-* "$place/moved"
    "$place/moved/bin/hearsay" --version
    ! ldd "$place/moved/bin/hearsay" | grep -E 'not found|=> /.*(openblas|sodium)' |
        grep -vF "$place" || fail 'the program uses libraries of the system'
    swarm "$place/moved/bin/hearsay" /root/swarm
    storm "$place/moved/bin/hearsay"
    [[ -s $place/moved/share/doc/hearsay/licences/libopenblas0-pthread ]] || fail 'licences'
    rm -r -- "$place"
done
[[ -z $(ours) ]] || fail "left: $(ours)"

tell 'hearsay'
install_them /given/hearsay_*.deb
hearsay --version
swarm hearsay /root/swarm
storm hearsay
cmp /etc/hearsay/node.conf /usr/share/hearsay/node.conf || fail 'node.conf'
hearsay node --config /etc/hearsay/node.conf --print-config >/dev/null || fail 'node.conf is refused'
[[ -s /usr/lib/systemd/system/hearsay.service && -s /usr/lib/systemd/system/hearsay@.service ]] ||
    fail 'units'

if [[ -n $(find /given -name 'hearsay-cuda_*.deb') ]]; then
    tell 'hearsay-cuda, where there is no GPU'
    hearsay --version | grep -q 'hearsay-cuda.so is neither.*install it' || fail 'no advice'
    install_them /given/hearsay-cuda_*.deb
    hearsay --version | grep -q 'no NVIDIA driver' || fail 'the module is not found'
    apt-get purge -qq -y hearsay-cuda >apt.log 2>&1 || { cat apt.log && fail purge; }
fi

tell 'libhearsay-dev: the program of its page, by pkg-config and by CMake'
install_them /given/libhearsay2_*.deb /given/libhearsay-dev_*.deb gcc libc6-dev pkg-config cmake make
# shellcheck source=tests/process/page_program.sh
source /given/page_program.sh
page=/usr/share/doc/libhearsay-dev/README.md
page_program "$page" >program.c
read -ra flags < <(pkg-config --cflags --libs hearsay)
cc -Wall -Werror -o program program.c "${flags[@]}" || fail 'the program of the page does not compile'
# shellcheck disable=SC2016 # backquotes in the page
sed -n '/^```cmake$/,/^```$/{/^```/d;p}' "$page" >CMakeLists.txt
{ cmake -S . -B by-cmake && cmake --build by-cmake; } >cmake.log || { cat cmake.log && fail CMake; }
printf '[node]\nlisten = 127.0.0.1:0\n' >node.conf
hearsay keygen >/dev/null && hearsay swarmkey >/dev/null
./program 2>&1 | grep -qx 'the call succeeded' || fail 'the program'
rm -r state
by-cmake/program 2>&1 | grep -qx 'the call succeeded' || fail 'the program that CMake built'

tell 'python3-hearsay'
install_them /given/python3-hearsay_*.deb python3-numpy
python3 -c 'import hearsay'
rm -rf state
python3 - <<'PYTHON'
import hearsay, numpy
with hearsay.ArrayNode({"w": numpy.zeros(1000, numpy.float32)}, run="packages", config="node.conf") as node:
    arrays = node.arrays()
    for _ in range(20):
        arrays = node.step({"w": arrays["w"] + numpy.float32(0.01)}, 8, 0.5)
    assert node.info().steps == 20, node.info()
PYTHON

tell 'purged: what is left is the user'\''s'
touch /etc/hearsay/swarm.key
mkdir -p /var/lib/hearsay /etc/systemd/system/multi-user.target.wants
touch /var/lib/hearsay/node.key
ln -s /lib/systemd/system/hearsay.service /etc/systemd/system/multi-user.target.wants/
ln -s /lib/systemd/system/hearsay@.service /etc/systemd/system/multi-user.target.wants/hearsay@0.service
apt-get purge -qq -y hearsay libhearsay2 libhearsay-dev python3-hearsay >apt.log 2>&1 ||
    { cat apt.log && fail purge; }
left=$(ours | grep -v '^/var/cache/\|^/var/log/' | sort | tr '\n' ' ')
[[ $left == '/etc/hearsay /var/lib/hearsay ' ]] || fail "left: $left"
[[ $(ls /etc/hearsay /var/lib/hearsay) == $'/etc/hearsay:\nswarm.key\n\n/var/lib/hearsay:\nnode.key' ]] ||
    fail 'what is left there'
tell 'done'
