"""A guest (client.py) that searches a node's memory for its keys, as the reader of a core dump could. §
marks sections of net/README.md.

Keys must be in memory that core dumps leave out (flag dd in /proc/PID/smaps). A copy on a stack is allowed
during a computation, so a key in dumped memory counts only if three searches find it at the same address.
Exit codes: 0 = all keys were found, none in dumped memory; 1 = a key is in dumped memory, or was not found;
2 = wrong usage; 3 = turned away; 77 = this user may not read the node's memory.
"""
import re
import sys

from client import Guest, blake2b, parser_of, read_key, run

LOOKS = 3  # searches of the memory, at most
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (r?)\S* \S+ \S+ \S+ *(.*)\n")


def mappings_of(pid):
    """Yields (start, end, name, whether dumps leave it out) of each readable mapping except [vvar]."""
    with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as file:
        for line in file:
            if match := MAPPING.fullmatch(line):
                start, end, is_readable, name = match.groups()
            elif line.startswith("VmFlags:") and is_readable and name != "[vvar]":
                yield int(start, 16), int(end, 16), name, "dd" in line.split()


def places_of(pid, keys):
    """Returns {name of a key: {(address, name of the mapping, whether dumps leave it out)}}."""
    found = {name: set() for name in keys}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for start, end, name, is_left_out in mappings_of(pid):
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except OSError:  # [vsyscall], or a mapping that was freed meanwhile
                continue
            for key, value in keys.items():
                at = data.find(value)
                while at >= 0:
                    found[key].add((start + at, name or "memory", is_left_out))
                    at = data.find(value, at + 1)
    return found


def keys_of(guest, given):
    """Returns two dicts from names to bytes: the keys that the node must have, but only outside
    dumps; and the texts of these keys in the key files, which the node need not have."""
    keys, other = {}, {}
    for path in given.node_swarm_key:
        swarm_key = read_key(path, "hearsay-swarm-key-1")
        keys |= {f"{path}: swarm key": swarm_key,
                 f"{path}: gate key (§4)": blake2b(256, b"hearsay gate", swarm_key),
                 f"{path}: psk (§6)": blake2b(256, b"hearsay psk", swarm_key)}
        other[f"{path}: as text"] = swarm_key.hex().encode()
    seed = read_key(given.node_identity, "hearsay-identity-1")
    keys |= {"identity": seed, "Noise key (§3)": blake2b(256, b"hearsay noise key", seed),
             "signing key (§3)": blake2b(256, b"hearsay signing key", seed)}
    other["identity as text"] = seed.hex().encode()
    for neighbour in guest.neighbours:
        keys |= zip(("session key, to it", "session key, from it"), neighbour.session_keys)
    return keys, other


def look(guest, given):
    """Searches the memory of process --pid up to LOOKS times, and prints the result for each key. Exits with 1
    if a key stays in dumped memory or was not found."""
    guest.until(lambda: all(n.has_base is not None for n in guest.neighbours))  # session keys exist now
    keys, other = keys_of(guest, given)
    found, looks = places_of(given.pid, keys | other), 1
    while looks < LOOKS and any(not place[-1] for places in found.values() for place in places):
        again, looks = places_of(given.pid, keys | other), looks + 1
        found = {name: places & again[name] for name, places in found.items()}
    is_good = True
    for name, stay in found.items():
        kept = sum(is_left_out for *_, is_left_out in stay)
        dumped = [f"{at:x} in {where}" for at, where, is_left_out in stay if not is_left_out]
        print(f"{name}: {kept} left out of dumps, {len(dumped)} in dumps {' '.join(dumped)}")
        is_good &= not dumped and (kept > 0 or name in other)
    guest.leave()
    if not is_good:
        sys.exit(1)


def main():
    parser = parser_of("Search a node's memory for its keys.")
    parser.add_argument("--node-identity", required=True)
    parser.add_argument("--node-swarm-key", action="append", required=True)
    parser.add_argument("--pid", required=True)
    given = parser.parse_args()
    try:
        with open(f"/proc/{given.pid}/mem", "rb"):
            pass
    except PermissionError:
        print(f"this user may not read the memory of process {given.pid}")
        sys.exit(77)
    run(given, Guest, lambda guest: look(guest, given))


if __name__ == "__main__":
    main()
