"""A client that enters a swarm, takes over the base, publishes one rumor, and compares every digest
that its neighbours show with its own. Written from net/README.md alone; § are its sections.

It knows swarms of up to 256 origins, where a BLOCK lists them all. It needs Debian's python3-nacl
and python3-msgpack. Exit codes: 0 all digests agree, 1 one differs or a neighbour broke the
protocol, 2 wrong usage, 3 turned away: the reason is printed.
"""
import argparse
import asyncio
import collections
import itertools
import math
import os
import struct
import sys
import time

import nacl.bindings as sodium
from nacl.exceptions import CryptoError
from nacl.signing import VerifyKey

from client_protocol import (
    BLOCK_ENTRIES, BROKEN, FETCH_BLOCKS, HISTORY_ENTRY, LEARNED_ENTRY, LEAVING, MEMBER,
    VERSION_ENTRY, Failed, Identity, Kind, Noise, Rumor, Swarm, TurnedAway, Version, add_digests,
    check_digest, check_member, decode_units, digest_of, hash_of, pack_message, read_key, require,
    rumor_name, sign_member, sign_rumor, tag_of, unpack_all, unpack_message, wrap)

RETRY_S = 10  # after a refusal


class Neighbour:
    """One conversation: frames, handshake, records and acknowledgements (§5 to §9, §11)."""

    def __init__(self, client):
        self.client = client
        self.received = self.heard_ns = 0
        self.version = None  # its latest Version
        self.shown = {}  # the version in it: {tag: next}
        self.pruned = set()  # tags of origins whose rumors it does not want from here
        self.agreed = {}  # its latest version whose digest has been found right
        self.closed = self._has_session = False

    async def open(self, address):
        host, port = address.rsplit(":", 1)
        self._reader, self._writer = await asyncio.open_connection(host, int(port))
        await self._handshake(self.client.swarm, self.client.identity)
        self.say(Kind.HELLO, self.client.incarnation, 0, host, self.client.member())

    async def _handshake(self, swarm, identity):
        secret, noise = os.urandom(32), Noise(swarm.introduction)
        public = sodium.crypto_scalarmult_base(secret)
        noise.mix_ephemeral(public)
        message_1 = public + noise.seal(b"")
        self._send(swarm.gate(message_1) + message_1)

        frame = await self._receive()
        if len(frame) == 88:
            swarm.refuse(frame, message_1)
        require(len(frame) == 192, "message 2 of an impossible size")
        noise.mix_ephemeral(frame[:32])
        noise.mix_key(sodium.crypto_scalarmult(secret, frame[:32]))
        static = noise.open(frame[32:80])
        noise.mix_key(sodium.crypto_scalarmult(secret, static))
        certificate = noise.open(frame[80:])
        self.id = certificate[:32]
        VerifyKey(self.id).verify(b"hearsay noise key" + static, certificate[32:])

        message_3 = noise.seal(identity.noise_public)
        noise.mix_key(sodium.crypto_scalarmult(identity.noise_secret, frame[:32]))
        noise.mix_psk(swarm.psk)
        self._send(message_3 + noise.seal(identity.certificate))
        self._sealing, self._opening = noise.split()
        self._has_session = True

    def _send(self, content):
        self._writer.write(struct.pack(">H", len(content)) + content)

    async def _receive(self):
        try:
            size = int.from_bytes(await self._reader.readexactly(2), "big")
            content = await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            why = "" if self._has_session else ": it has another swarm key, or is full"
            raise TurnedAway("closed without a word" + why) from None
        self.received += 2 + size
        self.heard_ns = time.monotonic_ns()
        return content

    def say(self, kind, *fields):
        if not self.closed:
            self._send(self._sealing.seal(pack_message(kind, *fields)))

    def say_bye(self, reason, text):
        if not self.closed:
            self.say(Kind.BYE, reason, text, b"")
            self.closed = True
            self._writer.write_eof()

    async def acknowledge(self):
        acknowledged = 0
        while not self.closed:
            await asyncio.sleep(0.025)
            if self.received >= acknowledged + 2048:
                acknowledged = self.received
                held_us = (time.monotonic_ns() - self.heard_ns) // 1000
                self.say(Kind.ACK, self.received, self.heard_ns // 1000, held_us, 0)

    async def listen(self):
        """Until a BYE has been said, by whomever, and the other has closed."""
        try:
            while True:
                frame = await self._receive()
                if not self.closed:
                    self.client.on_message(self, *unpack_message(self._opening.open(frame)))
        except TurnedAway:
            if not self.closed:
                raise
        except (Failed, CryptoError, ValueError) as error:
            self.say_bye(BROKEN, str(error))
            raise
        finally:
            self._writer.close()


class Client:
    def __init__(self, swarm, identity):
        self.swarm, self.identity = swarm, identity
        self.incarnation = time.time_ns() // 1_000_000
        self.tag = tag_of(identity.id, self.incarnation)
        self.stamps = itertools.count(1)
        self.neighbours, self.members = [], {identity.id}
        self.log = collections.defaultdict(dict)  # rumors: {tag: {seq: Rumor}}
        self.samples = {}  # {tag: samples}, as of the latest rumor
        self.history = {}  # version of HISTORY, {tag: next} ...
        self.history_digest = 0  # ... and its digest
        self.known = {}  # that version, raised by the rumors that have come since
        self.blocks = {}  # {number: (version, units)}, each as it came
        self.block_count = math.ceil(swarm.parameters / BLOCK_ENTRIES)
        self.refused = self.has_base = False
        self.changed = asyncio.Event()

    async def until(self, condition):
        while not condition():
            if all(neighbour.closed for neighbour in self.neighbours):
                raise TurnedAway("all neighbours have left")
            self.changed.clear()
            await self.changed.wait()

    # What it knows.

    def digest_at(self, version):
        """Of any version; None when that takes rumors that have not been heard."""
        digest = self.history_digest
        for tag in {*version, *self.history}:
            first, end = self.history.get(tag, 0), version.get(tag, 0)
            if not first <= end <= self.known.get(tag, 0):
                return None
            for seq in range(first, end):
                digest = add_digests(digest, self.log[tag][seq].digest)
        return digest

    def above(self, version):
        """The names of the rumors known that a block of this version lacks."""
        return [(tag, seq) for tag, end in self.known.items()
                for seq in range(version.get(tag, 0), end)]

    def is_behind(self, block):
        version, _ = self.blocks[block]
        return any(end > self.known.get(tag, 0) for tag, end in version.items())

    def is_beyond_help(self, block):
        """It lacks rumors that nobody has said since this client listens."""
        version, _ = self.blocks[block]
        return any(seq not in self.log[tag] for tag, seq in self.above(version))

    def base(self):
        """At the version known (§16)."""
        units = [unit for block in range(self.block_count) for unit in self.blocks[block][1]]
        for block, (version, _) in self.blocks.items():
            for tag, seq in self.above(version):
                for index, moved in self.log[tag][seq].units.items():
                    if index // BLOCK_ENTRIES == block:
                        units[index] = wrap(units[index] + moved)
        return units

    def show(self, what):
        """Print the version, once the base itself has the digest that its rumors add up to."""
        digest, hash_ = self.digest_at(self.known), hash_of(self.known)
        check_digest(f"{hash_:016x} here", digest_of(enumerate(self.base())), digest)
        print(f"{what}: {sum(self.known.values())} rumors, version {hash_:016x}, "
              f"digest {digest:016x}", flush=True)

    # What it says.

    def member(self):
        digest = self.digest_at(self.known) if self.has_base else 0
        return sign_member(
            self.identity, self.incarnation, next(self.stamps), digest, self.swarm)

    def say_version(self, neighbour):
        """Before it has a base: the empty version, whose digest is for others to know (§14)."""
        if self.has_base:
            shown, digest = self.known, self.digest_at(self.known)
        else:
            shown, digest = {}, 0 if neighbour.version.hash else neighbour.version.digest
        neighbour.say(
            Kind.VERSION, digest, hash_of(shown), sum(shown.values()), len(self.members), 0, 1,
            b"".join(LEARNED_ENTRY.pack(self.samples[tag], 0) for tag in shown),
            b"".join(VERSION_ENTRY.pack(*entry) for entry in shown.items()))

    async def tick(self):
        """Once a second: its record and version, a look at theirs, and what is missing."""
        while not all(neighbour.closed for neighbour in self.neighbours):
            for neighbour in self.neighbours:
                if neighbour.version:
                    neighbour.say(Kind.MEMBER_UPDATE, self.member())
                    self.say_version(neighbour)
                    neighbour.say(Kind.WANT, 0, 0)
                for tag, end in neighbour.shown.items() if self.history else ():
                    if end > self.known.get(tag, 0):
                        neighbour.say(Kind.WANT, tag, self.known.get(tag, 0))
            await asyncio.sleep(1)

    # What it hears.

    def on_message(self, neighbour, kind, fields):
        require(kind in (Kind.HELLO, Kind.BYE) or neighbour.id in self.members, "no HELLO")
        handler = getattr(self, "on_" + kind.name.lower(), None)
        if handler:
            handler(neighbour, *fields)
        self.changed.set()

    def on_hello(self, neighbour, incarnation, port, host, record):
        require(MEMBER.unpack(record)[:2] == (neighbour.id, incarnation), "another's record")
        self.on_member_update(neighbour, record)

    def on_member_update(self, neighbour, records):
        for fields in unpack_all(MEMBER, records):
            check_member(fields, self.swarm)
            self.members.add(fields[0])

    def on_ping(self, neighbour, token):
        neighbour.say(Kind.PONG, token)

    def on_version(self, neighbour, *fields):
        is_first, neighbour.version = neighbour.version is None, Version(*fields)
        if is_first:
            self.say_version(neighbour)
        if neighbour.version.whole:
            neighbour.shown = dict(unpack_all(VERSION_ENTRY, neighbour.version.entries))
            require(hash_of(neighbour.shown) == neighbour.version.hash, "another hash")
            expected = self.digest_at(neighbour.shown) if self.has_base else None
            if expected is not None:
                name = f"{neighbour.version.hash:016x} at {neighbour.id.hex()[:8]}"
                check_digest(name, neighbour.version.digest, expected)
                neighbour.agreed = neighbour.shown

    def on_rumor(self, neighbour, data):
        tag, seq = rumor_name(data)
        if seq in self.log[tag]:
            return
        rumor = self.log[tag][seq] = Rumor(data, self.swarm)
        self.samples[tag] = max(rumor.samples, self.samples.get(tag, 0))
        self.raise_known()
        for other in self.neighbours if self.has_base else ():
            if other is not neighbour and other.id != rumor.origin and tag not in other.pruned:
                other.say(Kind.RUMOR, data)

    def raise_known(self):
        for tag, rumors in self.log.items() if self.history else ():
            while self.known.get(tag, 0) in rumors:
                self.known[tag] = self.known.get(tag, 0) + 1

    def on_prune(self, neighbour, tag):
        neighbour.pruned.add(tag)

    def on_want(self, neighbour, tag, seq):
        neighbour.pruned.discard(tag)
        if tag == 0:
            self.say_version(neighbour)
        elif seq not in self.log[tag]:
            neighbour.say(Kind.GONE, tag, seq)
        else:
            for number in range(seq, self.known[tag]):
                neighbour.say(Kind.RUMOR, self.log[tag][number].bytes)

    def on_take(self, neighbour):
        neighbour.say(Kind.HISTORY, 0, 0, 0, b"")

    def on_fetch(self, neighbour, block, count):
        neighbour.say(Kind.BLOCK, 0, 0, b"", b"")

    def on_history(self, neighbour, digest, part, parts, entries):
        self.parts = unpack_all(HISTORY_ENTRY, entries) + (self.parts if part else [])
        self.refused = parts == 0
        if part + 1 == parts:
            for member, incarnation, end, samples in self.parts:
                tag = tag_of(member, incarnation)
                self.history[tag] = self.known[tag] = end
                self.samples.setdefault(tag, samples)
            self.history_digest = digest
            self.raise_known()

    def on_block(self, neighbour, block, hash_, entries, units):
        version = dict(unpack_all(VERSION_ENTRY, entries))
        self.refused = not units or hash_of(version) != hash_
        if not self.refused:
            require(block < self.block_count, "a block that is none")
            count = min(BLOCK_ENTRIES, self.swarm.parameters - block * BLOCK_ENTRIES)
            self.blocks[block] = version, decode_units(units, count)

    def on_bye(self, neighbour, reason, text, records):
        if reason != LEAVING:
            raise TurnedAway(f"BYE {reason}: {text}")
        neighbour.closed = True

    # What it does.

    async def ask(self, giver, is_done, *message):
        while not is_done():
            self.refused = False
            giver.say(*message)
            await self.until(lambda: is_done() or self.refused)
            if self.refused:
                await asyncio.sleep(RETRY_S)

    async def fetch(self, giver, first, count):
        wanted = {*range(first, first + count)}
        await self.ask(giver, lambda: wanted <= self.blocks.keys(), Kind.FETCH, first, count)

    async def take_over(self, giver):
        await self.ask(giver, lambda: self.history, Kind.TAKE)
        for first in range(0, self.block_count, FETCH_BLOCKS):
            await self.fetch(giver, first, min(FETCH_BLOCKS, self.block_count - first))
        await self.until(lambda: not any(map(self.is_behind, self.blocks)))
        for block in [*filter(self.is_beyond_help, self.blocks)]:
            del self.blocks[block]
            await self.fetch(giver, block, 1)
            await self.until(lambda: not any(map(self.is_behind, self.blocks)))
        self.has_base = True

    def make_rumor(self):
        levels = {index: index % 3 - 1 or 1 for index in range(7, self.swarm.parameters, 999)}
        return sign_rumor(self.identity, self.incarnation, 0, 4096, levels, self.swarm)

    async def forge(self):
        """Publish a rumor with one wrong bit in the signature, until turned away for it."""
        await self.until(lambda: self.neighbours[0].version)
        rumor = self.make_rumor()
        self.neighbours[0].say(Kind.RUMOR, rumor[:-1] + bytes([rumor[-1] ^ 1]))

    async def visit(self, stays):
        everybody = self.neighbours
        await self.until(lambda: all(
            n.version and n.version.base and n.version.rumors for n in everybody))
        await self.take_over(everybody[0])
        self.show(f"took over {self.block_count} blocks")
        enough = sum(self.known.values()) + 3
        await self.until(lambda: sum(self.known.values()) >= enough)
        self.show("heard more")
        self.on_rumor(None, self.make_rumor())
        self.show("published one")
        await self.until(lambda: all(self.tag in n.agreed for n in everybody))
        print(f"{len(everybody)} neighbours hold it, with the right digest", flush=True)
        if stays:
            await self.until(lambda: all(n.closed for n in everybody))
            self.show("the others left")
        for neighbour in everybody:
            neighbour.say_bye(LEAVING, "so long")

    async def run(self, addresses, story):
        for address in addresses:
            self.neighbours.append(Neighbour(self))
            await self.neighbours[-1].open(address)
        each = [task() for n in self.neighbours for task in (n.listen, n.acknowledge)]
        await asyncio.gather(story, self.tick(), *each)


def main():
    parser = argparse.ArgumentParser(description="Enter a swarm, and compare digests.")
    parser.add_argument("neighbours", nargs="+", metavar="HOST:PORT")
    for option in ("identity", "swarm-key", "model"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--parameters", type=int, required=True)
    parser.add_argument("--swarm", default="hearsay")
    parser.add_argument("--stay", action="store_true", help="until all neighbours have left")
    parser.add_argument("--forge", action="store_true", help="only publish a forged rumor")
    given = parser.parse_args()
    key = read_key(given.swarm_key, "hearsay-swarm-key-1")
    swarm = Swarm(key, given.swarm, given.model, given.parameters)
    client = Client(swarm, Identity(read_key(given.identity, "hearsay-identity-1")))
    try:
        story = client.forge() if given.forge else client.visit(given.stay)
        asyncio.run(client.run(given.neighbours, story))
    except TurnedAway as reason:
        print(f"turned away: {reason}")
        return 3
    except (Failed, CryptoError, ValueError, OSError) as error:
        print(f"failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
