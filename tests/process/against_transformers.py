#!/usr/bin/env python3
"""hearsay and Hugging Face's transformers must read each other's models, and hearsay and PyTorch each
other's ResNets. "Ours" are models that hearsay exports and the other library loads; "theirs" are models that
the other library saves and hearsay reads. Compares logits, and the results of eval and generate.

    against_transformers.py HEARSAY MODEL_FILE

MODEL_FILE is the program of model_file.c. Exits with 77 if transformers is missing.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

os.environ['HF_HUB_OFFLINE'] = '1'
try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    import transformers
    from safetensors.torch import load_file, save_file
except ImportError as error:
    print(f'skipped: {error}; install transformers and torch')
    sys.exit(77)

HEARSAY, MODEL_FILE = sys.argv[1:3]
LENGTH, NEAR = 40, 1e-4


def run(*command, **others):
    return subprocess.run(command, check=True, capture_output=True, **others).stdout


def run_logits(path, size, sample, *line):
    raw = run(MODEL_FILE, 'logits', path, size, *line, input=sample.tobytes())
    return torch.from_numpy(np.frombuffer(raw, '<f4').copy())


def logits_here(path, tokens):
    return run_logits(path, str(len(tokens)), tokens.numpy().astype('<i4')).view(len(tokens), -1)


def logits_there(model, tokens):
    with torch.no_grad():
        return model(tokens[None]).logits[0]


def check(what, here, there):
    apart = (here - there).abs().max().item()
    print(f'{what}: logits of {there.abs().max().item():.2f} at most are {apart:.1e} apart')
    assert here.shape == there.shape and there.abs().max() > 0.5 and apart < NEAR, what


OURS = [
    ('embed 65 48, position 64, 3 * (residual(norm, attention 4), residual(norm, dense 192, gelu, '
     'dense 48)), norm, logits tied', 65),
    # A valid GPT-2 with sizes that no published GPT-2 has.
    ('embed 65 48, position 40, residual(norm, attention 3), residual(norm, dense 100, gelu, '
     'dense 48), norm, logits', 65),
    ('embed 70 48, 2 * (residual(rmsnorm, attention 4 kv 2 rope plain), residual(rmsnorm, dense 256 '
     'plain, swiglu, dense 48 plain)), rmsnorm, logits', 70),
    ('embed 70 48, 3 * (residual(rmsnorm, attention 6 rope plain), residual(rmsnorm, dense 100 plain, '
     'swiglu, dense 48 plain)), rmsnorm, dense 70 plain', 70),
    ('embed 70 48, 2 * (residual(rmsnorm, attention 6 kv 1 rope plain), residual(rmsnorm, dense 100 '
     'plain, swiglu, dense 48 plain)), rmsnorm, logits tied', 70),
]


def ours_are_read_there(folder):
    for i, (line, tokens) in enumerate(OURS):
        file, to = f'{folder}/ours{i}.safetensors', f'{folder}/ours{i}'
        run(MODEL_FILE, 'make', line, str(tokens), str(LENGTH), file)
        run(HEARSAY, 'export', '--state', file, to)
        model, info = transformers.AutoModelForCausalLM.from_pretrained(to, output_loading_info=True)
        assert not any(info[key] for key in ('missing_keys', 'unexpected_keys', 'mismatched_keys')), info
        x = torch.randint(tokens, (LENGTH,))
        check(f'{type(model).__name__}, ours', logits_here(file, x), logits_there(model.eval(), x))
        check('and what was exported, read again', logits_here(to, x), logits_there(model, x))


def theirs():
    """Yields models of transformers with its default initial weights."""
    gpt2 = {'vocab_size': 256, 'n_positions': 64, 'n_embd': 48, 'n_layer': 2, 'n_head': 4,
            'bos_token_id': None, 'eos_token_id': None}
    llama = {'vocab_size': 256, 'hidden_size': 48, 'intermediate_size': 100, 'num_hidden_layers': 2,
             'num_attention_heads': 4, 'max_position_embeddings': 64, 'rms_norm_eps': 1e-5,
             'bos_token_id': None, 'eos_token_id': None}
    yield transformers.GPT2LMHeadModel(transformers.GPT2Config(**gpt2))
    yield transformers.GPT2LMHeadModel(transformers.GPT2Config(**gpt2, n_inner=70, tie_word_embeddings=False))
    yield transformers.LlamaForCausalLM(transformers.LlamaConfig(**llama))
    yield transformers.LlamaForCausalLM(transformers.LlamaConfig(**llama, num_key_value_heads=2,
                                                                 tie_word_embeddings=True))


def loss_there(model, text):
    """Returns the model's loss on the last tenth of the text, cut as hearsay does: in windows of LENGTH
    bytes."""
    run_of = torch.tensor(list(text[len(text) * 9 // 10:]))
    windows = (len(run_of) - 1) // LENGTH
    x = run_of[:windows * LENGTH].view(windows, LENGTH)
    y = run_of[1:windows * LENGTH + 1].view(windows, LENGTH)
    with torch.no_grad():
        return F.cross_entropy(model(x).logits.flatten(0, 1), y.flatten()).item()


def written_there(model, prompt, count):
    """Returns the prompt and `count` more bytes, each the most likely one."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(logits_there(model, torch.tensor(tokens))[-1].argmax().item())
    return bytes(tokens)


