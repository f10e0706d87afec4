"""Fine-tunes a language model on all GPUs of a Ray cluster, by Ray Train and DeepSpeed, as `config.json` says.

The driver runs on the head, the training in a process on each GPU: in Ray's image, Python 3.9, with the packages that
the job's runtime environment installs.
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
    """Train; a process that fails fails the job."""
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
    """One for each GPU; without any, one for each pod."""
    return job["pods"] * max(1, job["gpus_per_pod"])


def deepspeed_settings(settings: dict) -> dict:
    """DeepSpeed's own configuration: what is given, with the batch that the command's other settings tell."""
    return {
        **settings["deepspeed"],
        "train_micro_batch_size_per_gpu": settings["batch_size_per_device"],
        "gradient_accumulation_steps": settings["gradient_accumulation_steps"],
    }


def train(settings: dict) -> None:
    """What each process does: the steps of all epochs, each told by the first of them."""
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
            told = told_of(epoch, step, loss.item(), time.monotonic() - begun, settings["learning_rate"])
            if first:
                print(line_of(told), flush=True)
            ray.train.report(told)


def load(settings: dict):
    """The model, with adapters where it is not trained as a whole, and its tokenizer."""
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
    """The parameters that the optimizer changes."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def collated(tokenizer, texts: list, max_length: int) -> dict:
    """A batch of texts as the model takes it; what only fills up counts for no loss."""
    batch = tokenizer(texts, padding="max_length", truncation=True, max_length=max_length, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[batch["attention_mask"] == 0] = IGNORED
    return {**batch, "labels": labels}


def told_of(epoch: int, step: int, loss: float, took_s: float, rate: float) -> dict:
    """The numbers of a step, by the names of Ray Train's tables."""
    return {
        "epoch": epoch,
        "iteration": step,
        "train_loss_batch": loss,
        "step_time_s": took_s,
        "learning_rate": rate,
    }


def line_of(told: dict) -> str:
    """The line of a step that the analysis looks for."""
    place = f"[epoch {told['epoch']} step {told['iteration']}]"
    return f"{place} loss: {told['train_loss_batch']:.4f} step-time: {told['step_time_s']:.6f}"


if __name__ == "__main__":
    main()
