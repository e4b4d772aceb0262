"""Callback for a Trainer of transformers: Trainer(..., callbacks=[SwarmCallback(config="node.conf")])."""

from __future__ import annotations

from typing import Any

import transformers

from hearsay.torch_node import Node


class SwarmCallback(transformers.TrainerCallback):
    """Joins a swarm before the first step; finishes and leaves after the last one.

    finish_s     seconds to wait at most for the other members to finish; None: no limit
    options      arguments of Node, except the model and the optimizer

    After training `shared` is the shared model's state_dict. The Trainer calls no callback if train()
    raises an exception (also for Ctrl+C), so call `close` in a `finally` around train().
    """

    def __init__(self, *, finish_s: float | None = 600.0, **options: Any) -> None:
        self._finish_s = finish_s
        self._options = options
        self.node: Node | None = None
        self.shared: dict[str, Any] | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, **_: Any
    ) -> None:
        if args.world_size > 1:
            raise ValueError(
                "SwarmCallback supports a Trainer with one process only: for several processes use "
                "hearsay.Node with DistributedDataParallel"
            )
        self.node = Node(model, getattr(optimizer, "optimizer", optimizer), **self._options)
        self.node.join()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.node is not None
        logged = [line["loss"] for line in state.log_history[-1:] if "loss" in line]
        samples = args.per_device_train_batch_size * args.gradient_accumulation_steps
        self.node.count(samples, logged[0] if logged else 0.0)
        if control.should_training_stop or 0 < state.max_steps <= state.global_step:
            self._finish()  # now, because the Trainer may load the weights of its best step next

    def _finish(self) -> None:
        assert self.node is not None
        self.node.finish(self._finish_s)
        self.shared = self.node.state_dict()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.node is not None
        self.node.save()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.node is not None
        if self.shared is None:  # another callback ended training, so on_step_end did not finish
            self._finish()
        self.close()

    def close(self) -> None:
        """Leaves the swarm and saves a checkpoint. Does nothing if the node has left already."""
        if self.node is not None:
            self.node.close()
            self.node.free()
            self.node = None
