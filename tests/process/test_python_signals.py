"""A script with a node that a signal ends must save and leave, and must complete each copy of its arrays."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import unittest

try:
    import numpy as np
except ImportError:
    print('skipped: NumPy (Debian package python3-numpy) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from python_nodes import Folder, nodes

SCRIPT = '''
import os, signal, sys, time
import numpy as np
import hearsay
settings, how = eval(sys.argv[1]), sys.argv[2]
if how == "own":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
if how == "ignored":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
arrays = {"w": np.zeros(4, np.float32)}
node = hearsay.ArrayNode(arrays, run="r", settings=settings, signals=how != "none")
def learn(arrays):
    for i in range(10**9):
        arrays = node.step({"w": arrays["w"] + np.float32(0.001)}, 10)
        if i == 200:
            print("learned", node.info().swarm_samples, flush=True)
        if i == 400 and how == "ignored":
            print("goes on", flush=True)
        time.sleep(0.001)
if how == "plain":
    node.join()
    learn(node.arrays())
with node:
    print("begins with", node.info().swarm_samples, flush=True)
    if how != "look":
        learn(node.arrays())
'''


class Signals(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def start(self, how):
        settings = {key: str(value) for key, value in self.folder.settings('a', exchange__interval_s=0.2).items()
                    if key != 'node.peers'}
        return subprocess.Popen([sys.executable, '-c', SCRIPT, repr(settings), how], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self, how, number):
        """Starts a script, and sends it a signal while it trains. Returns its exit code, the samples that it
        had reported as learned, its output and its errors."""
        script = self.start(how)
        learned = 0
        while not learned:
            line = script.stdout.readline().split()
            self.assertTrue(line, 'the script ended before it had learned')
            learned = int(line[1]) if line[0] == 'learned' else 0
        script.send_signal(number)
        said, errors = script.communicate(timeout=600)
        return script.returncode, learned, said, errors

    def kept(self):
        """Restarts the script. Returns the number of samples in the checkpoint from which it continues."""
        said, errors = self.start('look').communicate(timeout=600)
        self.assertEqual(errors, '')
        return int(said.split()[2])

    def test_a_script_leaves_and_saves(self):
        for number in signal.SIGTERM, signal.SIGHUP:
            code, learned, _, errors = self.end('with', number)
            self.assertEqual((code, errors), (128 + number, ''))
            self.assertGreaterEqual(self.kept(), learned)

    def test_a_script_without_a_context_leaves_when_it_ends(self):
        code, learned, _, errors = self.end('plain', signal.SIGTERM)
        self.assertEqual((code, errors), (128 + signal.SIGTERM, ''))
        self.assertGreaterEqual(self.kept(), learned)

    def test_a_handler_of_the_script_stays(self):
        self.assertEqual(self.end('own', signal.SIGTERM)[0], 5)

    def test_signals_false_leaves_signals_alone(self):
        self.assertEqual(self.end('none', signal.SIGTERM)[0], -signal.SIGTERM)

    def test_an_ignored_signal_stays_ignored(self):
        script = self.start('ignored')
        while script.stdout.readline().split()[0] != 'learned':
            pass
        script.send_signal(signal.SIGHUP)
        self.assertEqual(script.stdout.readline(), 'goes on\n')
        script.send_signal(signal.SIGTERM)
        script.communicate(timeout=600)
        self.assertEqual(script.returncode, 128 + signal.SIGTERM)

    def make(self, name, kind=hearsay.ArrayNode, **options):
        return kind({'w': np.zeros(4, np.float32)}, run='r', settings=self.folder.settings(name), **options)

    def test_default_actions_are_restored_after_the_last_node(self):
        with self.make('first'):
            with self.make('second'):
                self.assertNotEqual(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)
            self.assertNotEqual(signal.getsignal(signal.SIGHUP), signal.SIG_DFL)
        self.assertEqual(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)
        self.assertEqual(signal.getsignal(signal.SIGHUP), signal.SIG_DFL)

    def test_a_node_on_another_thread_takes_no_signal(self):
        found = []

        def run():
            with self.make('thread'):
                found.append(signal.getsignal(signal.SIGTERM))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        self.assertEqual(found, [signal.SIG_DFL])

    def test_a_child_has_the_default_actions(self):
        with self.make('forks'):
            child = os.fork()
            if child == 0:
                os._exit(signal.getsignal(signal.SIGTERM) != signal.SIG_DFL)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertNotEqual(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)

    def raises_after(self, number, kind):
        """Checks that a signal during a copy lets the copy finish, and that its handler raises afterwards."""
        finished = []

        class Sent(hearsay.ArrayNode):
            def _fetch(self):
                if self._is_stepping:
                    os.kill(os.getpid(), number)  # without Deferred the handler would run at the next line
                super()._fetch()
                finished.append(self._copies['w'][0])

        with nodes(self.make('copies', Sent)) as (node,):
            node.join()
            count = 0
            with self.assertRaises(kind):
                while True:  # until a publication copies the arrays
                    count += 1
                    finished.clear()
                    node.step({'w': np.full(4, count, np.float32)}, 1)
            self.assertEqual(finished, [np.float32(count)])
            self.assertIs(signal.getsignal(signal.SIGTERM), hearsay.signals._on_signal)

    def test_a_copy_is_not_cut_short(self):
        class Alarm(Exception):
            pass

        def on_alarm(*_):
            raise Alarm

        signal.signal(signal.SIGUSR1, on_alarm)
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.SIG_DFL)
        for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGUSR1, Alarm),
                             (signal.SIGTERM, hearsay.Terminated)):
            hearsay.signals._arrived_s = -float('inf')
            self.raises_after(number, kind)
        hearsay.signals._arrived_s = -float('inf')

    def test_deferred_handlers_run_once_each_and_in_order(self):
        came = []
        names = {signal.SIGUSR1: 'one', signal.SIGUSR2: 'two'}
        for number in names:
            signal.signal(number, lambda number, _: came.append(names[number]))
            self.addCleanup(signal.signal, number, signal.SIG_DFL)
        deferred = hearsay.signals.Deferred()
        for _ in range(2):  # the same object can be used twice
            came.clear()
            with deferred:
                for number in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGUSR2):
                    os.kill(os.getpid(), number)
                self.assertEqual(came, [])
            self.assertEqual(came, ['two', 'one'])
        with contextlib.suppress(ZeroDivisionError):
            with deferred:
                1 / 0
        os.kill(os.getpid(), signal.SIGUSR1)
        self.assertEqual(came[-1], 'one')


if __name__ == '__main__':
    unittest.main(verbosity=2)
