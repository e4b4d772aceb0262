"""hearsay: trains one model together with scripts on other machines, by encrypted gossip, in your own
training loop.

    with hearsay.Node(model, optimizer, config="node.conf") as node:
        for x, y in loader:
            ...
            optimizer.step()
            node.count(len(x), loss)
        node.finish(600)

The manual is src/python/README.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hearsay._library import VERSION as __version__
from hearsay.errors import (
    ArgumentError,
    Closed,
    ConfigError,
    Ended,
    Error,
    Failed,
    Refused,
    Terminated,
    Unsupported,
)
from hearsay.handle import Finished, Handle, Info, Tensor

if TYPE_CHECKING:
    from hearsay.array_node import ArrayNode
    from hearsay.torch_node import Node

# Imported on first use, because one needs PyTorch and the other NumPy.
_LATER = {"Node": "hearsay.torch_node", "ArrayNode": "hearsay.array_node"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module hearsay has no {name}")


__all__ = [
    "__version__",
    "ArgumentError",
    "ArrayNode",
    "Closed",
    "ConfigError",
    "Ended",
    "Error",
    "Failed",
    "Finished",
    "Handle",
    "Info",
    "Node",
    "Refused",
    "Tensor",
    "Terminated",
    "Unsupported",
]
