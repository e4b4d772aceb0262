#!/usr/bin/env python3
"""Measures how long a holder of the swarm key waits for a slot while a crowd without the key takes the slots.

    /usr/bin/python3 tests/bench/bench_door.py build/hearsay [--mute 20] [--floods 0] [--dials 10]

Starts one node. --mute connections send nothing, and are reopened as soon as they are closed. A
second crowd connects and closes up to --floods times a second. Both crowds come from --networks
networks of addresses (127.0.N.0/24). Then a guest with the key dials --dials times, from a network of
its own, or from one of the crowd's networks with --among. A refused dial is repeated after half a
second. The time until the node's HELLO is measured. Prints the number of successful dials, the times,
the number of refusals and the processor time of the node.

Needs Debian's python3-nacl and python3-msgpack.
"""
import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "process"))
from client import Credentials, read_key  # noqa: E402
from crowd import AGAIN_S, Caller, Crowd  # noqa: E402

LAYERS, PARAMETERS, PORT = "dense 10", 7850, 17917
GIVE_UP_S, CALLER_NETWORK = 10, 200


def until_it_listens():
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            return
        except ConnectionRefusedError:
            time.sleep(AGAIN_S)


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def caller_of(folder):
    seed = read_key(f"{folder}/guest.key", "hearsay-identity-1")
    key = read_key(f"{folder}/swarm.key", "hearsay-swarm-key-1")
    return Caller(Credentials(seed, key, "hearsay", f"1x28x28, layout 2: {LAYERS}; seed 1",
                              PARAMETERS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hearsay")
    for option, value in (("mute", 20), ("networks", 4), ("floods", 0), ("dials", 10)):
        parser.add_argument(f"--{option}", type=int, default=value)
    parser.add_argument("--among", action="store_true")
    options = parser.parse_args()
    hearsay = str(Path(options.hearsay).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for command in ("keygen", "swarmkey"):
            subprocess.run([hearsay, command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([hearsay, "keygen", "guest.key"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        node = subprocess.Popen(
            [hearsay, "node", "--set", f"node.listen=127.0.0.1:{PORT}", "--set",
             f"model.layers={LAYERS}", "--set", "data.source=generated", "--set",
             "train.enabled=no"], cwd=folder, stderr=subprocess.DEVNULL)
        try:
            until_it_listens()
            crowd = Crowd(PORT, options.mute, options.networks, options.floods)
            try:
                time.sleep(3)
                began, used, opened = time.monotonic(), cpu_s(node.pid), crowd.opened
                caller = caller_of(folder)
                network = 1 if options.among else CALLER_NETWORK
                dials = [caller.dial(PORT, network, GIVE_UP_S) for _ in range(options.dials)]
                span = time.monotonic() - began
            finally:
                crowd.end()
            print(f"crowd: {(crowd.opened - opened) / span:.0f} connections a second; node: "
                  f"{100 * (cpu_s(node.pid) - used) / span:.1f} % of a processor")
            took = sorted(seconds for seconds, _ in dials if seconds is not None)
            if took:
                print(f"{took[len(took) // 2]:.3f} s in the median, {took[-1]:.3f} s at most")
            print(f"{len(took)} of {len(dials)} got in; turned away "
                  f"{sum(refusals for _, refusals in dials)} times")
        finally:
            node.send_signal(signal.SIGKILL)
            node.wait()


if __name__ == "__main__":
    main()
