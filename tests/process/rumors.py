"""Decodes and checks rumors, digests, versions and blocks, as §12 to §16 of net/README.md define them."""
import hashlib
import itertools
import math
import struct
from collections import Counter

from nacl.signing import VerifyKey

BLOCK_ENTRIES = 8192
# origin, incarnation, seq, count and top level, samples, length, tau, amount, hash of the previous
# rumor, hash of the body
RUMOR_HEAD = struct.Struct("<32sQI4s6sHfI32s32s")
VERSION_ENTRY, HISTORY_ENTRY = struct.Struct("<QI16s"), struct.Struct("<128s64s")


def require(condition, what):
    if not condition:
        raise ValueError(what)


def blake2b(bits, data, key=b""):
    return hashlib.blake2b(data, digest_size=bits // 8, key=key).digest()


class Bits:
    """Reads bits from bytes, the lowest bit of each byte first. Each read raises ValueError at the end."""

    def __init__(self, data):
        self._text, self.at = f"{int.from_bytes(data, 'little'):0{8 * len(data)}b}"[::-1], 0

    def take(self, count):
        text = self._text[self.at : self.at + count]
        require(len(text) == count, "the bits end too early")
        self.at += count
        return int("0" + text[::-1], 2)

    def _ones(self, most):
        """Reads ones up to the next zero, which it also reads, or up to `most` ones. Returns their
        number."""
        return next((count for count in range(most) if not self.take(1)), most)

    def _rice(self, k):
        ones = self._ones(24)
        return self.take(32) if ones == 24 else ones << k | self.take(k)

    def gamma(self):
        width = self._ones(20)
        require(width < 20, "the number of listed entries is too large")
        return (1 << width | self.take(width)) - 1

    def positions(self, count, limit):
        k = self.take(5)
        ends = [*itertools.accumulate(self._rice(k) + 1 for _ in range(count))]
        require(ends[-1] <= limit, "a position is beyond the last entry")
        return [end - 1 for end in ends]

    def finish(self):
        left = len(self._text) - self.at
        require(left < 8 and self.take(left) == 0, "there are bits after the last value")
        self.at -= left


def decode_body(body, count, parameters, bits=None):
    """Returns the (index, level) pairs of a rumor body with `count` entries (§12)."""
    bits = bits or Bits(body)
    indexes, levels, members = bits.positions(count, parameters), [1] * count, range(count)
    while members and levels[members[0]] < 127:
        inverted, listed = bits.take(1), bits.gamma()
        chosen = set(bits.positions(listed, len(members)) if listed else ())
        members = [m for i, m in enumerate(members) if (i in chosen) != inverted]
        for member in members:
            levels[member] += 1
    levels = [-level if bits.take(1) else level for level in levels]
    bits.finish()
    return zip(indexes, levels)


def root(square):
    """Returns the square root, rounded up to an integer."""
    return math.isqrt(square - 1) + 1


def furthest(parameters):
    """Returns the limit, in units, for the norm of a rumor's move of the base."""
    return max(1 << 24, root(parameters) << 21)


def length_of(levels):
    """Returns the Euclidean norm of the levels, rounded up."""
    return root(sum(n * n for n in levels))


class Rumor:
    """A received rumor. The constructor checks its limits and signature, and raises ValueError or
    nacl's BadSignatureError. `units` is {index: units that it moves}."""

    def __init__(self, data, credentials):
        require(193 <= len(data) <= 65000, "the size of a rumor is out of range")
        head, body, signature = data[:128], data[128:-64], data[-64:]
        (origin, incarnation, seq, count_and_top, _, length, tau, amount, prev,
         of_body) = RUMOR_HEAD.unpack(head)
        count, top = int.from_bytes(count_and_top[:3], "little"), count_and_top[3]
        require(1 <= count <= 260000 and count <= 4 * len(body), "a rumor's count is out of range")
        require(0 < tau <= 1 and 1 <= amount <= 1 << 24, "a rumor's tau or amount is out of range")
        require(amount * top <= 1 << 24 and amount * length <= furthest(credentials.parameters),
                "a rumor moves the base beyond the limit")
        require(of_body == blake2b(256, body), "a rumor's head has the hash of another body")
        require(any(prev) == (seq > 0), "a rumor's hash of the previous rumor does not fit its number")
        self.hash = blake2b(256, head, credentials.context)
        VerifyKey(origin).verify(self.hash, signature)
        self.tag, self.seq = tag_of(origin, incarnation), seq
        levels = dict(decode_body(body, count, credentials.parameters))
        require(top == max(map(abs, levels.values())) and length == length_of(levels.values()),
                "a rumor's head has the top level or length of another body")
        self.units = {i: amount * n for i, n in levels.items()}
        self.digest = digest_of(self.units.items())


def rumor_head(stream, amount, count, body, parameters):
    """Returns the head of a rumor with seq 0 and no samples; stream: (origin, incarnation)."""
    levels = [abs(level) for _, level in decode_body(body, count, parameters)]
    return RUMOR_HEAD.pack(*stream, 0, count.to_bytes(3, "little") + bytes([max(levels)]), bytes(6),
                           min(length_of(levels), 0xFFFF), 0.001, amount, bytes(32),
                           blake2b(256, body))


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def sum_lanes(terms):
    """Returns the sum of hash · factor over the terms, separately in each half of 32 bits."""
    terms = list(terms)
    high, low = sum((h >> 32) * n for h, n in terms), sum(h % 2**32 * n for h, n in terms)
    return high % 2**32 << 32 | low % 2**32


def digest_of(entries):
    """Returns the digest of (index, units) pairs: of a whole base, or of a rumor's contribution."""
    return sum_lanes((mix((index + 0x9E3779B97F4A7C15) % 2**64) | 0x0000000100000001, units)
                     for index, units in entries)


def tag_of(member, incarnation):
    """Returns the 64-bit tag of an origin, which is a member's incarnation."""
    return int.from_bytes(blake2b(64, member + struct.pack("<Q", incarnation)), "little")


class Version(Counter):
    """A version vector {tag: end}: it contains the rumors of that origin with seq < end. heads: {tag: first
    16 bytes of the hash of the rumor end - 1}."""

    def __init__(self, ends=(), heads=()):
        super().__init__(ends)
        self.heads = dict(heads)

    def hash(self):
        return sum(mix(tag ^ mix(end ^ int.from_bytes(self.heads[tag][:8], "little")))
                   for tag, end in self.items() if end) % 2**64

    def pack(self):
        return b"".join(VERSION_ENTRY.pack(tag, end, self.heads[tag]) for tag, end in self.items())

    def beyond(self, older):
        """Returns (tag, seq) of the rumors in this version that the older version lacks."""
        return [(tag, seq) for tag, end in self.items() for seq in range(older[tag], end)]


def unpack_version(entries):
    listed = [*VERSION_ENTRY.iter_unpack(entries)]
    return Version({tag: end for tag, end, _ in listed}, {tag: head for tag, _, head in listed})


def decode_block(data, count):
    """Returns the `count` units of a block (§16)."""
    width, bits = data[0], Bits(data[1:])
    numbers = [bits.take(width) for _ in range(count)]
    bits.finish()
    return [number >> 1 ^ -(number & 1) for number in numbers]
