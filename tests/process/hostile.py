"""A hostile member: has the swarm key, and carries out one --attack on the nodes that it dials.

    nothing         publishes a rumor, and stays
    forge           publishes a rumor with a wrong signature
    equivocate      publishes different rumors with the same number, one to each neighbour
    begin-again     publishes a rumor in each of --times incarnations
    claim           publishes a record that reports 1e30 samples a second, and announces the next
                    record in an hour
    exceed          publishes a rumor that moves an entry by 3, three times the limit
    oppose          publishes the negative of each received rumor, until it is expelled; first creates
                    --throwaway keys, and sends a proof of equivocation against each of them
    burst           moves all entries in --rumors rumors, each by --part of the longest move that is
                    allowed, and then publishes nothing
    overwhelm       publishes a rumor that moves all entries by the largest possible amount
    invent          announces 250 members at a port of its own, and counts the connections
    next-life       gives --victim a base with a rumor of the victim's next incarnation
    false-base      gives --victim blocks of zeros with a true history
    claim-base      claims 2^20 rumors and 2^44 samples, and gives all nodes a base of zeros with them
    pour            signs 3,000 records of itself a second, and asks for all members 320 times a second
    besiege         keeps 20 silent connections open; a guest with the key dials ten times

It stays until it gets SIGTERM or is turned away. The exit codes are those of client.py.
"""
import contextlib
import math
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
# Each of the swarm's three nodes may dial 32 unknown addresses at once, and one more a second
# (TRIES_MAX in src/node/discovery/dialer.c).
NODES, CALLS_AT_ONCE = 3, 32
MUTE, NETWORKS, GUEST_NETWORK, CALLS, GIVE_UP_S = 20, 4, 200, 10, 600
LEVEL_MAX, AMOUNT_MAX = 127, 1 << 24
SAMPLES_EACH = 100  # samples that each rumor of `oppose` reports
POURED, QUERIES = 75, 8  # records and queries in a turn; a second has 40 turns
CLAIMED_RUMORS, CLAIMED_SAMPLES = 1 << 20, 1 << 44
PROOFS_AT_ONCE = 128


