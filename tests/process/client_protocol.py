"""What the bytes of the protocol mean, written from net/README.md alone; § are its sections."""
import collections
import enum
import hashlib
import hmac
import itertools
import math
import re
import struct
import sys

import msgpack
import nacl.bindings as sodium
from nacl.signing import SigningKey, VerifyKey

MASK_32, MASK_64 = 2**32 - 1, 2**64 - 1
BLOCK_ENTRIES, FETCH_BLOCKS = 8192, 8
LEAVING, BROKEN = 1, 5  # reasons of BYE
KINDS = {  # in the order of their numbers, from 1; n: number, s: text, b: bytes (§8)
    "HELLO": "nnsb", "MEMBER_UPDATE": "b", "MEMBER_QUERY": "n", "MEMBER_LIST": "b", "PING": "n",
    "PONG": "n", "ACK": "nnnn", "RUMOR": "b", "PRUNE": "n", "VERSION": "nnnnnnbb", "WANT": "nn",
    "GONE": "nn", "TAKE": "", "HISTORY": "nnnb", "FETCH": "nn", "BLOCK": "nnbb", "BYE": "nsb",
}
Kind = enum.IntEnum("Kind", list(KINDS))
Version = collections.namedtuple(
    "Version", "digest hash rumors members base whole learned entries")
FIELD_TYPES = {"n": int, "s": str, "b": bytes}
INTRODUCTION = struct.Struct("<H6x16s16sQ")
MEMBER = struct.Struct("<32sQQQQfIHBBffI64s64s")
RUMOR_HEAD = struct.Struct("<32sQIIQfI")
VERSION_ENTRY, LEARNED_ENTRY, HISTORY_ENTRY = map(struct.Struct, ("<QI", "<Qf", "<32sQIQ"))


class Failed(Exception):
    """A digest differs, or a neighbour sent something invalid."""


class TurnedAway(Exception):
    """A neighbour does not, or no longer, talk to this client."""


def require(condition, what):
    if not condition:
        raise Failed(what)


def unpack_all(layout, data):
    require(len(data) % layout.size == 0, "entries of an impossible length")
    return list(layout.iter_unpack(data))


# Keys, introduction, gate and handshake: §2 to §6


def blake2b(bits, data, key=b""):
    return hashlib.blake2b(data, digest_size=bits // 8, key=key).digest()


def read_key(path, label):
    with open(path, encoding="ascii") as file:
        line = re.fullmatch(label + r" ([0-9a-fA-F]{64})(\r?\n)?", file.read())
    return bytes.fromhex(line[1]) if line else sys.exit(f"{path}: no key file {label}")


class Identity:
    def __init__(self, seed):
        self._key = SigningKey(blake2b(256, b"hearsay signing key", seed))
        self.id = bytes(self._key.verify_key)
        self.noise_secret = blake2b(256, b"hearsay noise key", seed)
        self.noise_public = sodium.crypto_scalarmult_base(self.noise_secret)
        self.certificate = self.id + self.sign(b"hearsay noise key" + self.noise_public)

    def sign(self, data):
        return self._key.sign(data).signature


class Swarm:
    """What both sides must have in common."""

    def __init__(self, key, name, model, parameters):
        self.gate_key = blake2b(256, b"hearsay gate", key)
        self.psk = blake2b(256, b"hearsay psk", key)
        hashes = [blake2b(128, text.encode()) for text in (name, model)]
        self.introduction = INTRODUCTION.pack(7, *hashes, parameters)
        self.context = blake2b(128, self.introduction)
        self.parameters = parameters

    def gate(self, message_1):
        return sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
            self.introduction, message_1, message_1[:24], self.gate_key)

    def refuse(self, frame, message_1):
        """88 bytes are a refusal, and say what differs."""
        theirs = INTRODUCTION.unpack(sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
            frame[24:], message_1[:32], frame[:24], self.gate_key))
        names = ("protocol", "swarm", "model", "number of parameters")
        pairs = zip(names, theirs, INTRODUCTION.unpack(self.introduction))
        differ = [f"another {name}" for name, there, here in pairs if there != here]
        raise TurnedAway(f"refused: it has {', '.join(differ)}")


