"""Runs the examples of the Python package as swarms on this machine (hearsay.local), and its callbacks."""

import gzip
import importlib.util
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
    import torch
except ImportError:
    print('skipped: PyTorch (Debian package python3-torch) is not installed')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

from python_nodes import Folder

EXAMPLES = pathlib.Path(__file__).parents[2] / 'src' / 'python' / 'examples'
WORDS = ('the swarm learns one model from many places and every node tells the others what it learned '
         'so that all of them know it and none has to be there all the time ').split()


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, 'not installed: ' + ', '.join(missing))


def write_idx(path, array):
    path.write_bytes(gzip.compress(bytes([0, 0, 8, array.ndim]) + struct.pack('>%di' % array.ndim, *array.shape)
                                   + array.tobytes()))


def write_images(folder):
    """Writes Fashion-MNIST files with noisy images of ten distinct classes."""
    random = np.random.default_rng(1)
    drawings = random.integers(0, 256, (10, 28, 28))
    for part, count in (('train', 2000), ('t10k', 500)):
        labels = random.integers(0, 10, count).astype(np.uint8)
        images = np.clip(drawings[labels] * 0.6 + random.normal(50, 60, (count, 28, 28)), 0, 255)
        write_idx(folder / f'{part}-images-idx3-ubyte.gz', images.astype(np.uint8))
        write_idx(folder / f'{part}-labels-idx1-ubyte.gz', labels)


def write_text(path):
    random = np.random.default_rng(2)
    path.write_text(' '.join(random.choice(WORDS, 20000)))


