"""A hostile member: it has the swarm key, and carries out one --attack on the nodes that it calls.

    nothing         publishes a rumor, and stays
    forge           publishes a rumor that it has not signed
    equivocate      publishes two rumors under one number, to one neighbour each
    begin-again     publishes a rumor in each of --times incarnations
    claim           says in a record that holds for an hour that it learns 1e30 samples a second
    exceed          publishes a rumor that moves an entry by 3, three times too far
    oppose          publishes what it hears of others, negated, for as long as it may stay
    overwhelm       publishes a rumor that moves all of the base as far as its numbers can say
    invent          tells of 250 members that listen where somebody else does, and counts who calls
    next-life       gives --victim a base with what the victim publishes in its next incarnation
    false-base      gives --victim blocks of zeros under a true history
    besiege         opens 20 connections without a word, again and again; a guest calls ten times

It stays until it is terminated or turned away. Its exit codes are those of client.py.
"""
import contextlib
import os
import signal
import socket
import struct
import time

from client import BODY, LEAVING, LEFT, TURN_S, Guest, Kind, Neighbour, parser_of, run
from crowd import Caller, Crowd
from nacl.signing import SigningKey
from rumors import (RUMOR_HEAD, Bits, Version, blake2b, decode_body, require, rumor_head,
                    tag_of)

RECORD = struct.Struct("<32sQQQQfIHBBffIQ64s")  # §10
HOUR_MS = 3_600_000
INVENTED, RECORDS_AT_ONCE = 250, 50
NODES, CALLS_AT_ONCE = 3, 32  # to places where nobody has answered yet, and one more a second (§10)
MUTE, NETWORKS, GUEST_NETWORK, CALLS, GIVE_UP_S = 20, 4, 200, 10, 600
LEVEL_MAX, AMOUNT_MAX = 127, 1 << 24
SAMPLES_EACH = 100  # that a rumor of `oppose` claims


