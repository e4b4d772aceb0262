"""A guest: enters a swarm, takes over the base, publishes one rumor, and compares every digest that its
neighbours show with its own. Written from net/README.md only, with rumors.py; § marks sections of that
page. hostile.py has hostile members.

Needs Debian's python3-nacl and python3-msgpack, and a swarm of at most 256 origins, so that a BLOCK lists
them all. Exit codes: 0 = all digests agree, 1 = one differs or a neighbour violated the protocol, 2 = wrong
usage, 3 = a neighbour refused or closed the connection (the reason is printed).
"""
import argparse
import contextlib
import enum
import hashlib
import hmac
import itertools
import math
import os
import select
import socket
import struct
import sys
import time

import msgpack
import nacl.bindings as sodium
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey
from rumors import (BLOCK_ENTRIES, HISTORY_ENTRY, RUMOR_HEAD, Rumor, Version, blake2b, decode_block,
                    digest_of, require, rumor_head, sum_lanes, tag_of, unpack_version)

TURN_S, TURNS_A_SECOND = 0.025, 40  # length of a turn: the minimum time between two ACKs
RETRY_S = 10  # a request without an answer is repeated after this time
FETCH_BLOCKS = 8  # blocks requested at once
LEAVING, LEFT = 1, 3  # reason of a BYE message, and stage in a member record
BODY = bytes.fromhex("02f4f1a141258804")  # rumor body of §19: moves entries 0, 3, 7, 20 and 41
Kind = enum.IntEnum("Kind", (  # kinds of messages, from 1 (§8)
    "HELLO MEMBER_UPDATE MEMBER_QUERY MEMBER_LIST PING PONG ACK RUMOR PRUNE VERSION WANT GONE "
    "TAKE HISTORY FETCH BLOCK BYE ORDERS SETTINGS PROOF HEADS LISTED SWARM_KEY VOTES INFERENCE REPLY"))
OLDEST, NEWEST = 11, 12  # protocol versions that the guest supports (§4)
INTRODUCTION = struct.Struct("<HxB4x16s16sQ")
ORDER_HEAD, REKEY = struct.Struct("<QBB32s"), 3
MEMBER = struct.Struct("<32sQQ20xI2xB85x")  # record of a guest: digest, port and trains are 0


class TurnedAway(Exception):
    """A neighbour refused this client or closed the connection; the text is the reason."""


# Keys, introduction, gate and handshake: §3 to §6


def read_key(path, label):
    with open(path, encoding="ascii") as file:
        return bytes.fromhex(file.read().removeprefix(label))


class Credentials:
    """The guest's keys, and the introduction that must match the neighbour's: swarm, model, number of
    parameters and protocol versions."""

    def __init__(self, seed, swarm_key, swarm, model, parameters, newest=OLDEST):
        self._key = SigningKey(blake2b(256, b"hearsay signing key", seed))
        self.id = bytes(self._key.verify_key)
        self.noise_secret = blake2b(256, b"hearsay noise key", seed)
        self.noise_public = sodium.crypto_scalarmult_base(self.noise_secret)
        self.certificate = self.id + self.sign(b"hearsay noise key" + self.noise_public)
        self._gate_key = blake2b(256, b"hearsay gate", swarm_key)
        self.psk = blake2b(256, b"hearsay psk", swarm_key)
        hashes = [blake2b(128, text.encode()) for text in (swarm, model)]
        self.newest = newest
        self.introduction = INTRODUCTION.pack(OLDEST, newest - OLDEST, *hashes, parameters)
        self.plain_introduction = INTRODUCTION.pack(OLDEST, 0, *hashes, parameters)
        self.context = blake2b(128, self.plain_introduction)
        self.parameters = parameters

    def sign(self, data):
        return self._key.sign(data).signature

    def gate(self, message_1):
        return sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
            self.introduction, message_1, message_1[:24], self._gate_key)

    def explain(self, refusal, message_1):
        """Decrypts a refusal (§5) and returns the differences from this guest as text."""
        oldest, newer, *theirs = INTRODUCTION.unpack(sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
            refusal[24:], message_1[:32], refusal[:24], self._gate_key))
        names = ("protocol", "swarm", "model", "number of parameters")
        ours = INTRODUCTION.unpack(self.introduction)[2:]
        differs = [not (oldest <= self.newest and OLDEST <= oldest + newer),
                   *(there != here for there, here in zip(theirs, ours))]
        return ", ".join(f"another {name}" for name, other in zip(names, differs) if other)


