"""Readers of trainers' logs: Hugging Face's Trainer, InstructLab's training, and Ray's jobs."""