def theirs_are_read_here(folder):
    text = ' '.join(f'{i} times {i} is {i * i};' for i in range(300)).encode()
    open(f'{folder}/text.txt', 'wb').write(text)
    for i, model in enumerate(theirs()):
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(torch.randn_like(weight) * 0.15)
        for kind in (torch.float32, torch.float16, torch.bfloat16):
            to = f'{folder}/theirs{i}{kind}'
            model.to(kind).save_pretrained(to)
            # Loads the saved model: in memory, unsaved tensors such as rotation rates were also rounded.
            again = transformers.AutoModelForCausalLM.from_pretrained(to, dtype=torch.float32).eval()
            x = torch.randint(256, (LENGTH,))
            check(f'{type(model).__name__}, theirs, {kind}', logits_here(to, x), logits_there(again, x))
        said = json.loads(run(HEARSAY, 'eval', '--json', '--state', to, '--text', f'{folder}/text.txt',
                              '--set', f'data.context={LENGTH}'))
        loss = loss_there(again, text)
        print(f'loss of a text: {said["loss"]:.6f} here, {loss:.6f} there')
        assert math.isclose(said['loss'], loss, rel_tol=1e-5)
        here = run(HEARSAY, 'generate', '--state', to, '--prompt', '12 times', '--tokens', '30',
                   '--temperature', '0')
        assert here == written_there(again, b'12 times', 30) + b'\n', 'generate wrote another text than transformers'
    return f'{folder}/theirs0{torch.float32}'


def files_as_they_are_published(folder, gpt2):
    """Checks a file as published GPT-2 files are: names without the prefix, with attention masks, and the
    embedding table stored twice."""
    published = f'{folder}/published'
    os.mkdir(published)
    weights = {name.removeprefix('transformer.'): tensor
               for name, tensor in load_file(f'{gpt2}/model.safetensors').items()}
    weights['h.0.attn.bias'] = torch.ones(1, 1, 64, 64).tril()
    weights['h.1.attn.bias'] = torch.ones(1, 1, 64, 64).tril()
    weights['lm_head.weight'] = weights['wte.weight'].clone()
    save_file(weights, f'{published}/model.safetensors')
    open(f'{published}/config.json', 'w').write(open(f'{gpt2}/config.json').read())
    x = torch.randint(256, (LENGTH,))
    assert torch.equal(logits_here(published, x), logits_here(gpt2, x)), 'a file with names without the prefix has other logits'


class Block(torch.nn.Module):
    """torchvision's BasicBlock, with the same tensor names."""

    def __init__(self, channels, filters, stride, projects):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, filters, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(filters)
        self.conv2 = torch.nn.Conv2d(filters, filters, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(filters)
        self.downsample = torch.nn.Sequential(
            torch.nn.Conv2d(channels, filters, 1, stride, bias=False),
            torch.nn.BatchNorm2d(filters)) if projects else torch.nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class ResNet(torch.nn.Module):
    """torchvision's ResNet with a stem for small images; widths: channels of each stage."""

    def __init__(self, widths, blocks, classes):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, widths[0], 3, 1, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(widths[0])
        for i, width in enumerate(widths):
            before = widths[max(i - 1, 0)]
            stage = [Block(before if b == 0 else width, width, 2 if i > 0 and b == 0 else 1,
                           i > 0 and b == 0) for b in range(blocks)]
            self.add_module(f'layer{i + 1}', torch.nn.Sequential(*stage))
        self.stages = len(widths)
        self.fc = torch.nn.Linear(widths[-1], classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for i in range(self.stages):
            x = getattr(self, f'layer{i + 1}')(x)
        return self.fc(x.mean((2, 3)))


RESNETS = [('resnet20', (16, 32, 64), 3), ('resnet18', (64, 128, 256, 512), 2)]


def line_of(preset):
    """Returns the line of layers of a preset, from the list that `hearsay model` prints."""
    rows = run(HEARSAY, 'model').decode().splitlines()
    return next(row.split(None, 1)[1] for row in rows if row.split()[0] == preset)


def resnets_go_both_ways(folder):
    x = torch.randn(1, 3, 32, 32)
    for preset, widths, blocks in RESNETS:
        line, ours = line_of(preset), f'{folder}/{preset}.safetensors'
        run(MODEL_FILE, 'make', line, '10', '3x32x32', ours)
        run(HEARSAY, 'export', '--state', ours, f'{folder}/{preset}')
        model = ResNet(widths, blocks, 10).eval()
        model.load_state_dict(load_file(f'{folder}/{preset}/model.safetensors'))
        with torch.no_grad():
            there = model(x)[0]
        check(f'{preset}, ours', run_logits(ours, '3x32x32', x.numpy()), there)
        with torch.no_grad():
            model = ResNet(widths, blocks, 10)
            model.fc.weight *= 20
            model(torch.randn(16, 3, 32, 32) * 2 + 1)  # changes the running means and variances
            there = model.eval()(x)[0]
        # Reads the model twice: with PyTorch's names, and with those of CIFAR nets. Both files also contain
        # num_batches_tracked.
        for i, other in enumerate([{}, {'fc.': 'linear.', '.downsample.': '.shortcut.'}]):
            theirs = f'{folder}/{preset}-{i}.safetensors'
            tensors = model.state_dict()
            for part, alias in other.items():
                tensors = {name.replace(part, alias): tensor for name, tensor in tensors.items()}
            save_file(tensors, theirs)
            check(f'{preset}, theirs', run_logits(theirs, '3x32x32', x.numpy(), line, '10'), there)


if __name__ == '__main__':
    torch.manual_seed(1)
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as made:
        resnets_go_both_ways(made)
        ours_are_read_there(made)
        files_as_they_are_published(made, theirs_are_read_here(made))