def body_of_all(count):
    """Returns a rumor body (§12) that moves each of the first `count` entries by the highest level, with
    random signs."""
    signs = int.from_bytes(os.urandom(count // 8 + 1), "little") % 2**count
    layers = "0" * 5 + "0" * count + "10" * (LEVEL_MAX - 1)  # gaps of 0; no entry is left out
    bits = layers + f"{signs:0{count}b}"
    return int(bits[::-1], 2).to_bytes(-(-len(bits) // 8), "little")


def negated(body, count, parameters):
    """Returns a body with all levels negated: its last bits before the padding are the signs."""
    bits = Bits(body)
    decode_body(body, count, parameters, bits)
    signs = (1 << count) - 1 << bits.at - count
    return (int.from_bytes(body, "little") ^ signs).to_bytes(len(body), "little")


def invented(context, host, port):
    """Returns the signed record of a member that does not exist, with a random key."""
    key = SigningKey(os.urandom(32))
    data = RECORD.pack(bytes(key.verify_key), 1, 1, 0, 0, 0.0, HOUR_MS, port, 0, 0, 0.0, 0.0, 0, 0,
                       host.encode())
    return data + key.sign(context + data).signature


def proof_against_new_key(context, parameters):
    """Creates a key and returns the proof that it signed two different first rumors (§10)."""
    key = SigningKey(os.urandom(32))
    heads = sorted(rumor_head((bytes(key.verify_key), 1), amount, 5, BODY, parameters)
                   for amount in (4096, 4097))
    return b"".join(head + key.sign(blake2b(256, head, context)).signature for head in heads)


class Villain(Guest):
    """A guest with a method for each attack. Each method takes the command line's options."""

    def __init__(self, credentials, addresses):
        self.claimed = None  # record to send instead of a fresh one
        self.victim = self.victim_of = None  # neighbour under attack; its (id, next incarnation)
        self.is_foreseeing = self.is_opposing = False  # next-life or oppose is under way
        self.is_claiming = self.is_pouring = False  # claim-base or pour is under way
        self.published, self.last = 0, bytes(32)  # number of published rumors, and hash of the last one
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
        """Carries out the attack until it is turned away or gets SIGTERM. On SIGTERM it announces that it
        leaves, so that no node waits for it."""
        try:
            self.until(lambda: all(n.has_base is not None for n in self.neighbours))
            ATTACKS[given.attack](self, given)
            self.until(lambda: False)
        except KeyboardInterrupt:
            self.say_all(Kind.MEMBER_UPDATE, self.signed_record(stage=LEFT))
            self.say_all(Kind.BYE, LEAVING, "so long", b"")
            for neighbour in self.neighbours:
                neighbour.close()

    # Attacks on the swarm.

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

    def oppose(self, given):
        mine = self.credentials
        proofs = [proof_against_new_key(mine.context, mine.parameters) for _ in range(given.throwaway)]
        for i in range(0, given.throwaway, PROOFS_AT_ONCE):
            self.say_all(Kind.PROOF, 1, b"".join(proofs[i : i + PROOFS_AT_ONCE]))
        self.is_opposing = True

    def publish_next(self, shape, samples, body):
        """Publishes a rumor that follows this member's last one. shape: the head's count and top, length,
        tau and amount. samples: all samples of the stream so far."""
        mine, (count_and_top, *rest) = self.credentials, shape
        head = RUMOR_HEAD.pack(mine.id, self.incarnation, self.published, count_and_top,
                               samples.to_bytes(6, "little"), *rest, self.last, blake2b(256, body))
        self.published, self.last = self.published + 1, blake2b(256, head, mine.context)
        self.say_all(Kind.RUMOR, head + body + mine.sign(self.last))

    def publish_against(self, data):
        """Publishes the negative of a rumor as the next rumor of this member."""
        fields = RUMOR_HEAD.unpack(data[:128])
        count = int.from_bytes(fields[3][:3], "little")
        body = negated(data[128:-64], count, self.credentials.parameters)
        self.publish_next((fields[3], *fields[5:8]), SAMPLES_EACH * (self.published + 1), body)

    def burst(self, given):
        count = self.credentials.parameters
        body, length = body_of_all(count), math.ceil(LEVEL_MAX * math.sqrt(count))
        amount = int((1 << 21) * math.ceil(math.sqrt(count)) * given.part) // length  # see §12
        shape = count.to_bytes(3, "little") + bytes([LEVEL_MAX]), length, 0.001, amount
        for _ in range(given.rumors):
            self.publish_next(shape, given.samples, body)
        print("published")

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
            require(callers <= NODES * (CALLS_AT_ONCE + span + 1),
                    "nodes dial more unknown addresses than the limit allows")

    def pour(self, _):
        """Sends more than a node checks. Drops all received rumors, because decoding them takes too long."""
        self.is_pouring = True
        print("pours")
        while True:
            records = b"".join(self.signed_record() for _ in range(POURED))
            self.say_all(Kind.MEMBER_UPDATE, records)
            for _ in range(QUERIES):
                self.say_all(Kind.MEMBER_QUERY, 0)
            end = time.monotonic() + TURN_S
            self.until(lambda end=end: time.monotonic() >= end)

    def besiege(self, given):
        """Surrounds the node with silent connections without a key. Then a guest with the key dials from
        another network, ten times."""
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
            require(guest.dial(port, GUEST_NETWORK, GIVE_UP_S)[0],
                    f"the guest got no HELLO within {GIVE_UP_S} s")
            print(f"{call} calls of {CALLS} got in")
        crowd.join()

    # Attacks on nodes that take over a base from this member.

    def meet(self, address):
        """Takes over the base from the first neighbour, then connects to the victim."""
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

    def false_digest(self):
        """Returns the digest to show: with claim-base that of the blocks of zeros, else the true one."""
        return 0 if self.is_claiming else self.history_digest

    def claim_base(self, _):
        self.take_over(self.neighbours[0])
        self.is_claiming = True

    def claimed_head(self):
        """Returns the head of this member's last claimed rumor, and its hash."""
        mine = self.credentials
        head = RUMOR_HEAD.pack(mine.id, self.incarnation, CLAIMED_RUMORS - 1, b"\5\0\0\1",
                               CLAIMED_SAMPLES.to_bytes(6, "little"), 1, 0.001, 4096, bytes([1] * 32),
                               blake2b(256, BODY))
        return head, blake2b(256, head, mine.context)

    def false_version(self):
        """Returns the version to show and its HISTORY entries. With claim-base both have the claimed rumors.
        With next-life both have a rumor of the victim's next incarnation, with a wrong signature because
        only the victim could sign it."""
        version, entries = Version(self.history, self.history.heads), self.history_entries
        if self.is_claiming:
            head, hashed = self.claimed_head()
            tag = tag_of(self.credentials.id, self.incarnation)
            version[tag], version.heads[tag] = CLAIMED_RUMORS, hashed[:16]
            entries += head + self.credentials.sign(hashed)
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
            case [Kind.RUMOR, _] if self.is_pouring:
                pass
            case [Kind.HELLO, incarnation, _, _, record] if neighbour is self.victim:
                self.victim_of = record[:32], incarnation + 1
            case [Kind.VERSION, *_] if neighbour is self.victim or self.is_claiming:
                version, _ = self.false_version()
                learned = struct.pack("<Qf", 0, 0) * len(version)
                neighbour.say(Kind.VERSION, self.false_digest(), version.hash(), version.total(),
                              1, 1, 1, learned, version.pack())
            case [Kind.WANT, tag, seq] if neighbour is self.victim and tag:
                neighbour.say(Kind.GONE, tag, seq)  # forces the victim to take over a base
            case [Kind.TAKE]:
                print("asked for its base")
                neighbour.say(Kind.HISTORY, self.false_digest(), 0, 1, self.false_version()[1])
            case [Kind.FETCH, first, count]:
                version, _ = self.false_version()
                for block in range(first, first + count):
                    neighbour.say(Kind.BLOCK, block, version.hash(), version.pack(), b"\0")
            case _:
                super().on_message(neighbour, message)


ATTACKS = {attack.__name__.replace("_", "-"): attack for attack in (
    Villain.nothing, Villain.forge, Villain.equivocate, Villain.begin_again, Villain.claim,
    Villain.exceed, Villain.oppose, Villain.burst, Villain.overwhelm, Villain.invent, Villain.next_life,
    Villain.false_base, Villain.claim_base, Villain.pour, Villain.besiege)}


def end(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # timeout(1) sends the signal twice
    raise KeyboardInterrupt


def main():
    parser = parser_of("Enter a swarm and attack it.")
    parser.add_argument("--attack", choices=ATTACKS, required=True)
    parser.add_argument("--victim", metavar="HOST:PORT")
    parser.add_argument("--times", metavar="INCARNATIONS", type=int)
    parser.add_argument("--samples", metavar="N", type=int, default=0,
                        help="samples that the burst reports")
    parser.add_argument("--rumors", metavar="N", type=int, default=8)
    parser.add_argument("--part", metavar="PART", type=float, default=1.0)
    parser.add_argument("--throwaway", metavar="KEYS", type=int, default=0)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, end)
    run(given, Villain, lambda villain: villain.attack(given))


if __name__ == "__main__":
    main()
