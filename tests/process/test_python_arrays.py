"""hearsay.ArrayNode: arrays of NumPy in a swarm, and exceptions for invalid use."""

import os
import pathlib
import signal
import socket
import subprocess
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print('skipped: NumPy (Debian package python3-numpy) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from python_nodes import PROGRAM, Folder, Together, address, nodes, settle

PLANE = np.random.default_rng(9).uniform(-0.5, 0.5, (24, 5)).astype(np.float32)


def arrays():
    return {'weight': np.zeros((24, 5), np.float32), 'bias': np.zeros(5, np.float32)}


def learn(now, rng):
    """Returns new arrays after a step of gradient descent, as a JAX program does."""
    x = rng.standard_normal((32, 24)).astype(np.float32)
    error = x @ now['weight'] + now['bias'] - x @ PLANE
    return ({'weight': now['weight'] - 0.05 * x.T @ error / 32, 'bias': now['bias'] - 0.05 * error.mean(0)},
            0.5 * float((error ** 2).sum(1).mean()))


def make(settings, given=None, run='plane'):
    return hearsay.ArrayNode(arrays() if given is None else given, settings=settings, run=run)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def settings(self, name, peers=()):
        return self.folder.settings(name, peers, train__momentum=0, exchange__weigh_throughput=False,
                                    exchange__gain=1, exchange__beta=0)

    def test_a_statistic_that_names_no_array_is_refused_with_similar_names(self):
        with self.assertRaisesRegex(ValueError, "has 'wieght', which names no array: .* are weight$"):
            hearsay.ArrayNode(arrays(), statistics=['wieght'], settings=self.settings('a'))
        with self.assertRaisesRegex(ValueError, "has 'zzz', which names no array: the names are a.w, a.b$"):
            hearsay.ArrayNode({'a.w': np.zeros(2, np.float32), 'a.b': np.zeros(2, np.float32)},
                              statistics=['zzz'], settings=self.settings('a'))

    def test_two_learn_one_plane(self):
        together = Together(2)
        bases, digests, same = {}, {}, {}

        def run(node, seed):
            node.join()
            together.wait()
            now, rng = node.arrays(), np.random.default_rng(seed)
            losses = []
            for _ in range(6):  # each round publishes once
                for _ in range(100):
                    given, loss = learn(now, rng)
                    now = node.step(given, 32, loss)
                    losses.append(loss)
                    same[seed] = same.get(seed, 0) + (now is given)
                settle(node, together)
                now = node.arrays()
            bases[seed], digests[seed] = node.base(), node.info().digest
            self.assertLess(losses[-1], 0.1 * losses[0])
            self.assertEqual(node.info().samples, 600 * 32)

        a = make(self.settings('a'))
        b = make(self.settings('b', [address(a)]))
        with nodes(a, b), together:
            together.start(run, a, 1)
            together.start(run, b, 2)
        self.assertEqual(digests[1], digests[2])
        for name, base in bases[1].items():
            np.testing.assert_array_equal(base, bases[2][name])
        self.assertLess(np.abs(bases[1]['weight'] - PLANE).max(), 0.1)
        self.assertGreater(same[1], 0)  # steps without updates return the given object

    def test_a_late_joiner_gets_earlier_progress(self):
        first = make(self.settings('first'))
        with nodes(first):
            first.join()
            now, rng = first.arrays(), np.random.default_rng(1)
            for _ in range(100):
                now, loss = learn(now, rng)
                now = first.step(now, 32, loss)
            first.settle()
            with make(self.settings('late', [address(first)])) as late:
                self.assertEqual(late.info().digest, first.info().digest)
                np.testing.assert_array_equal(late.arrays()['weight'], first.base()['weight'])
                self.assertGreater(np.abs(late.arrays()['weight']).max(), 0.01)

    def test_sys_exit_leaves_in_order(self):
        """A node whose context `sys.exit` ends publishes what it has learned since its last publication."""
        with make(self.settings('first')) as first:
            with self.assertRaises(SystemExit), make(self.settings('late', [address(first)])) as late:
                now, rng = late.arrays(), np.random.default_rng(1)
                for _ in range(100):
                    now, loss = learn(now, rng)
                    now = late.step(now, 32, loss)
                sys.exit(0)
            self.assertEqual(first.info().swarm_samples, 100 * 32)

    def test_keeps_writes_between_steps(self):
        """A node that does not train saves and settles before its first step, and reads the base between two
        steps. The other node's progress must stay in its arrays, and in the base of both."""
        first = make(self.settings('first'))
        with nodes(first):
            first.join()
            now, rng = first.arrays(), np.random.default_rng(1)
            for _ in range(10):
                for _ in range(100):
                    now, loss = learn(now, rng)
                    now = first.step(now, 32, loss)
                first.settle()
                now = first.arrays()
            learned = np.abs(first.base()['weight'] - PLANE).max()
            late = make(self.settings('late', [address(first)]))
            with nodes(late):
                late.join()
                late.save(b'x')
                late.settle()
                self.assertLess(np.abs(late.arrays()['weight'] - PLANE).max(), learned + 0.01)
                mine, before = late.arrays(), late.base()['bias']
                now = {**now, 'bias': now['bias'] + np.float32(0.5)}
                first.step(now, 32)
                first.settle()
                while (late.base()['bias'] == before).all():  # applies updates once they have arrived
                    pass
                mine = late.step(mine, 1)
                np.testing.assert_allclose(mine['bias'], late.base()['bias'], atol=1e-3)
                late.settle()
                first.settle()
                self.assertLess(np.abs(first.base()['weight'] - PLANE).max(), learned + 0.01)
        with self.assertRaises(hearsay.Closed):
            late._handle.free()
            late.base()

    def test_a_restart_has_the_saved_bytes(self):
        with make(self.settings('again')) as node:
            node.step({'weight': np.ones((24, 5), np.float32), 'bias': np.ones(5, np.float32)}, 32)
            self.assertEqual(node.extra(), b'')
            node.save(b'momentum')
        with make(self.settings('again')) as node:
            np.testing.assert_allclose(node.arrays()['bias'], np.ones(5, np.float32), atol=1e-3)
            self.assertEqual(node.extra(), b'momentum')
        with self.assertRaisesRegex(hearsay.Failed, r'of another model \(125 parameters, here 3\)'):
            make(self.settings('again'), {'weight': np.zeros(3, np.float32)})

    def test_the_program_shows_its_status(self):
        with make(self.settings('asked')) as node:
            shown = subprocess.run([PROGRAM, 'status', '--state', str(self.folder.path / 'asked'), '--json'],
                                   capture_output=True, text=True)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn(node.status()['address'], shown.stdout)

    def test_invalid_use_raises(self):
        with self.assertRaisesRegex(hearsay.ConfigError, r'\[node\] nothing'):
            make({'node.nothing': 1})
        with self.assertRaisesRegex(hearsay.ConfigError, 'no-such-file.conf'):
            hearsay.ArrayNode(arrays(), config='no-such-file.conf', run='plane')
        with self.assertRaisesRegex(hearsay.Failed, 'swarmkey'):
            make({**self.settings('keyless'), 'node.swarm_key': '/nowhere/swarm.key'})
        with self.assertRaisesRegex(TypeError, 'weight has type float64'):
            make(self.settings('double'), {'weight': np.zeros(3)})
        with self.assertRaisesRegex(hearsay.Error, 'tensor weight: a weight of nan'):
            make(self.settings('nan'), {'weight': np.full(3, np.nan, np.float32)})
        node = make(self.settings('mistakes'))
        with nodes(node):
            with self.assertRaisesRegex(hearsay.Closed, 'join'):
                node.step(arrays(), 32)
            node.join()
            with self.assertRaisesRegex(hearsay.ArgumentError, 'samples'):
                node.step(arrays(), 0)
            with self.assertRaisesRegex(hearsay.ArgumentError, 'between 1 and 4294967295, and is -1'):
                node.step(arrays(), -1)
        with self.assertRaises(hearsay.Closed):
            node.step(arrays(), 32)

    def test_other_names_are_refused(self):
        node = make(self.settings('names'))
        with nodes(node):
            node.join()
            with self.assertRaisesRegex(ValueError, 'the array weight is missing'):
                node.step({'bias': arrays()['bias']}, 32)
            with self.assertRaisesRegex(ValueError, 'the array more is new'):
                node.step({**arrays(), 'more': np.zeros(6, np.float32)}, 32)
            node.step(arrays(), 32)

    def test_another_shape_raises_in_the_call_that_reads_it(self):
        node = make(self.settings('shape'))
        with nodes(node):
            node.join()
            node.arrays()
            node.step({**arrays(), 'bias': np.zeros(6, np.float32)}, 32)
            with self.assertRaisesRegex(ValueError, r'bias is float32 \(6,\), and was float32 \(5,\)'):
                node._handle.settle()

    def test_another_model_is_refused(self):
        first = make(self.settings('first'))
        with nodes(first):
            first.join()
            other = make(self.settings('other', [address(first)]), run='another')
            with nodes(other), self.assertRaisesRegex(hearsay.Refused, 'other model'):
                other.join()

    def test_an_interrupt_ends_a_wait(self):
        """The only peer never answers, so `join` waits until it is interrupted."""
        with socket.create_server(('127.0.0.1', 0)) as mute:
            node = make(self.settings('waits', ['127.0.0.1:%d' % mute.getsockname()[1]]))
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            with nodes(node), self.assertRaises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 1)  # during the wait
                while True:
                    node.join()
                    node.settle()
            self.assertFalse(node.info().joined)  # the interrupt came before the call would have ended

    def test_a_loss_that_rises_is_a_warning(self):
        with make(self.settings('rises')) as node, self.assertLogs('hearsay', 'WARNING') as logs:
            node.join()
            for _ in range(500):
                node.step(arrays(), 32, 0.1)
            while node.status()['training']['is_well']:  # changes after five seconds and 200 steps
                node.step(arrays(), 32, 3.0)
            while not logs.output:
                node.step(arrays(), 32, 3.0)
            self.assertEqual(node.status()['training']['state'], 'rising')
            self.assertIn("the optimizer's learning rate", logs.output[0])

    def test_a_child_cannot_use_it(self):
        with make(self.settings('forks')) as node:
            read, write = os.pipe()
            if os.fork() == 0:
                try:
                    node.step(arrays(), 32)
                except hearsay.Closed as error:
                    os.write(write, str(error).encode())
                finally:
                    os._exit(0)
            os.wait()
            self.assertIn(b'child', os.read(read, 1000))
            node.step(arrays(), 32)
            os.close(read)
            os.close(write)

    def test_a_child_ends_by_exit(self):
        """A node that dials uses threads that a forked child lacks; the end of the child must not wait for them."""
        code = ('import os, sys, hearsay, numpy as np\n'
                'node = hearsay.ArrayNode({"w": np.zeros(3, np.float32)}, run="r", settings=eval(sys.argv[1]))\n'
                'node.join()\n'
                'child = os.fork()\n'
                'if child == 0: sys.exit(3)\n'
                'status = os.waitpid(child, 0)[1]\n'
                'node.close(0)\n'
                'sys.exit(0 if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3 else str(status))\n')
        settings = {key: str(value) if isinstance(value, pathlib.Path) else value
                    for key, value in self.settings('exits').items()}
        settings['node.peers'] = 'localhost:1'
        ran = subprocess.run([sys.executable, '-c', code, repr(settings)], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_a_script_that_ends_without_closing_ends(self):
        code = ('import sys, hearsay, numpy as np\n'
                'node = hearsay.ArrayNode({"w": np.zeros(3, np.float32)}, run="r", settings=eval(sys.argv[1]))\n'
                'node.join(); node.step({"w": np.ones(3, np.float32)}, 1)\n')
        settings = {key: str(value) if isinstance(value, pathlib.Path) else value
                    for key, value in self.settings('ends').items()}
        ran = subprocess.run([sys.executable, '-c', code, repr(settings)], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr, ran.stdout), (0, '', ''))


if __name__ == '__main__':
    unittest.main(verbosity=2)