class Cipher:
    """ChaCha20-Poly1305 whose nonce counts: during the handshake, and one way of a session."""

    def __init__(self, key):
        self._key, self._nonces = key, (struct.pack("<4xQ", n) for n in itertools.count())

    def seal(self, plaintext, associated=b""):
        return sodium.crypto_aead_chacha20poly1305_ietf_encrypt(
            plaintext, associated, next(self._nonces), self._key)

    def open(self, ciphertext, associated=b""):
        return sodium.crypto_aead_chacha20poly1305_ietf_decrypt(
            ciphertext, associated, next(self._nonces), self._key)


class Noise:
    def __init__(self, prologue):
        self._h = self._ck = hashlib.sha256(b"Noise_XXpsk3_25519_ChaChaPoly_SHA256").digest()
        self._mix_hash(prologue)

    def _hkdf(self, data, count):
        key, outputs = hmac.digest(self._ck, data, "sha256"), [b""]
        for i in range(1, count + 1):
            outputs.append(hmac.digest(key, outputs[-1] + bytes([i]), "sha256"))
        return outputs[1:]

    def _mix_hash(self, data):
        self._h = hashlib.sha256(self._h + data).digest()

    def mix_key(self, data):
        self._ck, key = self._hkdf(data, 2)
        self._cipher = Cipher(key)

    def mix_ephemeral(self, public):
        self._mix_hash(public)
        self.mix_key(public)

    def mix_psk(self, psk):
        self._ck, temporary, key = self._hkdf(psk, 3)
        self._mix_hash(temporary)
        self._cipher = Cipher(key)

    def seal(self, plaintext):
        ciphertext = self._cipher.seal(plaintext, self._h)
        self._mix_hash(ciphertext)
        return ciphertext

    def open(self, ciphertext):
        plaintext = self._cipher.open(ciphertext, self._h)
        self._mix_hash(ciphertext)
        return plaintext

    def split(self):
        return map(Cipher, self._hkdf(b"", 2))


# Digests, versions, rumors and blocks: §12 to §16


def mix(x):
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK_64
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK_64
    return x ^ x >> 31


def lanes(high, low):
    return (high & MASK_32) << 32 | low & MASK_32


def add_digests(a, b):
    return lanes((a >> 32) + (b >> 32), a + b)


def digest_of(entries):
    """Of (index, units): a whole base, or what a rumor adds to one."""
    high = low = 0
    for index, units in entries:
        h = mix((index + 0x9E3779B97F4A7C15) & MASK_64) | 0x0000000100000001
        high += (h >> 32) * units
        low += (h & MASK_32) * units
    return lanes(high, low)


def check_digest(version, digest, expected):
    require(digest == expected, f"{version} has digest {digest:016x}, not {expected:016x}")


def tag_of(member, incarnation):
    return int.from_bytes(blake2b(64, member + struct.pack("<Q", incarnation)), "little")


def hash_of(version):
    return sum(mix(tag ^ mix(count)) for tag, count in version.items()) & MASK_64


def wrap(units):
    return (units + 2**31) % 2**32 - 2**31


class Bits:
    def __init__(self, data):
        self._text, self._at = "".join(f"{byte:08b}"[::-1] for byte in data), 0

    def take(self, count):
        text = self._text[self._at : self._at + count]
        require(len(text) == count, "bits run past their last byte")
        self._at += count
        return int("0" + text[::-1], 2)

    def _ones(self, most):
        """How many ones come, and take the zero after them, unless there are as many as that."""
        zero = self._text.find("0", self._at, self._at + most)
        count = most if zero < 0 else zero - self._at
        self.take(min(count + 1, most))
        return count

    def _rice(self, k):
        ones = self._ones(24)
        return self.take(32) if ones == 24 else ones << k | self.take(k)

    def gamma(self):
        count = self._ones(20)
        require(count < 20, "too many entries are listed")
        return (1 << count | self.take(count)) - 1

    def positions(self, count, limit):
        k, end, found = self.take(5), 0, []
        for _ in range(count):
            end += self._rice(k) + 1
            found.append(end - 1)
        require(end <= limit, "a position that is not there")
        return found

    def finish(self):
        left = len(self._text) - self._at
        require(left < 8 and self.take(left) == 0, "bits are left over")


