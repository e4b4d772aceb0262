"""Two kinds of callers of a node: a crowd without the swarm key, and one guest with the key."""
import contextlib
import os
import selectors
import socket
import threading
import time

import client

AGAIN_S = 0.5
CONNECT = socket.create_connection


def address(network):
    return f"127.0.{network}.{os.getpid() % 200 + 1}"


class Crowd:
    """Opens connections to a port on two threads, from source addresses in `networks` networks.

    mute      number of connections that send nothing; if the node closes one, it is opened again
    floods    connections opened and closed at once, per second; fewer if the machine is too slow

    `opened` counts all connections of both kinds that were opened so far."""

    def __init__(self, port, mute, networks, floods=0):
        self.port, self.count, self.networks, self.floods = port, mute, networks, floods
        self.opened, self.is_over = 0, False
        self.selector = selectors.DefaultSelector()
        self.threads = [threading.Thread(target=target, daemon=True)
                        for target in (self.mute, self.flood)]
        for thread in self.threads:
            thread.start()

    def connect(self, number):
        sock = socket.socket()
        sock.bind((address(1 + number % self.networks), 0))
        sock.settimeout(5)
        sock.connect(("127.0.0.1", self.port))
        self.opened += 1
        return sock

    def mute(self):
        numbers = list(range(self.count))
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
                numbers = list(range(self.count))
                continue
            for key, _ in self.selector.select(0.1):
                self.selector.unregister(key.fileobj)
                key.fileobj.close()
                numbers.append(key.data)

    def flood(self):
        began, count = time.monotonic(), 0
        while not self.is_over and self.floods:
            if count < (time.monotonic() - began) * self.floods:
                count += 1
                with contextlib.suppress(OSError):
                    self.connect(count).close()
            else:
                time.sleep(0.0005)

    def end(self):
        self.is_over = True
        self.join()

    def join(self):
        for thread in self.threads:
            thread.join()


class Caller:
    """A guest that only waits for a HELLO: the part of client.Guest that client.Neighbour needs."""

    def __init__(self, credentials):
        self.credentials = credentials
        self.incarnation = time.time_ns() // 1_000_000
        self.stamp, self.is_met = 0, False

    def record(self):
        self.stamp += 1
        mine = self.credentials
        data = client.MEMBER.pack(mine.id, self.incarnation, self.stamp, 1000, 0)
        return data + mine.sign(mine.context + data)

    def on_message(self, _, message):
        self.is_met |= message[0] == client.Kind.HELLO

    def dial(self, port, network, give_up_s):
        """Dials a port from an address of this network, and repeats a refused dial after half a second.

        Returns the seconds until the node's HELLO (None if there was none within give_up_s) and the number
        of refusals."""
        began, refusals = time.monotonic(), 0
        client.socket.create_connection = lambda to: CONNECT(to, give_up_s, (address(network), 0))
        self.is_met = False
        while time.monotonic() - began < give_up_s:
            try:
                neighbour = client.Neighbour(self, f"127.0.0.1:{port}")
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