def body_of_all(count):
    """A body (§12) that moves the first entries, so many, each by the highest level, up or down."""
    signs = int.from_bytes(os.urandom(count // 8 + 1), "little") % 2**count
    layers = "0" * 5 + "0" * count + "10" * (LEVEL_MAX - 1)  # gaps of 0; nobody is left out
    bits = layers + f"{signs:0{count}b}"
    return int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")


def negated(body, count, parameters):
    """A body whose levels are all the other way: its last bits, before the padding, are signs."""
    bits = Bits(body)
    decode_body(body, count, parameters, bits)
    signs = (1 << count) - 1 << bits.at - count
    return (int.from_bytes(body, "little") ^ signs).to_bytes(len(body), "little")


def invented(context, host, port):
    """The record of a member that is a key and no more."""
    key = SigningKey(os.urandom(32))
    data = RECORD.pack(bytes(key.verify_key), 1, 1, 0, 0, 0.0, HOUR_MS, port, 0, 0, 0.0, 0.0, 0, 0,
                       host.encode())
    return data + key.sign(context + data).signature


class Villain(Guest):
    def __init__(self, credentials, addresses):
        self.claimed = None  # a record that is not renewed
        self.victim = self.victim_of = None  # a neighbour, and its (id, incarnation)
        self.is_foreseeing = self.is_opposing = False
        self.published, self.last = 0, bytes(32)  # rumors so far; the hash of the last
        super().__init__(credentials, addresses)

    def signed_record(self, rate=0.0, stage=0, trains=0):
        mine = self.credentials
        data = RECORD.pack(mine.id, self.incarnation, next(self.stamps), 0, 0, rate, HOUR_MS, 0,
                           stage, trains, 0.0, 0.0, 0, 0, b"")
        return data + mine.sign(mine.context + data)

    def record(self, stage=0):
        return self.claimed or super().record(stage)

    def say_all(self, kind, *fields):
        for neighbour in self.neighbours:
            neighbour.say(kind, *fields)

    def publish(self, *shape):
        self.say_all(Kind.RUMOR, self.make_rumor(*shape))
        print("published")

    def attack(self, given):
        """Until it is turned away, or ended: then it says that it leaves, so that nobody waits."""
        try:
            self.until(lambda: all(n.has_base is not None for n in self.neighbours))
            ATTACKS[given.attack](self, given)
            self.until(lambda: False)
        except KeyboardInterrupt:
            self.say_all(Kind.MEMBER_UPDATE, self.signed_record(stage=LEFT))
            self.say_all(Kind.BYE, LEAVING, "so long", b"")
            for neighbour in self.neighbours:
                neighbour.close()

    # To the swarm.

    def nothing(self, _):
        self.publish()

    def forge(self, _):
        data = self.make_rumor()
        self.say_all(Kind.RUMOR, data[:-1] + bytes([data[-1] ^ 1]))

    def equivocate(self, _):
        for amount, neighbour in enumerate(self.neighbours, 4096):
            neighbour.say(Kind.RUMOR, self.make_rumor(amount))

    def begin_again(self, given):
        for _ in range(given.times):
            self.incarnation += 1
            self.neighbours[0].say(Kind.RUMOR, self.make_rumor())
            self.neighbours[0].listen()
        print(f"began {given.times} times")

    def claim(self, _):
        self.claimed = self.signed_record(rate=1e30, trains=1)
        self.say_all(Kind.MEMBER_UPDATE, self.claimed)
        self.publish()

    def exceed(self, _):
        self.neighbours[0].say(Kind.RUMOR, self.make_rumor(AMOUNT_MAX))

    def oppose(self, _):
        self.is_opposing = True

    def publish_against(self, data):
        """The rumor, but signed by this member, in its stream, and the other way."""
        mine, fields = self.credentials, list(RUMOR_HEAD.unpack(data[:128]))
        count = int.from_bytes(fields[3][:3], "little")
        body = negated(data[128:-64], count, mine.parameters)
        samples = SAMPLES_EACH * (self.published + 1)
        head = RUMOR_HEAD.pack(mine.id, self.incarnation, self.published, fields[3],
                               samples.to_bytes(6, "little"), *fields[5:8], self.last,
                               blake2b(256, body))
        self.published, self.last = self.published + 1, blake2b(256, head, mine.context)
        self.say_all(Kind.RUMOR, head + body + mine.sign(self.last))

    def overwhelm(self, _):
        count = self.credentials.parameters
        self.publish(AMOUNT_MAX, count, body_of_all(count))

    def invent(self, _):
        door, callers, began = socket.create_server(("", 0)), 0, time.monotonic()
        door.setblocking(False)
        port = door.getsockname()[1]
        records = [invented(self.credentials.context, f"127.9.0.{1 + i}", port)
                   for i in range(INVENTED)]
        for i in range(0, INVENTED, RECORDS_AT_ONCE):
            self.say_all(Kind.MEMBER_UPDATE, b"".join(records[i : i + RECORDS_AT_ONCE]))
        self.publish()
        while True:
            end = time.monotonic() + 1
            self.until(lambda: time.monotonic() > end)
            with contextlib.suppress(BlockingIOError):
                while True:
                    door.accept()[0].close()
                    callers += 1
            span = time.monotonic() - began
            print(f"{callers} callers in {span:.0f} s")
            require(callers <= NODES * (CALLS_AT_ONCE + span + 1), "they are too many")

    def besiege(self, given):
        """With no key; and a guest that has it calls from a network of its own."""
        self.publish()
        self.until(lambda: all(n.has_base for n in self.neighbours))
        for neighbour in self.neighbours:
            neighbour.close()
        port = int(given.neighbours[0].rsplit(":", 1)[1])
        crowd, guest = Crowd(port, MUTE, NETWORKS), Caller(self.credentials)
        while crowd.opened < MUTE:
            time.sleep(TURN_S)
        print("besieged")
        for call in range(1, CALLS + 1):
            guest.incarnation += 1
            require(guest.dial(port, GUEST_NETWORK, GIVE_UP_S)[0], "a call came to nothing")
            print(f"{call} calls of {CALLS} got in")
        crowd.join()

    # To a victim: what it is given as a base.

    def meet(self, address):
        self.publish()
        self.until(lambda: self.neighbours[0].has_base)
        self.take_over(self.neighbours[0])
        self.victim = Neighbour(self, address)
        self.neighbours.append(self.victim)

    def false_base(self, given):
        self.meet(given.victim)

    def next_life(self, given):
        self.is_foreseeing = True
        self.meet(given.victim)

    def false_version(self):
        """And the entries of its HISTORY: the true ones, and perhaps one of what is to come, which
        nobody but the victim could sign."""
        version, entries = Version(self.history, self.history.heads), self.history_entries
        if self.is_foreseeing:
            head = rumor_head(self.victim_of, 4096, 5, BODY, self.credentials.parameters)
            hashed, tag = blake2b(256, head, self.credentials.context), tag_of(*self.victim_of)
            version[tag], version.heads[tag] = 1, hashed[:16]
            entries += head + self.credentials.sign(hashed)
        return version, entries

    def on_message(self, neighbour, message):
        match message:
            case [Kind.RUMOR, data] if self.is_opposing and data[:32] != self.credentials.id:
                known = len(self.rumors)
                super().on_message(neighbour, message)
                if len(self.rumors) > known:
                    self.publish_against(data)
            case [Kind.HELLO, incarnation, _, _, record] if neighbour is self.victim:
                self.victim_of = record[:32], incarnation + 1
            case [Kind.VERSION, *_] if neighbour is self.victim:
                version, _ = self.false_version()
                learned = struct.pack("<Qf", 0, 0) * len(version)
                neighbour.say(Kind.VERSION, self.history_digest, version.hash(), version.total(),
                              1, 1, 1, learned, version.pack())
            case [Kind.WANT, tag, seq] if neighbour is self.victim and tag:
                neighbour.say(Kind.GONE, tag, seq)  # and so a base is needed
            case [Kind.TAKE]:
                neighbour.say(Kind.HISTORY, self.history_digest, 0, 1, self.false_version()[1])
            case [Kind.FETCH, first, count]:
                for block in range(first, first + count):
                    neighbour.say(Kind.BLOCK, block, self.history.hash(), self.history.pack(),
                                  b"\0")
            case _:
                super().on_message(neighbour, message)


ATTACKS = {attack.__name__.replace("_", "-"): attack for attack in (
    Villain.nothing, Villain.forge, Villain.equivocate, Villain.begin_again, Villain.claim,
    Villain.exceed, Villain.oppose, Villain.overwhelm, Villain.invent, Villain.next_life, Villain.false_base,
    Villain.besiege)}


def end(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # timeout(1) says it twice
    raise KeyboardInterrupt


def main():
    parser = parser_of("Enter a swarm, and do it harm.")
    parser.add_argument("--attack", choices=ATTACKS, required=True)
    parser.add_argument("--victim", metavar="HOST:PORT")
    parser.add_argument("--times", metavar="INCARNATIONS", type=int)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, end)
    run(given, Villain, lambda villain: villain.attack(given))


if __name__ == "__main__":
    main()
