#!/usr/bin/env python3
"""Do Hugging Face's transformers and hearsay read each other's models? Ours are exported and loaded
there, theirs are saved and read here: the logits are compared, and what eval and generate say.

    against_transformers.py HEARSAY MODEL_FILE

MODEL_FILE is the program of model_file.c. Exits with 77 where there are no transformers.
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


def logits_here(path, tokens):
    raw = run(MODEL_FILE, 'logits', path, str(len(tokens)), input=tokens.numpy().astype('<i4').tobytes())
    return torch.from_numpy(np.frombuffer(raw, '<f4').copy()).view(len(tokens), -1)


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
    # No GPT-2 that anybody has published, and one all the same.
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
    """Models as they are made there, with random weights larger than those of a beginning."""
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
    """Of the last tenth, as hearsay cuts it: windows of LENGTH bytes and those that follow."""
    run_of = torch.tensor(list(text[len(text) * 9 // 10:]))
    windows = (len(run_of) - 1) // LENGTH
    x = run_of[:windows * LENGTH].view(windows, LENGTH)
    y = run_of[1:windows * LENGTH + 1].view(windows, LENGTH)
    with torch.no_grad():
        return F.cross_entropy(model(x).logits.flatten(0, 1), y.flatten()).item()


def written_there(model, prompt, count):
    """What follows if the likeliest always does."""
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
            # Read again: what is not saved, as the rates of angles, was rounded in memory, too.
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
        assert here == written_there(again, b'12 times', 30) + b'\n', 'another text'
    return f'{folder}/theirs0{torch.float32}'


def files_as_they_are_published(folder, gpt2):
    """Without the prefix, with masks, with the table twice."""
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
    assert torch.equal(logits_here(published, x), logits_here(gpt2, x)), 'names without the prefix'


if __name__ == '__main__':
    torch.manual_seed(1)
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as made:
        ours_are_read_there(made)
        files_as_they_are_published(made, theirs_are_read_here(made))
