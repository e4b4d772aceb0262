"""Tests which tensors of a PyTorch model are shared (complex numbers, frozen and private layers, buffers),
and the errors and warnings for tensors that would differ between nodes."""

import os
import sys
import unittest

try:
    import torch
    from torch import nn
except ImportError:
    print('skipped: PyTorch (Debian package python3-torch) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from python_nodes import Folder, Together, address, nodes

torch.set_num_threads(1)


class Codebook(nn.Module):
    """A module with a buffer that each forward pass moves towards the data, in place or by replacing it."""

    def __init__(self, replaces=False):
        super().__init__()
        self.replaces = replaces
        self.register_buffer('code', torch.zeros(4))
        self.register_buffer('used', torch.zeros(4, dtype=torch.int64))
        self.register_buffer('cache', torch.zeros(4), persistent=False)

    def forward(self, x):
        with torch.no_grad():
            moved = self.code + 0.1 * (x.mean(0) - self.code)
            if self.replaces:
                self.code = moved
            else:
                self.code.data.copy_(moved)
            self.cache += 1
        return x


def net(replaces=False):
    torch.manual_seed(1)
    return nn.ModuleDict({'body': nn.Linear(4, 8), 'norm': nn.BatchNorm1d(8), 'book': Codebook(replaces),
                          'head': nn.Linear(8, 2)})


def forward(model, x):
    return model['head'](torch.relu(model['norm'](model['body'](model['book'](x)))))


def train(model, optimizer, node, seed, steps=40):
    draw = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        x = torch.randn(8, 4, generator=draw) + seed
        loss = (forward(model, x) - x[:, :2]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        node.count(len(x), loss)


class SelectionOfTensors(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.close)

    def make(self, name, peers=(), model=None, trained=None, optimizer=None, **options):
        model = model if model is not None else net()
        parameters = [p for p in (trained or model).parameters() if p.requires_grad]
        optimizer = optimizer(parameters) if optimizer else torch.optim.AdamW(parameters, lr=0.01)
        return model, optimizer, hearsay.Node(model, optimizer, settings=self.folder.settings(name, peers),
                                              run='selection', **options)

    def both(self, learn=train, make_model=net, **options):
        """Trains two nodes until both have finished. Returns their models and their shared models."""
        together, found = Together(2), {}

        def run(model, optimizer, node, seed):
            node.join()
            while node.info().members < 2:
                node.settle(0.05)
            together.wait()
            learn(model, optimizer, node, seed)
            self.assertTrue(node.finish())
            found[seed] = model.state_dict(), node.state_dict()

        a = self.make('a', model=make_model(), **options)
        b = self.make('b', [address(a[2])], model=make_model(), **options)
        with nodes(a[2], b[2]), together:
            together.start(run, *a, 1)
            together.start(run, *b, 2)
        return found[1], found[2]

    def alone(self, model=None, **options):
        made = self.make('a', model=model, **options)
        self.addCleanup(made[2].free)
        made[2].join()
        return made

    def test_complex_numbers_are_shared_whole(self):
        def model():
            torch.manual_seed(1)
            return nn.ModuleDict({'one': nn.Linear(4, 4, dtype=torch.cfloat),
                                  'two': nn.Linear(4, 4, dtype=torch.cdouble)})

        def learn(model, optimizer, node, seed):
            draw = torch.Generator().manual_seed(seed)
            for _ in range(60):
                x = torch.complex(torch.randn(8, 4, generator=draw), torch.randn(8, 4, generator=draw))
                loss = sum((layer(x.to(layer.weight.dtype)) - 1j * x).abs().pow(2).mean() for layer in model.values())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                node.count(len(x), float(loss))

        (a, shared_a), (b, shared_b) = self.both(learn, model)
        start = model().state_dict()
        for name, tensor in shared_a.items():
            self.assertEqual(tensor.dtype, start[name].dtype)
            self.assertTrue(torch.equal(tensor, shared_b[name]), name)
            self.assertTrue(torch.equal(tensor, a[name]) and torch.equal(tensor, b[name]), name)
            self.assertFalse(torch.equal(tensor.imag, start[name].imag), name)

    def test_types_that_cannot_be_shared_are_named(self):
        whole = nn.Linear(2, 2)
        whole.register_parameter('index', nn.Parameter(torch.zeros(2, dtype=torch.int32), requires_grad=False))
        with self.assertRaisesRegex(TypeError, 'index has type int32 and cannot be shared'):
            self.make('a', model=whole, share=['index'])
        sparse = nn.Linear(2, 2)
        sparse.register_parameter('rare', nn.Parameter(torch.eye(3).to_sparse()))
        with self.assertRaisesRegex(TypeError, 'rare is of layout torch.sparse_coo'):
            self.make('a', model=sparse)
        with self.assertRaisesRegex(ValueError, 'weight has no shape yet'):
            self.make('a', model=nn.LazyLinear(2), trained=nn.Linear(1, 1))
        counts = nn.Linear(2, 2)
        counts.register_buffer('small', torch.zeros(2, dtype=torch.int8))
        with self.assertRaisesRegex(TypeError, 'small has type int8'):
            self.make('a', model=counts, buffers=['small'])

    def test_layers_that_are_unfrozen_later_are_an_error_unless_shared(self):
        model = net()
        model['body'].requires_grad_(False)
        model, optimizer, node = self.alone(model)
        self.assertIn('body.weight', node.not_shared)
        train(model, optimizer, node, 1, 3)
        model['body'].requires_grad_(True)
        optimizer.add_param_group({'params': model['body'].parameters()})
        with self.assertRaisesRegex(RuntimeError, 'body.weight is trained now.*share='):
            train(model, optimizer, node, 1, 1)

        def frozen():
            model = net()
            model['body'].requires_grad_(False)
            return model

        def unfreeze(model, optimizer, node, seed):
            train(model, optimizer, node, seed, 10)
            model['body'].requires_grad_(True)
            optimizer.add_param_group({'params': model['body'].parameters()})
            train(model, optimizer, node, seed, 30)

        self.folder = Folder()
        self.addCleanup(self.folder.close)
        (_, a), (_, b) = self.both(unfreeze, frozen, share=['body'])
        self.assertTrue(torch.equal(a['body.weight'], b['body.weight']))
        self.assertFalse(torch.equal(a['body.weight'], net().state_dict()['body.weight']))

    def test_a_new_layer_is_an_error(self):
        model, optimizer, node = self.alone()
        train(model, optimizer, node, 1, 3)
        model['more'] = nn.Linear(2, 2)
        optimizer.add_param_group({'params': model['more'].parameters()})
        with self.assertRaisesRegex(RuntimeError, 'more.weight is another parameter'):
            train(model, optimizer, node, 1, 1)

    def test_a_parameter_that_is_replaced_is_an_error(self):
        model, optimizer, node = self.alone()
        train(model, optimizer, node, 1, 3)
        model['head'].weight = nn.Parameter(torch.zeros(2, 8))
        for call in node.settle, node.state_dict, node.finish:
            with self.assertRaisesRegex(RuntimeError, 'head.weight is another parameter'):
                call()
        node.close()

    def test_private_layers_stay_here_and_in_checkpoints(self):
        (a, shared_a), (b, shared_b) = self.both(private=['head', 'norm'], buffers='local')
        self.assertTrue(torch.equal(shared_a['body.weight'], shared_b['body.weight']))
        for name in 'head.weight', 'norm.running_mean', 'norm.weight', 'book.code':
            self.assertFalse(torch.equal(a[name], b[name]), name)
            self.assertTrue(torch.equal(shared_a[name], a[name]), name)
        model, _, node = self.make('a', private=['head', 'norm'], buffers='local')
        with node:
            self.assertEqual(set(node.not_shared), set(a) - {'body.weight', 'body.bias'})
            for name in 'head.weight', 'norm.running_mean', 'book.code', 'body.weight':
                self.assertTrue(torch.equal(model.state_dict()[name], a[name]), name)

    def test_a_buffer_that_changes_is_a_warning_once(self):
        for replaces in False, True:
            model, optimizer, node = self.alone(net(replaces))
            with self.assertLogs('hearsay', 'WARNING') as logs:
                train(model, optimizer, node, 1, 70)
            said = [line for line in logs.output if 'is not shared' in line]
            self.assertEqual(len(said), 1, logs.output)
            self.assertIn('book.code', said[0])
            node.close(0)
            node.free()

    def test_a_frozen_parameter_that_the_script_moves_is_a_warning_once(self):
        model = net()
        for parameter in model['body'].parameters():
            parameter.requires_grad_(False)  # such as a teacher that follows the student
        model, optimizer, node = self.alone(model, buffers='local')
        with self.assertLogs('hearsay', 'WARNING') as logs:
            for _ in range(70):
                with torch.no_grad():
                    model['body'].weight.mul_(0.99)
                train(model, optimizer, node, 1, 1)
        said = [line for line in logs.output if 'is not shared' in line]
        self.assertEqual(len(said), 1, logs.output)
        self.assertIn('body.weight is not trained', said[0])

    def test_an_integer_buffer_that_changes_is_a_warning_once(self):
        def count(book, *_):
            book.used += 1

        for options, warnings in (({'private': ['book.code']}, 1), ({'buffers': 'mean'}, 1),
                                  ({'private': ['book.code', 'book.used']}, 0), ({'buffers': 'local'}, 0)):
            model, optimizer, node = self.alone(**options)
            model['book'].register_forward_hook(count)
            with self.assertLogs('hearsay', 'WARNING') as logs:
                train(model, optimizer, node, 1, 70)
                hearsay.handle.log.warning('the end')
            said = [line for line in logs.output if 'so it ' in line]
            self.assertEqual(len(said), warnings, logs.output)
            for line in said:
                self.assertIn('book.used changes, has integers', line)
            node.close(0)
            node.free()
            self.folder.close()
            self.folder = Folder()

    def test_sparse_buffers_stay_local(self):
        model = nn.Linear(2, 2)
        model.register_buffer('graph', torch.eye(3).to_sparse())
        _, optimizer, node = self.make('a', model=model)
        self.addCleanup(node.free)
        self.assertEqual(node.not_shared, ['graph'])
        node.join()
        for _ in range(8):
            optimizer.step()
            node.count(1)

    def test_no_warning_where_buffers_are_local_or_shared(self):
        for buffers in 'local', 'mean', ['book.code']:
            model, optimizer, node = self.alone(buffers=buffers)
            with self.assertLogs('hearsay', 'WARNING') as logs:
                train(model, optimizer, node, 1, 70)
                hearsay.handle.log.warning('the end')
            self.assertEqual(len([line for line in logs.output if 'is not shared' in line]), 0, logs.output)
            node.close(0)
            node.free()
            self.folder.close()
            self.folder = Folder()

    def test_buffers_are_shared_as_mean_or_by_name(self):
        for buffers, replaces in (('mean', False), (['book.*'], True)):
            (a, shared_a), (b, shared_b) = self.both(make_model=lambda: net(replaces), buffers=buffers)
            self.assertTrue(torch.equal(shared_a['book.code'], shared_b['book.code']))
            self.assertTrue(torch.equal(shared_a['book.code'], a['book.code']))
            self.assertTrue(torch.equal(shared_b['book.code'], b['book.code']))
            self.assertGreater(float(shared_a['book.code'].mean()), 0.5)
            self.folder.close()
            self.folder = Folder()

    def test_running_statistics_that_the_script_replaces_are_shared(self):
        def learn(model, optimizer, node, seed):
            train(model, optimizer, node, seed, 20)
            norm = model['norm']
            norm.running_mean, norm.running_var = torch.zeros(8), torch.ones(8)  # as update_bn of PyTorch 1
            train(model, optimizer, node, seed, 20)
            norm.running_mean = norm.running_mean.clone()
            with torch.no_grad():
                norm.running_mean += 1

        (a, shared_a), (b, shared_b) = self.both(learn)
        for name in 'norm.running_mean', 'norm.running_var':
            self.assertTrue(torch.equal(shared_a[name], shared_b[name]), name)
            self.assertTrue(torch.equal(shared_a[name], a[name]), name)
            self.assertTrue(torch.equal(shared_b[name], b[name]), name)

    def test_a_shared_buffer_that_is_removed_is_an_error(self):
        model, optimizer, node = self.alone()
        model['norm'].running_mean = None
        for call in node.settle, node.state_dict, node.save, node.close:
            with self.assertRaisesRegex(RuntimeError, 'norm.running_mean is no tensor any more'):
                call()

    def test_frozen_layers_that_differ_are_named(self):
        for differs in False, True:
            with self.assertLogs('hearsay', 'INFO') as said:
                def make():
                    model = net()
                    model['head'].requires_grad_(False)
                    with torch.no_grad():
                        model['head'].bias += 1e-4 * len(made) if differs else 0.0
                    made.append(model)
                    return model

                made = []
                self.both(make_model=make)
            found = [line for line in said.output if 'train.frozen' in line]
            self.assertEqual(bool(found), differs, said.output)
            for line in found:
                self.assertRegex(line, r'WARNING.*frozen layers: on all nodes, load.*checksum [0-9a-f]{8} of 2, the first head.weight.*\(here ')
            self.folder.close()
            self.folder = Folder()

    def test_names_that_match_no_tensor_are_refused(self):
        for option in 'share', 'private', 'buffers':
            with self.assertRaisesRegex(ValueError, f"{option} has 'nothing'.*: the names are (body, norm, head(, book)?|norm, book)$"):
                self.make('a', **{option: ['nothing']})
        for option, wrong, similar in (('private', 'bdy', 'body'), ('share', 'head.wieght', 'head.weight'),
                                       ('buffers', 'book.cod', 'book.code'), ('buffers', 'bk', 'book')):
            with self.assertRaisesRegex(ValueError, f'{wrong}.*: the most similar names are {similar}'):
                self.make('a', **{option: [wrong]})
        with self.assertRaisesRegex(ValueError, 'names no buffer of the model$'):
            self.make('a', model=nn.Linear(2, 2), buffers=['weight'])
        for options in {'share': ['head']}, {'buffers': ['book']}:
            with self.assertRaisesRegex(ValueError, 'names only tensors that are private or have integers'):
                self.make('a', private=['head', 'book.code'], **options)
        with self.assertRaisesRegex(TypeError, 'book.used has type int64 and cannot be shared'):
            self.make('a', buffers=['book.used'])
        with self.assertRaisesRegex(ValueError, 'buffers must be "mean"'):
            self.make('a', buffers='median')
        with self.assertRaisesRegex(TypeError, 'private must be a list of names'):
            self.make('a', private='head')
        with self.assertRaisesRegex(ValueError, 'no parameter of the model is trained'):
            self.make('a', private=['*'])

    def test_lbfgs_restarts_after_the_node_moved_the_weights(self):
        def make():
            torch.manual_seed(1)
            return nn.Linear(8, 1)

        def distance(weight):  # distance to the weights that generated the targets
            return float((weight - 1).abs().max())

        def learn(model, optimizer, node, seed):
            draw = torch.Generator().manual_seed(seed)
            for _ in range(20):
                x = torch.randn(64, 8, generator=draw)

                def closure():
                    optimizer.zero_grad()
                    loss = (model(x).squeeze(1) - x.sum(1)).pow(2).mean()
                    loss.backward()
                    return loss

                node.count(len(x), optimizer.step(closure))
                # Without an exchange after each step, a node on a busy machine reaches the target
                # alone, and the sum of both movements is twice the way.
                self.assertTrue(node.settle())
            optimizers.append(optimizer)

        optimizers = []

        def lbfgs(parameters):
            return torch.optim.LBFGS(parameters, lr=0.1, max_iter=5)

        (a, _), (b, _) = self.both(learn, make, optimizer=lbfgs)
        self.assertTrue(torch.equal(a['weight'], b['weight']))
        self.assertLess(distance(a['weight']), distance(make().weight) / 2)
        for optimizer in optimizers:  # the node has written to the weights, so the state was cleared
            self.assertEqual(len(optimizer.state), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