def decode_body(body, count, parameters):
    bits = Bits(body)
    indexes = bits.positions(count, parameters)
    levels, members, layer = [1] * count, range(count), 2
    while members and layer <= 127:
        inverted, listed = bits.take(1), bits.gamma()
        chosen = set(bits.positions(listed, len(members)) if listed else ())
        members = [m for i, m in enumerate(members) if (i in chosen) != inverted]
        for member in members:
            levels[member] = layer
        layer += 1
    levels = [-level if bits.take(1) else level for level in levels]
    bits.finish()
    return zip(indexes, levels)


def encode_body(levels, k=8):
    """Levels of 1 and -1, at most 6,000 apart: no escapes, and layer 2 lists nobody."""
    text, end = f"{k:05b}"[::-1], 0
    for index in levels:
        ones, rest = divmod(index - end, 1 << k)
        text += "1" * ones + "0" + f"{rest:0{k}b}"[::-1]
        end = index + 1
    text += "00" + "".join("01"[level < 0] for level in levels.values())
    return int(text[::-1], 2).to_bytes(math.ceil(len(text) / 8), "little")


def rumor_name(data):
    """Its origin's tag and its number there, from a look at the head."""
    require(129 <= len(data) <= 65000, "a rumor of impossible size")
    origin, incarnation, seq, *_ = RUMOR_HEAD.unpack(data[:64])
    return tag_of(origin, incarnation), seq


class Rumor:
    def __init__(self, data, swarm):
        self.bytes, body = data, data[64:-64]
        self.origin, _, _, count, self.samples, tau, amount = RUMOR_HEAD.unpack(data[:64])
        require(1 <= count <= 260000 and count <= 4 * len(body), "a rumor of impossible count")
        require(0 < tau <= 1 and 1 <= amount <= 1 << 24, "a rumor beyond its limits")
        VerifyKey(self.origin).verify(blake2b(512, data[:-64], swarm.context), data[-64:])
        self.units = {i: amount * n for i, n in decode_body(body, count, swarm.parameters)}
        self.digest = digest_of(self.units.items())


def sign_rumor(identity, incarnation, seq, amount, levels, swarm):
    data = RUMOR_HEAD.pack(identity.id, incarnation, seq, len(levels), 0, 0.001, amount)
    data += encode_body(levels)
    return data + identity.sign(blake2b(512, data, swarm.context))


def decode_units(data, count):
    require(data[0] <= 32 and len(data) == 1 + math.ceil(data[0] * count / 8), "no such block")
    bits = Bits(data[1:])
    numbers = [bits.take(data[0]) for _ in range(count)]
    bits.finish()
    return [number >> 1 ^ -(number & 1) for number in numbers]


def sign_member(identity, incarnation, stamp, digest, swarm):
    """The record of a guest, who neither learns nor can be called, for a second."""
    data = MEMBER.pack(
        identity.id, incarnation, stamp, 0, digest, 0, 1000, 0, 0, 0, 0, 0, 0, b"", b"")[:152]
    return data + identity.sign(swarm.context + data)


def check_member(fields, swarm):
    VerifyKey(fields[0]).verify(swarm.context + MEMBER.pack(*fields)[:152], fields[-1])


def pack_message(kind, *fields):
    return msgpack.packb([kind, *fields])


def unpack_message(data):
    number, *fields = msgpack.unpackb(data, raw=False, unicode_errors="replace")
    kind = Kind(number)
    types = [FIELD_TYPES[letter] for letter in KINDS[kind.name]]
    require([type(field) for field in fields] == types, "fields of another type")
    return kind, fields
