"""The swarm must learn only the writes of an optimizer, unless the script asks for others."""

import copy
import logging
import os
import sys
import time
import unittest

try:
    import torch
except ImportError:
    print('skipped: PyTorch (Debian package python3-torch) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from python_nodes import Folder, Together, address


class Said(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def distance(one, other):
    return max(float((one[name] - other[name]).abs().max()) for name in one)


class Writes(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.said = Said()
        logging.getLogger('hearsay').addHandler(self.said)
        self.addCleanup(logging.getLogger('hearsay').removeHandler, self.said)
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.005)
        self.node = None

    def join(self, optimizer=None):
        self.node = hearsay.Node(self.model, optimizer or self.optimizer, run='writes',
                                 settings=self.folder.settings('a', exchange__interval_s=0.05))
        self.addCleanup(self.node.free)
        self.node.join()

    def learn(self, steps, between=lambda: None):
        for _ in range(steps):
            x = torch.randn(16, 8)
            loss = (self.model(x).squeeze(1) - x.sum(1)).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            between()
            self.node.count(16, loss)

    def learned(self):
        """Joins with new keys and trains. Returns the model's initial weights and the shared model."""
        self.folder = Folder()
        self.addCleanup(self.folder.close)
        self.said.lines.clear()
        self.join()
        old = self.weights()
        self.learn(60)
        self.node.settle()
        return old, self.node.state_dict()

    def foreign(self):
        """Returns the warnings about foreign writes."""
        return [line for line in self.said.lines if 'changed by something else' in line]

    def weights(self):
        return copy.deepcopy(self.model.state_dict())

    def test_optimizer_steps_are_no_foreign_writes(self):
        self.join()
        old = self.weights()
        self.learn(60)
        self.node.settle()
        self.node.save()
        self.assertGreater(distance(self.node.state_dict(), old), 0.05)
        self.assertEqual(self.foreign(), [])

    def test_an_interrupted_step_is_no_foreign_write(self):
        class Interrupted(torch.optim.SGD):
            def step(self, closure=None):
                super().step(closure)
                if interrupts:
                    raise KeyboardInterrupt

        interrupts = []
        self.optimizer = Interrupted(self.model.parameters(), lr=0.005)
        self.join()
        self.learn(60)
        with self.assertRaises(KeyboardInterrupt):
            interrupts.append(True)
            self.learn(1)
        self.node.close(0)
        self.assertEqual(self.foreign(), [])

    def test_restored_weights_are_not_published(self):
        for end in 'settle', 'save', 'state_dict', 'close':
            with self.subTest(end):
                old, before = self.learned()
                self.assertGreater(distance(before, old), 0.1)
                self.model.load_state_dict(old)
                if end == 'close':
                    self.node.close()
                    self.node.free()
                    self.assertEqual(distance(self.weights(), old), 0)
                    torch.manual_seed(2)
                    self.join()  # continues from the checkpoint
                    self.assertLess(distance(self.node.state_dict(), before), 0.05)
                else:
                    getattr(self.node, end)()
                    self.assertLess(distance(self.node.state_dict(), before), 1e-6)
                    self.assertEqual(distance(self.weights(), old), 0)
                    self.assertEqual(self.foreign(), [])
                    self.learn(1)
                    (said,) = self.foreign()
                    self.assertIn('0.weight', said)
                    self.assertIn('adopt()', said)
                self.node.close(0)
                self.node.free()

    def test_steps_of_another_optimizer_are_warned_of(self):
        self.join()
        self.learn(5)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)
        self.learn(63)
        self.assertFalse([line for line in self.said.lines if 'made with' in line])
        self.learn(100)
        (said,) = [line for line in self.said.lines if 'made with' in line]
        self.assertIn('0.weight', said)

    def test_steps_that_are_not_counted_are_warned_of(self):
        def steps(count):
            for _ in range(count):
                self.model(torch.randn(16, 8)).sum().backward()
                self.optimizer.step()

        self.join()
        for _ in range(3):
            steps(63)
            self.node.count(16)
        self.assertEqual([line for line in self.said.lines if 'optimizer' in line], [])
        steps(200)
        (said,) = [line for line in self.said.lines if 'optimizer' in line]
        self.assertIn('node.count(', said)

    def test_many_batches_of_one_step_are_no_reason_to_warn(self):
        self.join()
        for _ in range(3):
            for _ in range(100):
                self.node.count(1)
            self.learn(1)
        self.assertEqual([line for line in self.said.lines if 'optimizer' in line], [])

    def test_writes_that_pytorch_does_not_count_are_not_published(self):
        def by_data(tensor, value):
            tensor.data.copy_(value)

        def by_numpy(tensor, value):
            tensor.detach().numpy()[:] = value

        for write in by_data, by_numpy:
            for end in 'settle', 'save', 'state_dict', 'finish':
                with self.subTest(f'{write.__name__} {end}'):
                    old, before = self.learned()
                    for name, tensor in self.model.named_parameters():
                        write(tensor, old[name])
                    getattr(self.node, end)()
                    self.assertEqual(distance(self.weights(), old), 0)
                    self.assertLess(distance(self.node.state_dict(), before), 0.05)
                    self.assertEqual(self.foreign(), [])
                    if end != 'finish':
                        self.learn(1)
                        self.assertEqual(len(self.foreign()), 1)
                    self.node.close(0)
                    self.node.free()

    def test_weights_loaded_after_finish_change_nothing(self):
        self.join()
        old = self.weights()
        self.learn(60)
        self.assertTrue(self.node.finish(60))
        shared = self.node.state_dict()
        self.model.load_state_dict(old)
        self.assertEqual(distance(self.node.state_dict(), shared), 0)
        self.node.save()
        self.optimizer.step()
        self.assertEqual(distance(self.node.state_dict(), shared), 0)
        own = self.weights()
        self.node.close()
        self.assertEqual(distance(self.weights(), own), 0)
        self.node.free()
        self.join()  # continues from the checkpoint
        self.assertEqual(distance(self.node.state_dict(), shared), 0)
        self.assertEqual(self.foreign(), [])

    def test_adopted_weights_are_published(self):
        self.join()
        old = self.weights()
        self.learn(60)
        self.node.settle()
        self.model.load_state_dict(old)
        self.node.adopt()
        before = distance(self.node.state_dict(), old)
        self.optimizer.param_groups[0]['lr'] = 0.0  # the steps count, but do not move the weights
        self.learn(60)
        self.node.settle()
        self.assertLess(distance(self.node.state_dict(), old), before / 5)
        self.assertEqual(self.foreign(), [])

    def test_averaged_weights_that_are_swapped_in_and_out_change_nothing(self):
        self.join()
        self.learn(60)
        self.node.settle()
        before, own = self.node.state_dict(), self.weights()
        averaged = {name: torch.zeros_like(tensor) for name, tensor in own.items()}
        self.model.load_state_dict(averaged)
        self.node.save()
        self.assertEqual(distance(self.node.state_dict(), before), 0)
        self.model.load_state_dict(own)
        self.learn(5)
        self.assertLess(distance(self.node.state_dict(), before), 0.2)
        own = self.weights()
        self.model.load_state_dict(averaged)
        self.model.load_state_dict(own)
        self.learn(1)
        self.assertEqual(self.foreign(), [])

    def test_a_step_after_each_of_two_foreign_writes_warns_once(self):
        self.join()
        self.learn(5)
        for _ in range(2):
            with torch.no_grad():
                self.model[2].bias.add_(1)
            self.learn(1)
        (said,) = self.foreign()
        self.assertIn('2.bias', said)

    def other(self, together):
        """Runs the other node: it moves every weight by about 1/2 and then stops training."""
        model = copy.deepcopy(self.model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        with hearsay.Node(model, optimizer, run='writes',
                          settings=self.folder.settings('b', [address(self.node)],
                                                        exchange__interval_s=0.05)) as node:
            together.wait()  # the node under test has swapped its weights out
            for _ in range(50):
                for weight in model.parameters():
                    weight.grad = -torch.ones_like(weight)
                optimizer.step()
                node.count(16, 1.0)
                time.sleep(0.01)
            node.settle()
            together.wait()
            together.wait()  # the node under test has swapped its weights back and published

    def swapped_while_another_learns(self, call):
        """Swaps this node's weights out during calls, while another node trains. Returns how far the shared
        model moved during the calls, and in the steps after the weights were swapped back."""
        self.join()
        self.learn(20)
        self.node.settle()
        with Together(2) as together:
            together.start(self.other, together)
            before, own = self.node.state_dict(), self.weights()
            self.model.load_state_dict({name: torch.zeros_like(each) for name, each in own.items()})
            together.wait()
            due = time.monotonic() + 1.0
            while time.monotonic() < due:
                call()
                time.sleep(0.02)
            together.wait()
            self.node.settle()
            during = self.node.state_dict()
            self.model.load_state_dict(own)
            self.optimizer.param_groups[0]['lr'] = 0.0  # the steps count, but do not move the weights
            self.learn(40)
            self.node.settle()
            after = self.node.state_dict()
            together.wait()
        return distance(during, before), distance(after, during)

    def test_restored_weights_keep_what_others_learned_meanwhile(self):
        for call in 'state_dict', 'save', 'settle':
            with self.subTest(call):
                self.folder = Folder()
                self.addCleanup(self.folder.close)
                moved, undone = self.swapped_while_another_learns(lambda: getattr(self.node, call)())
                self.assertGreater(moved, 0.1)
                self.assertLess(undone, 0.01)
                self.node.close(0)
                self.node.free()

    def test_a_call_that_fails_keeps_the_updates_that_it_applied(self):
        self.join()
        self.learn(5)
        self.node.settle()
        own = self.weights()
        self.model.load_state_dict({name: torch.zeros_like(each) for name, each in own.items()})
        with self.assertRaises(KeyError), self.node._writes.aside(self.node._first()):
            with torch.no_grad():
                self.model[2].bias.add_(1)  # as an update of another node would
            raise KeyError
        self.model.load_state_dict(own)
        self.optimizer.param_groups[0]['lr'] = 0.0
        self.learn(1)
        self.assertAlmostEqual(float(self.model[2].bias - own['2.bias']), 1, places=3)

    def test_weights_clipped_after_each_step_are_learned(self):
        """Some GANs clip the critic's weights between the step and its count."""
        def clip():
            with torch.no_grad():
                for weight in self.model.parameters():
                    weight.clamp_(-0.5, 0.5)
        self.join()
        old = self.weights()
        self.learn(60, clip)
        self.node.settle()
        self.assertGreater(distance(self.node.state_dict(), old), 0.05)
        self.assertEqual(self.foreign(), [])

    def test_weights_of_another_optimizer_are_not_watched(self):
        other = torch.optim.SGD(self.model[2].parameters(), lr=0.01)
        self.optimizer = torch.optim.AdamW(self.model[0].parameters(), lr=0.005)
        self.join()
        old = self.weights()
        self.learn(60, other.step)
        other.step()
        self.node.settle()
        moved = self.node.state_dict()
        self.assertGreater(float((moved['2.weight'] - old['2.weight']).abs().max()), 1e-3)
        self.assertEqual(self.foreign(), [])

    def test_weights_in_copies_are_watched_as_well(self):
        self.model = self.model.double()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.005)
        torch.set_default_dtype(torch.float64)
        self.addCleanup(torch.set_default_dtype, torch.float32)
        self.join()
        old = self.weights()
        self.learn(60)
        self.node.settle()
        self.assertEqual(self.foreign(), [])
        before = self.node.state_dict()
        self.model.load_state_dict(old)
        self.node.settle()
        self.assertLess(distance(self.node.state_dict(), before), 1e-6)
        self.assertEqual(distance(self.weights(), old), 0)


if __name__ == '__main__':
    unittest.main()
