"""Keys and settings of nodes for the tests of the Python package, and nodes on threads."""

import contextlib
import pathlib
import subprocess
import tempfile
import threading

from hearsay.local import program

PROGRAM = program()


class Folder:
    """A folder with a swarm's key and an identity for each name that is asked for."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix='hearsay-python-')
        self.path = pathlib.Path(self._folder.name)
        self._make('swarmkey', 'swarm.key')

    def _make(self, command, name):
        if not (self.path / name).exists():
            subprocess.run([PROGRAM, command, str(self.path / name)], check=True, capture_output=True)

    def settings(self, name, peers=(), **more):
        """Of a node that listens at a port of the system's choice."""
        self._make('keygen', name + '.key')
        return {'node.listen': '127.0.0.1:0',
                'node.swarm_key': self.path / 'swarm.key',
                'node.identity': self.path / (name + '.key'),
                'node.state_dir': self.path / name,
                'node.peers': list(peers),
                **{key.replace('__', '.'): value for key, value in more.items()}}

    def close(self):
        self._folder.cleanup()


def address(node):
    """Where a node listens."""
    return node.status()['address']


class Together:
    """Functions on threads of their own; what one raises, the end of the context raises."""

    def __init__(self, count):
        self._barrier = threading.Barrier(count)
        self._threads = []
        self._errors = []

    def start(self, function, *arguments):
        thread = threading.Thread(target=self._run, args=(function, arguments))
        self._threads.append(thread)
        thread.start()

    def _run(self, function, arguments):
        try:
            function(*arguments)
        except BaseException as error:
            self._errors.append(error)
            self._barrier.abort()

    def wait(self):
        """For all others to come here."""
        self._barrier.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for thread in self._threads:
            thread.join()
        real = [e for e in self._errors if not isinstance(e, threading.BrokenBarrierError)]
        for error in real or self._errors:
            raise error


def settle(node, together):
    """All nodes end with one model: the second has what the others published in the first."""
    together.wait()
    node.settle()
    together.wait()
    node.settle()
    together.wait()


@contextlib.contextmanager
def nodes(*made):
    """Closes them in the end."""
    try:
        yield made
    finally:
        for node in made:
            with contextlib.suppress(Exception):
                node.close(0)
