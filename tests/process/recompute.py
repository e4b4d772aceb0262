"""Recomputes saved models and compares their digests and weights. Begins with the initial base (net/README.md
§13). Adds the rumors of the version in the model's metadata, as a witness received them (witness.py). Written
from net/README.md and model/README.md, with rumors.py.

    recompute.py HEARD SAVED.safetensors…   exit codes: 0 = all models are right, 1 = one is not, or a rumor
                                            is missing
"""
import collections
import fractions
import json
import math
import re
import struct
import sys

from rumors import RUMOR_HEAD, decode_body, digest_of, mix, require

INPUTS = 784


class Generator:
    def __init__(self, seed, number):
        self._state = mix((seed + 0x9E3779B97F4A7C15 * (number + 1)) % 2**64)

    def uniform(self):
        self._state = (self._state + 0x9E3779B97F4A7C15) % 2**64
        return (mix(self._state) >> 11) * 2.0**-53


def initial_base(line, seed):
    """Returns the initial units of a line of dense layers: the weights of all layers, then all biases."""
    base, biases, inputs = [], 0, INPUTS
    layers = [layer.strip() for layer in line.split(",")]
    for number, layer in enumerate(layers):
        if not layer.startswith("dense "):
            continue
        outputs, draw = int(layer.split()[1]), Generator(seed, number).uniform
        if layers[number + 1 : number + 2] == ["relu"]:
            scale = math.sqrt(2 / inputs)
            weights = (scale * (sum(draw() for _ in range(12)) - 6)
                       for _ in range(inputs * outputs))
        else:
            scale = math.sqrt(6 / (inputs + outputs))
            weights = (scale * (2 * draw() - 1) for _ in range(inputs * outputs))
        base += [round(single(weight) * 2**24) for weight in weights]  # round: ties to even
        biases += outputs
        inputs = outputs
    return base + [0] * biases


def single(number):
    """Rounds a number to float32."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def read_heard(path):
    """Returns {(first 8 hex digits of the id, incarnation): {seq: bytes of the rumor}}."""
    heard = collections.defaultdict(dict)
    with open(path, "rb") as file:
        while size := file.read(4):
            rumor = file.read(int.from_bytes(size, "little"))
            origin, incarnation, seq, *_ = RUMOR_HEAD.unpack(rumor[:128])
            heard[origin[:4].hex(), incarnation][seq] = rumor
    return heard


def add(base, rumor):
    count, amount = int.from_bytes(rumor[44:47], "little"), RUMOR_HEAD.unpack(rumor[:128])[7]
    for index, level in decode_body(rumor[128:-64], count, len(base)):
        base[index] += amount * level


def read_saved(path):
    """Returns the metadata of a safetensors file, and its weights in the order of the flat vector."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    about = header.pop("__metadata__")
    spans = sorted(tensor["data_offsets"] for tensor in header.values())
    require(spans[0][0] == 0 and spans[-1][1] == len(data), f"{path}: there is a gap around the tensors")
    return about, struct.unpack(f"<{len(data) // 4}f", data)


def check(path, heard):
    """Raises ValueError if the digest or a weight of a saved model differs from the recomputed base, or if a
    rumor of its version is missing."""
    about, weights = read_saved(path)
    base = initial_base(about["layers"], 1)
    require(len(base) == len(weights), f"{path}: {len(weights)} weights, and the layers have {len(base)}")
    kept = {}
    for id_, incarnation, end in re.findall(r"([0-9a-f]{8})/(\d+):(\d+)", about["version"]):
        stream = heard[id_, int(incarnation)]
        for seq in range(int(end)):
            require(seq in stream, f"{path}: the witness has no rumor {seq} of {id_}")
            add(base, stream[seq])
        kept[id_] = f"{id_} {end} of {len(stream)}"
    base = [(unit + 2**31) % 2**32 - 2**31 for unit in base]
    digest = f"{digest_of(enumerate(base)):016x}"
    require(digest == about["digest"], f"{path}: the digest is {digest}, not {about['digest']}")
    wrong = [index for index, (unit, weight) in enumerate(zip(base, weights))
             if single(fractions.Fraction(unit, 2**24)) != weight]
    require(not wrong, f"{path}: {len(wrong)} weights differ from the sum of the rumors")
    print(f"{path}: {len(base)} weights, digest {digest}; rumors: {', '.join(kept.values())}")


def main():
    heard = read_heard(sys.argv[1])
    try:
        for path in sys.argv[2:]:
            check(path, heard)
    except ValueError as error:
        sys.exit(f"failed: {error}")


if __name__ == "__main__":
    main()
