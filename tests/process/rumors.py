"""Rumors, digests, versions and blocks, as net/README.md has them in §12 to §16."""
import hashlib
import itertools
import math
import struct
from collections import Counter

from nacl.signing import VerifyKey

BLOCK_ENTRIES = 8192
RUMOR_HEAD = struct.Struct("<32sQI4s6sHfI32s32s")  # count and top, samples, length
VERSION_ENTRY, HISTORY_ENTRY = struct.Struct("<QI16s"), struct.Struct("<128s64s")


def require(condition, what):
    if not condition:
        raise ValueError(what)


def blake2b(bits, data, key=b""):
    return hashlib.blake2b(data, digest_size=bits // 8, key=key).digest()


class Bits:
    def __init__(self, data):
        self._text, self.at = f"{int.from_bytes(data, 'little'):0{8 * len(data)}b}"[::-1], 0

    def take(self, count):
        text = self._text[self.at : self.at + count]
        require(len(text) == count, "bits run past their last byte")
        self.at += count
        return int("0" + text[::-1], 2)

    def _ones(self, most):
        """How many ones come, up to the most, or to a zero, which is taken too."""
        return next((count for count in range(most) if not self.take(1)), most)

    def _rice(self, k):
        ones = self._ones(24)
        return self.take(32) if ones == 24 else ones << k | self.take(k)

    def gamma(self):
        width = self._ones(20)
        require(width < 20, "too many entries are listed")
        return (1 << width | self.take(width)) - 1

    def positions(self, count, limit):
        k = self.take(5)
        ends = [*itertools.accumulate(self._rice(k) + 1 for _ in range(count))]
        require(ends[-1] <= limit, "a position that is not there")
        return [end - 1 for end in ends]

    def finish(self):
        left = len(self._text) - self.at
        require(left < 8 and self.take(left) == 0, "bits are left over")
        self.at -= left


def decode_body(body, count, parameters, bits=None):
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
    """The least whole number whose square is at least this one."""
    return math.isqrt(square - 1) + 1


def furthest(parameters):
    """Units by which a rumor may move the base, as a vector."""
    return max(1 << 24, root(parameters) << 21)


def length_of(levels):
    return root(sum(n * n for n in levels))


class Rumor:
    def __init__(self, data, credentials):
        require(193 <= len(data) <= 65000, "a rumor of impossible size")
        head, body, signature = data[:128], data[128:-64], data[-64:]
        (origin, incarnation, seq, count_and_top, _, length, tau, amount, prev,
         of_body) = RUMOR_HEAD.unpack(head)
        count, top = int.from_bytes(count_and_top[:3], "little"), count_and_top[3]
        require(1 <= count <= 260000 and count <= 4 * len(body), "a rumor of impossible count")
        require(0 < tau <= 1 and 1 <= amount <= 1 << 24, "a rumor beyond its limits")
        require(amount * top <= 1 << 24 and amount * length <= furthest(credentials.parameters),
                "a rumor that goes too far")
        require(of_body == blake2b(256, body), "a head of another body")
        require(any(prev) == (seq > 0), "a rumor before the first")
        self.hash = blake2b(256, head, credentials.context)
        VerifyKey(origin).verify(self.hash, signature)
        self.tag, self.seq = tag_of(origin, incarnation), seq
        levels = dict(decode_body(body, count, credentials.parameters))
        require(top == max(map(abs, levels.values())) and length == length_of(levels.values()),
                "a head that says how far another rumor goes")
        self.units = {i: amount * n for i, n in levels.items()}
        self.digest = digest_of(self.units.items())


def rumor_head(stream, amount, count, body, parameters):
    """Of the first rumor of a stream, which is (origin, incarnation), without samples."""
    levels = [abs(level) for _, level in decode_body(body, count, parameters)]
    return RUMOR_HEAD.pack(*stream, 0, count.to_bytes(3, "little") + bytes([max(levels)]), bytes(6),
                           min(length_of(levels), 0xFFFF), 0.001, amount, bytes(32),
                           blake2b(256, body))


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def sum_lanes(terms):
    """The sum of hash · factor, in each half of 32 bits apart."""
    terms = list(terms)
    high, low = sum((h >> 32) * n for h, n in terms), sum(h % 2**32 * n for h, n in terms)
    return high % 2**32 << 32 | low % 2**32


def digest_of(entries):
    """Of (index, units): a whole base, or what a rumor adds to one."""
    return sum_lanes((mix((index + 0x9E3779B97F4A7C15) % 2**64) | 0x0000000100000001, units)
                     for index, units in entries)


def tag_of(member, incarnation):
    return int.from_bytes(blake2b(64, member + struct.pack("<Q", incarnation)), "little")


class Version(Counter):
    """{tag: next}: of each origin, the number of the first rumor that is not in it. heads: the
    first 16 bytes of the hash of the rumor before that."""

    def __init__(self, ends=(), heads=()):
        super().__init__(ends)
        self.heads = dict(heads)

    def hash(self):
        return sum(mix(tag ^ mix(end ^ int.from_bytes(self.heads[tag][:8], "little")))
                   for tag, end in self.items() if end) % 2**64

    def pack(self):
        return b"".join(VERSION_ENTRY.pack(tag, end, self.heads[tag]) for tag, end in self.items())

    def beyond(self, older):
        """The (tag, seq) of the rumors that the older version lacks."""
        return [(tag, seq) for tag, end in self.items() for seq in range(older[tag], end)]


def unpack_version(entries):
    listed = [*VERSION_ENTRY.iter_unpack(entries)]
    return Version({tag: end for tag, end, _ in listed}, {tag: head for tag, _, head in listed})


def decode_block(data, count):
    width, bits = data[0], Bits(data[1:])
    numbers = [bits.take(width) for _ in range(count)]
    bits.finish()
    return [number >> 1 ^ -(number & 1) for number in numbers]