class Cipher:
    """ChaCha20-Poly1305 with a counter as nonce, for the handshake or one direction of a session."""

    def __init__(self, key):
        self.key, self._nonces = key, (struct.pack("<4xQ", n) for n in itertools.count())

    def seal(self, plaintext, associated=b""):
        return sodium.crypto_aead_chacha20poly1305_ietf_encrypt(
            plaintext, associated, next(self._nonces), self.key)

    def open(self, ciphertext, associated=b""):
        return sodium.crypto_aead_chacha20poly1305_ietf_decrypt(
            ciphertext, associated, next(self._nonces), self.key)


class Noise:
    """The handshake state of Noise_XXpsk3 (§6)."""

    def __init__(self, prologue):
        self._h = self._ck = hashlib.sha256(b"Noise_XXpsk3_25519_ChaChaPoly_SHA256").digest()
        self.mix_hash(prologue)

    def _hkdf(self, data):
        key, output = hmac.digest(self._ck, data, "sha256"), b""
        return [output := hmac.digest(key, output + bytes([i]), "sha256") for i in (1, 2, 3)]

    def mix_hash(self, data):
        self._h = hashlib.sha256(self._h + data).digest()

    def mix_key(self, data):
        self._ck, key, _ = self._hkdf(data)
        self._cipher = Cipher(key)

    def mix_key_and_hash(self, data):
        self._ck, hashed, key = self._hkdf(data)
        self.mix_hash(hashed)
        self._cipher = Cipher(key)

    def seal(self, plaintext):
        ciphertext = self._cipher.seal(plaintext, self._h)
        self.mix_hash(ciphertext)
        return ciphertext

    def open(self, ciphertext):
        plaintext = self._cipher.open(ciphertext, self._h)
        self.mix_hash(ciphertext)
        return plaintext

    def split(self):
        return map(Cipher, self._hkdf(b"")[:2])


# Connections: §5 to §9, §11


class Neighbour:
    """A connection to a neighbour, at HOST:PORT. The constructor does the handshake and sends HELLO."""

    def __init__(self, guest, address):
        self._guest = guest
        # Bytes received, bytes acknowledged, and the time of the last frame in microseconds.
        self._received = self._acknowledged = self._heard_us = 0
        self.agreed = Version()  # latest version that the neighbour showed with the right digest
        self._opening = None  # cipher of received records; None before the handshake is complete
        self.has_base = None  # whether the neighbour has a base; None before its first VERSION
        self.closed = False
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)))
        self._shake_hands(guest.credentials)
        self.say(Kind.HELLO, guest.incarnation, 0, host, guest.record())

    def _shake_hands(self, mine):
        secret, noise = os.urandom(32), Noise(mine.plain_introduction)
        public = sodium.crypto_scalarmult_base(secret)
        noise.mix_hash(public)
        noise.mix_key(public)
        message_1 = public + noise.seal(b"")
        self._send(mine.gate(message_1) + message_1)

        frame = self._receive()
        if len(frame) == 88:
            raise TurnedAway("refused: it has " + mine.explain(frame, message_1))
        theirs = frame[:32]
        noise.mix_hash(theirs)
        noise.mix_key(theirs)
        noise.mix_key(sodium.crypto_scalarmult(secret, theirs))
        static = noise.open(frame[32:80])
        noise.mix_key(sodium.crypto_scalarmult(secret, static))
        certificate = noise.open(frame[80:])
        self.protocol = struct.unpack("<H", certificate[96:] or struct.pack("<H", OLDEST))[0]
        require(OLDEST <= self.protocol <= mine.newest,
                f"the neighbour chose protocol version {self.protocol}, which was not offered")
        VerifyKey(certificate[:32]).verify(b"hearsay noise key" + static, certificate[32:96])

        message_3 = noise.seal(mine.noise_public)
        noise.mix_key(sodium.crypto_scalarmult(mine.noise_secret, theirs))
        noise.mix_key_and_hash(mine.psk)
        self._send(message_3 + noise.seal(mine.certificate))
        self._sealing, self._opening = noise.split()

    @property
    def session_keys(self):
        return self._sealing.key, self._opening.key

    def _send(self, content):
        with contextlib.suppress(ConnectionError):  # the neighbour's last messages can still be read
            self._socket.sendall(struct.pack(">H", len(content)) + content)

    def _receive(self):
        content = b""
        with contextlib.suppress(ConnectionError):
            size = int.from_bytes(self._socket.recv(2, socket.MSG_WAITALL), "big")
            content = self._socket.recv(size, socket.MSG_WAITALL)
        if not content:
            why = "" if self._opening else ": it has another swarm key, or is full"
            raise TurnedAway("closed without a word" + why)
        self._received += 2 + size
        self._heard_us = time.monotonic_ns() // 1000
        return content

    def say(self, kind, *fields):
        if not self.closed:
            self._send(self._sealing.seal(msgpack.packb([kind, *fields])))

    def listen(self):
        """Handles all messages that have arrived. Sends an ACK if at least 2 KiB have arrived since the last
        ACK."""
        while not self.closed and select.select([self._socket], [], [], 0)[0]:
            record = self._opening.open(self._receive())
            self._guest.on_message(self, msgpack.unpackb(record, unicode_errors="replace"))
        if self._received >= self._acknowledged + 2048:
            self._acknowledged = self._received
            held_us = time.monotonic_ns() // 1000 - self._heard_us
            self.say(Kind.ACK, self._received, self._heard_us, held_us, 0)

    def close(self):
        """Closes the connection after the neighbour has closed it. Unread bytes would reset the connection,
        and the guest's last messages could be lost."""
        self.closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            while self._socket.recv(65536):
                pass
            self._socket.close()


