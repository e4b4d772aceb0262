#!/usr/bin/env python3
"""How long who has the swarm key waits at a door that a crowd without it besieges.

    /usr/bin/python3 tests/bench/bench_door.py build/hearsay [--mute 20] [--floods 0] [--dials 10]

Starts one node. --mute connections say nothing, and are opened anew as soon as they are closed; a
second crowd connects and closes --floods times a second, as far as it gets. Both come from
--networks neighbourhoods of addresses (127.0.N.0/24). Then a guest with the key dials --dials
times, from a neighbourhood of its own or with --among from one of theirs, again after half a second
where it is turned away, and the time until the node's HELLO is measured. What is printed: the dials that
got in, the times, how often they were turned away, and the processor time of the node.

Needs Debian's python3-nacl and python3-msgpack.
"""
import argparse
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "process"))
import client  # noqa: E402

LAYERS, PARAMETERS, PORT = "dense 10", 7850, 17917
GIVE_UP_S, AGAIN_S = 10, 0.5
CONNECT = socket.create_connection


def address(network):
    return f"127.0.{network}.{os.getpid() % 200 + 1}"


class Crowd:
    """Connections from so many networks, in a thread of its own."""

    def __init__(self, options):
        self.options, self.opened, self.is_over = options, 0, False
        self.selector = selectors.DefaultSelector()
        self.threads = [threading.Thread(target=self.mute), threading.Thread(target=self.flood)]
        for thread in self.threads:
            thread.start()

    def connect(self, number):
        sock = socket.socket()
        sock.bind((address(1 + number % self.options.networks), 0))
        sock.settimeout(5)
        sock.connect(("127.0.0.1", PORT))
        self.opened += 1
        return sock

    def mute(self):
        numbers = list(range(self.options.mute))
        while not self.is_over:
            for number in numbers:
                try:
                    sock = self.connect(number)
                except OSError:
                    continue
                sock.setblocking(False)
                self.selector.register(sock, selectors.EVENT_READ, number)
            numbers = []
            if not self.selector.get_map():
                time.sleep(0.1)
                numbers = list(range(self.options.mute))
                continue
            for key, _ in self.selector.select(0.1):
                self.selector.unregister(key.fileobj)
                key.fileobj.close()
                numbers.append(key.data)

    def flood(self):
        began, count = time.monotonic(), 0
        while not self.is_over and self.options.floods:
            if count < (time.monotonic() - began) * self.options.floods:
                count += 1
                try:
                    self.connect(count).close()
                except OSError:
                    pass
            else:
                time.sleep(0.0005)

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()


class Caller:
    """What a neighbour of the client needs of its guest."""

    def __init__(self, folder):
        seed = client.read_key(f"{folder}/guest.key", "hearsay-identity-1")
        key = client.read_key(f"{folder}/swarm.key", "hearsay-swarm-key-1")
        self.credentials = client.Credentials(
            seed, key, "hearsay", f"1x28x28, layout 2: {LAYERS}; seed 1", PARAMETERS)
        self.incarnation = time.time_ns() // 1_000_000
        self.stamp, self.is_met = 0, False

    def record(self):
        self.stamp += 1
        mine = self.credentials
        data = client.MEMBER.pack(mine.id, self.incarnation, self.stamp, 1000)
        return data + mine.sign(mine.context + data)

    def on_message(self, _, message):
        self.is_met |= message[0] == client.Kind.HELLO

    def dial(self, source):
        """Seconds until its HELLO, and how often it was turned away; None: for too long."""
        began, refusals = time.monotonic(), 0
        client.socket.create_connection = lambda to: CONNECT(to, GIVE_UP_S, (source, 0))
        self.is_met = False
        while time.monotonic() - began < GIVE_UP_S:
            try:
                neighbour = client.Neighbour(self, f"127.0.0.1:{PORT}")
                while not self.is_met and not neighbour.closed:
                    time.sleep(0.001)
                    neighbour.listen()
                took = time.monotonic() - began
                neighbour.say(client.Kind.BYE, client.LEAVING, "so long", b"")
                neighbour.close()
                return took, refusals
            except (client.TurnedAway, OSError):
                refusals += 1
                time.sleep(AGAIN_S)
        return None, refusals


def until_it_listens():
    while True:
        try:
            CONNECT(("127.0.0.1", PORT)).close()
            return
        except ConnectionRefusedError:
            time.sleep(AGAIN_S)


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
            crowd = Crowd(options)
            try:
                time.sleep(3)
                began, used, opened = time.monotonic(), cpu_s(node.pid), crowd.opened
                caller = Caller(folder)
                source = address(1 if options.among else 200)
                dials = [caller.dial(source) for _ in range(options.dials)]
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
