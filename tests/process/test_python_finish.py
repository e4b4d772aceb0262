"""Scripts that end with `finish` must have equal models, no matter when each script stops training. Each
script is a process that waits for the others only in `finish`. FINISH_RUNS=50 repeats the first test."""

import hashlib
import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
import unittest

try:
    import torch
except ImportError:
    print('skipped: PyTorch (Debian package python3-torch) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

import hearsay
from hearsay.norms import farthest, statistics_of
from python_nodes import Folder

SCRIPTS = 4


FAR_MEAN, FAR_LATER, FAR_DEVIATION = 2048, 3072, 600  # inputs of 12 bits
# Default runs last longer than the nodes withhold statistics.
FAR_STEPS, FAR_PAUSE_S = int(os.environ.get('FAR_STEPS', '500')), float(os.environ.get('FAR_PAUSE_S', '0.01'))


def make_far():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.BatchNorm1d(20), torch.nn.Linear(20, 3))


class Warnings(logging.Handler):
    """Keeps the texts of logged warnings."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []
        logging.getLogger('hearsay').addHandler(self)

    def emit(self, record):
        self.texts.append(record.getMessage())


def others_train(node):
    return any(member['trains'] for member in node.status()['members'] if not member['is_self'])


def far_script(settings, means, members):
    """Waits until `members` members have met, and prints "begins". Trains on inputs of each of these means,
    and prints the shared running statistics as JSON. Before each change of the mean, it waits until no
    other member trains, and trains for as long again."""
    torch.set_num_threads(1)
    warnings = Warnings()
    model = make_far()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with hearsay.Node(model, optimizer, settings=settings, run='far') as node:
        node.join()
        while node.info().members < members:
            time.sleep(0.05)
        print('begins', flush=True)
        for mean in means:
            steps = 0
            while steps < FAR_STEPS:
                x = torch.randn(32, 20)
                loss = (model(x * FAR_DEVIATION + mean) - x[:, :3]).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                node.count(32, loss)
                steps = 0 if mean != means[-1] and others_train(node) else steps + 1
                time.sleep(FAR_PAUSE_S)
        finished = node.finish()
        state = node.state_dict()
        node.status(), node.status()
        print(json.dumps({'all': finished.all, 'digest': node.info().digest,
                          'warned': any('own (0: means by' in text for text in warnings.texts),
                          'mean': state['0.running_mean'].mean().item(),
                          'variance': state['0.running_var'].mean().item(),
                          'own': model[0].running_mean.mean().item()}))


def make():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.BatchNorm1d(64), torch.nn.ReLU(),
                               torch.nn.Linear(64, 3))


def digest(tensors):
    whole = hashlib.sha256()
    for tensor in tensors:
        whole.update(tensor.detach().numpy().tobytes())
    return whole.hexdigest()


def shared(model, state):
    return digest(state[name] for name, _ in model.named_parameters())


def script(settings, steps, end):
    """Trains `steps` steps and ends as `end` says. Prints the digest and the weights as JSON."""
    torch.set_num_threads(1)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    draw = torch.Generator().manual_seed(steps)
    with hearsay.Node(model, optimizer, settings=settings, run='finish') as node:
        while node.info().members < SCRIPTS:
            time.sleep(0.05)
        for _ in range(steps):
            x = torch.randn(16, 20, generator=draw)
            loss = (model(x) - x[:, :3]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            node.count(16, loss)
            time.sleep(0.002)
        if end == 'dies':
            os.kill(os.getpid(), signal.SIGKILL)
        if end == 'leaves':
            return
        if end == 'trains':
            while True:
                optimizer.step()
                node.count(1)
                time.sleep(0.01)
        finished = node.finish() if end == 'finishes' else node.finish(1)
        while end == 'waits' and ' trains' not in finished.waits_for:
            finished = node.finish(1)
        state = node.state_dict()
        node.save()
        print(json.dumps({'all': finished.all, 'waits_for': finished.waits_for, 'digest': node.info().digest,
                          'weights': digest(model.parameters()), 'state': shared(model, state),
                          'again': node.finish(0 if finished else 1).all,
                          'saved': shared(model, node.state_dict())}))


class Norms(unittest.TestCase):
    def test_the_farthest_batch_norm_is_named(self):
        model = torch.nn.Sequential(*(torch.nn.BatchNorm1d(4) for _ in range(4)))
        norms = list(model.named_children())
        before = statistics_of(norms)
        model[0].running_mean += 0.09
        model[0].running_var *= 1.14
        self.assertEqual(farthest(before, statistics_of(norms)), '')
        model[1].running_var *= 1.17
        self.assert_farthest(before, norms, '1: means by 0 standard deviations, variances by a factor of 1.17')
        model[2].running_mean[0] += 8  # 2 on average over four channels
        self.assert_farthest(before, norms, '2: means by 2 standard deviations, variances by a factor of 1.00')
        model[3].running_var.zero_()
        self.assert_farthest(before, norms, '3: ')
        model[2].running_var[1] = float('nan')
        self.assert_farthest(before, norms, '2: ')
        self.assertEqual(farthest({}, {}), '')

    def assert_farthest(self, before, norms, begin):
        found = farthest(before, statistics_of(norms))
        self.assertTrue(found.startswith(begin), found)

    def test_channels_without_variance_are_not_far(self):
        norm = torch.nn.BatchNorm1d(2)
        norm.running_var[0] = 1e-30
        before = statistics_of([('a', norm)])
        norm.running_var[0] = 1e-10
        norm.running_mean[0] += 1e-5  # training divides by the square root of variance plus 1e-5
        self.assertEqual(farthest(before, statistics_of([('a', norm)])), '')


class Finish(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.addCleanup(lambda: self.folder.close())
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()

    def start(self, name, port, steps, end):
        settings = self.folder.settings(name, [f'127.0.0.1:{port}'])
        settings = {key: value if isinstance(value, list) else str(value) for key, value in settings.items()}
        settings['node.listen'] = f'127.0.0.1:{port}' if name == '0' else '127.0.0.1:0'
        if end == 'far first':  # a node without peers begins alone
            settings['node.peers'] = []
        call = [sys.executable, __file__, 'script', json.dumps(settings), str(steps), end]
        process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def play(self, seed, ends):
        """Starts a script for each of `ends`. Returns the printed objects of the scripts that finish."""
        draw = random.Random(seed)
        port = 20000 + draw.randrange(20000)
        steps = [draw.randrange(50, 400) for _ in ends]
        started = [self.start(str(i), port, steps[i], end) for i, end in enumerate(ends)]
        said = []
        for process, end in zip(started, ends):
            if end in ('finishes', 'waits', 'far', 'zero', 'ends', 'changes'):
                said.append(self.said(process))
                self.assertEqual(process.returncode, 0)
        return said

    def said(self, process):
        return json.loads(process.communicate()[0].splitlines()[-1])

    def assert_one_model(self, said):
        for one in said:
            self.assertEqual((one['all'], one['waits_for'], one['again']), (True, '', True))
            self.assertEqual(one['weights'], one['state'])
            self.assertEqual(one['saved'], one['state'])
        self.assertEqual(len({one['digest'] for one in said}), 1)
        self.assertEqual(len({one['state'] for one in said}), 1)

    def test_scripts_that_finish_hold_one_model(self):
        for run in range(int(os.environ.get('FINISH_RUNS', '1'))):
            folder, self.folder = self.folder, Folder()
            folder.close()
            self.assert_one_model(self.play(run, ['finishes'] * SCRIPTS))
            print('run', run, 'ends with one model', flush=True)

    def assert_statistics_of_far_data(self, said, mean=FAR_MEAN):
        for one in said:
            self.assertTrue(one['all'])
            self.assertLess(abs(one['mean'] - mean), FAR_DEVIATION / 4)
            self.assertLess(abs(one['variance'] / FAR_DEVIATION ** 2 - 1), 0.25)
            self.assertEqual(one['own'], one['mean'])
            self.assertFalse(one['warned'])

    def test_running_statistics_far_from_0_are_the_datas(self):
        self.assert_statistics_of_far_data(self.play(3000, ['far'] * SCRIPTS))

    # The second script joins while the first one still publishes how its statistics move from 0 to
    # the mean.
    def test_running_statistics_are_the_datas_if_a_script_begins_later(self):
        port = 20000 + random.Random(5000).randrange(20000)
        first = self.start('0', port, 0, 'far first')
        first.stdout.readline()  # it begins
        time.sleep(2)  # and publishes statistics from the third second on
        second = self.start('1', port, 0, 'far second')
        self.assert_statistics_of_far_data([self.said(first), self.said(second)])

    # The first script has ended before the data of the second one change.
    def test_running_statistics_are_the_datas_if_a_script_ends_earlier(self):
        _, second = self.play(6000, ['ends', 'changes'])
        self.assert_statistics_of_far_data([second], FAR_LATER)

    def test_statistics_of_unlike_data_are_warned_of(self):
        said = self.play(4000, ['far', 'zero', 'far', 'zero'])
        self.assertEqual([one['warned'] for one in said], [True] * SCRIPTS)

    def test_scripts_that_leave_or_die_are_not_waited_for(self):
        self.assert_one_model(self.play(1000, ['finishes', 'leaves', 'dies', 'finishes']))

    def test_a_script_that_trains_on_is_named(self):
        for one in self.play(2000, ['waits', 'waits', 'waits', 'trains']):
            self.assertFalse(one['all'])
            self.assertIn(' trains', one['waits_for'])


if __name__ == '__main__':
    FAR = {'far': ([FAR_MEAN], SCRIPTS), 'zero': ([0], SCRIPTS),
           'far first': ([FAR_MEAN], 1), 'far second': ([FAR_MEAN], 2),
           'ends': ([FAR_MEAN], 2), 'changes': ([FAR_MEAN, FAR_LATER], 2)}
    if sys.argv[1:2] == ['script'] and sys.argv[4] in FAR:
        far_script(json.loads(sys.argv[2]), *FAR[sys.argv[4]])
    elif sys.argv[1:2] == ['script']:
        script(json.loads(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        unittest.main(verbosity=2)
