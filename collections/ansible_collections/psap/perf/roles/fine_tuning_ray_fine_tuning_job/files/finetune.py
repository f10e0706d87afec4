"""Fine-tunes a language model on all GPUs of a Ray cluster with Ray Train and DeepSpeed, configured by `config.json`.

The driver runs on the head node, the training in one process on each GPU. Both run in Ray's image with Python 3.9 and
the packages that the job's runtime environment installs.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.append("/mnt/entrypoint")

CONFIGURATION = Path("/mnt/config")
IGNORED = -100


def main() -> None:
    """Train the model; the job fails if a process fails."""
    import dataset
    import ray
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer

    settings = json.loads((CONFIGURATION / "config.json").read_text(encoding="utf-8"))
    job = json.loads((CONFIGURATION / "job.json").read_text(encoding="utf-8"))
    records = dataset.read_records(Path(settings["training_data_path"]))
    texts = [{"text": record[settings["dataset_text_field"]]} for record in records]
    ray.init(address="auto")
    trainer = TorchTrainer(
        train,
        train_loop_config=settings,
        datasets={"train": ray.data.from_items(texts)},
        scaling_config=ScalingConfig(num_workers=processes(job), use_gpu=job["gpus_per_pod"] > 0),
        run_config=RunConfig(storage_path="/mnt/storage/output/ray", failure_config=FailureConfig(max_failures=0)),
    )
    trainer.fit()


def processes(job: dict) -> int:
    """Return the number of processes: one for each GPU, or one for each pod without GPUs."""
    return job["pods"] * max(1, job["gpus_per_pod"])


def deepspeed_settings(settings: dict) -> dict:
    """Return the configuration of DeepSpeed, with the batch size of the command's other settings."""
    return {
        **settings["deepspeed"],
        "train_micro_batch_size_per_gpu": settings["batch_size_per_device"],
        "gradient_accumulation_steps": settings["gradient_accumulation_steps"],
    }


def train(settings: dict) -> None:
    """Run the steps of all epochs in one process; the first process prints and reports each step."""
    import deepspeed
    import ray.train
    import torch

    model, tokenizer = load(settings)
    engine, *_others = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(trainable(model), lr=settings["learning_rate"]),
        config=deepspeed_settings(settings),
    )
    shard = ray.train.get_dataset_shard("train")
    first = ray.train.get_context().get_world_rank() == 0
    for epoch in range(settings["num_epochs"]):
        batches = shard.iter_torch_batches(
            batch_size=settings["batch_size_per_device"],
            collate_fn=lambda batch: collated(tokenizer, list(batch["text"]), settings["max_length"]),
            local_shuffle_buffer_size=None,
        )
        for step, batch in enumerate(batches):
            begun = time.monotonic()
            loss = engine(**{name: part.to(engine.device) for name, part in batch.items()}).loss
            engine.backward(loss)
            engine.step()
            numbers = step_numbers(epoch, step, loss.item(), time.monotonic() - begun, settings["learning_rate"])
            if first:
                print(line_of(numbers), flush=True)
            ray.train.report(numbers)


def load(settings: dict):
    """Return the model, with adapters for LoRA, and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = settings["model_name_or_path"]
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(path, torch_dtype=torch.bfloat16)
    if settings["gradient_checkpointing"]:
        model.gradient_checkpointing_enable()
    if settings["peft_method"] == "lora":
        from peft import LoraConfig, get_peft_model

        names = ("r", "lora_alpha", "lora_dropout", "target_modules")
        model = get_peft_model(model, LoraConfig(**{name: settings[name] for name in names if name in settings}))
    return model, tokenizer


def trainable(model) -> list:
    """Return the parameters that the optimizer changes."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def collated(tokenizer, texts: list, max_length: int) -> dict:
    """Return a batch of tokenized texts; padding does not count for the loss."""
    batch = tokenizer(texts, padding="max_length", truncation=True, max_length=max_length, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[batch["attention_mask"] == 0] = IGNORED
    return {**batch, "labels": labels}


def step_numbers(epoch: int, step: int, loss: float, took_s: float, rate: float) -> dict:
    """Return the numbers of a step by the names of Ray Train's tables."""
    return {
        "epoch": epoch,
        "iteration": step,
        "train_loss_batch": loss,
        "step_time_s": took_s,
        "learning_rate": rate,
    }


def line_of(numbers: dict) -> str:
    """Return the line of a step, in the form that the analysis reads."""
    place = f"[epoch {numbers['epoch']} step {numbers['iteration']}]"
    return f"{place} loss: {numbers['train_loss_batch']:.4f} step-time: {numbers['step_time_s']:.6f}"


if __name__ == "__main__":
    main()
