"""Tests hearsay.Node: PyTorch models in a swarm, with batch norms, tied weights, frozen layers, parameters
that are not dense, and several processes that train one model."""

import copy
import json
import os
import subprocess
import sys
import threading
import unittest
import warnings

try:
    import torch
    from torch import nn
except ImportError:
    print('skipped: PyTorch (Debian package python3-torch) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from python_nodes import PROGRAM, Folder, Together, address, nodes, settle

torch.set_num_threads(1)


class Net(nn.Module):
    """A model with a batch norm, a frozen layer, tied weights and parameters of several layouts and types."""

    def __init__(self, seed=0, narrow=torch.bfloat16):
        super().__init__()
        torch.manual_seed(seed)
        self.front = nn.Linear(12, 16)
        self.norm = nn.BatchNorm1d(16)
        self.frozen = nn.Linear(16, 16)
        self.frozen.requires_grad_(False)
        self.back = nn.Linear(16, 16, bias=False)
        self.again = nn.Linear(16, 16, bias=False)
        self.again.weight = self.back.weight  # tied
        self.turned = nn.Parameter(torch.randn(12, 3).t() * 0.1)  # not dense
        self.wide = nn.Parameter(torch.zeros(3, dtype=torch.float64))
        self.narrow = nn.Parameter(torch.ones(16, dtype=narrow))

    def forward(self, x):
        h = torch.relu(self.norm(self.front(x)))
        h = h + torch.tanh(self.frozen(h))
        h = self.again(torch.relu(self.back(h))) * self.narrow.float()
        return h[:, :3] + x @ self.turned.t() + self.wide.float()


SHARED = {'front.weight', 'front.bias', 'norm.weight', 'norm.bias', 'norm.running_mean', 'norm.running_var',
          'back.weight', 'turned', 'wide', 'narrow'}


def batch(rng):
    x = torch.randn(32, 12, generator=rng)
    return x, torch.stack([x[:, :4].sum(1), x[:, 4:8].prod(1), x[:, 8:].abs().sum(1)], 1)


def train(model, optimizer, node, steps, seed):
    rng = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(steps):
        x, y = batch(rng)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        node.count(len(x), loss)
        losses.append(loss.item())
    return losses


def adam(model):
    return torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.003)