class Guest:
    """A member that does not train. It has a connection to each of the given addresses."""

    def __init__(self, credentials, addresses):
        self.credentials = credentials
        self.incarnation = time.time_ns() // 1_000_000
        self.stamps, self.turns = itertools.count(1), itertools.count(1)
        self.rumors = {}  # {(tag, seq): Rumor} of all received rumors
        # Version, digest and entries of the HISTORY message; empty before it arrives.
        self.history, self.history_digest, self.history_entries = Version(), 0, b""
        self.known = Version()  # version of HISTORY plus all later rumors without a gap
        self.blocks = {}  # {number: (version of the block, units)} of the fetched base
        self.block_count = math.ceil(credentials.parameters / BLOCK_ENTRIES)
        self.orders = {}  # {number: subject} of the operator's orders
        self.new_key = None  # (number of the order, key) of an ordered swarm key
        self.neighbours = [Neighbour(self, address) for address in addresses]

    def digest_at(self, version):
        """Returns the digest of a version between `history` and `known`."""
        heard = [self.rumors[name].digest for name in version.beyond(self.history)]
        return sum_lanes((digest, 1) for digest in [self.history_digest, *heard])

    def base(self):
        """Returns the units of the base at version `known` (§16), exact modulo 2^32, which suffices
        for digests."""
        units = [unit for block in range(self.block_count) for unit in self.blocks[block][1]]
        for block, (version, _) in self.blocks.items():
            for name in self.known.beyond(version):
                for index, moved in self.rumors[name].units.items():
                    if index // BLOCK_ENTRIES == block:
                        units[index] += moved
        return units

    def show(self, what):
        """Prints the version `known` after `what`. Raises ValueError if the digest of the base differs from
        the sum of the rumors' digests."""
        digest, hash_ = self.digest_at(self.known), self.known.hash()
        require(digest_of(enumerate(self.base())) == digest,
                f"the base does not have the digest {digest:016x} of its rumors")
        print(f"{what}: {self.known.total()} rumors, version {hash_:016x}, digest {digest:016x}")

    def record(self, stage=0):
        mine = self.credentials
        data = MEMBER.pack(mine.id, self.incarnation, next(self.stamps), 1000, stage)
        return data + mine.sign(mine.context + data)

    def on_message(self, neighbour, message):
        """Handles a message. A guest may ignore other kinds; `ask` repeats refused requests."""
        match message:
            case [Kind.PING, token]:
                neighbour.say(Kind.PONG, token)
            case [Kind.VERSION, digest, hash_, rumors, _, base, 1, _, entries]:
                neighbour.has_base = bool(base and rumors)
                # The guest shows an empty version, because neighbours would request rumors that it shows.
                # §14 defines the digest.
                neighbour.say(Kind.VERSION, 0 if hash_ else digest, 0, 0, 1, 0, 1, b"", b"")
                if self.credentials.newest > OLDEST:
                    neighbour.say(Kind.SETTINGS, f"protocol={OLDEST}-{self.credentials.newest}\n")
                print(f"speaks version {neighbour.protocol}")
                self.compare(neighbour, unpack_version(entries), hash_, digest)
            case [Kind.SETTINGS, lines]:
                for line in lines.split("\n"):
                    if line.startswith("protocol="):
                        newest = min(int(line.split("-")[1]), self.credentials.newest)
                        require(neighbour.protocol == newest,
                                f"protocol {neighbour.protocol} is not the newest common one, {newest}")
            case [Kind.RUMOR, data]:
                self.keep(Rumor(data, self.credentials))
            case [Kind.HISTORY, digest, 0, 1, entries]:
                for head, signature in HISTORY_ENTRY.iter_unpack(entries):
                    member, incarnation, seq, *_ = RUMOR_HEAD.unpack(head)
                    hashed = blake2b(256, head, self.credentials.context)
                    VerifyKey(member).verify(hashed, signature)
                    self.history[tag_of(member, incarnation)] = seq + 1
                    self.history.heads[tag_of(member, incarnation)] = hashed[:16]
                self.known = Version(self.history, self.history.heads)
                self.history_digest, self.history_entries = digest, entries
                self.keep()
            case [Kind.BLOCK, block, hash_, entries, units] if units:
                self.keep_block(block, unpack_version(entries), hash_, units)
            case [Kind.ORDERS, number, b""] if number > len(self.orders):
                neighbour.say(Kind.ORDERS, len(self.orders), b"")
            case [Kind.ORDERS, _, orders]:
                self.hear_orders(neighbour, orders)
            case [Kind.SWARM_KEY, number, key] if key:
                require(number in self.orders, "received a swarm key that no order names")
                hash_ = blake2b(256, b"hearsay swarm key", key)
                require(hash_ == self.orders[number], "received another swarm key than the ordered one")
                self.new_key = number, key
            case [Kind.BYE, reason, text, _]:
                neighbour.close()
                if reason != LEAVING:
                    raise TurnedAway(f"BYE {reason}: {text}")

    def hear_orders(self, neighbour, orders):
        """Keeps orders in the sequence of their numbers. Requests the key of each order for a new swarm
        key."""
        while orders:
            number, kind, pairs, subject = ORDER_HEAD.unpack_from(orders)
            orders = orders[178 + (40 if kind == REKEY else 12 * pairs):]
            if number != len(self.orders) + 1:
                continue
            self.orders[number] = subject
            if kind == REKEY:
                neighbour.say(Kind.SWARM_KEY, number, b"")

    def learn_key(self, path):
        """Waits for the ordered swarm key, writes it to a file, and leaves."""
        self.until(lambda: self.new_key)
        number, key = self.new_key
        with open(path, "w", encoding="ascii") as file:
            file.write(f"hearsay-swarm-key-1 {key.hex()}\n")
        print(f"has the swarm key of order {number}")
        self.leave()

    def compare(self, neighbour, version, hash_, digest):
        """Requests the rumors of a shown version that are missing here. Raises ValueError if its hash or
        digest is wrong."""
        require(version.hash() == hash_, "the hash belongs to another version")
        for tag in version - self.known if self.history else ():
            neighbour.say(Kind.WANT, tag, self.known[tag])
        if self.history and self.history <= version <= self.known:
            expected = self.digest_at(version)
            require(digest == expected, f"version {hash_:016x}: {digest:016x}, not {expected:016x}")
            neighbour.agreed = version

    def keep(self, *rumors):
        """Adds rumors, and raises `known` by all rumors that follow without a gap, also by rumors that
        arrived before HISTORY."""
        self.rumors |= {(rumor.tag, rumor.seq): rumor for rumor in rumors}
        for tag, _ in self.rumors if self.history else ():
            while rumor := self.rumors.get((tag, self.known[tag])):
                self.known[tag] += 1
                self.known.heads[tag] = rumor.hash[:16]

    def keep_block(self, block, version, hash_, data):
        require(block < self.block_count and version.hash() == hash_,
                "received a block with a wrong number or version hash")
        count = min(BLOCK_ENTRIES, self.credentials.parameters - block * BLOCK_ENTRIES)
        self.blocks[block] = version, decode_block(data, count)

    def until(self, condition):
        """Handles messages until the condition is true. Once a second sends a member record and a WANT to
        each neighbour. Raises TurnedAway if all neighbours have closed."""
        while not condition():
            if all(neighbour.closed for neighbour in self.neighbours):
                raise TurnedAway("all neighbours have left")
            time.sleep(TURN_S)
            turn = next(self.turns)
            for neighbour in self.neighbours:
                neighbour.listen()
                if turn % TURNS_A_SECOND == 0:
                    neighbour.say(Kind.MEMBER_UPDATE, self.record())
                    neighbour.say(Kind.WANT, 0, 0)

    def ask(self, giver, is_done, *message):
        """Sends a request to a neighbour, again every RETRY_S seconds, until the condition is true."""
        while not is_done():
            giver.say(*message)
            end = time.monotonic() + RETRY_S
            self.until(lambda: is_done() or time.monotonic() >= end)

    def is_usable(self, block):
        """Returns whether a block has been received, and also all rumors after its version."""
        return block in self.blocks and all(
            name in self.rumors for name in self.known.beyond(self.blocks[block][0]))

    def take_over(self, giver):
        """Fetches the history and all blocks of the base from a neighbour (§16)."""
        self.ask(giver, lambda: self.history, Kind.TAKE)
        while lacking := [b for b in range(self.block_count) if not self.is_usable(b)]:
            asked = range(lacking[0], min(lacking[0] + FETCH_BLOCKS, self.block_count))
            self.blocks = {b: self.blocks[b] for b in self.blocks.keys() - {*asked}}
            self.ask(giver, lambda: self.blocks.keys() >= {*asked},
                     Kind.FETCH, asked[0], len(asked))
            self.until(lambda: all(v <= self.known for v, _ in self.blocks.values()))

    def make_rumor(self, amount=4096, count=5, body=BODY):
        """Returns the signed bytes of a rumor with seq 0 of this incarnation."""
        mine = self.credentials
        head = rumor_head((mine.id, self.incarnation), amount, count, body, mine.parameters)
        return head + body + mine.sign(blake2b(256, head, mine.context))

    def visit(self, stays):
        """Takes over the base, receives at least three more rumors, publishes one, and waits until all
        neighbours have it. Then leaves; with `stays` only after all neighbours have left."""
        self.until(lambda: all(n.has_base for n in self.neighbours))
        self.take_over(self.neighbours[0])
        self.show(f"took over {self.block_count} blocks")
        enough = self.known.total() + 3
        self.until(lambda: self.known.total() >= enough)
        self.show("heard more")
        data = self.make_rumor()
        mine = Rumor(data, self.credentials)
        self.keep(mine)
        for neighbour in self.neighbours:
            neighbour.say(Kind.RUMOR, data)
        self.show("published one")
        self.until(lambda: all(mine.tag in n.agreed for n in self.neighbours))
        print(f"{len(self.neighbours)} neighbours hold it, with the right digest")
        if stays:
            self.until(lambda: all(n.closed for n in self.neighbours))
            self.show("the others left")
        self.leave()

    def leave(self):
        for neighbour in self.neighbours:
            neighbour.say(Kind.MEMBER_UPDATE, self.record(LEFT))
            neighbour.say(Kind.BYE, LEAVING, "so long", b"")
            neighbour.close()


