"""A swarm in a Trainer of transformers: Trainer(..., callbacks=[SwarmCallback(config="node.conf")])."""

from __future__ import annotations

from typing import Any

import transformers

from hearsay.torch_node import Node


class SwarmCallback(transformers.TrainerCallback):
    """Joins before the first step; finishes and leaves after the last. finish_s: seconds that it
    waits for the other members to finish, at most. Other arguments are those of Node. After
    training `shared` is the shared model's state_dict. An exception in train(), Ctrl+C too, passes by
    callbacks: call `close` then, in a `finally`."""

    def __init__(self, *, finish_s: float | None = 600.0, **options: Any) -> None:
        self._finish_s = finish_s
        self._options = options
        self.node: Node | None = None
        self.shared: dict[str, Any] | None = None

    def on_train_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None, **_: Any
    ) -> None:
        if args.world_size > 1:
            raise ValueError("a Trainer of several processes is not one node yet: see Node")
        self.node = Node(model, getattr(optimizer, "optimizer", optimizer), **self._options)
        self.node.join()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.node is not None
        logged = [line["loss"] for line in state.log_history[-1:] if "loss" in line]
        samples = args.per_device_train_batch_size * args.gradient_accumulation_steps
        self.node.count(samples, logged[0] if logged else 0.0)
        if control.should_training_stop or 0 < state.max_steps <= state.global_step:
            self._finish()  # before the Trainer loads the weights of its best step

    def _finish(self) -> None:
        assert self.node is not None
        self.node.finish(self._finish_s)
        self.shared = self.node.state_dict()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.node is not None
        self.node.save()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        assert self.node is not None
        if self.shared is None:  # another callback ended training
            self._finish()
        self.close()

    def close(self) -> None:
        if self.node is not None:
            self.node.close()
            self.node.free()
            self.node = None