class Torch(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def make(self, name, peers=(), model=None, optimizer=adam, **options):
        model = model if model is not None else Net()
        made = optimizer(model) if optimizer is not None else None
        node = hearsay.Node(model, made, settings=self.folder.settings(name, peers), **options)
        return model, made, node

    def test_the_package_names_the_release_of_the_program(self):
        shown = subprocess.run([PROGRAM, '--version'], check=True, capture_output=True, text=True).stdout
        self.assertEqual(shown.splitlines()[0], f'hearsay {hearsay.__version__}')

    def test_two_learn_one_model(self):
        together = Together(2)
        states, digests = {}, {}

        def run(model, optimizer, node, seed):
            node.join()
            together.wait()
            losses = []
            for part in range(10):  # each round publishes once, and only a part of the progress
                losses += train(model, optimizer, node, 50, 100 * seed + part)
                settle(node, together)
            self.assertLess(losses[-1], 0.5 * losses[0])
            states[seed], digests[seed] = node.state_dict(), node.info().digest
            self.assertEqual((node.info().steps, node.info().samples), (500, 500 * 32))
            self.assertGreater(node.swarm_samples, 500 * 32)

        a = self.make('a')
        b = self.make('b', [address(a[2])])
        with nodes(a[2], b[2]), together:
            together.start(run, *a, 1)
            together.start(run, *b, 2)
        self.assertEqual(digests[1], digests[2])
        start = Net().state_dict()
        self.assertEqual(states[1].keys(), start.keys())
        for name, tensor in states[1].items():
            self.assertEqual(tensor.dtype, start[name].dtype)
            if name in SHARED or name == 'again.weight':
                self.assertTrue(torch.equal(tensor, states[2][name]), name)
                self.assertFalse(torch.equal(tensor, start[name]), name)
        self.assertTrue(torch.equal(states[1]['back.weight'], states[1]['again.weight']))
        self.assertGreater(states[1]['norm.running_var'].min(), 0)
        self.assertTrue(torch.equal(states[1]['frozen.weight'], start['frozen.weight']))
        shared = Net(seed=5)
        shared.load_state_dict(states[1])
        shared.eval()
        x, y = batch(torch.Generator().manual_seed(99))
        with torch.no_grad():
            fresh = nn.functional.mse_loss(Net().eval()(x), y).item()
            self.assertLess(nn.functional.mse_loss(shared(x), y).item(), 0.7 * fresh)

    def test_shares_weights_and_copies_transposed_tensors(self):
        _, _, node = self.make('shared')
        with nodes(node):
            self.assertEqual(set(node._shared.tensors), SHARED)
            self.assertEqual(set(node._shared._copies), {'turned', 'wide', 'norm.running_mean', 'norm.running_var'})
            self.assertEqual(node.info().parameters, sum(t.numel() for t in node._shared.tensors.values()))

    def test_the_library_moves_the_trained_weights(self):
        """A node that does not train must receive the other node's progress in its model."""
        a = self.make('speaks')
        b = self.make('listens', [address(a[2])])
        together = Together(2)

        def speak(model, optimizer, node):
            node.join()
            together.wait()
            for part in range(10):
                train(model, optimizer, node, 20, part)
                settle(node, together)

        def listen(model, optimizer, node):
            node.join()
            together.wait()
            for _ in range(10):
                settle(node, together)
            base = node.state_dict()
            for name, tensor in model.state_dict().items():
                if name in SHARED:
                    self.assertTrue(torch.allclose(tensor.double(), base[name].double(), atol=1e-2), name)
                    self.assertFalse(torch.equal(tensor, Net().state_dict()[name]), name)

        with nodes(a[2], b[2]), together:
            together.start(speak, *a)
            together.start(listen, *b)

    def test_steps_are_counted_in_any_order(self):
        model, optimizer, node = self.make('counts')
        with node:
            x, y = batch(torch.Generator().manual_seed(1))
            nn.functional.mse_loss(model(x), y).backward()
            node.count(8)
            node.count(8)          # two batches of one step
            self.assertEqual(node.info().steps, 0)
            optimizer.step()
            self.assertEqual((node.info().steps, node.info().samples), (1, 16))
            optimizer.step()
            self.assertEqual(node.info().steps, 1)
            node.count(4)
            self.assertEqual((node.info().steps, node.info().samples), (2, 20))
        optimizer.step()           # the node has removed its hook
        with self.assertRaises(hearsay.Closed):
            node.info()

    def test_a_wrong_count_is_refused_at_the_call(self):
        _, optimizer, node = self.make('wrong')
        with node:
            for samples, kind, words in ((-1, hearsay.ArgumentError, 'and is -1'), (0, ValueError, 'and is 0'),
                                         (2 ** 32, hearsay.ArgumentError, 'between 1 and 4294967295'),
                                         ('a', TypeError, 'an integer, and is str'), (8.0, TypeError, 'is float')):
                with self.assertRaisesRegex(kind, words):
                    node.count(samples, 1.0)
            for loss, kind, words in ((None, TypeError, 'is NoneType: give the mean loss, or 0'),
                                      (torch.zeros(2), ValueError, 'one number, and has 2')):
                with self.assertRaisesRegex(kind, words):
                    node.count(8, loss)
            optimizer.step()
            self.assertEqual(node.info().steps, 0)
            node.count(torch.tensor(8), torch.ones(1))
            self.assertEqual((node.info().steps, node.info().samples), (1, 8))

    def test_a_step_that_the_optimizer_reports_is_not_counted_twice(self):
        _, optimizer, node = self.make('twice')
        with node:
            with self.assertRaisesRegex(TypeError, 'counts the steps of its optimizer: call count'):
                node.step(5, 1.0)
            optimizer.step()
            node.count(8)
            self.assertEqual((node.info().steps, node.info().samples), (1, 8))

    def test_a_node_without_an_optimizer_counts_steps(self):
        _, _, node = self.make('told', optimizer=None)
        with node:
            with self.assertRaisesRegex(TypeError, 'call step'):
                node.count(1)
            node.step(5, 1.0)
            self.assertEqual((node.info().steps, node.info().samples), (1, 5))

    def test_swapped_arguments_are_refused(self):
        model = nn.Linear(2, 2)
        with self.assertRaisesRegex(TypeError, r'model must be a torch.nn.Module, and is AdamW: call Node\(model'):
            hearsay.Node(adam(model), model)
        with self.assertRaisesRegex(TypeError, 'optimizer must be an optimizer of PyTorch or None, and is Linear'):
            hearsay.Node(model, model)

    def test_an_optimizer_of_another_model_is_refused(self):
        model = Net()
        for other in copy.deepcopy(model), nn.Linear(2, 2):
            for kind in torch.optim.LBFGS, torch.optim.AdamW:
                with self.assertRaisesRegex(ValueError, 'steps no shared or private parameter of the model'):
                    hearsay.Node(model, kind(other.parameters()))
        with self.assertRaisesRegex(ValueError, 'steps no shared or private parameter of the model'):
            hearsay.Node(model, torch.optim.SGD(model.frozen.parameters(), lr=0.1))
        both = [{'params': nn.Linear(2, 2).parameters()}, {'params': model.front.parameters()}]
        for number, groups in enumerate((both, [{'params': []}], model.parameters())):
            made = torch.optim.SGD(groups, lr=0.1)
            node = hearsay.Node(model, made, settings=self.folder.settings(f'partial{number}'))
            node.free()
        node = hearsay.Node(model, torch.optim.SGD(model.front.parameters(), lr=0.1), private=['front'],
                            settings=self.folder.settings('private'))
        node.free()

    def test_a_wrong_rate_is_refused(self):
        model, optimizer, node = self.make('rate')
        with nodes(node):
            for rate, kind, words in ((-1, ValueError, 'not negative, and is -1'), ('x', TypeError, 'and is str'),
                                      (float('nan'), ValueError, 'and is nan'), (float('inf'), ValueError, 'is inf'),
                                      (None, TypeError, 'one number, and is NoneType'),
                                      (torch.zeros(2), TypeError, 'one number, and is Tensor')):
                with self.assertRaisesRegex(kind, words):
                    node.set_rate(rate)
                self.assertEqual(optimizer.param_groups[0]['lr'], 0.003)
            for rate in 0, 0.5, torch.tensor(0.25):
                node.set_rate(rate)
                self.assertEqual(optimizer.param_groups[0]['lr'], rate)
        _, _, node = self.make('none', optimizer=None)
        with nodes(node), self.assertRaisesRegex(TypeError, 'no optimizer'):
            node.set_rate(0.1)

    def test_the_optimizer_continues_from_its_saved_state(self):
        model, optimizer, node = self.make('again')
        with node:
            train(model, optimizer, node, 20, 1)
        kept = optimizer.state_dict()
        other = Net(seed=3)        # the checkpoint replaces these initial weights
        model2, optimizer2, node = self.make('again', model=other)
        optimizer2.param_groups[0]['lr'] = 0.001
        with node:
            self.assertEqual(optimizer2.param_groups[0]['lr'], 0.001)  # the script's rate, not the saved one
            for a, b in zip(kept['state'].values(), optimizer2.state_dict()['state'].values()):
                self.assertTrue(torch.equal(a['exp_avg'], b['exp_avg']))
            for name, tensor in model.state_dict().items():
                if name in SHARED:
                    self.assertTrue(torch.allclose(tensor, model2.state_dict()[name], atol=1e-4), name)

    def test_state_of_another_optimizer_is_not_restored(self):
        model, optimizer, node = self.make('changes')
        with node:
            train(model, optimizer, node, 5, 1)
        model, optimizer, node = self.make('changes', optimizer=lambda m: torch.optim.SGD(m.parameters(), 0.01, 0.9))
        with self.assertLogs('hearsay', 'WARNING') as logs, node:
            self.assertEqual(len(optimizer.state), 0)
            train(model, optimizer, node, 5, 1)
        self.assertIn('it belongs to AdamW', logs.output[0])

    def test_a_scheduler_may_come_before_or_after(self):
        for name, before in (('before', True), ('after', False)):
            model, optimizer, _ = Net(), None, None
            optimizer = adam(model)
            first = torch.optim.lr_scheduler.StepLR(optimizer, 1) if before else None
            with warnings.catch_warnings(), hearsay.Node(model, optimizer,
                                                         settings=self.folder.settings(name)) as node:
                warnings.simplefilter('error')
                scheduler = first or torch.optim.lr_scheduler.StepLR(optimizer, 1)
                train(model, optimizer, node, 2, 1)
                scheduler.step()
                self.assertEqual(node.info().steps, 2)

    def test_the_context_ends_with_the_error_of_its_body(self):
        _, _, node = self.make('ends')
        with self.assertRaisesRegex(ValueError, 'mine'), self.assertLogs('hearsay', 'WARNING'), node:
            node.save = lambda: 1 / 0
            raise ValueError('mine')
        with self.assertRaises(hearsay.Closed):
            node.count(1)

    def test_closed_names_no_function_of_c(self):
        _, _, node = self.make('closed')
        with node:
            handle = node._handle
            for call in node.settle, node.adopt, node.info, lambda: node.count(1), lambda: node.swarm_samples:
                child = os.fork()
                if child == 0:
                    try:
                        call()
                    except hearsay.Closed as error:
                        os._exit('forked child' not in str(error))
                    os._exit(2)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
            node.finish(60)
            with self.assertRaises(hearsay.Ended) as ended:
                node.count(1)
                node._optimizer.step()
            self.assertNotIn('hearsay_', str(ended.exception))
            handle.close()
            with self.assertRaisesRegex(hearsay.Closed, '^the node is closed: make a new one$'):
                handle.settle()
            node._is_closed = True
        with self.assertRaisesRegex(hearsay.Closed, '^the node is closed: make a new one$'):
            handle.settle()

    def test_a_forked_child_closes_silently(self):
        script = ('import os, sys, torch, hearsay\n'
                  'model = torch.nn.Linear(4, 1)\n'
                  'with hearsay.Node(model, torch.optim.SGD(model.parameters(), lr=0.01),\n'
                  '                  settings=eval(sys.argv[1])) as node:\n'
                  '    for how in "close", "exit":\n'
                  '        child = os.fork()\n'
                  '        if child == 0 and how == "close":\n'
                  '            node.close()\n'
                  '            os._exit(0)\n'
                  '        if child == 0:\n'
                  '            sys.exit(0)\n'
                  '        print(os.waitpid(child, 0)[1])\n'
                  '    print(node.info().joined)\n')
        settings = {key: str(value) for key, value in self.folder.settings('fork').items() if value}
        ran = subprocess.run([sys.executable, '-c', script, repr(settings)], capture_output=True, text=True)
        self.assertEqual((ran.stdout.split(), ran.stderr), (['0', '0', 'True'], ''))

    def test_weights_that_are_no_numbers(self):
        model, optimizer, node = self.make('diverges')
        with node:
            train(model, optimizer, node, 5, 1)
            self.assertGreater(len(optimizer.state), 0)
            with torch.no_grad():
                model.front.weight[0, 0] = float('nan')
            with self.assertLogs('hearsay', 'WARNING'):
                for _ in range(10 ** 6):
                    optimizer.zero_grad(set_to_none=True)
                    optimizer.step()   # has no gradients, so it moves no weight
                    node.count(1)
                    if node.info().resets:
                        break
            self.assertEqual(len(optimizer.state), 0)
            self.assertTrue(torch.isfinite(model.front.weight).all())

    def test_a_model_that_was_moved_is_found(self):
        model, optimizer, node = self.make('moved')
        with self.assertRaisesRegex(RuntimeError, 'front.weight has other memory'), node:
            model.front.weight.data = model.front.weight.data.clone()
            train(model, optimizer, node, 1, 1)

    def test_a_model_that_was_converted_is_found_by_each_call(self):
        model, optimizer, node = self.make('converted', model=nn.Linear(512, 512))
        with node:
            train_once = nn.functional.mse_loss(model(torch.zeros(1, 512)), torch.ones(1, 512))
            train_once.backward()
            optimizer.step()
            node.count(1)
            model.double()     # the parameters get new memory, and only the node uses the old one
            for call in (node.settle, node.save, node.state_dict):
                with self.assertRaisesRegex(RuntimeError, 'has other memory'):
                    call()
            with self.assertRaisesRegex(RuntimeError, 'has other memory'):
                node.close()

    def test_a_joiner_takes_the_first_weights_of_the_swarm(self):
        _, _, first = self.make('first')
        with nodes(first):
            first.join()
            own = Net(seed=1).state_dict()
            model, _, second = self.make('other', [address(first)], model=Net(seed=1))
            with self.assertLogs('hearsay', 'INFO') as said, second:
                self.assertRegex('\n'.join(said.output), "INFO:hearsay:[0-9.:]+ this node takes the swarm's initial weights")
                (warning,) = [line for line in said.output if line.startswith('WARNING')]
                self.assertIn('train.frozen', warning)  # its frozen layer has other weights
                self.assertEqual(first.info().digest, second.info().digest)
                base, theirs = second.state_dict(), first.state_dict()
                for name in SHARED - {'wide', 'narrow', 'norm.weight', 'norm.bias', 'norm.running_mean', 'norm.running_var'}:
                    self.assertTrue(torch.equal(base[name], theirs[name]), name)
                    self.assertFalse(torch.allclose(model.state_dict()[name], own[name], atol=1e-3), name)

    def test_a_joiner_knows_the_swarms_samples_when_join_returns(self):
        def make(name, peers=()):
            torch.manual_seed(0)
            model = nn.Linear(256, 256)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            settings = self.folder.settings(name, peers, exchange__interval_s=0.05)
            return model, optimizer, hearsay.Node(model, optimizer, settings=settings)

        def learn(model, optimizer, node):
            node.join()
            while not ended.is_set():
                loss = (model(torch.randn(8, 256)) - torch.randn(8, 256)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                node.count(8, loss)

        first = make('first')
        ended, together = threading.Event(), Together(1)
        with nodes(first[2]), together:
            together.start(learn, *first)
            try:
                while first[2].swarm_samples < 4000:
                    pass
                for i in range(8):
                    _, _, late = make(f'late{i}', [address(first[2])])
                    with nodes(late):
                        late.join()
                        known = late.swarm_samples
                        self.assertGreater(known, late.status()['swarm_samples'] / 2)
            finally:
                ended.set()

    def test_a_refusal_names_the_first_tensor_that_differs(self):
        _, _, first = self.make('first', run='wrapped')
        with nodes(first):
            first.join()
            with self.assertRaisesRegex(hearsay.Refused, r'theirs .*, ours module\..*inside the wrapper'):
                with self.make('other', [address(first)], model=nn.ModuleDict({'module': Net()}), run='wrapped')[2]:
                    pass

    def test_a_model_without_trained_parameters_is_refused(self):
        with self.assertRaisesRegex(ValueError, 'no parameter of the model is trained'):
            hearsay.Node(nn.Linear(2, 2).requires_grad_(False))
        with self.assertRaisesRegex(ValueError, "names has 'bais'"):
            hearsay.Node(nn.Linear(2, 2), names={'bais': '0.dense.bias'})

    def native(self, name, peers=()):
        """Returns a PyTorch model that `hearsay node` can also train, its names in the swarm, and a node's
        settings."""
        settings = {**self.folder.settings(name, peers), 'data.source': 'generated', 'data.train_count': 500,
                    'data.test_count': 10, 'model.layers': 'dense 7, relu, dense 10'}
        names = {'1.weight': '0.dense.weight', '1.bias': '0.dense.bias',
                 '3.weight': '2.dense.weight', '3.bias': '2.dense.bias'}
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 7), nn.ReLU(), nn.Linear(7, 10)), names, settings

    def test_names_of_the_configuration(self):
        model, names, settings = self.native('native')
        with hearsay.Node(model, native=True, names=names, settings=settings):
            self.assertTrue((model[1].bias == 0).all())  # filled with the initial weights of model.seed
        with self.assertRaisesRegex(hearsay.Error, '1.weight'):
            hearsay.Node(model, native=True, settings=settings)

    def begin_daemon(self, name, peers):
        """Starts `hearsay node`, which trains on 1,600 samples and then only relays."""
        _, _, settings = self.native(name, peers)
        words = [word for key, value in {**settings, 'train.samples_max': 1600}.items() for word in
                 ('--set', f'{key}={",".join(value) if isinstance(value, list) else value}')]
        return subprocess.Popen([PROGRAM, 'node', *words], stderr=subprocess.DEVNULL)

    def status(self, name):
        shown = subprocess.run([PROGRAM, 'status', '--state', self.folder.path / name, '--json'],
                               capture_output=True, text=True).stdout
        return json.loads(shown) if shown.startswith('{') else {}

    def test_two_scripts_and_two_daemons_end_with_one_model(self):
        together = Together(2)
        nodes_of, daemons, shows_one = [], [], []

        def run(model, optimizer, node, seed):
            node.join()
            random = torch.Generator().manual_seed(seed)
            for _ in range(200):
                x = torch.randn(16, 784, generator=random)
                loss = nn.functional.cross_entropy(model(x), x[:, :10].argmax(1))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                node.count(16, loss)
            while not shows_one:  # until all four have stopped learning and show one model
                node.settle()
                together.wait()
                pages = [self.status(name) for name in ('x', 'y')]
                digests = {page.get('digest') for page in pages}
                digests |= {f'{other.info().digest:016x}' for other in nodes_of}
                if seed == 0 and len(digests) == 1 and all(page['samples'] >= 1600 for page in pages):
                    shows_one.append(True)
                together.wait()
            self.assertGreaterEqual(node.swarm_samples, 2 * 1600 + 2 * 3200)

        for name in ('a', 'b'):
            model, names, settings = self.native(name, [address(node) for node in nodes_of])
            optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
            nodes_of.append(hearsay.Node(model, optimizer, native=True, names=names, settings=settings))
        try:
            daemons = [self.begin_daemon(name, [address(nodes_of[0])]) for name in ('x', 'y')]
            with nodes(*nodes_of), together:
                for seed, node in enumerate(nodes_of):
                    together.start(run, node._model, node._optimizer, node, seed)
        finally:
            for daemon in daemons:
                daemon.terminate()
        self.assertEqual([daemon.wait() for daemon in daemons], [0, 0])

    def test_ranks_are_one_node(self):
        """Two processes train one model (DistributedDataParallel over Gloo) as one node, in a swarm with a
        second node."""
        first = self.make('alone', model=Net(narrow=torch.float32))  # Gloo has no bfloat16
        port = os.path.join(self.folder.path, 'meet')
        settings = {key: str(value) if not isinstance(value, list) else value for key, value in
                    self.folder.settings('ranks', [address(first[2])]).items()}

        def begin(steps):
            return [subprocess.Popen([sys.executable, __file__, 'rank', str(i), f'{port}-{steps}', repr(settings),
                                      str(steps)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for i in range(2)]

        ranks = begin(100)
        model, optimizer, node = first
        with node:
            while any(rank.poll() is None for rank in ranks):
                train(model, optimizer, node, 10, node.info().steps)
            ended = [rank.communicate() for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0, 0], ended)
            said = [out.split() for out, _ in ended]
            self.assertEqual(said[0][0], said[1][0])               # both ranks have the same weights
            self.assertEqual(said[0][1], str(100 * (32 + 32)))     # rank 0 counted the samples of both
            self.assertGreater(int(said[0][2]), 100 * 64)          # the swarm has learned more samples
            node.settle()
            self.assertGreaterEqual(node.swarm_samples, node.info().samples + 100 * 64)
            again = [rank.communicate() for rank in begin(0)]
            kept = [out.split()[-1] for out, _ in again]
            self.assertEqual(kept[0], kept[1], again)              # both optimizers restored their state
            self.assertGreater(float(kept[0]), 0)


def rank(number, meet, settings, steps):
    """Runs one of the two processes. Prints a sum of the weights, the samples of the node (rank 1: 0), the
    samples of the swarm, and a sum of the restored optimizer state."""
    import torch.distributed as dist
    dist.init_process_group('gloo', init_method='file://' + meet, rank=number, world_size=2)
    plain = Net(number, torch.float32)                            # DDP copies rank 0's weights to all ranks
    model = nn.parallel.DistributedDataParallel(plain)
    optimizer = adam(model)
    with hearsay.Node(model, optimizer, settings=settings) as node:
        kept = sum(float(s['exp_avg_sq'].double().sum()) for s in optimizer.state.values())
        train(model, optimizer, node, steps, 10 + number)
        for _ in range(5):
            node.settle()
        hashed = sum(float(p.double().sum()) for p in plain.parameters())
        swarm = node.swarm_samples
        print(hashed, node.info().samples if number == 0 else 0, swarm, kept)
        dist.barrier()
    del model                                                     # ends its threads before the process ends
    dist.destroy_process_group()


if __name__ == '__main__':
    if sys.argv[1:2] == ['rank']:
        rank(int(sys.argv[2]), sys.argv[3], eval(sys.argv[4]), int(sys.argv[5]))
    else:
        unittest.main(verbosity=2)
