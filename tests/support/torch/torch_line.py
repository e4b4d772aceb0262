"""Computes hearsay's line of layers (model/README.md) in PyTorch."""
import torch
import torch.nn.functional as F


class Line:
    """A function of a line of layers: each call parses the text and applies its layers.

    weights    {name: tensor}, such as "0.dense.weight" """

    def __init__(self, text, weights):
        self.text, self.weights = text, weights
        self.training, self.momentum = True, 0.0  # arguments of batch norms

    def tensor(self, number, kind, name):
        return self.weights.get(f'{number}.{kind}.{name}')

    def __call__(self, x):
        self.at, self.number, self.table = 0, 0, None
        return self.chain(x)

    def blanks(self):
        while self.text[self.at:self.at + 1] == ' ':
            self.at += 1

    def chain(self, x):
        while True:
            x = self.item(x)
            self.blanks()
            if self.text[self.at:self.at + 1] != ',':
                return x
            self.at += 1

    def item(self, x):
        self.blanks()
        rest = self.text[self.at:]
        times = rest.split('*')[0].strip()
        if '*' in rest and times.isdigit():
            self.at += rest.index('*') + 1
            begin = self.at
            for _ in range(int(times)):
                self.at = begin
                x = self.item(x)
            return x
        if rest.startswith('residual('):
            return self.residual(x)
        if rest.startswith('('):
            self.at += 1
            x = self.chain(x)
            self.at += 1
            return x
        end = min((rest.index(sign) for sign in ',()|' if sign in rest), default=len(rest))
        self.at += end
        return self.layer(rest[:end].split(), x)

    def residual(self, x):
        self.at += len('residual(')
        y = self.chain(x)
        if self.text[self.at] == '|':
            self.at += 1
            x = self.chain(x)
        self.at += 1
        return x + y

    def layer(self, words, x):
        kind, number = words[0], self.number
        self.number += 1

        def own(name):
            return self.tensor(number, kind, name)
        if kind == 'embed':
            self.table = own('weight')
            return F.embedding(x, self.table)
        if kind == 'position':
            return x + own('weight')[:x.shape[1]]
        if kind == 'norm':
            return F.layer_norm(x, x.shape[-1:], own('weight'), own('bias'))
        if kind == 'rmsnorm':
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * own('weight')
        if kind == 'batchnorm':
            return F.batch_norm(x, own('running_mean'), own('running_var'), own('weight'), own('bias'),
                                self.training, self.momentum)
        if kind == 'groupnorm':
            return F.group_norm(x, int(words[1]), own('weight'), own('bias'))
        if kind == 'avgpool':
            return x.mean((2, 3), keepdim=True)
        if kind == 'dense':
            x = x if x.dim() == 3 else x.flatten(1)
            return F.linear(x, own('weight'), own('bias'))
        if kind == 'logits':
            return F.linear(x, self.table if 'tied' in words else own('weight'))
        if kind == 'conv':
            stride, pad, groups = (int(words[words.index(word) + 1]) if word in words else usual
                                   for word, usual in (('stride', 1), ('pad', 0), ('groups', 1)))
            return F.conv2d(x, own('weight'), own('bias'), stride, pad, 1, groups)
        if kind == 'maxpool':
            return F.max_pool2d(x, int(words[1]))
        if kind == 'attention':
            return self.attention(words, x, own)
        if kind == 'swiglu':
            gate, value = x.chunk(2, -1)
            return F.silu(gate) * value
        if kind == 'gelu':
            return F.gelu(x, approximate='tanh')
        return {'relu': F.relu, 'silu': F.silu, 'tanh': torch.tanh, 'sigmoid': torch.sigmoid}[kind](x)

    @staticmethod
    def turn(x):
        """Applies rotary position embedding to [batch, heads, length, size]. Entry i of the first half forms
        a pair with entry i of the second half."""
        half = x.shape[-1] // 2
        rates = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.outer(torch.arange(x.shape[-2], dtype=torch.float64), rates)
        cosine, sine = angles.cos().float(), angles.sin().float()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1)

    def attention(self, words, x, own):
        heads = int(words[1])
        shared = int(words[words.index('kv') + 1]) if 'kv' in words else heads
        batch, length, width = x.shape
        size = width // heads
        qkv = F.linear(x, own('qkv.weight'), own('qkv.bias'))
        q, k, v = (part.view(batch, length, -1, size).transpose(1, 2) for part in
                   qkv.split([heads * size, shared * size, shared * size], -1))
        if 'rope' in words:
            q, k = self.turn(q), self.turn(k)
        k, v = (part.repeat_interleave(heads // shared, 1) for part in (k, v))
        scores = q @ k.transpose(-1, -2) / size ** 0.5
        mask = torch.ones(length, length).tril().bool()
        mixed = scores.masked_fill(~mask, float('-inf')).softmax(-1) @ v
        return F.linear(mixed.transpose(1, 2).reshape(batch, length, width), own('out.weight'),
                        own('out.bias'))
