"""Trains low-rank adapters of a language model on a text, as a node of a swarm. Only the adapters are
shared.

    python -m hearsay.local --nodes 2 lora.py --model gpt2 --text corpus.txt

Needs transformers and peft. Apart from the choice of this node's data, the Trainer's callback is the
only code for hearsay.
"""

import argparse
import pathlib

import peft
import torch
import transformers

from hearsay.local import shard
from hearsay.transformers import SwarmCallback


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="gpt2", help="name or folder of the model")
    parser.add_argument("--text", type=pathlib.Path, required=True)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--steps", type=int, default=200, help="steps of this node")
    parser.add_argument("--rank", type=int, default=8)
    options = parser.parse_args()

    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    tokens = tokenizer(options.text.read_text(errors="replace"))["input_ids"]
    part, parts = shard()
    blocks = [tokens[i : i + options.context]
              for i in range(0, len(tokens) - options.context, options.context)]  # fmt: skip
    data = [{"input_ids": torch.tensor(b), "labels": torch.tensor(b)} for b in blocks[part::parts]]

    transformers.set_seed(1)  # the same initial adapters on all nodes
    model = transformers.AutoModelForCausalLM.from_pretrained(options.model)
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=options.rank, lora_alpha=2 * options.rank)
    model = peft.get_peft_model(model, config)
    model.print_trainable_parameters()

    swarm = SwarmCallback(run="lora")
    trainer = transformers.Trainer(
        model=model,
        train_dataset=data,
        callbacks=[swarm],
        args=transformers.TrainingArguments(
            output_dir=f"lora-{part + 1}",
            max_steps=options.steps,
            per_device_train_batch_size=4,
            learning_rate=1e-3,
            logging_steps=20,
            save_strategy="no",
            report_to=[],
            seed=part + 1,
        ),
    )
    try:
        trainer.train()
    finally:
        swarm.close()
    model.load_state_dict(swarm.shared)
    print(f"loss {trainer.state.log_history[-1]['train_loss']:.3f}")
    model.save_pretrained(f"lora-{part + 1}")


if __name__ == "__main__":
    main()
