"""A witness: a guest (client.py) that does not take over a base. It requests all rumors, beginning
with the first, and saves them for recompute.py. It compares each digest that a neighbour shows with
the digest of the initial base plus all rumors of that version, also after an expulsion has removed
rumors.
"""
import struct

from client import Guest, Kind, TurnedAway, parser_of, run
from recompute import initial_base
from rumors import Rumor, digest_of, require, sum_lanes, unpack_version


class Witness(Guest):
    def __init__(self, credentials, addresses, layers):
        self.initial = digest_of(enumerate(initial_base(layers, 1)))
        # Hashes of the versions with the right digest, and {(tag, seq): bytes} of all rumors.
        self.agreed, self.data = set(), {}
        super().__init__(credentials, addresses)

    def on_message(self, neighbour, message):
        match message:
            case [Kind.VERSION, digest, hash_, _, _, _, _, _, entries]:
                neighbour.say(Kind.VERSION, 0 if hash_ else digest, 0, 0, 1, 0, 1, b"", b"")
                version = unpack_version(entries)
                require(version.hash() == hash_, "the hash belongs to another version")
                self.ask_for(neighbour, version)
                self.witness(version, hash_, digest)
            case [Kind.RUMOR, data]:
                rumor = Rumor(data, self.credentials)
                self.rumors[rumor.tag, rumor.seq], self.data[rumor.tag, rumor.seq] = rumor, data
            case [Kind.GONE, *_]:
                raise ValueError("a neighbour no longer has a requested rumor")
            case _:
                super().on_message(neighbour, message)

    def ask_for(self, neighbour, version):
        """Requests the first missing rumor of each origin, and those after it."""
        for tag, end in version.items():
            while (tag, self.known[tag]) in self.rumors:
                self.known[tag] += 1
            if self.known[tag] < end:
                neighbour.say(Kind.WANT, tag, self.known[tag])

    def witness(self, version, hash_, digest):
        """Checks the digest of a version, if all its rumors are known."""
        names = [(tag, seq) for tag, end in version.items() for seq in range(end)]
        if not self.rumors.keys() >= {*names}:
            return
        heard = (self.rumors[name].digest for name in names)
        expected = sum_lanes((term, 1) for term in [self.initial, *heard])
        require(digest == expected, f"version {hash_:016x}: {digest:016x}, not {expected:016x}")
        if hash_ not in self.agreed:
            self.agreed.add(hash_)
            print(f"{len(self.agreed)} versions are the sum, the last of {len(names)} rumors")

    def visit(self, path):
        """Listens until all neighbours have left or one turns this client away. Then saves each
        rumor as its size and bytes."""
        try:
            self.until(lambda: all(neighbour.closed for neighbour in self.neighbours))
        except TurnedAway:
            pass  # a neighbour refused this client or closed the connection
        with open(path, "wb") as file:
            for data in self.data.values():
                file.write(struct.pack("<I", len(data)) + data)
        print(f"heard {len(self.data)} rumors")


def main():
    parser = parser_of("Receive all rumors of a swarm and check the digests.")
    parser.add_argument("--heard", metavar="FILE", required=True)
    parser.add_argument("--layers", required=True)
    given = parser.parse_args()
    run(given, lambda mine, addresses: Witness(mine, addresses, given.layers),
        lambda witness: witness.visit(given.heard))


if __name__ == "__main__":
    main()
