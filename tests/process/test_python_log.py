"""Notes and errors of a node must reach Python, in the logger `hearsay` and as exceptions."""

import logging
import os
import subprocess
import sys
import threading
import time
import unittest

try:
    import torch
except ImportError:
    print('skipped: PyTorch (Debian package python3-torch) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from python_nodes import PROGRAM, Folder, address


class Said(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def has(self, level, *words):
        return any(record.levelno == level and all(word in record.getMessage() for word in words)
                   for record in self.records)


class Log(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.said = Said()
        logger = logging.getLogger('hearsay')
        logger.addHandler(self.said)
        self.addCleanup(logger.removeHandler, self.said)

    def node(self, name, peers=(), key=None, **settings):
        settings = self.folder.settings(name, peers, exchange__interval_s=0.05, **settings)
        if key:
            settings['node.identity'] = self.folder.path / (key + '.key')
        torch.manual_seed(1)
        model = torch.nn.Linear(4, 1)
        node = hearsay.Node(model, torch.optim.SGD(model.parameters(), lr=0.01), run='log',
                            settings=settings, signals=False)
        self.addCleanup(node.free)
        node.model, node.optimizer = model, node._optimizer
        return node

    def learn(self, node, times=1):
        for _ in range(times):
            loss = node.model(torch.randn(8, 4)).pow(2).mean()
            node.optimizer.zero_grad()
            loss.backward()
            node.optimizer.step()
            node.count(8, loss)
            time.sleep(0.01)

    def learn_until_refused(self, node):
        with self.assertRaises(hearsay.Refused) as caught:
            while True:
                self.learn(node)
        return str(caught.exception)

    def test_a_dead_peer_is_a_warning_with_its_address(self):
        node = self.node('a', ['127.0.0.1:1'])
        node.join(1)
        self.assertTrue(self.said.has(logging.WARNING, '127.0.0.1:1', 'cannot be reached'))

    def doctor(self, name, peers):
        settings = self.folder.settings(name, [','.join(peers)])
        options = [f'--set={key}={value[0] if key == "node.peers" else value}'
                   for key, value in settings.items()]
        return subprocess.run([PROGRAM, 'doctor', *options], capture_output=True, text=True)

    def test_doctor_does_not_compare_models_of_scripts(self):
        peer = self.node('a')
        peer.join()
        first = self.doctor('b', [address(peer)])
        self.assertEqual(first.returncode, 0, first.stdout)
        self.assertRegex(first.stdout, "WARN  peer .*the peer is a script.*not 'hearsay node'")
        node = self.node('b', [address(peer)])
        node.join()
        node.close()
        node.free()
        second = self.doctor('b', [address(peer)])
        self.assertEqual(second.returncode, 0, second.stdout)
        self.assertRegex(second.stdout, 'ok    peer .*the program of this folder has its own')
        self.assertNotIn('WARN  peer', second.stdout)

    def test_notes_come_while_a_call_waits(self):
        first = self.node('a')
        first.join()
        seen = threading.Event()
        self.said.emit = lambda record: seen.set() if 'neighbour' in record.getMessage() else None
        logging.getLogger('hearsay').setLevel(logging.INFO)
        self.addCleanup(logging.getLogger('hearsay').setLevel, logging.NOTSET)
        self.node('b', [address(first)]).join()
        self.assertTrue(seen.is_set())

    def test_a_handler_may_call_the_node(self):
        node = self.node('a', ['127.0.0.1:1'])
        asked = []
        self.said.emit = lambda record: asked.append(node.status()['stage'])
        node.join(1)
        self.assertTrue(asked)

    def test_weights_that_are_no_numbers_name_step_and_tensor(self):
        node = self.node('a')
        node.join()
        self.learn(node, 2)
        node.model.bias.data.fill_(float('nan'))
        node.adopt()
        self.learn(node, 2)
        node.settle()
        self.assertTrue(self.said.has(logging.ERROR, 'by step ', 'weight has weights that are NaN or infinite',
                                      'clip gradients'))
        self.assertTrue(self.said.has(logging.WARNING, 'optimizer restarts'))

    def test_a_loss_that_is_no_number_names_the_step(self):
        node = self.node('a')
        node.join()
        for loss in (0.5, torch.tensor(float('nan')), float('inf')):
            node.optimizer.step()
            node.count(4, loss)
        node.settle()
        warned = [record.getMessage() for record in self.said.records if 'the loss ' in record.getMessage()]
        self.assertEqual(len(warned), 1, warned)
        self.assertRegex(warned[0], 'NaN or infinite by step [23], .*learning rate')

    def test_a_setting_without_effect_is_a_warning(self):
        node = self.node('a', train__device='cuda:0', train__batch=8, train__weight_decay=0.1, train__rate=0.3,
                         train__momentum=0.5)
        node.join(1)
        warned = [record.getMessage() for record in self.said.records if 'no effect' in record.getMessage()]
        self.assertEqual(len(warned), 1)
        self.assertIn('train.device, train.batch, train.weight_decay: the program trains the model itself', warned[0])
        self.said.records.clear()
        self.node('b', train__device='auto').join(1)  # as in the shipped node.conf
        self.assertFalse(self.said.has(logging.WARNING, 'no effect'))

    def test_a_program_reads_where_the_node_computes(self):
        logging.getLogger('hearsay').setLevel(logging.INFO)
        self.addCleanup(logging.getLogger('hearsay').setLevel, logging.NOTSET)
        self.node('a').join(1)
        self.assertTrue(self.said.has(logging.INFO, "computes on the CPU, inside the program's calls"))

    def test_two_scripts_with_one_key_are_refused(self):
        first = self.node('a', ['127.0.0.1:1'])
        identity = first.status()['id']
        second = self.node('b', [address(first)], key='a')
        for node in second, first:
            with self.assertRaises(hearsay.Refused) as caught:
                node.join()
            self.assertIn(identity, str(caught.exception))
            self.assertIn('hearsay keygen', str(caught.exception))
            with self.assertRaises(hearsay.Refused):  # Refused again, not Closed
                node.status()
        self.assertTrue(self.said.has(logging.ERROR, identity))

    def test_the_earlier_of_two_ends_and_keeps_the_shared_model(self):
        """The two scripts with the same key are connected only through a third node."""
        between = self.node('c')
        between.join()
        first = self.node('a', [address(between)])
        first.join()
        self.learn(first, 20)
        first.settle()
        identity = first.status()['id']
        second = self.node('b', [address(between)], key='a')
        joined = threading.Thread(target=second.join)
        joined.start()
        said = self.learn_until_refused(first)
        joined.join()
        self.assertIn(identity, said)
        self.assertIn('later start', said)
        self.learn(second, 5)  # the later script still trains
        digest = first.info().digest
        first.close(0)
        again = self.node('a')
        again.join()
        self.assertEqual(again.info().digest, digest)

    def test_the_node_prints_nothing(self):
        script = ('import logging, torch, hearsay, sys\n'
                  'logging.getLogger("hearsay").addHandler(logging.NullHandler())\n'
                  'model = torch.nn.Linear(4, 1)\n'
                  'settings = dict(line.split("=", 1) for line in sys.argv[1:])\n'
                  'with hearsay.Node(model, run="log", settings=settings) as node:\n'
                  '    node.step(1)\n')
        settings = self.folder.settings('quiet', ['127.0.0.1:1'])
        settings['node.peers'] = '127.0.0.1:1'
        done = subprocess.run([sys.executable, '-c', script,
                               *(f'{key}={value}' for key, value in settings.items())],
                              capture_output=True, text=True, check=True)
        self.assertEqual((done.stdout, done.stderr), ('', ''))


if __name__ == '__main__':
    unittest.main()
