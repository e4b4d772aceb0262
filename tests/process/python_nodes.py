"""Helpers for the tests of the Python package: keys and settings of nodes, and nodes on threads."""

import contextlib
import pathlib
import subprocess
import tempfile
import threading

from hearsay.local import program

PROGRAM = program()


class Folder:
    """A temporary folder with a swarm key, and an identity key for each name given to `settings`."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix='hearsay-python-')
        self.path = pathlib.Path(self._folder.name)
        self._make('swarmkey', 'swarm.key')

    def _make(self, command, name):
        if not (self.path / name).exists():
            subprocess.run([PROGRAM, command, str(self.path / name)], check=True, capture_output=True)

    def settings(self, name, peers=(), **more):
        """Returns the settings of a node with this name, which listens at any free port of 127.0.0.1.

        more    further settings, such as train__momentum=0 for train.momentum"""
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
    return node.status()['address']


class Together:
    """A context that runs functions on threads, with a barrier for `count` threads. At its end it waits for
    the threads, and raises the exception of one that failed."""

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
    """Settles twice on all threads, so that all nodes have one model: the second time applies what the other
    nodes published in the first."""
    together.wait()
    node.settle()
    together.wait()
    node.settle()
    together.wait()


@contextlib.contextmanager
def nodes(*made):
    """A context that closes these nodes at its end."""
    try:
        yield made
    finally:
        for node in made:
            with contextlib.suppress(Exception):
                node.close(0)