def parser_of(description):
    """Returns a parser of the arguments that all clients have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("neighbours", nargs="+", metavar="HOST:PORT")
    for option in ("--identity", "--swarm-key", "--model", "--parameters"):
        parser.add_argument(option, required=True)
    parser.add_argument("--swarm", default="hearsay")
    parser.add_argument("--newest", type=int, default=NEWEST, help="newest protocol version to offer")
    return parser


def run(given, kind, visit):
    """Connects a guest of this kind to its neighbours and calls visit(guest). Exits with the codes above."""
    try:
        seed = read_key(given.identity, "hearsay-identity-1")
        key = read_key(given.swarm_key, "hearsay-swarm-key-1")
        mine = Credentials(seed, key, given.swarm, given.model, int(given.parameters),
                           given.newest)
        visit(kind(mine, given.neighbours))
    except TurnedAway as reason:
        print(f"turned away: {reason}")
        sys.exit(3)
    except (ValueError, TypeError, struct.error, CryptoError, OSError) as error:
        sys.exit(f"failed: {error}")


def main():
    parser = parser_of("Enter a swarm, and compare digests.")
    parser.add_argument("--stay", action="store_true", help="stay until all neighbours have left")
    parser.add_argument("--learn-key", metavar="FILE",
                        help="only write the swarm key that the operator has ordered to FILE")
    given = parser.parse_args()
    run(given, Guest, lambda guest: guest.learn_key(given.learn_key) if given.learn_key
        else guest.visit(given.stay))


if __name__ == "__main__":
    main()