class Examples(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix='hearsay-examples-')
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def swarm(self, script, *arguments, nodes=2):
        """Runs a script as a swarm. Returns a list of printed lines for each node."""
        ran = subprocess.run([sys.executable, '-m', 'hearsay.local', '--nodes', str(nodes), str(script),
                              *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return [[line[4:] for line in ran.stdout.splitlines() if line.startswith(f'[{i + 1}]')]
                for i in range(nodes)]

    def test_fashion(self):
        write_images(self.folder)
        for lines in self.swarm(EXAMPLES / 'fashion.py', '--data', self.folder, '--samples', 20000):
            self.assertGreater(float(lines[-1].split()[0]), 30, lines)

    def test_char_gpt(self):
        write_text(self.folder / 'text')
        for lines in self.swarm(EXAMPLES / 'char_gpt.py', '--text', self.folder / 'text', '--samples', 4800,
                                '--width', 32, '--context', 32):
            self.assertLess(float(re.search('validation ([0-9.]+)', lines[-1])[1]), 4.5, lines)  # uniform bytes: 5.5

    @needs('jax')
    def test_jax(self):
        write_images(self.folder)
        for lines in self.swarm(EXAMPLES / 'jax_mlp.py', '--data', self.folder, '--samples', 400000):
            self.assertGreater(float(lines[-1].split()[0]), 30, lines)

    @needs('transformers', 'peft')
    def test_lora(self):
        import tokenizers
        import transformers
        write_text(self.folder / 'text')
        tokenizer = tokenizers.ByteLevelBPETokenizer()
        tokenizer.train_from_iterator([(self.folder / 'text').read_text()], vocab_size=300)
        transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer).save_pretrained(
            self.folder / 'model')
        config = transformers.GPT2Config(vocab_size=300, n_positions=128, n_embd=32, n_layer=2, n_head=2)
        transformers.GPT2LMHeadModel(config).save_pretrained(self.folder / 'model')
        for i, lines in enumerate(self.swarm(EXAMPLES / 'lora.py', '--model', self.folder / 'model', '--text',
                                             self.folder / 'text', '--steps', 60, '--rank', 4)):
            self.assertRegex(lines[-1], r'^loss [0-9.]+$')
            self.assertTrue((self.folder / f'lora-{i + 1}' / 'adapter_model.safetensors').exists())

    @needs('lightning')
    def test_lightning(self):
        import lightning
        from hearsay.lightning import SwarmCallback

        class Line(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.line = torch.nn.Linear(4, 1)

            def training_step(self, batch, _):
                return ((self.line(batch[0]) - batch[1]) ** 2).mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        keys = Folder()
        self.addCleanup(keys.close)
        swarm = SwarmCallback(8, settings=keys.settings('node'))
        infos = []
        end = swarm._end
        swarm._end = lambda grace: (infos.append(swarm.node.info()), end(grace))
        x = torch.randn(80, 4)
        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), 8)
        trainer = lightning.Trainer(max_epochs=3, accelerator='cpu', logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, callbacks=[swarm])
        trainer.fit(Line(), data)
        self.assertEqual((infos[0].steps, infos[0].samples), (30, 240))
        self.assertIsNone(swarm.node)

    def test_a_failed_process_is_named(self):
        script = self.folder / 'script.py'
        script.write_text('import sys, hearsay.local\nsys.exit(hearsay.local.shard()[0])\n')
        ran = subprocess.run([sys.executable, '-m', 'hearsay.local', '--nodes', '3', str(script)],
                             capture_output=True, text=True)
        self.assertEqual((ran.returncode, sorted(ran.stderr.splitlines())),
                         (1, ['[2] failed: exit code 1', '[3] failed: exit code 2']))
        script.write_text('import os, signal, hearsay.local\n'
                          'if hearsay.local.shard()[0] == 1: os.kill(os.getpid(), signal.SIGKILL)\n')
        ran = subprocess.run([sys.executable, '-m', 'hearsay.local', '--nodes', '2', str(script)],
                             capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr.startswith('[2] failed: killed by signal 9 (SIGKILL)')),
                         (1, True), ran.stderr)
        ran = subprocess.run([sys.executable, '-m', 'hearsay.local', 'nowhere.py'], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 2)
        self.assertIn('there is no script nowhere.py', ran.stderr)

    def test_a_signal_is_passed_on(self):
        """On a signal each process leaves and saves. Shells start background commands with SIGINT ignored."""
        for number, is_ignored in ((signal.SIGTERM, True), (signal.SIGINT, False), (signal.SIGHUP, False)):
            with self.subTest(number):
                self.pass_on(number, is_ignored, self.folder / f'kept{number}')

    def test_the_processes_leave_if_their_launcher_is_killed(self):
        kept = self.folder / 'killed'
        self.pass_on(signal.SIGKILL, False, kept)

    def pass_on(self, number, is_ignored, kept):
        def begin():
            signal.signal(signal.SIGINT, signal.SIG_IGN if is_ignored else signal.default_int_handler)

        def has_left(i):
            return 'left the swarm' in (kept / i / 'log').read_text()

        script = self.folder / 'script.py'
        script.write_text('import numpy as np, hearsay, os, signal\n'
                          'with hearsay.ArrayNode({"w": np.zeros(3, np.float32)}, run="r") as node:\n'
                          '    now = node.arrays()\n'
                          '    while node.info().members < 2: now = node.step(now, 1)\n'
                          '    print("ready", flush=True)\n'
                          '    while True: now = node.step(now, 1)\n')
        with subprocess.Popen([sys.executable, '-m', 'hearsay.local', '--nodes', '2', '--folder', str(kept), str(script)],
                              stdout=subprocess.PIPE, text=True, preexec_fn=begin) as ran:
            ready = set()
            while len(ready) < 2:  # other lines may come first
                line = ran.stdout.readline()
                self.assertTrue(line, 'the swarm ended')
                ready |= {line} & {'[1] ready\n', '[2] ready\n'}
            ran.send_signal(number)
            said = ran.stdout.read()
        while number == signal.SIGKILL and not all(has_left(i) for i in '12'):
            time.sleep(0.1)
        self.assertEqual(ran.returncode, -number if number == signal.SIGKILL else 128 + number, said)
        self.assertEqual('KeyboardInterrupt' in said, number == signal.SIGINT, said)
        for i in '12':
            self.assertTrue(list((kept / i / 'state').glob('checkpoint-*')), said)

    def test_a_folder_is_kept(self):
        script = self.folder / 'script.py'
        script.write_text('import os; print(os.environ["HEARSAY_CONFIG"])\n')
        for _ in range(2):
            lines = self.swarm('--folder', self.folder / 'kept', script, nodes=1)
            self.assertEqual(lines, [[str((self.folder / 'kept' / '1' / 'node.conf').resolve())]])
        self.assertTrue((self.folder / 'kept' / 'swarm.key').exists())


if __name__ == '__main__':
    os.environ['OMP_NUM_THREADS'] = '1'
    unittest.main(verbosity=2)
