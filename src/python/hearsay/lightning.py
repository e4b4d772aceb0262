"""Callback for a Trainer of Lightning: Trainer(callbacks=[SwarmCallback(32, config="node.conf")])."""

from __future__ import annotations

from typing import Any

import lightning

from hearsay.torch_node import Node


class SwarmCallback(lightning.Callback):
    """Joins a swarm before the first step; finishes and leaves after the last one.

    batch_size   number of samples in a batch of the loader
    finish_s     seconds to wait at most for the other members to finish; None: no limit
    options      arguments of Node, except the model and the optimizer

    After training `shared` is the shared model's state_dict. If training raises an exception, `shared`
    stays None.
    """

    def __init__(self, batch_size: int, *, finish_s: float | None = 600.0, **options: Any) -> None:
        self._batch_size = batch_size
        self._finish_s = finish_s
        self._options = options
        self.node: Node | None = None
        self.shared: dict[str, Any] | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.world_size > 1:
            raise ValueError(
                "SwarmCallback supports a Trainer with one process only: for several processes use "
                "hearsay.Node with DistributedDataParallel"
            )
        (optimizer,) = trainer.optimizers
        self.node = Node(pl_module, optimizer, **self._options)
        self.node.join()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert self.node is not None
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        self.node.count(self._batch_size, loss if loss is not None else 0.0)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self.node is not None:
            self.node.finish(self._finish_s)
            self.shared = self.node.state_dict()
        self._end(None)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end(None if isinstance(exception, (KeyboardInterrupt, SystemExit)) else 0)

    def _end(self, grace: float | None) -> None:
        if self.node is not None:
            self.node.close(grace)
            self.node.free()
            self.node = None
