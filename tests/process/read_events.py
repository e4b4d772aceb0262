#!/usr/bin/env python3
"""Reads a log folder of TensorBoard: read_events.py DIR prints {run: {tag: [[step, value], ...]}} as JSON.

Parses the files itself and checks every CRC. If this Python has TensorBoard, its reader must find the same
values. Exit code 77: TensorBoard is missing, and all other checks passed."""
import json
import pathlib
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        (size,), (crc,) = struct.unpack("<Q", data[:8]), struct.unpack("<I", data[8:12])
        assert crc == masked(data[:8]), "the CRC of a record's length is wrong"
        record = data[12:12 + size]
        assert struct.unpack("<I", data[12 + size:16 + size])[0] == masked(record), "the CRC of a record is wrong"
        yield record
        data = data[16 + size:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """Returns {field number: value} of a protocol-buffer message in which each field occurs once."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind, size = key & 7, {1: 8, 5: 4}.get(key & 7)
        if kind == 0:
            found[key >> 3], at = varint(data, at)
            continue
        if kind == 2:
            size, at = varint(data, at)
        found[key >> 3] = data[at:at + size]
        at += size
    return found


def read(path):
    tags = {}
    for i, record in enumerate(records(path.read_bytes())):
        event = fields(record)
        if i == 0:
            assert event[3] == b"brain.Event:2", event
            continue
        value = fields(fields(event[5])[1])
        tags.setdefault(value[1].decode(), []).append([event[2], struct.unpack("<f", value[2])[0]])
    return tags


def read_by_tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0})
    accumulator.Reload()
    return {tag: [[event.step, event.value] for event in accumulator.Scalars(tag)]
            for tag in accumulator.Tags()["scalars"]}


def main():
    folders = [path for path in sorted(pathlib.Path(sys.argv[1]).iterdir()) if path.is_dir()]
    runs = {}
    for folder in folders:
        (path,) = folder.glob("events.out.tfevents.*")
        runs[folder.name] = read(path)
    print(json.dumps(runs))
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        sys.exit(77)
    for folder in folders:
        assert read_by_tensorboard(folder) == runs[folder.name], folder


main()
